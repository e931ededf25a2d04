"""Reservations of some nodes: by hand, against a slow twin, and what may never happen, at random."""

import math
import random

import pytest

import forebay
from cases import pooled, shared, site
from cases.chunks import chunks, uncompiled
from cases.pooled import platform, workload
from forebay.metrics import reservations
from forebay.platforms import NodeClass, Platform, Reservation
from forebay.policies._families.backfill import Backfill
from forebay.policies._orders import ALL
from twins.backfill import PRESETS, simulate
from twins.compare import compare

BACKFILLING = ("fcfs-easy", "fcfs-bb", "conservative", "conservative-bb", "filler", "slurm-bb", "plan-best")
PART = Reservation(name="part", start=100.0, duration=50.0, nodes="2-3")


def job(number, submit, walltime, nodes, **more):
    return {"id": number, "submit": float(submit), "walltime": float(walltime), "nodes": nodes, "user": 1, **more}


def starts(result):
    return dict(result.jobs.select("job_id", "starting_time").rows())


@pytest.mark.small
@pytest.mark.parametrize("policy", BACKFILLING)
@pytest.mark.parametrize("reserved", ["2-3", 2])
def test_backfilling_fills_a_part_exactly_up_to_its_start(policy, reserved):
    """4 nodes, of which 2 and 3 are in maintenance from 100 to 150. 1 (2 nodes) runs to 60. 2 (4 nodes, 50 s) could
    begin at 60 and would not end by 100: it begins at 150. 3 (2 nodes, 100 s) ends as the maintenance begins, and
    starts at 0; 4 (2 nodes, 80 s) follows 1 from 60 to 140, through the beginning, as it is on other nodes."""
    jobs = [job(1, 0, 60, 2), job(2, 0, 50, 4), job(3, 0, 100, 2), job(4, 0, 80, 2)]
    part = Reservation(name="part", start=100.0, duration=50.0, nodes=reserved)
    result = forebay.simulate(workload(jobs), platform(4).model_copy(update={"reservations": (part,)}), policy)
    assert starts(result) == {1: 0.0, 2: 150.0, 3: 0.0, 4: 60.0}
    assert dict(result.jobs.select("job_id", "allocated_resources").rows()) == {1: "0-1", 2: "0-3", 3: "2-3", 4: "0-1"}
    assert reservations(result).rows() == [("part", 2, 3, 100.0, 150.0)]


@pytest.mark.small
@pytest.mark.parametrize("policy", [*BACKFILLING[:-1], "fcfs"])  # plans may put 2 before 1
def test_other_nodes_go_on(policy):
    """1 (2 nodes, 200 s) would run into it on 2 and 3, and takes 0 and 1, though all are free; 2 (1 node, 101 s) has to
    wait for 150, and 3 (1 node, 99 s) fits before, if anybody may pass."""
    jobs = [job(1, 0, 200, 2), job(2, 0, 101, 1), job(3, 1, 99, 1)]
    machine = platform(4).model_copy(update={"reservations": (PART,)})
    result = forebay.simulate(workload(jobs), machine, policy)
    assert starts(result) == {1: 0.0, 2: 150.0, 3: 150.0 if policy == "fcfs" else 1.0}
    assert dict(result.jobs.select("job_id", "allocated_resources").rows())[1] == "0-1"


@pytest.mark.small
@pytest.mark.parametrize("policy", [*BACKFILLING, "fcfs"])
def test_a_part_for_one_user(policy):
    """2 and 3 are user 2's from 100 to 150: its job 2 starts there at 100; 3 of user 1 has the others, once 1 ends."""
    course = PART.model_copy(update={"users": ("2",)})
    machine = platform(4).model_copy(update={"reservations": (course,)})
    jobs = [job(1, 0, 110, 2), job(2, 5, 120, 2) | {"user": 2}, job(3, 6, 120, 2)]
    result = forebay.simulate(workload(jobs), machine, policy)
    assert starts(result) == {1: 0.0, 2: 100.0, 3: 110.0}


SHARED = Platform(
    name="site", classes=(NodeClass(name="cpu", nodes=2, cores=4),), sharing=True,
    reservations=(Reservation(name="part", start=100.0, duration=50.0, classes=("cpu",), nodes=1),),
)  # fmt: skip


@pytest.mark.small
@pytest.mark.parametrize("policy", ["fcfs", "fcfs-easy", "fcfs-bb", "conservative", "filler", "slurm"])
def test_a_shared_node(policy):
    """Two nodes of 4 cores, of which the last is in maintenance from 100 to 150. 1 (4 cores, 200 s) takes the other. 2
    (4 cores, 100 s) ends there as it begins; 3 and 4 (2 cores, 101 and 30 s) would not, and share it from 150 on."""
    rows = [
        {"walltime": 200.0, "cores": 4},
        {"walltime": 100.0, "cores": 4},
        {"walltime": 101.0, "cores": 2},
        {"walltime": 30.0, "cores": 2, "submit": 90.0},
    ]
    result = forebay.simulate(shared.jobs(*rows), SHARED, policy)
    assert shared.starts(result) == pytest.approx(
        {1: 0.0, 2: 0.0, 3: 150.0, 4: 150.0}, abs=31 if policy == "slurm" else 0
    )
    assert shared.cores(result)[1] == "0-3"
    assert result.facts["reserved"][0]["nodes"] == [[4, 7]]


