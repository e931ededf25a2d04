"""Three weeks of a made-up machine, for first runs, tests and examples: 3,000 jobs by the models of the literature.

Sizes, run times and arrivals by lublin99; walltimes by tsafrir05; burst buffers and the split of run times into compute
and I/O as Kopański & Rządca (2021) did for their simulations, on the Dragonfly that they simulated.
"""

import dataclasses

import numpy as np
import polars as pl

from forebay.workload import models
from forebay.workload.workload import Workload

DESCRIPTION = "3,000 made-up jobs for 96 nodes and 480 GB of burst buffer on a Dragonfly, at 80 % load"

N_JOBS, N_NODES, N_USERS = 3000, 96, 60
LOAD = 0.8
SEED = 4  # the first, from 1 on, whose arrivals leave no gap of over a day


def make() -> Workload:
    """The jobs, the same on every call and every machine."""
    w = models.generate(f"lublin99:jobs={N_JOBS},nodes={N_NODES},load={LOAD},longest=24h", SEED)
    w = models.attach(w, ("tsafrir05", "burst-buffer", "io-phases"), SEED)
    by_activity = np.cumsum(1 / np.arange(1, N_USERS + 1))  # Zipf: the second busiest user half as busy as the first
    drawn = models.stream(SEED, "users").random(N_JOBS)
    user = 1 + np.searchsorted(by_activity / by_activity[-1], drawn, side="right")
    jobs = w.jobs.with_columns(
        # Processors differ in the last bits of exp and log: what hangs on them is rounded away.
        run_time=pl.col("run_time").round(3),
        communication=pl.col("communication").round(),
        burst_buffer=pl.col("burst_buffer") // 1000 * 1000,
        user=pl.Series(user),
        group=pl.Series(1 + user % 8),
    )
    made = (
        f"embedded workload default (made up, seed {SEED})",
        *w.provenance,
        f"{N_USERS} users, the r-th 1/r as busy",
    )
    return dataclasses.replace(w, name="default", jobs=jobs, platform="dragonfly-96", provenance=made)
