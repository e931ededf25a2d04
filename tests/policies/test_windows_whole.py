"""Whole nodes of which a site reserves some: what the first job that waits was promised is kept, under EASY.

A promise is worked out from the result alone: see `twins.watched`, to which a node is one that has a single core.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forebay as fb
from cases.pooled import workload
from forebay.platforms import Partition, Reservation
from twins import watched

pytestmark = pytest.mark.small


def random_case(seed, n_jobs=40):
    """Up to 12 nodes in partitions that overlap, one to three reservations of some, and jobs of two users."""
    rng = np.random.default_rng([seed, 7])
    n = int(rng.integers(2, 13))

    def some():
        low = int(rng.integers(n))
        return f"{low}-{rng.integers(low, n)}"

    parts = [Partition(name="all", nodes="all", default=True)]
    parts += [Partition(name=f"p{k}", nodes=some()) for k in range(rng.integers(0, 3))]
    planned = [
        Reservation(
            name=f"r{k}",
            start=float(rng.integers(1, 4 * n_jobs)),
            duration=float(rng.choice((5, 20, 41))),
            nodes=some(),
            users=("1",) if rng.random() < 0.3 else (),
        )
        for k in range(rng.integers(1, 4))
    ]
    sizes = [len(watched._ids(one.nodes, n)) for one in parts]
    rows = []
    for k, submit in enumerate(np.floor(np.cumsum(rng.exponential(4.0, n_jobs)))):
        queue, walltime = int(rng.integers(len(parts))), float(rng.integers(1, 40))
        row = {"id": k + 1, "submit": float(submit), "walltime": walltime, "nodes": int(rng.integers(sizes[queue])) + 1}
        row |= {"run_time": float(rng.integers(1, walltime + 1)), "queue": queue, "user": int(rng.integers(1, 3))}
        rows.append(row)
    made = workload(rows)
    made.names["queue"] = {k: one.name for k, one in enumerate(parts)}
    platform = fb.Platform(name="p", nodes=n, partitions=tuple(parts), reservations=tuple(planned))
    return platform, made


def jobs_of(platform, made, result):
    """All jobs, by arrival, with what became of them."""
    nodes = [watched._ids(one.nodes, platform.nodes) for one in platform.partitions]
    ran = {row["job_id"]: row for row in result.jobs.iter_rows(named=True)}
    found = []
    for row in made.jobs.sort("submit", "id").iter_rows(named=True):
        start, end = ran[row["id"]]["starting_time"], ran[row["id"]]["finish_time"]
        had = {} if start is None else dict.fromkeys(_held(ran[row["id"]]["allocated_resources"]), (1,))
        job = (row["id"], row["submit"], row["walltime"], str(row["user"]), row["nodes"], True, False, (1,))
        found.append(watched.Job(*job, nodes[row["queue"]], start, end, had))
    return found


def _held(text):
    ends = [part.split("-") for part in text.split()]
    return [node for pair in ends for node in range(int(pair[0]), int(pair[-1]) + 1)]


def check(seed, policy):
    """How many promises of a later start there were, all of them kept."""
    platform, made = random_case(seed)
    result = fb.simulate(made, platform, policy)
    jobs, full, planned = jobs_of(platform, made, result), [(1,)] * platform.nodes, watched.windows(platform)
    assert watched.check_room(jobs, full, planned) == (result.jobs["final_state"] != "REJECTED").sum()
    told = watched.promises(jobs, full, planned)
    assert [(job.id, *told[job.id], job.start) for job in jobs if job.id in told and job.start > told[job.id][1]] == []
    return sum(time > now for now, time in told.values())


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), policy=st.sampled_from(("fcfs-easy", "fcfs-bb", "fcfs-bb:depth=3", "conservative")))
def test_the_first_that_waits_starts_by_what_it_was_promised(seed, policy):
    check(seed, policy)


def test_there_are_promises_to_keep():
    assert sum(check(seed, "fcfs-easy") for seed in range(12)) > 12


def run(*rows, planned, policy="fcfs-easy", n_nodes=2):
    jobs = [{"id": k + 1, "submit": 0.0, "nodes": 1, "user": 1, **row} for k, row in enumerate(rows)]
    result = fb.simulate(workload(jobs), fb.Platform(name="p", nodes=n_nodes, reservations=(planned,)), policy)
    return dict(result.jobs.select("job_id", "starting_time").rows())


PART = Reservation(name="part", start=100.0, duration=50.0, nodes="1")


@pytest.mark.parametrize("policy", ["fcfs-easy", "fcfs-bb", "conservative", "fcfs-bb:depth=2"])
def test_a_promise_behind_a_window_stands_while_its_job_is_not_seen(policy):
    """Node 1 of two is reserved from 100 to 150. Job 1 has node 0 to 60, job 2 (both nodes, 50 s) could begin at 60
    and would not end by 100: its turn is 150. Job 3 (100 s) comes at 70, and would be in the way on node 0 until 170:
    it follows job 2. Job 4 (80 s) ends by 150, and starts."""
    rows = (
        {"walltime": 60.0},
        {"nodes": 2, "walltime": 50.0},
        {"submit": 70.0, "walltime": 100.0},
        {"submit": 70.0, "walltime": 80.0},
    )
    assert run(*rows, planned=PART, policy=policy) == {1: 0.0, 2: 150.0, 3: 200.0, 4: 70.0}


@pytest.mark.parametrize("policy", ["fcfs-easy", "conservative"])
def test_nodes_of_a_window_that_lasts_are_promised_behind_its_end(policy):
    """Node 1 is reserved up to 150, job 1 has node 0 up to 400. Job 2 waits for the window's end, and is not delayed
    by job 3 of both nodes' time: it comes at 110, 60 s long, and there is no node for it before."""
    rows = ({"walltime": 400.0}, {"submit": 60.0, "walltime": 90.0}, {"submit": 110.0, "walltime": 60.0})
    assert run(*rows, planned=PART, policy=policy) == {1: 0.0, 2: 150.0, 3: 240.0}
