"""A closed loop: users submit their next job when the last has ended and they have thought, as they did in the trace.

In an open loop, jobs arrive as recorded however long they wait. But users react: who waits longer submits later. So a
job hangs on the last of its user's jobs that had ended when it was submitted, and is submitted as long after that one's
end as in the trace (Shmueli and Feitelson, "On simulation and design of parallel-systems schedulers", 2009). Run as it
was recorded, a trace gives the same submission times again.
"""

import dataclasses
import math

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.core.units import format_seconds
from forebay.errors import InputError
from forebay.workload.dependencies import dependency_table, rows_of
from forebay.workload.workload import Workload


def closed_loop(w: Workload, longest: float = math.inf) -> Workload:
    """The same jobs, submitted when their users' last jobs have ended.

    Parameters
    ----------
    w
        Needs the recorded starts of jobs and their users, or preceding jobs, as fields 17 and 18 of SWF give them.
    longest
        Seconds: a user who thought longer began again, and submits at the recorded time whatever ran before.

    Examples
    --------
    >>> columns = {"id": [1, 2], "submit": [0, 40], "walltime": [60, 60], "run_time": [30, 30], "nodes": [1, 1]}
    >>> jobs = fb.workload.job_table(columns | {"user": [7, 7], "recorded_start": [0, 40]})
    >>> loop = fb.workload.closed_loop(fb.Workload("two", jobs))
    >>> loop.dependencies.select("job", "parent", "kind", "delay").rows()
    [(2, 1, 'think', 10.0)]
    """
    if not longest >= 0:
        raise InputError(f"{w.name}: the longest think time is {longest:g} s; give seconds from 0 up")
    ends = _ends(w)
    recorded = _told(w, ends)
    found = _found(w, ends, recorded, longest)
    known = [] if w.dependencies is None else [w.dependencies.join(recorded, on=["job", "parent", "kind"], how="anti")]
    thinks = pl.concat([recorded.with_columns(kind=pl.lit("think")), found])
    if not len(thinks):
        raise InputError(
            f"{w.name}: nothing tells after which job another was submitted; a closed loop needs users and recorded "
            "starts (SWF's waits, sacct's Start), or preceding jobs (SWF's field 17)"
        )
    line, notes = _remarks(w, thinks)
    return dataclasses.replace(
        w,
        jobs=w.jobs.drop("recorded_start", strict=False),
        dependencies=pl.concat([*known, thinks]),
        notes=(*w.notes, *notes),
        provenance=(*w.provenance, line),
    )


def _remarks(w: Workload, thinks: pl.DataFrame) -> tuple[str, list[str]]:
    """What was done, and what was left out for it."""
    length = format_seconds(float(thinks["delay"].mean()))  # type: ignore[arg-type]
    who = f"{len(thinks):,} of {counted(len(w), 'job')}"
    line = (
        f"closed loop: {who} submitted when the last of their users has ended, after thinking for {length} on average"
    )
    if "recorded_start" not in w.jobs.columns:
        return line, []
    return line, ["recorded starts are left out: in a closed loop, jobs are submitted at other times"]


def _ends(w: Workload) -> np.ndarray:
    """When each job ended as recorded; NaN where that is not known."""
    if "recorded_start" not in w.jobs.columns:
        return np.full(len(w), np.nan)
    return (w.jobs["recorded_start"] + w.jobs["run_time"]).to_numpy()


def _told(w: Workload, ends: np.ndarray) -> pl.DataFrame:
    """Dependencies on the end of one job that can be meant so: nothing says that the job was submitted before it.

    A think time of 0 is one that the trace does not tell: what was recorded tells it.
    """
    if w.dependencies is None:
        return dependency_table({"job": [], "parent": []})
    child, parent = rows_of(w, w.dependencies)
    gap = w.jobs["submit"].to_numpy()[child] - ends[parent]
    alone = np.bincount(child, minlength=len(w))[child] == 1
    table = w.dependencies.with_columns(gap=pl.Series(gap).fill_nan(None), alone=pl.Series(alone))
    chosen = table.filter(pl.col("alone") & (pl.col("kind") == "afterany") & (pl.col("gap").fill_null(0.0) >= 0))
    delay = pl.when(pl.col("delay") > 0).then("delay").otherwise(pl.col("gap").fill_null(0.0))
    return chosen.with_columns(delay=delay).select(*w.dependencies.columns)


def _found(w: Workload, ends: np.ndarray, recorded: pl.DataFrame, longest: float) -> pl.DataFrame:
    """For each job of a user, the last of the others that had ended by then; not for jobs that wait for others."""
    ids, user, submit = (w.jobs[name].to_numpy() for name in ("id", "user", "submit"))
    waits = [recorded["job"], *([] if w.dependencies is None else [w.dependencies["job"]])]
    free = ~w.jobs["id"].is_in(pl.concat(waits).implode()).to_numpy()
    rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    order = np.lexsort((ends, user))
    order = order[(user[order] >= 0) & ~np.isnan(ends[order])]
    edges = (
        np.searchsorted(user[order], np.unique(user[order])),
        np.searchsorted(user[order], np.unique(user[order]), side="right"),
    )
    for first, last in zip(*edges, strict=True):
        ended = order[first:last]  # a user's jobs, by their ends
        mine = np.flatnonzero((user == user[ended[0]]) & free)
        at = np.searchsorted(ends[ended], submit[mine], side="right") - 1
        mine, at = mine[at >= 0], at[at >= 0]
        parent = ended[at]
        think = submit[mine] - ends[parent]
        fits = (think <= longest) & (parent != mine)
        rows.append((ids[mine[fits]], ids[parent[fits]], think[fits]))
    if not rows:
        return dependency_table({"job": [], "parent": []})
    job, parent, delay = (np.concatenate(column) for column in zip(*rows, strict=True))
    return dependency_table({"job": job, "parent": parent, "delay": delay}).with_columns(kind=pl.lit("think"))
