"""What reservations of numbers of nodes change in mean waits, against reservations of particular nodes, under `slurm`.

    python benchmarks/counted.py [SEEDS]

3,000 jobs of mixed sizes on 256 nodes at an offered load of 0.92: those of `slurm_month.py`, one in ten of a QOS that
goes first. Priorities are of age, size and QOS.
"""

import sys

import numpy as np
import polars as pl
import slurm_month

import forebay as fb

JOBS, NODES, LOAD = 3_000, 256, 0.92
WEIGHTS = (
    "PriorityType=multifactor,PriorityWeightAge=1000,PriorityWeightJobSize=500,PriorityWeightQOS=2000,qos=high=100"
)
POLICIES = ("fcfs-easy", f"slurm:{WEIGHTS}", f"slurm:{WEIGHTS},reservations=counted")


def workload(seed: int) -> fb.Workload:
    """Jobs of up to 256 nodes, with submissions stretched to the load on this machine."""
    drawn = slurm_month.workload(LOAD, JOBS, seed)
    jobs, rng = drawn.jobs, np.random.default_rng([seed, 2])
    work = float((jobs["nodes"] * jobs["run_time"]).sum())
    jobs = jobs.with_columns(
        submit=(pl.col("submit") * (work / (LOAD * NODES) / jobs["submit"].max())).floor(),
        qos=pl.Series((rng.random(JOBS) < 0.1).astype(np.int64)),
    )
    return fb.Workload(f"mixed-{seed}", jobs, names={"qos": {0: "normal", 1: "high"}})


def main() -> None:
    """Mean waits of each seed, and the ratios of their means."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    waits = []
    for seed in range(1, seeds + 1):
        jobs = workload(seed)
        runs = [fb.simulate(jobs, f"flat:nodes={NODES}", policy) for policy in POLICIES]
        waits.append([fb.summary(run)["mean_wait"] / 3600 for run in runs])
        print(f"seed {seed}: " + ", ".join(f"{wait:.2f} h" for wait in waits[-1]), flush=True)
    easy, pinned, counted = np.asarray(waits).T
    ratios = counted / pinned
    print(f"mean: fcfs-easy {easy.mean():.2f} h, pinned {pinned.mean():.2f} h, counted {counted.mean():.2f} h")
    print(f"counted over pinned: {counted.mean() / pinned.mean():.2f} ({ratios.min():.2f} to {ratios.max():.2f})")


if __name__ == "__main__":
    main()
