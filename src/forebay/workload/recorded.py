"""What a trace recorded of its jobs' waits, where it tells when they started: the schedule that a policy competes with.

Waits are taken of jobs that started when they had arrived, or later. A start before is a slip of the trace, or of its
clock: such jobs are counted, and left out.
"""

import math
from typing import Any

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.workload.names import called
from forebay.workload.workload import Workload

AS_RECORDED = "as recorded"
"""What tables call the schedule of the trace, in place of a policy."""
_BOUND = 600.0  # seconds, of the bounded slowdown


def numbers(w: Workload, window: tuple[float, float] | None = None) -> dict[str, Any] | None:
    """Waits as recorded, by the names that summaries have for them; None where the trace tells of none.

    `window` is as in `forebay.summary`: jobs submitted from the first second up to the second.
    """
    jobs = _known(w)
    if jobs is None:
        return None
    if window is not None:
        jobs = jobs.filter(pl.col("submit").is_between(*window, closed="left"))
    # NaN is larger than all else in polars.
    early, late = jobs.filter(pl.col("wait") < 0), jobs.filter(pl.col("wait").is_not_nan() & (pl.col("wait") >= 0))
    found: dict[str, Any] = {
        "n_jobs": len(late),
        "n_unknown": int(jobs["wait"].is_nan().sum()),
        "n_before_submit": len(early),
        "first_before_submit": int(early["id"][0]) if len(early) else None,
    }
    if not len(late):
        return found if len(early) else None
    wait, run = late["wait"].to_numpy(), late["run_time"].to_numpy()
    found |= {
        **_waits(wait, "waiting_time"),
        **_waits(wait, "wait"),  # traces do not record interruptions
        "mean_turnaround_time": float((wait + run).mean()),
        "mean_bounded_slowdown_10min": float(np.maximum(1.0, (wait + run) / np.maximum(run, _BOUND)).mean()),
    }
    return found


def by_queue(w: Workload) -> list[dict[str, Any]]:
    """Each queue's jobs, and their waits as recorded; the queue with most jobs first."""
    jobs = _known(w)
    if jobs is None:
        jobs = w.jobs.with_columns(wait=pl.lit(math.nan))
    rows = []
    for (queue,), part in jobs.filter(pl.col("queue") >= 0).group_by("queue", maintain_order=True):
        number = int(queue)
        wait = part.filter(pl.col("wait") >= 0)["wait"].drop_nans().to_numpy()
        row = {"queue": number, "name": called(w.names, "queue", number), "jobs": len(part), "recorded_jobs": len(wait)}
        rows.append(row | (_waits(wait, "waiting_time") if len(wait) else {}))
    return sorted(rows, key=lambda row: (-row["jobs"], row["queue"]))


def notes(found: dict[str, Any] | None) -> list[str]:
    """What the reader of such numbers should know."""
    if not found or not found["n_before_submit"]:
        return []
    who = counted(found["n_before_submit"], "job is recorded to start", "jobs are recorded to start")
    return [f"{who} before it arrives (first: job {found['first_before_submit']}): in no recorded wait"]


def _known(w: Workload) -> pl.DataFrame | None:
    """Jobs with the `wait` recorded; NaN where none is known."""
    if "recorded_start" not in w.jobs.columns or w.jobs["recorded_start"].is_nan().all():
        return None
    jobs = w.jobs.with_columns(wait=pl.col("recorded_start") - pl.col("submit"))
    # Who runs already when the period begins is in no wait of a simulation.
    return jobs.filter(pl.col("running_since").is_nan()) if "running_since" in jobs.columns else jobs


def _waits(wait: np.ndarray, name: str) -> dict[str, float]:
    return {
        f"min_{name}": float(wait.min()),
        f"mean_{name}": float(wait.mean()),
        f"median_{name}": float(np.median(wait)),
        f"p95_{name}": float(np.percentile(wait, 95)),
        f"max_{name}": float(wait.max()),
    }
