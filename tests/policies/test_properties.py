"""What must hold on any workload. Hypothesis looks for one on which it does not, and makes it small."""

import dataclasses
import math
import random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import forebay
from cases import pooled
from forebay.errors import StalledError
from forebay.platforms import NodeClass, Partition
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import node_local
from forebay.policies._families.backfill import Backfill
from forebay.policies._kernels.backfill import lazy
from forebay.policies._orders import ALL
from twins.backfill import PRESETS
from twins.backfill import simulate as slow_run
from twins.compare import ids
from twins.jobs import jobs_of, large_in
from twins.park import Park

MACHINE = pooled.platform(4, 10)
TWO_KINDS = Platform(
    name="kinds", nodes=5, tiers=(node_local.Tier(name="ssd", capacity=1, large=2, large_nodes=2), *MACHINE.tiers)
)
"""Nodes 0 to 2 are small, 3 and 4 large."""
QUEUES = ("a", "b", "c", "a,c", "all")
DIVIDED = Platform(
    name="divided",
    classes=(NodeClass(name="cpu", nodes=4), NodeClass(name="gpu", nodes=2)),
    partitions=(
        Partition(name="a", nodes="0-2"),
        Partition(name="b", nodes="2-4"),
        Partition(name="c", classes=("gpu",)),
        Partition(name="all", nodes="all", default=True),
    ),
    tiers=MACHINE.tiers,
)
"""Nodes 0 and 1 are in a, 2 in a and b, 3 in b, 4 in b and c, 5 in c."""
SEEDS = st.integers(0, 10**6)  # of cases.pooled: several legs, releases, jobs too large or too long

pytestmark = pytest.mark.small


@st.composite
def exact_jobs(draw):
    """Jobs of one leg whose users know their run times; small whole numbers, so ties are everywhere."""
    small = st.integers(1, 6)
    shapes = st.tuples(st.integers(0, 12), small, st.integers(1, 4), st.integers(0, 10), st.integers(0, 2))
    rows = draw(st.lists(shapes, min_size=1, max_size=12))
    return pooled.workload(
        [
            {"id": i, "submit": float(t), "walltime": float(s), "nodes": n, "burst_buffer": b, "priority": float(p)}
            for i, (t, s, n, b, p) in enumerate(rows, 1)
        ]
    )


@st.composite
def jobs_of_kinds(draw):
    """The same for nodes of two kinds: jobs that may have either, and jobs that need large ones, two at most."""
    small = st.integers(1, 6)
    shapes = st.tuples(st.integers(0, 12), small, st.integers(1, 5), st.integers(0, 10), st.integers(0, 2))
    rows = draw(st.lists(shapes, min_size=1, max_size=12))
    return pooled.workload(
        [
            {"id": i, "submit": float(t), "walltime": float(s), "nodes": n, "burst_buffer": b, "ssd": n * each}
            for i, (t, s, n, b, each) in enumerate(
                [(*row[:4], row[4] if row[2] < 3 else row[4] % 2) for row in rows], 1
            )
        ]
    )


@st.composite
def jobs_of_partitions(draw):
    """The same for a machine whose partitions overlap: jobs in one of them, in both, or anywhere."""
    queues, small = st.integers(0, len(QUEUES) - 1), st.integers(1, 6)
    shapes = st.tuples(st.integers(0, 12), small, st.integers(1, 6), st.integers(0, 10), queues)
    rows = [
        {"id": i, "submit": float(t), "walltime": float(s), "nodes": n, "burst_buffer": b, "queue": queue}
        for i, (t, s, n, b, queue) in enumerate(draw(st.lists(shapes, min_size=1, max_size=12)), 1)
    ]
    return dataclasses.replace(pooled.workload(rows), names={"queue": dict(enumerate(QUEUES))})