@pytest.mark.small
def test_a_count_is_of_the_last_nodes_of_its_classes():
    classes = (NodeClass(name="a", nodes=3, cores=1), NodeClass(name="b", nodes=2, cores=1))
    both = Reservation(name="r", start=1.0, duration=1.0, classes=("a", "b"), nodes=3)
    assert sorted(both.stretches(classes, 5)) == [(2, 2), (3, 4)]
    assert str(both) == "r: 1 s to 2 s, 3 nodes of a, b"
    assert Reservation(name="r", start=1.0, duration=1.0, classes=("a",), nodes=1).stretches(classes, 5) == [(2, 2)]
    assert Reservation(name="r", start=1.0, duration=1.0, nodes=4).stretches(classes, 5) == [(1, 4)]
    with pytest.raises(forebay.ForebayError, match="r is of 4 nodes, and there are 3"):
        Platform(name="m", classes=classes, reservations=(both.model_copy(update={"nodes": 4, "classes": ("a",)}),))
    with pytest.raises(forebay.ForebayError, match="0 nodes are none"):
        Reservation(name="r", start=1.0, duration=1.0, nodes=0)


@pytest.mark.small
def test_what_cannot_be_divided_says_so():
    machine = forebay.platform("dragonfly-96").model_copy(update={"reservations": (PART,)})
    with pytest.raises(forebay.ForebayError, match="a reservation of some nodes"):
        forebay.simulate(workload([job(1, 0, 1, 1, burst_buffer=1)]), machine, "fcfs")


def parts(seed, n_nodes):
    """One to three of some nodes, by ids or by their number; some for users."""
    rng, made = random.Random(f"parts reserved {seed}"), []
    for k in range(rng.randint(1, 3)):
        start, low = float(rng.randint(1, 120)), rng.randrange(n_nodes)
        nodes = rng.randint(1, n_nodes) if rng.random() < 0.4 else f"{low}-{rng.randint(low, n_nodes - 1)}"
        users = ("1",) if rng.random() < 0.3 else ()
        made.append(
            Reservation(name=f"r{k}", start=start, duration=rng.choice((5.0, 20.0, 41.5)), nodes=nodes, users=users)
        )
    return tuple(made)


def check_kept_free(result):
    """No job of others is on a reserved node while that is reserved, by when it held which."""
    users = dict(result.jobs.select("job_id", "user").rows())
    ends = dict(result.jobs.select("job_id", "finish_time").rows())
    rows = result.placements.to_dicts()
    starts_of = result.log.with_row_index("row").filter(kind="start").select("row", "job", "time")
    taken = {row: (job, time) for row, job, time in starts_of.rows()}
    of_users = {one["name"]: one["users"] for one in result.facts["platform"]["reservations"]}
    n_seen = 0
    for one in result.facts["reserved"]:
        for low, high in one["nodes"]:
            for place in rows:
                if place["row"] not in taken or place["low"] > high or place["high"] < low:
                    continue
                job, start = taken[place["row"]]
                n_seen += 1
                mine = str(users[job]) in of_users[one["name"]] and start >= one["start"]
                assert mine or ends[job] <= one["start"] + 1e-6 or start >= one["end"] - 1e-6, (job, one)
    return n_seen


@pytest.mark.small
@pytest.mark.parametrize("seed", range(12))
def test_no_job_is_on_reserved_nodes(seed):
    made, machine = pooled.make(seed + 7_000, legs=False)
    machine = machine.model_copy(update={"reservations": parts(seed, machine.nodes)})
    policy = BACKFILLING[seed % len(BACKFILLING)]
    result = forebay.simulate(made, machine, policy)
    check_kept_free(result)
    assert (
        result.jobs["starting_time"].null_count() == result.jobs["final_state"].is_in(["REJECTED", "CANCELLED"]).sum()
    )


@pytest.mark.small
@pytest.mark.parametrize("seed", range(12))
def test_no_job_is_on_reserved_shared_nodes(seed):
    machine, made = shared.random_case(seed, 40)
    machine = machine.model_copy(update={"reservations": parts(seed, machine.nodes)})
    policy = ("fcfs", "fcfs-easy", "conservative", "filler", "plan-best", "fcfs-bb:depth=2")[seed % 6]
    result = forebay.simulate(made, machine, policy)
    assert check_kept_free(result) > 0
    assert result.jobs["starting_time"].null_count() == (result.jobs["final_state"] == "REJECTED").sum()


def check_seed(seed):
    """One workload with reservations of some nodes against the slow twin, under a preset and two random policies."""
    made, machine = pooled.make(seed, legs=False)
    rng, planned = random.Random(f"some nodes {seed}"), []
    for one in site.reservations(seed):
        low = rng.randrange(machine.nodes)
        planned.append(one | {"ids": range(low, rng.randint(low, machine.nodes - 1) + 1)})
    given = tuple(
        Reservation(name=f"r{k}", nodes=f"{ids[0]}-{ids[-1]}", **one)
        for k, (ids, one) in enumerate((one["ids"], {key: one[key] for key in one if key != "ids"}) for one in planned)
    )
    machine = machine.model_copy(update={"reservations": given})
    names = sorted(PRESETS)
    policies = [(names[seed % len(names)], PRESETS[names[seed % len(names)]])]
    for draw in range(2):
        own, slow = (pooled.policy(10 * seed + draw, most) | {"reservations": "counted"} for most in (ALL, math.inf))
        policies.append((Backfill(**own), slow))
    for policy, params in policies:
        slow = simulate(made, machine, params, f"alloc-only:kill={str(seed % 2 > 0).lower()}", planned=planned)
        compare(slow, made, machine, policy)


@uncompiled
@pytest.mark.parametrize("seed", range(2400, 2412))
def test_parts_equal_naive_small(seed):
    check_seed(seed)


@pytest.mark.parametrize("chunk", chunks(2, 10))
def test_parts_equal_naive(chunk):
    for seed in range(60_000 + chunk * 10, 60_000 + (chunk + 1) * 10):
        check_seed(seed)
