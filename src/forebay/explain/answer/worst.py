"""The longest waits of a run, one for each cause: of a hundred jobs with the same cause, one is shown."""

import re
from typing import Any, NamedTuple

import polars as pl

from forebay.explain.answer.explained import Explained

LOOKED_AT = 1_000
"""The number of longest waits in which causes are looked for."""
_AMOUNT = re.compile(r"^cores on |^idle | (?:that have|with) [^()]* free$| for tasks of .*$")
"""Words for how much a job lacks: jobs with the same cause may lack more or less."""

_MOST = 0.5
"""The share from which on one user counts as the holder of what is short."""


class Cause(NamedTuple):
    """A job, and others that wait for the same cause."""

    job: int
    alike: list[int]


def causes(run: Explained, n: int) -> list[Cause]:
    """The jobs that waited longest: at most `n`, no two with the same cause."""
    waited = run.result.jobs.filter(pl.col("total_wait") > 0)
    jobs = waited.sort("total_wait", descending=True, maintain_order=True).head(LOOKED_AT)["job_id"].to_list()
    found: dict[Any, Cause] = {}
    for job in jobs:
        key = _cause(run, job)
        if key in found:
            found[key].alike.append(job)
        else:
            found[key] = Cause(job, [])
    return list(found.values())[:n]


def _cause(run: Explained, job: int) -> Any:
    """What is at the end of a job's chain: the reason, what is short there, and which user holds it."""
    links = run.chain(job)
    if not links:
        return None
    first, last = links[0], links[-1]
    if last["missing"] is None:
        return first["reason"], last["reason"], last["blocker"], last["detail"] if last["blocker"] is None else ""
    held = run.held(last["job_id"], last["missing"])
    if not held.height or held["user"][0] is None:
        return first["reason"], _AMOUNT.sub("", last["missing"]), last["blocker"]
    user, share = held.row(0, named=True)["user"], held["share"][0]
    return first["reason"], _AMOUNT.sub("", last["missing"]), user if share >= _MOST else "several"
