"""The tables behind dependencies: what each job that may start only after others still waits for.

All are empty where no job waits for another, and nothing is then looked up.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import polars as pl

from forebay.algorithms.queues.heap import TIMER
from forebay.workload import dependencies
from forebay.workload.workload import Workload


class Kind(IntEnum):
    """What a parent must have done."""

    AFTER = 0
    AFTERANY = 1
    AFTEROK = 2
    AFTERNOTOK = 3
    THINK = 4


class Standing(IntEnum):
    """Where a job stands that waits for others."""

    FREE = 0  # it waits for nobody, or no longer
    AHEAD = 1  # it is not submitted yet
    WAITS = 2  # submitted; policies do not see it
    DOOMED = 3  # not submitted yet, and can never start
    GONE = 4  # rejected or withdrawn before it joined the queue
    JOINS = 5  # it joins the queue at the end of this instant
    RELEASED = 6  # the same, and it waited for others until now


EDGE = np.dtype([("child", "i8"), ("delay", "f8"), ("kind", "i8")], align=True)
"""A job that waits for the parent under which it stands."""
DEPENDENT = np.dtype(
    [
        ("left", "i8"),  # parents that must still do what it waits for
        ("open", "i8"),  # parents of which it is not yet known whether they will
        ("to_submit", "i8"),  # parents that must still end before it is submitted
        ("time", "f8"),  # from which on enough of them have: by what is known
        ("submit", "f8"),  # when it is submitted at the earliest, by those of `to_submit`
        ("cancel", "f8"),  # seconds after its submission at which its user withdraws it
        ("parent", "i8"),  # the one that decided on `time`; -1 = none so far
        ("number", "i8"),  # how many were submitted before it
        ("any", "i1"),  # one parent is enough
        ("standing", "i1"),
    ],
    align=True,
)

COUNTS = np.dtype([("timed", "i8"), ("joining", "i8"), ("submitted", "i8")], align=True)
"""How much of `heap` and of `joining` is in use, and how many jobs have been submitted."""


class Dependencies(NamedTuple):
    """Who waits for whom, and how far that is."""

    jobs: np.ndarray  # DEPENDENT[job]
    edges: np.ndarray  # EDGE, by parent, then child
    first: np.ndarray  # int64[job + 1]: a parent's edges are edges[first], edges[first + 1], ...
    heap: np.ndarray  # TIMER: slot 2j = job j is submitted, or free to start; 2j + 1 = its user withdraws it
    where: np.ndarray  # int64[slot], see algorithms.queues.heap
    joining: np.ndarray  # TIMER: jobs that join the queue at the end of this instant, those submitted first first
    place: np.ndarray  # int64[job]: where in `joining`
    counts: np.ndarray  # COUNTS, one row
    over: np.ndarray  # int64[job] scratch: jobs whose end is to be reported


def make_dependencies(n_jobs: int = 0, n_edges: int = 0) -> Dependencies:
    """Tables of the right size, in which nobody waits."""
    jobs = np.zeros(n_jobs, DEPENDENT)
    jobs["parent"], jobs["cancel"], jobs["time"], jobs["submit"] = -1, np.inf, -np.inf, -np.inf
    return Dependencies(
        jobs=jobs,
        edges=np.zeros(n_edges, EDGE),
        first=np.zeros(n_jobs + 1 if n_jobs else 0, np.int64),
        heap=np.zeros(2 * n_jobs + 1 if n_jobs else 0, TIMER),
        where=np.full(2 * n_jobs, -1, np.int64),
        joining=np.zeros(n_jobs, TIMER),
        place=np.full(n_jobs, -1, np.int64),
        counts=np.zeros(1, COUNTS),
        over=np.zeros(n_jobs, np.int64),
    )


def dependencies_of(workload: Workload) -> Dependencies:
    """The tables of a workload; of jobs that run already nothing is asked any more."""
    dependencies.check(workload)
    table = workload.dependencies
    if table is not None and "running_since" in workload.jobs.columns:
        running = workload.jobs.filter(pl.col("running_since").is_not_nan())["id"]
        table = table.filter(~pl.col("job").is_in(running.implode()))
    if table is None or not len(table):
        return make_dependencies()
    child, parent = dependencies.rows_of(workload, table)
    kind = np.array([Kind[word.upper()] for word in table["kind"].to_list()], np.int64)
    order = np.lexsort((kind, child, parent))
    made = make_dependencies(len(workload), len(table))
    made.edges["child"], made.edges["kind"] = child[order], kind[order]
    made.edges["delay"] = table["delay"].to_numpy()[order]
    made.first[1:] = np.cumsum(np.bincount(parent, minlength=len(workload)))
    thinks = kind == Kind.THINK
    jobs = made.jobs
    jobs["to_submit"] = np.bincount(child[thinks], minlength=len(workload))
    jobs["open"] = np.bincount(child[~thinks], minlength=len(workload))
    jobs["any"][child] = table["any"].to_numpy()
    jobs["left"] = np.where(jobs["any"], np.minimum(jobs["open"], 1), jobs["open"])
    jobs["cancel"] = workload.jobs["cancel"].to_numpy()
    jobs["standing"][child] = Standing.AHEAD
    return made


def submitted_by_others(tables: Dependencies, n_jobs: int) -> np.ndarray:
    """Which jobs are submitted when others end, and not at a time that is known before."""
    found: np.ndarray = tables.jobs["to_submit"] > 0 if len(tables.jobs) else np.zeros(n_jobs, bool)
    return found
