"""The runs of a comparison: short ones here, one after the other; where they take longer, in processes on all cores.

What comes out is the same either way: each run leaves its files, and only these are read afterwards.
"""

import math
import sys
import time
from collections.abc import Container, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.experiments.execution import executor

if TYPE_CHECKING:
    from forebay._support.progress import Watch
    from forebay.experiments.comparison.entrants import Entrants
    from forebay.experiments.execution.executor import Tell
    from forebay.experiments.setting import Setting

HERE = 3.0
"""Seconds of work in this process. Processes take about as long to start: for less they are not worth it."""
SHORT = 20_000
"""Jobs of a run that is over in a few seconds: only such runs are tried in this process."""


@dataclass(frozen=True)
class Task:
    """A policy, and the folder for its run."""

    policy: str
    place: Path


class _TakesLongerError(BaseException):
    """No failure: a run that goes on elsewhere."""


def perform(setting: "Setting", entrants: "Entrants", task: Task, tell: "Tell") -> float:
    """Simulate one policy and write its files; gives the seconds that the run took."""
    from forebay._support.files import writable_folder
    from forebay.results import saving

    policy, spec = entrants.load(task.policy), entrants.specs.get(task.policy)
    mine = entrants.setting(task.policy, setting)
    result, document = mine.simulate(policy, task.policy, lambda ended, _: tell(ended), spec)
    with saving(writable_folder(task.place), result, document):
        return float(document["seconds"])


def carry_out(
    setting: "Setting", entrants: "Entrants", tasks: Sequence[Task], count: int, watch: "Watch"
) -> dict[str, executor.Failure]:
    """Every task, up to `count` at a time; gives those that failed, by policy."""
    work, n_jobs = partial(perform, setting, entrants), len(setting.workload)
    ended = dict.fromkeys(tasks, 0)
    over: list[Task] = []
    failed: dict[str, executor.Failure] = {}

    def advance(task: Task, jobs: int) -> None:
        ended[task] = jobs
        watch.at(task.policy, sum(ended.values()))

    def done(task: Task, outcome: Any) -> None:
        over.append(task)
        count = f"{len(over)} of {len(tasks)}"
        if isinstance(outcome, executor.Failure):
            failed[task.policy] = outcome
            watch.line(f"{task.policy} failed, {count}")
        else:
            watch.line(f"{task.policy} done, {count}, {outcome:.1f} s")
        advance(task, n_jobs)

    spread_out(tasks, work, n_jobs, count, advance, done, bound(setting, entrants))
    return failed


def bound(setting: "Setting", entrants: "Entrants") -> Container[str]:
    """Policies whose runs must stay in this process, as they are objects of it, or else a metric is."""
    from forebay.metrics._own.own import stays_here

    return [*entrants.specs, *entrants.objects] if stays_here(setting.metrics) else entrants.objects


def spread_out(
    tasks: Sequence[Any],
    work: executor.Work,
    n_jobs: int,
    count: int,
    advance: executor.Done,
    done: executor.Done,
    objects: Container[str] = (),
) -> None:
    """Every task, a run of so many jobs: here while that is soon done, else in up to `count` processes.

    Policies that are `objects` run in this process in any case.

    Processes begin with the last: lists of policies go from simple ones to costly ones, and who begins a costly one at
    the end waits for it alone.
    """
    soon_done = count == 1 or n_jobs <= SHORT
    mine = [task for task in tasks if task.policy in objects]
    others = [task for task in tasks if task.policy not in objects]
    left = _here(others, work, advance, done) if soon_done else others
    if left:
        executor.in_processes(count, work, advance)(left[::-1], done)
    _here(mine, work, advance, done, math.inf)


def _here(
    tasks: Sequence[Any], work: executor.Work, advance: executor.Done, done: executor.Done, seconds: float = HERE
) -> Sequence[Any]:
    """Carry out tasks in this process until time is up; gives those that are left. The last one may take its time."""
    until = time.process_time() + seconds

    def tell(task: Any, ended: int) -> None:
        advance(task, ended)
        if task is not tasks[-1] and time.process_time() > until:
            raise _TakesLongerError

    for place, task in enumerate(tasks):
        if task is not tasks[-1] and time.process_time() > until:
            return tasks[place:]
        try:
            # What a policy prints must not stand in the answer.
            with redirect_stdout(sys.stderr):
                outcome = executor.attempt(task, work, partial(tell, task))
        except _TakesLongerError:
            return tasks[place:]
        done(task, outcome)
    return []
