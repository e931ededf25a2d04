"""What a workload tells of its jobs, as estimators are given it."""

import math

import numpy as np
import polars as pl

from forebay.learn._base import Asked
from forebay.workload import Workload
from forebay.workload._source import tells_requests

_NAMES = ("job_name", "jobname", "name", "application", "app", "executable")
"""Columns of an author's own that say what a job runs, the first there is counts."""


def asked_of(w: Workload, jobs: pl.DataFrame | None = None) -> list[Asked]:
    """A row for each job of a workload, or of a part of its job table.

    Examples
    --------
    >>> fb.learn.asked_of(fb.read("table1"))[0]
    Asked(user=-1, nodes=1, walltime=600.0, name=-1, queue=-1, cores=0, array=-1)
    """
    table = w.jobs if jobs is None else jobs
    own = next((name for name in _NAMES if w.jobs.schema.get(name) == pl.String), None)
    called = np.full(len(table), -1)
    if own is not None:
        known = {word: number for number, word in enumerate(w.jobs[own].drop_nulls().unique(maintain_order=True))}
        called = np.array([known.get(word, -1) for word in table[own]])
    request = table["walltime"].to_list() if tells_requests(w) else [math.inf] * len(table)
    cores, array = (
        table[name].to_list() if name in table.columns else [unknown] * len(table)
        for name, unknown in (("cores", 0), ("array", -1))
    )
    users, nodes, queues = (table[name].to_list() for name in ("user", "nodes", "queue"))
    rows = zip(users, nodes, request, called.tolist(), queues, cores, array, strict=True)
    return [Asked(*row) for row in rows]
