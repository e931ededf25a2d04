"""How run time grows with the queue, all jobs submitted at once.

    python benchmarks/growth.py [POLICY | shared/POLICY ...]

The former run on whole nodes, the latter on nodes that jobs share (see `sharing_classes.py`).
"""

import math
import sys
import time

import polars as pl
import sharing_classes

import forebay as fb
from forebay.workload import models

PLATFORM = "flat:nodes=128,burst_buffer=500GB"
POLICIES = ("fcfs-easy", "fcfs-bb", "filler", "sjf-easy", "multifactor", "sas", "mebf", "slurm", "conservative-bb")
SHARED = ("fcfs-easy", "multifactor", "slurm", "conservative")
N_JOBS = (1_000, 4_000, 16_000)
MORE = {"fcfs-easy": (64_000, 256_000), "fcfs-bb": (64_000, 256_000), "filler": (64_000, 256_000)}
"""Of policies that are run with more jobs, on whole nodes."""
LESS = {"shared/conservative": (1_000, 4_000)}


def at_once(n_jobs: int) -> fb.Workload:
    """Jobs of lublin99 with requests of the burst-buffer model, seed 1, all submitted at 0."""
    drawn = models.attach(models.generate(f"lublin99:jobs={n_jobs},nodes=128", 1), ["burst-buffer"], 1)
    return fb.Workload(drawn.name, drawn.jobs.with_columns(submit=pl.lit(0.0)))


def seconds(n_jobs: int, named: str) -> float:
    """Processor time of one run."""
    shared, policy = named.startswith("shared/"), named.removeprefix("shared/")
    jobs = sharing_classes.workload(n_jobs) if shared else at_once(n_jobs)
    platform = sharing_classes.machine() if shared else PLATFORM
    begun = time.process_time()
    fb.simulate(jobs, platform, policy, job_model=None if shared else "alloc-only", progress=False)
    return time.process_time() - begun


def main() -> None:
    """A line for each policy: seconds, and the exponent of the last two."""
    for named in sys.argv[1:] or (*POLICIES, *(f"shared/{policy}" for policy in SHARED)):
        seconds(100, named)  # compiled code is read
        counts = (*LESS.get(named, N_JOBS), *MORE.get(named, ()))
        taken = [seconds(n_jobs, named) for n_jobs in counts]
        grows = math.log(taken[-1] / taken[-2]) / math.log(counts[-1] / counts[-2])
        cells = ", ".join(f"{n:,}: {s:.2f} s" for n, s in zip(counts, taken, strict=True))
        print(f"| {named} | {cells} | {grows:.1f} |", flush=True)


if __name__ == "__main__":
    main()
