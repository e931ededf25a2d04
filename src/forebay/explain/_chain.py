"""Who waited for whom: from a job to the one in its way, and on to those in that one's way."""

import polars as pl

from forebay._text import counted
from forebay.errors import InputError
from forebay.explain._reasons import reasons, summary_of
from forebay.results import Result

_BEHIND = ("reserved", "order", "said", "dependency")
"""Reasons whose blocker waits too; that of others holds what is short."""


def check_job(result: Result, job: int) -> None:
    """Refuse a job that the run does not have."""
    ids = result.jobs["job_id"]
    if ids.is_empty() or not (ids == job).any():
        told = (
            f"its {counted(len(ids), 'job')} have numbers from {ids.min()!s} to {ids.max()!s}"
            if len(ids)
            else "it has none"
        )
        raise InputError(f"job {job} is not in the run: {told}; see jobs.csv in its folder")


def chain(result: Result, job: int, why: pl.DataFrame | None = None) -> pl.DataFrame:
    """The jobs in front of a job, as long as each waits itself.

    Of the job it is the longest piece of its main reason; of the one behind which it waited, the longest in the same
    time, and so on. Columns are those of `reasons`, a row a job that waited. The blocker of the last row held what was
    short, or there is none. No rows if the job did not wait.

    Parameters
    ----------
    job
        Its number.
    why
        What `reasons` gave; without it, it is found again.

    Examples
    --------
    >>> result = fb.simulate("table1", policy="fcfs-easy")
    >>> fb.explain.chain(result, 4).select("job_id", "reason", "blocker").rows()
    [(4, 'reserved', 3), (3, 'burst_buffer', 1)]
    """
    check_job(result, job)
    why = reasons(result) if why is None else why
    mine = why.filter(pl.col("job_id") == job, pl.col("reason") != "stage_in")
    if mine.is_empty():
        return why.clear()
    main = summary_of(mine)["reason"][0]
    found = [mine.filter(pl.col("reason") == main).sort("seconds", descending=True, maintain_order=True).head(1)]
    met = {job}
    while (last := found[-1].row(0, named=True))["reason"] in _BEHIND and last["blocker"] not in {None, *met}:
        met.add(last["blocker"])
        shared = pl.min_horizontal("end", pl.lit(last["end"])) - pl.max_horizontal("start", pl.lit(last["start"]))
        theirs = why.filter(pl.col("job_id") == last["blocker"]).filter(shared > 0)
        if theirs.is_empty():
            break
        found.append(theirs.sort(shared, descending=True, maintain_order=True).head(1))
    return pl.concat(found)
