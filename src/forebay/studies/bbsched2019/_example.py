"""The paper's motivating example: five jobs on 100 nodes with 100 TB of burst buffer."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from forebay.workload import Workload

JOBS = ((80, 20), (10, 85), (40, 5), (10, 0), (20, 0))
"""Nodes and terabytes, in order of arrival."""
PLATFORM = "flat:nodes=100,burst_buffer=100TB"
METHODS = {
    "window-naive": (1, 4),
    "window-constrained:objectives=nodes": (1, 5),
    "window-weighted:weights=80/20": (1, 5),
    "window-packing": (1, 5),
    "bbsched": (2, 3, 4, 5),
    "bbsched-exact": (2, 3, 4, 5),
    "bbsched-exact:rule=coded": (1, 5),
}
"""Methods, and the jobs that start at once: the paper's figure, and its authors' rule."""


def workload() -> "Workload":
    """The five jobs, of equal length."""
    from forebay.workload.workload import Workload, job_table

    n = len(JOBS)
    columns = {
        "id": np.arange(1, n + 1),
        "submit": np.zeros(n),
        "walltime": np.full(n, 3600.0),
        "run_time": np.full(n, 3600.0),
        "nodes": [nodes for nodes, _ in JOBS],
        "burst_buffer": [size * 10**12 for _, size in JOBS],
    }
    return Workload("motivating-example", job_table(columns), platform=PLATFORM)


def started(policy: str) -> tuple[int, ...]:
    """Which jobs start at once."""
    from forebay._run.simulate import simulate

    jobs = simulate(workload(), PLATFORM, policy).jobs
    return tuple(int(job) for job, start in jobs.select("job_id", "starting_time").rows() if start == 0)


def used(jobs: tuple[int, ...]) -> tuple[int, int]:
    """Per cent of nodes and of buffer in use while these run."""
    return sum(JOBS[job - 1][0] for job in jobs), sum(JOBS[job - 1][1] for job in jobs)
