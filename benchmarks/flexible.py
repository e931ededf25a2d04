"""Jobs that change their size: workloads to measure with, and what they take. `make bench` prints it, too."""

import numpy as np
import polars as pl

import forebay as fb
from forebay.workload import applications, job_table

PLATFORM = "flat:nodes=500,port=12.5GB/s,pfs=48GB/s"
SIZES = np.arange(3, 22)


def workload(n_jobs: int, share: float, rounds: tuple[int, int], spacing: float) -> fb.Workload:
    """Jobs of some rounds of compute and write, of which a share may have 3 to 21 nodes; the others have one size."""
    rng = np.random.default_rng(1)
    work, size = rng.uniform(0, 2000, n_jobs), rng.beta(2, 8, n_jobs) * 256 * 2**30
    nodes, malleable = rng.integers(3, 22, n_jobs), rng.random(n_jobs) < share
    job, tasks = np.arange(n_jobs), np.tile([0, 1], n_jobs)
    count = np.where(malleable, len(SIZES), 1)
    of = np.repeat(job, count)
    n = np.where(malleable[of], SIZES[(np.arange(len(of)) - (np.cumsum(count) - count)[of]) % len(SIZES)], nodes[of])
    zero, walltime = np.zeros(len(of)), 86400.0
    amounts = [
        pl.DataFrame({"job": of, "task": np.full(len(of), task), "nodes": n, "seconds": seconds, "flop": zero,
                      "communication": zero, "bytes": moved, "streams": n})
        for task, seconds, moved in ((0, work[of] / n, zero), (1, zero, size[of]))
    ]  # fmt: skip
    tables = {
        "jobs": pl.DataFrame({"job": job, "type": np.where(malleable, "malleable", "rigid")}),
        "sizes": pl.DataFrame({"job": of, "nodes": n, "walltime": np.full(len(of), walltime)}),
        "loops": pl.DataFrame({"job": job, "loop": np.zeros(n_jobs, np.int64), "rounds": rng.integers(*rounds, n_jobs),
                               "point": malleable, "barrier": np.ones(n_jobs, bool)}),
        "tasks": pl.DataFrame({"job": np.repeat(job, 2), "task": tasks}).with_columns(
            stage=pl.lit("run"), loop=pl.lit(0, pl.Int64),
            kind=pl.when(pl.col("task") == 0).then(pl.lit("compute")).otherwise(pl.lit("write")),
            beside=pl.lit(False), coupled=pl.lit(True),
        ),
        "amounts": pl.concat(amounts).sort("job", "task", "nodes"),
        "requests": applications.empty("requests"),
    }  # fmt: skip
    columns = {
        "id": job,
        "submit": np.sort(rng.uniform(0, n_jobs * spacing, n_jobs)),
        "walltime": np.full(n_jobs, walltime),
        "run_time": np.zeros(n_jobs),
        "nodes": nodes,
    }
    return fb.Workload("flexible", job_table(columns), applications=applications.Applications(**tables))


CASES = {
    "4,000 jobs, 20 % malleable": (4000, 0.2, (10, 26), 40.0),
    "100,000 malleable jobs": (100_000, 1.0, (1, 8), 9.0),
}
POLICIES = ("fcfs-easy", "fcfs-malleable", "fcfs-malleable:when=idle")
MODELS = {
    "admire-io": ("fcfs-malleable", "io-intensity", "io-bb"),
    "admire-mebf:jobs=300": ("ebf", "mebf:times=recorded"),
}
"""Workloads of models, on the machines that they name, and policies to run them under."""
