"""Users and groups for jobs of which nobody knows whose they are: few users have most jobs, as in every trace.

User k of n has a share of the jobs in proportion to 1 / k^s (Zipf's law): s = 0 gives all the same, and with s = 1 the
first of 50 has 22 %. Each job's user is drawn by itself. Users join groups in turn, so that these have as many users as
one another, but not as many jobs.
"""

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.errors import InputError
from forebay.workload.models import _checks as checks
from forebay.workload.workload import Workload

DESCRIPTION = "users with unequal shares of the jobs (Zipf's law), and groups of users"

_NAME = "users"


def attach(
    workload: Workload, rng: np.random.Generator, *, users: int = 50, zipf: float = 1.0, groups: int = 1
) -> Workload:
    """The workload with a user from 1 to `users` for each job, by Zipf's law with exponent `zipf`, in `groups` groups.

    User k is in group 1 + (k - 1) mod `groups`.
    """
    checks.at_least(_NAME, 1, users=users, groups=groups)
    checks.at_least(_NAME, 0, zipf=zipf)
    if groups > users:
        raise InputError(f"model {_NAME!r}: groups is {groups}; give at most users, which is {users}")
    known = int((workload.jobs["user"] >= 0).sum())
    if known:
        raise InputError(f"{workload.name}: {counted(known, 'job has', 'jobs have')} a user already; leave users as is")
    weights = shares(users, zipf)
    # Not rng.choice: its way of drawing has changed between versions before.
    user = 1 + np.minimum(np.searchsorted(np.cumsum(weights), rng.random(len(workload)), side="right"), users - 1)
    jobs = workload.jobs.with_columns(
        user=pl.Series(user, dtype=pl.Int64), group=pl.Series(1 + (user - 1) % groups, dtype=pl.Int64)
    )
    first = f"{(user == 1).mean():.1%}".replace("%", " %") if len(user) else "0 %"
    line = (
        f"{counted(users, 'user')} in {counted(groups, 'group')} by Zipf's law (exponent {zipf:g}): {first} the first"
    )
    return checks.changed(workload, line, jobs=jobs)


def shares(users: int, zipf: float) -> np.ndarray:
    """The share of the jobs that each user has, the first the most."""
    weights = np.arange(1, users + 1, dtype=np.float64) ** -zipf
    whole: np.ndarray = weights / weights.sum()
    return whole
