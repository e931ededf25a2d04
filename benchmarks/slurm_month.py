"""Speed of the policy slurm: a month of 38,775 jobs on 1,000 whole nodes.

    python benchmarks/slurm_month.py [LOAD [POLICY]]

Run times are log-normal, walltimes up to three times as long, sizes mostly powers of two up to 256 nodes; there are 200
users of very different zeal. At a load of 1.03 hundreds of jobs wait.
"""

import sys
import time

import numpy as np

import forebay as fb
from forebay.workload.workload import job_table

JOBS, NODES, MONTH = 38_775, 1000, 30 * 86_400
MULTIFACTOR = (
    "slurm:PriorityType=multifactor,PriorityWeightAge=1000,PriorityWeightFairshare=10000,PriorityWeightJobSize=500"
)


def workload(load: float, n_jobs: int = JOBS, seed: int = 1) -> fb.Workload:
    """Jobs at this offered load in nodes."""
    rng = np.random.default_rng(seed)
    nodes = 2.0 ** rng.uniform(0, 8, n_jobs)
    nodes = np.where(rng.random(n_jobs) < 0.75, 2.0 ** np.rint(np.log2(nodes)), np.rint(nodes)).astype(np.int64)
    run_time = np.clip(rng.lognormal(6.5, 1.5, n_jobs), 30, 86_400)
    seconds = MONTH * n_jobs / JOBS
    run_time = np.ceil(run_time * (load * NODES * seconds / float((nodes * run_time).sum())))
    columns = {
        "id": np.arange(1, n_jobs + 1),
        "submit": np.sort(np.floor(rng.uniform(0, seconds, n_jobs))),
        "walltime": np.ceil(run_time * rng.uniform(1, 3, n_jobs) / 60) * 60,
        "run_time": run_time,
        "nodes": nodes,
        "user": np.minimum(rng.zipf(1.5, n_jobs), 200),
    }
    return fb.Workload(f"month-{load:g}", job_table(columns))


def main() -> None:
    """Print the seconds of processor time, and what became of the jobs."""
    given = sys.argv[1:]
    load, policies = float(given[0]) if given else 1.03, given[1:] or ["slurm", MULTIFACTOR]
    jobs = workload(load)
    for policy in policies:
        fb.simulate(workload(load, 100), f"flat:nodes={NODES}", policy)  # compiles
        begun = time.process_time()
        result = fb.simulate(jobs, f"flat:nodes={NODES}", policy)
        seconds = time.process_time() - begun
        name, wait = policy.partition(",")[0], result.jobs["waiting_time"].mean()
        print(f"{name}, load {load:g}: {seconds:.2f} s of processor time, mean wait {wait:.0f} s")
        print(f"  log {result.facts['log_sha256'][:16]}")


if __name__ == "__main__":
    main()
