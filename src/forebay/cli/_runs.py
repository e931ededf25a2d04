"""What `run` and `compare` share: inputs checked before anything is written, a run with its progress, and its notes."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from forebay import _progress
from forebay.cli._options import Format, parse_period
from forebay.cli._print import console
from forebay.errors import InputError

if TYPE_CHECKING:
    from forebay.platforms import Platform
    from forebay.results import Result
    from forebay.workload import Workload

Period = tuple[float, float]
Bar = Callable[[str, int], Callable[[int, int], None]]


@dataclass(frozen=True)
class Setting:
    """All that the runs of one command have in common."""

    workload: "Workload"
    platform: "Platform"
    job_model: str | None
    seed: int
    window: Period | None

    def simulate(self, policy: Any, spec: str, progress: Callable[[int, int], None]) -> tuple["Result", dict[str, Any]]:
        """A run, and all there is to say of it: what run.json holds."""
        from forebay._simulate import simulate
        from forebay.metrics import summary
        from forebay.results import document

        result = simulate(self.workload, self.platform, policy, self.seed, self.job_model, progress)
        window = self._closed(result)
        facts = {**result.facts, "policy": spec, "notes": notes_of(result, self.workload)}
        result = replace(result, facts=facts)
        return result, document(result, window=window, summary=summary(result, window))

    def _closed(self, result: "Result") -> Period | None:
        """The window with an end: use of the machine is averaged up to the last finish at most."""
        if self.window is None or math.isfinite(self.window[1]):
            return self.window
        ends: Any = result.jobs.select("submission_time", "finish_time").max().row(0)
        return self.window[0], math.nextafter(max(end for end in ends if end is not None), math.inf)


def read_setting(source: str, platform: str | None, job_model: str | None, seed: int, window: str | None) -> Setting:
    """Read and check everything that runs share. What is quick to check comes first."""
    from forebay import _plugins, workload
    from forebay import platforms as machines

    period = parse_period(window, "--window")
    if job_model is not None:
        _plugins.load("engine.jobmodels", _plugins.parse_spec(job_model)[0], "job model")
    machine = None if platform is None else machines.load(platform)
    jobs = workload.read(source)
    if machine is None:
        from forebay._simulate import machine_of

        machine = machine_of(jobs)
    if period and not jobs.jobs["submit"].is_between(*period, closed="left").any():
        last = float(jobs.jobs["submit"][-1])
        raise InputError(f"--window {window!r}: no job is submitted in it; {source} has jobs from 0 to {last:.10g} s")
    return Setting(jobs, machine, job_model, seed, period)


def load_policy(spec: str) -> Any:
    """The policy that a spec names."""
    from forebay import policies

    if spec.endswith(".py"):
        raise InputError(f"policy {spec!r} is a file; name the class in it too: {spec}:ClassName")
    return policies.load(spec)


def notes_of(result: "Result", workload: "Workload") -> list[str]:
    """Every remark on a run that its reader should know, a sentence each."""
    from forebay.workload._source import dropped_text

    notes = list(result.facts["notes"])
    left_out = sum(workload.dropped.values())
    if left_out:
        why = dropped_text(workload.dropped)
        notes.insert(0, f"{left_out:,} of {workload.records:,} records left out: {why}")
    for reason, what in (("too_large", "more than the machine has"), ("over_limit", "more than a limit allows")):
        count = int((result.log["reason"] == reason).sum())
        if count:
            verb = "job asks" if count == 1 else "jobs ask"
            notes.append(f"{count:,} {verb} for {what}: rejected, and in no mean")
    return notes


@contextmanager
def progress_bar(total: int, form: Format, unit: str = "jobs") -> Iterator[Bar]:
    """A bar of jobs (or else) ended, if someone watches. `bar(title, before)` gives a run's own callback."""
    # A policy that prints must not spoil JSON on stdout: its lines go to stderr then.
    with redirect_stdout(sys.stderr) if form is Format.json else nullcontext():
        if not sys.stderr.isatty():
            yield lambda title, before: lambda ended, jobs: None
            return
        with _progress.bar(console(stderr=True), unit, transient=True) as progress:
            task = progress.add_task("", total=total)

            def bar(title: str, before: int) -> Callable[[int, int], None]:
                progress.update(task, description=title)
                return lambda ended, jobs: progress.update(task, completed=before + ended)

            yield bar
