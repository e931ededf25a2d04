"""Which limit of a site rejected a job: the log says only that one did, so its jobs are counted here again.

A limit on submitted jobs depends on how many of them wait and run when a job comes, and so on the policy.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from forebay._run.case import case_of
from forebay.core.limits import NO_LIMIT
from forebay.platforms.rules import KEYS, Rule
from forebay.workload.names import called

if TYPE_CHECKING:
    from forebay.engine.limits.build import Site
    from forebay.results import Result
    from forebay.workload import Workload

_SUBMITS = {"": "grp_submit", "PerUser": "max_submit_per_user", "PerAccount": "max_submit_per_account"}


def turned_away(setting: Any, policy: Any, result: "Result") -> dict[int, str]:
    """The limit that rejected each job at its submission, by job id: "MaxSubmitPerUser=4 of user 17"."""
    case = case_of(setting.workload, setting.platform, policy, setting.seed, setting.job_model, setting.failures)
    site, workload = case.site, case.workload
    limited = np.flatnonzero(site.meters.table["max_submit"] < NO_LIMIT)
    if not len(limited):
        return {}
    ids = workload.jobs["id"].to_numpy()
    log = result.log.with_row_index("row").filter(pl.col("job").is_not_null())
    kind, reason = pl.col("kind").cast(pl.String), pl.col("reason").cast(pl.String)
    refused = log.filter((kind == "reject") & (reason == "over_limit")).select("job", "row")
    taken = log.filter(~pl.col("job").is_in(refused["job"].to_list()))
    spans = (
        taken.filter(kind.is_in(["submit", "end", "cancel", "reject"]))
        .group_by("job")
        .agg(first=pl.col("row").min(), last=pl.col("row").max())
    )
    rows = {int(job): row for row, job in enumerate(ids.tolist())}
    spans = spans.with_columns(place=pl.col("job").replace_strict(rows, return_dtype=pl.Int64))
    found: dict[int, str] = {}
    for meter in limited.tolist():
        members = np.flatnonzero(_under(site, meter, len(ids)))
        mine = spans.filter(pl.col("place").is_in(members.tolist()))
        came, went = np.sort(mine["first"].to_numpy()), np.sort(mine["last"].to_numpy())
        most, inside = int(site.meters.table["max_submit"][meter]), set(members.tolist())
        words = _words(site, workload, meter, int(members[0]))
        for job, row in refused.iter_rows():
            there = int(np.searchsorted(came, row) - np.searchsorted(went, row))
            if job not in found and rows[job] in inside and there + 1 > most:
                found[job] = words
    return found


def _under(site: "Site", meter: int, n_jobs: int) -> np.ndarray:
    """Which jobs a meter counts."""
    owner = np.repeat(np.arange(n_jobs), np.diff(site.meters.first))
    under = np.zeros(n_jobs, bool)
    under[owner[site.meters.of == meter]] = True
    return under


def _words(site: "Site", workload: "Workload", meter: int, member: int) -> str:
    """A limit by its name, with its value and its owner."""
    count = site.counts[site.count_of[meter]]
    whose = list(_selected(count.rule))
    if count.kind:
        column = "user" if count.kind == "PerUser" else "account"
        number = int(workload.jobs[column][member])
        whose = [
            f"{column} {called(workload.names, column, number)}",
            *(one for one in whose if not one.startswith(column)),
        ]
    return f"{KEYS[_SUBMITS[count.kind]]}={count.submit} of {', '.join(whose) or 'all jobs'}"


def _selected(rule: Rule) -> Iterator[str]:
    for key, name in rule.who.items():
        yield f"{'partition' if key == 'queue' else key} {name}"
