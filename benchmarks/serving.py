"""Ad-hoc file systems, for `bench.py`: malleations of a million blocks, and jobs with servers on a whole machine."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

import forebay as fb
from forebay.core.schemas import PHASE_SCHEMA
from forebay.workload.workload import Workload, job_table

BLOCKS, CHANGES = 1_000_000, 100
JOBS, NODES = 1_000, 500
MODELS = ("adhoc:servers=none", "adhoc:nodes=own", "adhoc", "adhoc:servers=malleable")


def malleate(how: str, sets: int) -> None:
    """A million blocks in so many data sets, while the number of servers changes a hundred times."""
    rng = np.random.default_rng(1)
    fs = fb.adhoc.Hercules(8, block_size=2**20)
    for change in range(CHANGES):
        for one in range(sets):
            fs.write(f"set {one}", BLOCKS // CHANGES // sets)
        fs.resize(int(rng.integers(2, 17)) if change % 2 else 16, how)


def jobs() -> Workload:
    """Jobs on 1 to 128 nodes that read 1 GB a node, write five checkpoints of 4 GB a node, and write 1 GB a node."""
    rng = np.random.default_rng(1)
    nodes, run = 2 ** rng.integers(0, 8, JOBS), rng.lognormal(7.5, 1.2, JOBS)
    submit = np.cumsum(rng.exponential((nodes * run).sum() / NODES / JOBS / 0.8, JOBS))
    columns = {"id": np.arange(JOBS), "submit": submit, "walltime": 3 * run + 600, "run_time": run, "nodes": nodes}
    parts = [("read", 0.0, 1.0), *[("compute", 0.2, 0.0), ("checkpoint", 0.0, 4.0)] * 5, ("write", 0.0, 1.0)]
    rows = [
        (job, 0, kind, share * run[job], 0.0, 0.0, float(size * nodes[job]) * 1e9, None)
        for job in range(JOBS)
        for kind, share, size in parts
    ]
    return Workload("adhoc", job_table(columns), phases=pl.DataFrame(rows, PHASE_SCHEMA, orient="row"))


def simulate(made: Workload, model: str) -> None:
    """One run of another workload, as the program of the last one is kept."""
    fb.simulate(replace(made), f"flat:nodes={NODES},pfs=50GB/s", job_model=model)


def measure(best: Callable[..., float], say: Callable[..., None]) -> None:
    """Lines of the table: see `bench`."""
    for how, sets in (("partial", 1), ("total", 1), ("partial", 10)):
        seconds = best(partial(malleate, how, sets), 3)
        say(f"Hercules, {how}, data sets: {sets}", seconds, f"{BLOCKS:,} blocks, {CHANGES} malleations")
    made = jobs()
    for model in MODELS:
        say(f"{model}, fcfs-bb", best(partial(simulate, made, model), 3), f"{JOBS:,} jobs on {NODES} nodes")
