"""What cannot match, in words: what the trace does not tell, and what the machine of the simulation is not."""

import numpy as np
import polars as pl

from forebay._fidelity._use import Use, amounts, most_between
from forebay._support.text import counted
from forebay.results import Result
from forebay.workload import Workload

SHORT = 60.0
"""Seconds for which a scheduler may leave a job waiting before it looks at it."""


def doubts(w: Workload, result: Result, use: Use, jobs: pl.DataFrame, part: bool) -> dict[str, str]:
    """A sentence on everything that keeps the two schedules apart whatever the policy does, by what it is about."""
    found = {
        "before": _before(w, part),
        "after": _after(w, jobs),
        "starts": _starts(w),
        "walltimes": _walltimes(w),
        "overruns": _overruns(w),
        "size": _size(use),
        "room": _room(w, result, use, jobs),
        "queues": _queues(w, result),
        "rejected": _rejected(result),
        "limits": _limits(result),
    }
    return {about: text for about, text in found.items() if text}


def _before(w: Workload, part: bool) -> str:
    if "running_since" in w.jobs.columns:
        return ""
    if part:
        return "the period begins with an empty machine, which it was not: give it a warm start"
    return (
        "nothing is known of jobs from before the first one: the machine begins empty; a period with a warm start "
        "begins later, with the jobs that ran and waited then"
    )


def _after(w: Workload, jobs: pl.DataFrame) -> str:
    last = float(w.jobs["submit"].max() or 0.0)  # type: ignore[arg-type]
    late = int((jobs["recorded_start"] > last).sum())
    if not late:
        return ""
    who = counted(late, "job that still waited then meets", "jobs that still waited then meet")
    return f"no job arrives after the last one here, as others did: {who} an emptier machine"


def _starts(w: Workload) -> str:
    wait = (w.jobs["recorded_start"] - w.jobs["submit"]).to_numpy()
    counts = {"without a recorded start": np.isnan(wait).sum(), "recorded to start before submission": (wait < 0).sum()}
    parts = [f"{counted(int(count), 'job')} {what}" for what, count in counts.items() if count]
    return f"{' and '.join(parts)}: simulated, but not scored" if parts else ""


def _walltimes(w: Workload) -> str:
    none = int(w.jobs["walltime"].is_infinite().sum())
    if not none:
        return ""
    return f"{none:,} of {counted(len(w), 'job')} without a time limit: the scheduler had one to backfill by"


def _overruns(w: Workload) -> str:
    over = int((w.jobs["run_time"] > w.jobs["walltime"]).sum())
    return f"{counted(over, 'job')} ran past the time limit on record, and here none may" if over else ""


def _size(use: Use) -> str:
    """The most in use at once against what there is: both say something of the machine."""
    peak = int(use.recorded[1].max(initial=0.0))
    if peak > use.capacity:
        return (
            f"jobs had up to {peak:,} {use.unit} at once by the record, and the machine has {use.capacity:,}: jobs "
            "that shared nodes count each as a whole one, or the machine was larger"
        )
    if peak < use.capacity:
        rest = f"{use.capacity - peak:,} of {use.capacity:,} {use.unit}"
        return f"{rest} were never in use by the record: down, reserved, or for other jobs than these"
    return ""


def _room(w: Workload, result: Result, use: Use, jobs: pl.DataFrame) -> str:
    """Who waited though there was room all along was held back by something else than the lack of it."""
    held = w.jobs.select(job_id="id").with_columns(amount=amounts(w, result))
    waiting = jobs.filter(pl.col("recorded_wait") > SHORT).join(held, on="job_id", how="left", maintain_order="left")
    if waiting.is_empty():
        return ""
    most = most_between(use.recorded, waiting["submit"].to_numpy(), waiting["recorded_start"].to_numpy())
    idle = most + waiting["amount"].to_numpy() <= use.capacity
    if not idle.any():
        return ""
    share = float(waiting["recorded_wait"].to_numpy()[idle].sum() / jobs["recorded_wait"].sum())
    return (
        f"{counted(int(idle.sum()), 'job')} waited while the machine had room all the time, {100 * share:.0f} % of all "
        "recorded waiting: held, dependent on another job, or kept back by a limit, a partition or a reservation"
    )


def _queues(w: Workload, result: Result) -> str:
    n = w.jobs.filter(pl.col("queue") >= 0)["queue"].n_unique()
    if n < 2 or result.facts["platform"].get("partitions"):
        return ""
    return f"the trace has {n} queues, and the machine no partitions: every job may run anywhere here"


def _rejected(result: Result) -> str:
    n = int((result.jobs["final_state"] == "REJECTED").sum())
    return f"{counted(n, 'job')} asked for more than this machine has: rejected here, and not scored" if n else ""


def _limits(result: Result) -> str:
    if "limits" in result.facts or result.facts["platform"].get("limits"):
        return ""
    return "no limits are given: what users, accounts or partitions might have running at most is not known here"
