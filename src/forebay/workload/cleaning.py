"""A workload without what is almost surely a slip of its trace: jobs that cannot run, and flurries.

Each step is a line of provenance with its counts. What is odd but may be true stays: gaps, long overruns, jobs that
look alike, perfect estimates.
"""

import dataclasses

import polars as pl

from forebay._support.text import counted
from forebay.errors import InputError
from forebay.workload._checks import oddities
from forebay.workload.operations import only
from forebay.workload.workload import Workload


def clean(w: Workload, n_nodes: int | None = None) -> Workload:
    """The workload without jobs wider than the machine's `n_nodes`, without jobs that do nothing, without flurries.

    A walltime that is not above 0 becomes the run time, as where a trace gives none; where the work is in flop or in
    phases, whose time depends on the machine, there is no limit. Afterwards nothing of these kinds is found any more.
    """
    before = len(w.provenance)
    if n_nodes is None:
        w = dataclasses.replace(w, notes=(*w.notes, "the machine's size is not known: wide jobs are not looked for"))
    else:
        w = _without(w, oddities.wider(w, n_nodes), f"wider than the machine's {counted(n_nodes, 'node')}")
    w = _without(w, oddities.idle(w), "without work")
    w = _timed(w)
    w = _calm(w)
    return w if len(w.provenance) > before else _noted(w, "nothing to do")


def _without(w: Workload, odd: oddities.Flags, what: str) -> Workload:
    """The workload without its odd jobs, begun at 0, if there are any."""
    count = int(odd.sum())
    if not count:
        return w
    if count == len(w):
        raise InputError(
            f"{w.name}: cleaning leaves no job (all {count:,} {what}); is this the right machine and trace?"
        )
    return _noted(only(w, w.jobs.filter(pl.Series(~odd))), f"dropped {counted(count, 'job')} {what}")


def _timed(w: Workload) -> Workload:
    odd = oddities.timeless(w)
    if not odd.any():
        return w
    seconds_alone = pl.col("flop") == 0
    if w.phases is not None:
        seconds_alone &= ~pl.col("id").is_in(w.phases["job"].implode())
    if w.applications is not None:
        seconds_alone &= ~pl.col("id").is_in(w.applications.jobs["job"].implode())
    instead = pl.when(seconds_alone).then("run_time").otherwise(float("inf"))
    walltime = pl.when(pl.Series(odd)).then(instead).otherwise("walltime")
    several = counted(int(odd.sum()), "walltime")
    what = f"{several} not above 0 taken as the run time, or as no limit where that is not in seconds"
    return _noted(dataclasses.replace(w, jobs=w.jobs.with_columns(walltime=walltime)), what)


def _calm(w: Workload) -> Workload:
    """The workload without flurries. The usual day may then be smaller, so that another flurry stands out."""
    while True:
        odd, found = oddities.flurries(w)
        if not odd.any():
            return w
        several = counted(len(found), "flurry", "flurries")
        w = _without(w, odd, f"of {several}; {oddities.largest(w, found)}")


def _noted(w: Workload, what: str) -> Workload:
    return dataclasses.replace(w, provenance=(*w.provenance, f"cleaned: {what}"))
