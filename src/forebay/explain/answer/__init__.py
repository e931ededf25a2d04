"""`forebay.explain(result, job)`: why jobs of a run waited, as one answer."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from forebay._support.paper import InPapers, Table
from forebay._support.text import counted, html_table
from forebay.errors import InputError, wrong_type
from forebay.explain._chain import check_job
from forebay.explain._reasons import reasons
from forebay.explain._words import REASONS
from forebay.explain.answer.explained import Explained
from forebay.explain.answer.worst import Cause, causes
from forebay.metrics._numbers import NONE, percent, seconds
from forebay.results import Result

WORST = 10
"""Causes that are shown where no job is named."""

_COLUMNS = {
    "job_id": pl.Int64,
    "total_wait": pl.Float64,
    "alike": pl.Int64,
    "reason": pl.String,
    "share": pl.Float64,
    "slurm": pl.String,
    "missing": pl.String,
    "because": pl.String,
}


def explain(result: Result, *jobs: int, worst: int | None = None) -> "Explanation":
    """Say why jobs of a run waited, and who was in the way.

    Parameters
    ----------
    result
        The run.
    jobs
        Numbers of jobs. Without any, those that waited longest, one for each cause.
    worst
        How many such causes. Default: 10 where no job is named, else none.

    Returns
    -------
    Explanation
        Tables, sentences, and the same document as `forebay explain --format json`.

    Examples
    --------
    >>> found = fb.explain(fb.simulate("table1", policy="fcfs-easy"), 4)
    >>> print(found)
    job 4 waited for job 3's node reservation; job 3 waited for burst buffer held by job 1
    >>> found.table["job_id", "total_wait", "reason"].rows()
    [(4, 540.0, 'reserved')]
    """
    if not isinstance(result, Result):
        raise wrong_type("the run", result, "a Result: what forebay.simulate or forebay.load gives")
    if worst is not None and worst < 1:
        raise InputError(f"worst is {worst}; give a count from 1 up")
    for job in jobs:
        check_job(result, job)
    run, wanted = Explained(result, reasons(result)), tuple(dict.fromkeys(jobs))
    return Explanation(run, wanted, causes(run, worst or WORST) if worst or not wanted else [])


class Explanation(InPapers):
    """Why jobs waited."""

    def __init__(self, run: Explained, jobs: Sequence[int], worst: Sequence[Cause]):
        self.run, self.jobs, self.worst = run, tuple(jobs), list(worst)

    @property
    def table(self) -> pl.DataFrame:
        """A row a job: its wait, the reason for most of it, and in words what it waited for.

        `alike` counts the other jobs of the longest waits with the same cause.
        """
        rows = [self._row(job, None) for job in self.jobs]
        rows += [self._row(cause.job, len(cause.alike)) for cause in self.worst]
        return pl.DataFrame(rows, _COLUMNS, orient="row")

    def _row(self, job: int, alike: int | None) -> tuple[Any, ...]:
        main = self.run.main(job) or dict.fromkeys(("reason", "share", "slurm", "missing"))
        words = (main[name] for name in ("reason", "share", "slurm", "missing"))
        return job, self.run.row(job)["total_wait"], alike, *words, self.run.in_words(job)

    @property
    def pieces(self) -> pl.DataFrame:
        """Every piece of these waits, by job and time: columns as in `forebay.explain.reasons`."""
        return self.run.why.filter(pl.col("job_id").is_in([*self.jobs, *(cause.job for cause in self.worst)]))

    def document(self) -> dict[str, Any]:
        """All of it, as `forebay explain --format json` writes it."""
        facts, run = self.run.result.facts, self.run
        worst = [run.document(cause.job) | {"alike": cause.alike} for cause in self.worst]
        return {
            "policy": facts.get("policy"),
            **({"epoch": facts["epoch"]} if "epoch" in facts else {}),
            "jobs": [run.document(job) for job in self.jobs],
            **({"worst": worst} if worst else {}),
            "reasons": REASONS,
        }

    def for_papers(self) -> Table:
        """A row a job: its wait, the reason for most of it, and what it waited for."""
        rows = []
        for one in self.table.iter_rows(named=True):
            cells = [one["reason"], percent(one["share"]), one["slurm"], one["because"]]
            rows.append([str(one["job_id"]), seconds(one["total_wait"]), *(cell or NONE for cell in cells)])
        titles = ["job", "wait", "mostly", "share", "Slurm's word", "because"]
        facts = self.run.result.facts
        return Table(titles, rows, (0, 1, 3), f"Why jobs of {facts.get('workload')} waited under {facts.get('policy')}")

    def _sentences(self) -> list[tuple[int, str]]:
        rows = self.table.select("job_id", "because").rows()
        return [(job, because or f"job {job} did not wait") for job, because in rows]

    def __str__(self) -> str:
        """A sentence a job."""
        return "\n".join(words for _, words in self._sentences()) or "no job waited"

    def __repr__(self) -> str:
        """What it is about."""
        waits = counted(len(self.jobs) + len(self.worst), "wait")
        return f"<Explanation of {waits} under {self.run.result.facts.get('policy')}>"

    def _repr_html_(self) -> str:
        """The sentences, in notebooks."""
        return html_table("Explanation", [(f"job {job}", words) for job, words in self._sentences()])
