"""What runs share, from what a user gives: all is checked before anything is written."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from forebay.errors import InputError
from forebay.experiments.setting import Period, Setting

if TYPE_CHECKING:
    from forebay.workload import Workload


def setting_of(
    workload: Any,
    platform: Any = None,
    job_model: str | None = None,
    seed: int = 0,
    failures: Any = None,
    *,
    part: tuple[Any, Any] | None = None,
    warm: bool = False,
    window: tuple[Any, Any] | None = None,
    read: "Callable[[Any], Workload] | None" = None,
) -> Setting:
    """Read and check everything that runs share. What is quick to check comes first.

    Inputs are specs or objects. `part` is a period to which jobs are cut down; `warm` begins it with what ran and
    waited then; of a period each side is seconds or a date.
    """
    from forebay import _plugins
    from forebay._run.case import checked_seed, platform_of, workload_of
    from forebay._run.simulate import machine_of
    from forebay._run.site_policy import site_policy
    from forebay.metrics._own import registry
    from forebay.platforms import failures as traces

    if warm and part is None:
        raise InputError("--warm is for a part of a trace, and there is nothing before the whole; give it with --slice")
    if job_model is not None:
        _plugins.load("engine.jobmodels", _plugins.parse_spec(job_model)[0], "job model")
    failing = None if failures is None else traces.load(failures)
    machine = None if platform is None else platform_of(platform)
    jobs = sliced((read or workload_of)(workload), part, warm)
    if machine is None:
        machine = machine_of(jobs)
    own = site_policy(machine, platform if isinstance(platform, str) else jobs.platform)
    if failing is not None:
        traces.check(failing, machine.nodes)
    counting = within(window, jobs)
    return Setting(jobs, machine, job_model, checked_seed(seed), counting, failing, (), own, registry.tokens())


def sliced(jobs: "Workload", period: tuple[Any, Any] | None, warm: bool) -> "Workload":
    """The jobs of a period; all without one."""
    from forebay.workload import operations, periods

    if period is None:
        return jobs
    return periods.period(jobs, *period) if warm else operations.slice_time(jobs, *period)


def within(period: tuple[Any, Any] | None, jobs: "Workload") -> Period | None:
    """A window in seconds of the workload, which must have jobs in it."""
    from forebay.workload import dates

    if period is None:
        return None
    start, end = (dates.seconds_of(jobs, side) for side in period)
    if not jobs.jobs["submit"].is_between(start, end, closed="left").any():
        raise InputError(f"no job is submitted in it; of {jobs.name}, {dates.span_text(jobs)}")
    return start, end