@st.composite
def any_policy(draw):
    """A preset, or random parameters of the family; with the twin's parameters."""
    if draw(st.booleans()):
        name = draw(st.sampled_from(sorted(PRESETS)))
        return name, PRESETS[name]
    seed = draw(SEEDS)
    return Backfill(**pooled.policy(seed, ALL)), pooled.policy(seed, math.inf)


def simulate(workload, platform, policy, seed=0):
    """A run, or None where legs that hold what they carry lock each other out; the twin must see that too."""
    try:
        return forebay.simulate(workload, platform, policy[0], seed=seed)
    except StalledError:
        assert slow_run(workload, platform, policy[1]).queue
        return None


def replay(result):
    """Add up the log: what is in use after each instant, by resource; never below 0, never above the capacity."""
    used, held = dict.fromkeys(result.resources, 0), {}
    signs = {"start": 1, "acquire": 1, "end": -1, "release": -1}
    for job, kind, resource, amount in result.log.select("job", "kind", "resource", "amount").rows():
        if kind not in signs:
            continue
        assert amount >= 0
        used[resource] += signs[kind] * amount
        held[job, resource] = held.get((job, resource), 0) + signs[kind] * amount
        assert held[job, resource] >= 0
        assert 0 <= used[resource] <= result.resources[resource]
    return held


@given(SEEDS, any_policy())
def test_never_oversubscribed_and_all_given_back(case, policy):
    result = simulate(*pooled.make(case), policy)
    if result is not None:
        assert set(replay(result).values()) <= {0}


@given(exact_jobs(), any_policy())
def test_no_node_is_shared(workload, policy):
    """Jobs of one leg hold their node ids from start to finish: two that overlap in time share none."""
    jobs = forebay.simulate(workload, MACHINE, policy[0]).jobs
    rows = jobs.select("starting_time", "finish_time", "allocated_resources", "requested_number_of_resources").rows()
    for i, (start, finish, text, count) in enumerate(rows):
        assert len(ids(text)) == count
        for start2, finish2, text2, _ in rows[:i]:
            if start < finish2 and start2 < finish:
                assert not ids(text) & ids(text2)


@given(SEEDS, any_policy())
def test_large_nodes_are_counted_as_they_are(case, policy):
    """On nodes of two kinds: never oversubscribed, all given back, and who needs large nodes has nothing else."""
    workload, machine = pooled.with_kinds(*pooled.make(case, legs=False), case)
    result = simulate(workload, machine, policy)
    assert set(replay(result).values()) <= {0}
    first = machine.nodes - machine.kinds.large_nodes
    starts = result.log.filter(pl.col("resource") == f"{machine.kinds.name}_large", pl.col("kind") == "acquire")
    taken = dict(starts.select("job", "amount").rows())
    for job, row in zip(jobs_of(workload, machine), result.jobs.to_dicts(), strict=True):
        held = ids(row["allocated_resources"])
        assert large_in(held, first) == taken.get(job.id, 0)
        assert not held or job.legs[0].demand[-1] <= large_in(held, first)


@given(SEEDS, any_policy())
def test_no_start_before_submit_and_every_feasible_job_ends(case, policy):
    workload, platform = pooled.make(case)
    result = simulate(workload, platform, policy)
    if result is None:
        return
    capacities = list(platform.capacities)
    for job, row in zip(jobs_of(workload, platform), result.jobs.to_dicts(), strict=True):
        feasible = all(need <= have for leg in job.legs for need, have in zip(leg.demand, capacities, strict=True))
        assert (row["final_state"] != "REJECTED") == feasible
        if feasible:
            assert row["submission_time"] <= row["starting_time"] <= row["finish_time"]


@given(SEEDS, any_policy(), st.integers(0, 5))
def test_same_seed_same_log(case, policy, seed):
    runs = [simulate(*pooled.make(case), policy, seed) for _ in range(2)]
    hashes = [run and run.facts["log_sha256"] for run in runs]
    assert hashes[0] == hashes[1]


