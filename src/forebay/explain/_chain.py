"""Who waited for whom: from a job to the one in its way, and on to those in that one's way."""

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.errors import InputError, wrong_type
from forebay.explain._reasons import reasons
from forebay.results import Result

_BEHIND = ("reserved", "order", "said", "dependency")
"""Reasons whose blocker waits too; that of others holds what is short."""


def check_job(result: Result, job: int) -> None:
    """Refuse a job that the run does not have."""
    if not isinstance(job, int | np.integer):
        raise wrong_type("the job", job, "its number")
    ids = result.jobs["job_id"]
    if ids.is_empty() or not (ids == job).any():
        text = (
            f"its {counted(len(ids), 'job')} have numbers from {ids.min()!s} to {ids.max()!s}"
            if len(ids)
            else "it has none"
        )
        raise InputError(f"job {job} is not in the run: {text}; see jobs.csv in its folder")


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
    rows = Chains(why).rows(job)
    return why[rows] if rows else why.clear()


class Chains:
    """Pieces of all jobs, ready to be followed."""

    def __init__(self, why: pl.DataFrame):
        """`why` is what `reasons` gave: by job and start."""
        jobs = why["job_id"].to_numpy()
        ids, begins, counts = np.unique(jobs, return_index=True, return_counts=True)
        self._rows = {job: range(a, a + n) for job, a, n in np.stack([ids, begins, counts], axis=1).tolist()}
        self._start, self._end, self._seconds = (why[name].to_numpy() for name in ("start", "end", "seconds"))
        self._reason, self._blocker = why["reason"].to_list(), why["blocker"].to_list()

    def rows(self, job: int) -> list[int]:
        """Which pieces the chain of a job is; none if it did not wait."""
        mine = [k for k in self._of(job) if self._reason[k] != "stage_in"]
        if not mine:
            return []
        total: dict[str, float] = {}
        for k in mine:
            total[self._reason[k]] = total.get(self._reason[k], 0.0) + self._seconds[k]
        main = max(total, key=lambda reason: total[reason])
        found, met = [max((k for k in mine if self._reason[k] == main), key=lambda k: self._seconds[k])], {job}
        while self._reason[last := found[-1]] in _BEHIND and self._blocker[last] not in {None, *met}:
            met.add(self._blocker[last])
            shared = {
                k: min(self._end[k], self._end[last]) - max(self._start[k], self._start[last])
                for k in self._of(self._blocker[last])
            }
            if not shared or max(shared.values()) <= 0:
                break
            found.append(max(shared, key=lambda k: shared[k]))
        return found

    def _of(self, job: int) -> range:
        return self._rows.get(job, range(0))
