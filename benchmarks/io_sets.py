"""Do I/O schedulers bring what IO-SETS (Boito, Pallez, Teylo & Vidal, 2023) found in simulation?

    python benchmarks/io_sets.py [SEEDS]

The paper reports that SET-10 halves the I/O slowdown of sharing the bandwidth fairly in most scenarios, and uses the
machine 2.5 % better. A scenario has so many applications of three kinds: their I/O begins about every 10, 100 or
1,000 s. All start together, each on a node, and write to one file system. Together, alone, they would keep it busy
for a given share of the time. Of that load applications have parts at random, of the whole or of an equal part for
each kind. The numbers of applications, loads and parts are ours: the shape is that of the paper, whose draws are not
published.
"""

import sys
import time
from itertools import product

import numpy as np
import polars as pl

import forebay as fb
from forebay.core.schemas import PHASE_SCHEMA
from forebay.workload import job_table

PERIODS = (10.0, 100.0, 1000.0)
SCENARIOS = ((20, 20, 20), (40, 10, 10), (10, 40, 10), (10, 10, 40), (30, 30, 0), (30, 0, 30), (0, 30, 30), (5, 5, 5))
"""Applications of each kind."""
LOADS = (0.4, 0.8)
SECONDS = 10_000.0
"""How long an application takes alone: ten periods of the longest kind."""
SCHEDULERS = ("fair", "set-10", "fcfs-io", "io-exclusive-by-remaining", "io-priority", "calciom")


def workload(kinds: tuple[int, ...], load: float, by_kind: bool, seed: int) -> fb.Workload:
    """Applications that compute and write in turns; 1 GB/s is all that the file system has."""
    rng = np.random.default_rng([seed, *kinds, round(100 * load)])
    rows: list[tuple[object, ...]] = []
    parts = [rng.uniform(0.0, 1.0, count) for count in kinds]
    there, whole, job = sum(map(bool, kinds)), sum(map(np.sum, parts)), 0
    for mine, period in zip(parts, PERIODS, strict=True):
        for part in mine / (there * mine.sum() if by_kind else whole):
            own = max(rng.normal(period, period / 10), period / 10)  # seconds from one I/O phase to the next
            writes = own * part * load
            first = rng.uniform(0, own)  # none begins in step
            for k in range(round(SECONDS / own)):
                computes = (own - writes) if k else first
                rows.append((job, 0, "compute", computes, 0.0, 0.0, 0.0, None))
                rows.append((job, 0, "write", 0.0, 0.0, 0.0, writes * 1e9, None))
            job += 1
    table = {"id": range(job), "submit": [0.0] * job, "walltime": [1e9] * job, "run_time": [1.0] * job}
    jobs = job_table(table | {"nodes": [1] * job, "user": range(job)})
    return fb.Workload("io-sets", jobs, phases=pl.DataFrame(rows, PHASE_SCHEMA, orient="row"))


def numbers(made: fb.Workload, scheduler: str) -> tuple[float, float]:
    """Mean I/O slowdown, and the share of the time of nodes with jobs in which these compute."""
    result = fb.simulate(made, f"flat:nodes={len(made)},pfs=1GB/s", f"fcfs+io:{scheduler}", job_model="io-aware")
    jobs = result.jobs
    computes = (jobs["execution_time"] - jobs["transfer_time"]).sum() / jobs["execution_time"].sum()
    return float(fb.summary(result)["mean_io_slowdown"]), float(computes)


def judged(found: dict[str, np.ndarray]) -> str:
    """What set-10 brings against fair, over scenarios and draws."""
    (slow, used), (fair, usual) = found["set-10"].T, found["fair"].T
    ratio = slow / fair
    return (
        f"  set-10 / fair: I/O slowdown {np.median(ratio):.2f} (median; {ratio.min():.2f} to {ratio.max():.2f}), below "
        f"fair in {np.mean(ratio < 1):.0%}, at most half in {np.mean(ratio <= 0.5):.0%}; what exceeds 1: "
        f"{np.median((slow - 1) / (fair - 1)):.2f}; compute share {100 * np.mean(used / usual - 1):+.1f} %"
    )


def main(seeds: int) -> None:
    """Each scheduler against fair, by load and scenario; then the claims."""
    begun = time.process_time()
    for by_kind, load in product((True, False), LOADS):
        print(f"load {load:g}, parts of {'an equal load for each kind' if by_kind else 'the whole'}")
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in SCHEDULERS}
        for kinds in SCENARIOS:
            for seed, scheduler in product(range(seeds), SCHEDULERS):
                found[scheduler].append(numbers(workload(kinds, load, by_kind, seed), scheduler))
            means = {name: np.mean(found[name][-seeds:], axis=0) for name in SCHEDULERS}
            cells = [f"{name} {slow:.2f} ({100 * used:.1f} %)" for name, (slow, used) in means.items()]
            print(f"  {kinds}: {', '.join(cells)}", flush=True)
        print(judged({name: np.array(rows) for name, rows in found.items()}), flush=True)
    print(f"{time.process_time() - begun:.0f} s of processor time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
