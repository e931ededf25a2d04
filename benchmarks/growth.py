"""How run time grows with the queue, all jobs submitted at once: `python benchmarks/growth.py [POLICY ...]`."""

import sys
import time

import polars as pl

import forebay as fb
from forebay.workload import models

PLATFORM = "flat:nodes=128,burst_buffer=500GB"
POLICIES = ("fcfs-easy", "fcfs-bb", "filler", "conservative-bb")
N_JOBS = {"conservative-bb": (4_000, 8_000, 16_000)}
"""Of policies that are not run with as many jobs as the others."""


def at_once(n_jobs: int) -> fb.Workload:
    """Jobs of lublin99 with requests of the burst-buffer model, seed 1, all submitted at 0."""
    drawn = models.attach(models.generate(f"lublin99:jobs={n_jobs},nodes=128", 1), ["burst-buffer"], 1)
    return fb.Workload(drawn.name, drawn.jobs.with_columns(submit=pl.lit(0.0)))


def seconds(n_jobs: int, policy: str) -> float:
    """Processor time of one run."""
    jobs = at_once(n_jobs)
    begun = time.process_time()
    fb.simulate(jobs, PLATFORM, policy, job_model="alloc-only", progress=False)
    return time.process_time() - begun


def main() -> None:
    """A line for each policy and number of jobs."""
    for policy in sys.argv[1:] or POLICIES:
        seconds(100, policy)  # compiled code is read
        for n_jobs in N_JOBS.get(policy, (4_000, 16_000, 64_000, 256_000)):
            print(f"| {policy} | {n_jobs:,} | {seconds(n_jobs, policy):.2f} s |", flush=True)


if __name__ == "__main__":
    main()