def reservations(workload, policy, machine=MACHINE):
    """By the twin: for each job, the first time it was promised; and when it was promised that."""
    promised = {}

    def watch(now, reserved):
        for job, time in reserved.items():
            promised.setdefault(job, (now, time))

    slow_run(workload, machine, PRESETS[policy], watch=watch)
    return promised


def check_first_promises(workload, machine):
    starts = dict(forebay.simulate(workload, machine, "conservative-bb").jobs.select("job_id", "starting_time").rows())
    submits = dict(workload.jobs.select("id", "submit").rows())
    for job, (now, time) in reservations(workload, "conservative-bb", machine).items():
        assert now == submits[job]  # who does not start at once is promised a time at once
        assert starts[job] <= time


@given(exact_jobs())
def test_conservative_keeps_its_first_promise(workload):
    """With exact walltimes no later arrival delays a job beyond the reservation made on its own arrival."""
    check_first_promises(workload, MACHINE)


@given(jobs_of_kinds())
def test_conservative_keeps_its_first_promise_on_nodes_of_two_kinds(workload):
    """Reservations are of so many nodes of each kind, and starts take just these."""
    check_first_promises(workload, TWO_KINDS)


def check_heads(workload, machine):
    starts = dict(forebay.simulate(workload, machine, "fcfs-bb").jobs.select("job_id", "starting_time").rows())
    for job, (_, time) in reservations(workload, "fcfs-bb", machine).items():
        assert starts[job] <= time


@given(exact_jobs())
def test_easy_keeps_its_promise_to_the_head(workload):
    """With exact walltimes the head starts by the time it was promised when it became the head."""
    check_heads(workload, MACHINE)


@given(jobs_of_kinds())
def test_easy_keeps_its_promise_to_the_head_on_nodes_of_two_kinds(workload):
    check_heads(workload, TWO_KINDS)


@given(jobs_of_partitions())
def test_conservative_keeps_its_first_promise_in_partitions(workload):
    """Reservations are of so many nodes of each atom, also where sets of atoms overlap, and starts take just these."""
    check_first_promises(workload, DIVIDED)


@given(jobs_of_partitions())
def test_easy_keeps_its_promise_to_the_head_in_partitions(workload):
    check_heads(workload, DIVIDED)


@given(jobs_of_partitions(), any_policy())
def test_jobs_run_where_they_may_and_nodes_are_counted_as_they_are(workload, policy):
    """Never oversubscribed, all given back; and what the log says of each atom is what the nodes are."""
    result = forebay.simulate(workload, DIVIDED, policy[0])
    assert set(replay(result).values()) <= {0}
    taken = result.log.filter(pl.col("kind") == "acquire", pl.col("resource").cast(pl.String).str.starts_with("nodes."))
    said = {(job, name): amount for job, name, amount in taken.select("job", "resource", "amount").rows()}
    park, names = Park(DIVIDED), DIVIDED.resources[-5:]
    for row, asked in zip(result.jobs.to_dicts(), workload.jobs.to_dicts(), strict=True):
        held = ids(row["allocated_resources"] or "")
        assert all(park.may_have(node, asked, workload.names) for node in held)
        for name, run in zip(names, park.runs, strict=True):
            assert said.get((row["job_id"], name), 0) == len(held & set(run))


@given(jobs_of_partitions(), st.sampled_from(("nodes", "all")), st.sampled_from((1, 3, ALL)))
def test_one_reservation_equals_the_general_profile_in_partitions(workload, reserve, max_backfill):
    params = {"depth": 1, "reserve": reserve, "max_backfill": max_backfill}
    same_starts(workload, DIVIDED, Backfill(**params), params)


def same_starts(workload, platform, policy, params):
    fast = forebay.simulate(workload, platform, policy).log.filter(pl.col("kind") == "start")
    slow = slow_run(workload, platform, params).starts
    assert fast.select("time", "job").rows() == [(time, job) for time, job, _, _ in slow]


