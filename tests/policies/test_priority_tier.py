"""Priority tiers of partitions: jobs of a higher one go first, in every order."""

import numpy as np
import pytest

import forebay as fb
from forebay.platforms import Partition
from forebay.workload.workload import job_table

small = pytest.mark.small

NAMES = ("low", "high", "middle")
TIERS = dict(zip(NAMES, (1, 9, 4), strict=True))


class InQueueOrder(fb.Policy):
    """Plain Python: the queue is in order already."""

    def decide(self, view, act):
        for job in view.queue:
            if not act.fits(job):
                return
            act.start(job)


def machine(nodes=1, tiers=TIERS, **more):
    """Three partitions of the same nodes."""
    partitions = tuple(Partition(name=name, nodes="all", priority_tier=tier) for name, tier in tiers.items())
    return fb.Platform(name="site", nodes=nodes, partitions=partitions, **more)


def jobs(queues, nodes=1, submit=None, walltime=10.0):
    """Jobs in these partitions, one a second."""
    n = len(queues)
    columns = {"id": np.arange(1, n + 1), "nodes": np.full(n, nodes), "queue": [NAMES.index(queue) for queue in queues]}
    columns["submit"] = np.arange(n, dtype=float) if submit is None else submit
    columns["walltime"] = columns["run_time"] = np.full(n, walltime)
    return fb.Workload("by-hand", job_table(columns), names={"queue": dict(enumerate(NAMES))})


def in_order(result):
    """Jobs as they start."""
    return result.jobs.sort("starting_time", "job_id")["job_id"].to_list()


@small
@pytest.mark.parametrize(
    "policy",
    ["fcfs", "filler", "fcfs-easy", "sjf-easy", "conservative", "priority", "multifactor", "slurm:bf_interval=1s",
     "slurm-bb", "sjf-predict", "fairshare", InQueueOrder()],
)  # fmt: skip
def test_jobs_of_a_higher_tier_go_first(policy):
    """One node. Jobs 2 to 6 wait for job 1, and jobs of one tier go in order of arrival."""
    result = fb.simulate(jobs(("low", "low", "middle", "high", "low", "high")), machine(), policy)
    assert in_order(result) == [1, 4, 6, 3, 2, 5]


@small
def test_tiers_that_are_alike_change_nothing():
    """All 5, say, is as good as all 1."""
    workload = jobs(("low", "low", "middle", "high", "low", "high"))
    hashes = {
        fb.simulate(workload, machine(tiers=dict.fromkeys(NAMES, tier)), "fcfs-easy").facts["log_sha256"]
        for tier in (1, 5)
    }
    assert len(hashes) == 1


@small
def test_a_job_in_two_partitions_has_the_higher_tier():
    """Job 3 may run in both."""
    workload = jobs(("low", "low", "middle"))
    workload = fb.Workload("by-hand", workload.jobs, names={"queue": {0: "low", 2: "low,high"}})
    assert in_order(fb.simulate(workload, machine(), "fcfs")) == [1, 3, 2]


@small
def test_nobody_of_a_lower_tier_delays_the_head_of_a_higher():
    """Two nodes, one in use: job 3 of a higher tier comes later, and goes before job 2; both need both nodes."""
    columns = {"id": [1, 2, 3], "submit": [0.0, 1.0, 2.0], "nodes": [1, 2, 2], "queue": [0, 0, 1]}
    columns |= {"walltime": [10.0] * 3, "run_time": [10.0] * 3}
    workload = fb.Workload("by-hand", job_table(columns), names={"queue": dict(enumerate(NAMES))})
    result = fb.simulate(workload, machine(2), "fcfs-easy")
    assert dict(result.jobs.select("job_id", "starting_time").iter_rows()) == {1: 0.0, 2: 20.0, 3: 10.0}


@pytest.mark.parametrize("n_jobs", [pytest.param(60, marks=small), 1500])
def test_a_long_line_of_many_tiers(n_jobs):
    """Against a sorted list: on one node, whoever waits with the highest tier, then for longest, goes next."""
    rng = np.random.default_rng(n_jobs)
    queues = [NAMES[k] for k in rng.integers(0, 3, n_jobs)]
    submit = np.floor(np.cumsum(rng.exponential(5.0, n_jobs)))
    order, now, waiting, come = [], 0.0, [], 0
    while len(order) < n_jobs:
        now = now if waiting else max(now, submit[come])
        while come < n_jobs and submit[come] <= now:
            waiting.append((-TIERS[queues[come]], come))
            come += 1
        waiting.sort()
        order.append(1 + waiting.pop(0)[1])
        now += 10.0
        while come < n_jobs and submit[come] <= now:
            waiting.append((-TIERS[queues[come]], come))
            come += 1
    assert in_order(fb.simulate(jobs(queues, submit=submit), machine(), "fcfs-easy")) == order
