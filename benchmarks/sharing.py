"""Speed on shared nodes: 100,000 jobs on 1,000 nodes of 128 cores under EASY.

    python benchmarks/sharing.py [JOBS [LOAD [POLICY]]]

Nine of ten jobs have a part of one node, 1 to 128 cores, mostly powers of two; the others up to 32 whole nodes or
parts of them. Run times are log-normal, walltimes up to three times as long, and memory follows cores, more or less.
"""

import sys
import time

import numpy as np

import forebay as fb
from forebay.platforms import NodeClass
from forebay.workload.workload import job_table

CORES, MEMORY = 128, 512 * 10**9


def machine(nodes: int = 1000) -> fb.Platform:
    """Nodes that are all alike, and shared."""
    return fb.Platform(
        name="shared", classes=(NodeClass(name="cpu", nodes=nodes, cores=CORES, memory=MEMORY),), sharing=True
    )


def workload(n_jobs: int, n_nodes: int = 1000, load: float = 0.95, seed: int = 1) -> fb.Workload:
    """Jobs of parts of nodes at this offered load in cores."""
    rng = np.random.default_rng(seed)
    each = 2.0 ** rng.uniform(0, 7, n_jobs)
    each = np.where(rng.random(n_jobs) < 0.75, 2.0 ** np.rint(np.log2(each)), np.rint(each)).astype(np.int64)
    wide = rng.random(n_jobs) < 0.1
    nodes = np.where(wide, np.rint(2.0 ** rng.uniform(1, 5, n_jobs)), 1).astype(np.int64)
    each = np.where(wide & (rng.random(n_jobs) < 0.8), CORES, each)
    run_time = np.ceil(np.clip(rng.lognormal(7.5, 1.8, n_jobs), 30, 86_400))
    gap = float((nodes * each * run_time).mean()) / (n_nodes * CORES * load)
    submit = np.floor(np.cumsum(rng.exponential(gap, n_jobs)))
    columns = {
        "id": np.arange(1, n_jobs + 1),
        "submit": submit - submit[0],
        "walltime": np.ceil(run_time * rng.uniform(1, 3, n_jobs)),
        "run_time": run_time,
        "nodes": nodes,
        "cores": nodes * each,
        "memory": np.minimum(rng.lognormal(21.5, 0.7, n_jobs) * each, MEMORY).astype(np.int64) * nodes,
    }
    return fb.Workload(f"shared-{n_jobs}", job_table(columns))


def main() -> None:
    """Print the seconds of processor time, and what became of the jobs."""
    given = sys.argv[1:]
    n_jobs, load = int(given[0]) if given else 100_000, float(given[1]) if len(given) > 1 else 0.95
    policy, jobs = given[2] if len(given) > 2 else "fcfs-easy", workload(n_jobs, load=load)
    fb.simulate(workload(100), machine(), policy)  # compiles
    begun = time.process_time()
    result = fb.simulate(jobs, machine(), policy)
    seconds = time.process_time() - begun
    use, waits = fb.metrics.utilisation(result, result.unit), result.jobs["waiting_time"]
    print(f"{n_jobs:,} jobs at load {load:g} under {policy}: {seconds:.2f} s ({result.facts['seconds']:.2f} s the run)")
    print(f"cores in use {use:.1%}, mean wait {waits.mean():.0f} s, waiting at most {_longest(result):,} jobs")


def _longest(result: fb.Result) -> int:
    """The most jobs that waited at a time."""
    frame = result.jobs.drop_nulls("starting_time")
    times = np.concatenate([frame["submission_time"].to_numpy(), frame["starting_time"].to_numpy()])
    change = np.repeat([1, -1], len(frame))
    return int(np.cumsum(change[np.lexsort((change, times))]).max())


if __name__ == "__main__":
    main()