@given(exact_jobs(), st.sampled_from(("nodes", "all")), st.sampled_from((1, 3, ALL)))
def test_one_reservation_equals_the_general_profile(workload, reserve, max_backfill):
    """depth=1 has a short cut in the engine; the twin has one way for every depth."""
    params = {"depth": 1, "reserve": reserve, "max_backfill": max_backfill}
    same_starts(workload, MACHINE, Backfill(**params), params)


@given(jobs_of_kinds(), st.sampled_from(("nodes", "all")), st.sampled_from((1, 3, ALL)))
def test_one_reservation_equals_the_general_profile_on_nodes_of_two_kinds(workload, reserve, max_backfill):
    params = {"depth": 1, "reserve": reserve, "max_backfill": max_backfill}
    same_starts(workload, TWO_KINDS, Backfill(**params), params)


@pytest.mark.parametrize("reserve", ["nodes", "all"])
def test_one_reservation_in_a_long_queue(reserve):
    """120 jobs at once on 16 nodes: many ends before the head's turn, many candidates on either side of it."""
    rng = random.Random(7)
    jobs = [
        {
            "id": i,
            "submit": 0.0,
            "walltime": float(rng.choice((1, 2, 3, 5, 8, 13))),
            "nodes": rng.choice((1, 1, 2, 3, 5, 12, 16)),
            "burst_buffer": rng.choice((0, 1, 4, 9)),
        }
        for i in range(120)
    ]
    params = {"depth": 1, "reserve": reserve}
    same_starts(pooled.workload(jobs), pooled.platform(16, 12), Backfill(**params), params)


@pytest.mark.parametrize("seed", range(3))
def test_all_reservations_in_a_queue_of_all_shapes(seed, monkeypatch):
    """40 jobs, most of them at once: more cannot begin, of whom none asks for more than another, than are kept in mind.

    With the compiler off, that is: then these are 3.
    """
    monkeypatch.setattr(lazy, "_KEPT", 3)
    rng = random.Random(seed)
    jobs = []
    for i in range(40):
        seconds, nodes = rng.randint(1, 400), rng.randint(1, 16)
        submit, room = rng.choice((0.0, 0.0, 0.0, float(rng.randint(1, 900)))), rng.randint(0, 12)
        asked = {"walltime": float(seconds), "run_time": seconds * rng.random(), "nodes": nodes, "burst_buffer": room}
        jobs.append({"id": i, "submit": submit, **asked})
    params = {"depth": ALL, "reserve": "all"}
    same_starts(pooled.workload(jobs), pooled.platform(16, 12), Backfill(**params), params)


def test_backfilling_beside_the_reservation_by_hand():
    """Candidates may end before the head's turn, or fit beside it for good; what is left beside it is used up once.

    10 nodes. Job 1 has 8 until 10. Head 2 (7 nodes) is promised 10, when 10 nodes are free: 3 are spare. Free now: 2.
    Jobs 3 and 4 (1 node, 20 s each) take a spare one each and start at 0. Nothing is free for 5 and 6, nor for 7 and 8
    at 2. At 10 job 1 ends: 8 free; 2 takes 7, 1 is left. Head is now 5 (2 nodes, 9 s), promised 15, when 2 ends. Job 6
    (1 node, 10 s) would run until 20: from 15 on 8 nodes are free and 5 takes 2, so it fits beside and starts at 10.
    Nothing is free for 7 (1 node, 5 s) and 8 (1 node) until 15, when 5 and both of them start.
    """
    rows = [(8, 10), (7, 5), (1, 20), (1, 20), (2, 9), (1, 10), (1, 5), (1, 1)]
    jobs = [
        {"id": i, "submit": 0.0 if i < 7 else 2.0, "walltime": float(s), "nodes": n} for i, (n, s) in enumerate(rows, 1)
    ]
    for policy in ("fcfs-easy", "fcfs-bb"):
        result = forebay.simulate(pooled.workload(jobs), pooled.platform(10), policy)
        assert result.jobs["starting_time"].to_list() == [0, 10, 0, 0, 15, 10, 15, 15]
