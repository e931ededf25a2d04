"""Speed with many reservations on shared nodes of three classes, in partitions that overlap.

    python benchmarks/sharing_classes.py [JOBS [POLICY]]

All jobs are submitted at once to 1,000 nodes: most of them plain, some with more memory, some with four GPUs. They are
those of `sharing.py`; each goes to the partition of the plain nodes, of the large ones, of both, or of GPUs.
"""

import sys
import time

import numpy as np
import polars as pl
import sharing

import forebay as fb
from forebay.platforms import NodeClass, Partition

QUEUES = ("plain", "large", "cpu", "gpu")


def machine() -> fb.Platform:
    """700 plain nodes, 200 with four times the memory, 100 with GPUs and half the cores."""
    plain = NodeClass(name="plain", nodes=700, cores=sharing.CORES, memory=sharing.MEMORY)
    large = NodeClass(name="large", nodes=200, cores=sharing.CORES, memory=4 * sharing.MEMORY)
    gpu = NodeClass(name="gpu", nodes=100, cores=sharing.CORES // 2, memory=sharing.MEMORY, gpus=4, gpu="a100")
    nodes = ("0-699", "700-899", "0-899", "900-999")
    parts = [Partition(name=name, nodes=some) for name, some in zip(QUEUES, nodes, strict=True)]
    return fb.Platform(name="classes", classes=(plain, large, gpu), sharing=True, partitions=tuple(parts))


def workload(n_jobs: int, seed: int = 1) -> fb.Workload:
    """Half of the jobs may run on all nodes without GPUs, a tenth asks for GPUs."""
    jobs, rng = sharing.workload(n_jobs, seed=seed), np.random.default_rng([seed, 1])
    queue = rng.choice(4, n_jobs, p=(0.3, 0.1, 0.5, 0.1))
    nodes, cores = jobs.jobs["nodes"].to_numpy(), jobs.jobs["cores"].to_numpy()
    on_gpus = queue == 3
    table = jobs.jobs.with_columns(
        submit=pl.zeros(n_jobs, pl.Float64, eager=True),
        queue=pl.Series(queue),
        cores=pl.Series(np.where(on_gpus, np.maximum(cores // 2, nodes), cores)),
        gpus=pl.Series(np.where(on_gpus, nodes * rng.integers(1, 5, n_jobs), 0)),
    )
    return fb.Workload(f"classes-{n_jobs}", table, names={"queue": dict(enumerate(QUEUES))})


def main() -> None:
    """Print the seconds of processor time, and how long jobs wait."""
    given = sys.argv[1:]
    n_jobs, policy = int(given[0]) if given else 16_000, given[1] if len(given) > 1 else "conservative"
    fb.simulate(workload(100), machine(), policy)  # compiles
    begun = time.process_time()
    result = fb.simulate(workload(n_jobs), machine(), policy)
    seconds, waits = time.process_time() - begun, result.jobs["waiting_time"]
    use = fb.metrics.utilisation(result, result.unit)
    print(f"{n_jobs:,} jobs at once under {policy}: {seconds:.2f} s ({result.facts['seconds']:.2f} s the run)")
    print(f"cores in use {use:.1%}, mean wait {waits.mean():.0f} s")


if __name__ == "__main__":
    main()
