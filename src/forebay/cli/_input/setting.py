"""What runs of a command share, read from its options: all is checked before anything is written."""

from typing import TYPE_CHECKING

from forebay.cli._input.options import Period, parse_period
from forebay.cli._input.reading import read
from forebay.errors import InputError
from forebay.experiments.setting import Setting

if TYPE_CHECKING:
    from forebay.workload import Workload


def read_setting(
    source: str,
    platform: str | None,
    job_model: str | None,
    seed: int,
    window: str | None,
    failures: str | None,
    part: str | None = None,
    warm: bool = False,
) -> Setting:
    """Read and check everything that runs share. What is quick to check comes first.

    `part` is a period to which jobs are cut down; `warm` begins it with what ran and waited then.
    """
    from forebay import _plugins
    from forebay import platforms as machines
    from forebay._run.site_policy import site_policy
    from forebay.platforms import failures as traces

    period, cut = parse_period(window, "--window"), parse_period(part, "--slice")
    if warm and cut is None:
        raise InputError("--warm is for a part of a trace, and there is nothing before the whole; give it with --slice")
    if job_model is not None:
        _plugins.load("engine.jobmodels", _plugins.parse_spec(job_model)[0], "job model")
    failing = None if failures is None else traces.load(failures)
    machine = None if platform is None else machines.load(platform)
    jobs = sliced(read(source), cut, warm)
    if machine is None:
        from forebay._run.simulate import machine_of

        machine = machine_of(jobs)
    own = site_policy(machine, platform or jobs.platform)
    if failing is not None:
        traces.check(failing, machine.nodes)
    given = {"platform": platform, "job-model": job_model, "seed": seed or None, "window": window}
    given |= {"failures": failures, "slice": part}
    words = [word for name, value in given.items() if value is not None for word in (f"--{name}", str(value))]
    words += ["--warm"] if warm else []
    return Setting(jobs, machine, job_model, seed, _seconds(period, jobs, window), failing, (source, *words), own)


def sliced(jobs: "Workload", period: Period | None, warm: bool) -> "Workload":
    """The jobs of a period; all without one."""
    from forebay.workload import operations, periods

    if period is None:
        return jobs
    return periods.period(jobs, *period) if warm else operations.slice_time(jobs, *period)


def _seconds(period: Period | None, jobs: "Workload", window: str | None) -> tuple[float, float] | None:
    """A window in seconds of the workload, which must have jobs in it."""
    from forebay.workload import dates

    if period is None:
        return None
    try:
        start, end = (dates.seconds_of(jobs, side) for side in period)
    except InputError as error:
        raise InputError(f"--window {window!r}: {error}") from None
    if not jobs.jobs["submit"].is_between(start, end, closed="left").any():
        raise InputError(f"--window {window!r}: no job is submitted in it; of {jobs.name}, {dates.span_text(jobs)}")
    return start, end
