"""A long queue is passed over in stretches: whoever could start still does, and nobody else."""

import random

import pytest

import forebay as fb
from cases import pooled
from cases.chunks import chunks
from cases.shared import with_windows
from forebay.policies import load
from forebay.policies._kernels.queue import index
from policies.test_promises import crowd as crowd_inside

IN_OTHER_ORDERS = (
    "sjf-easy",
    "sjf-bb",
    "fcfs-bb:backfill_order=walltime",
    "filler:order=nodes,descending=true",
    "filler:order=area",
    "multifactor",
    "multifactor:PriorityWeightJobSize=500,PriorityCalcPeriod=60",
    "multifactor:PriorityWeightAge=1000,PriorityMaxAge=5000,PriorityWeightFairshare=700,PriorityFavorSmall=true",
    "fairshare:backfill_order=walltime",
)
EVERYBODY = 10**6  # more than there are, but not "all": the queue is then read job by job


def crowd(seed, n, machine=(64, 1000)):
    """Many more jobs than the machine has room for: most of them at once, some later, some withdrawn."""
    rng = random.Random(seed)
    most = rng.choice((8, 64))
    jobs = []
    for i in rng.sample(range(n), n):
        seconds = rng.choice((1.0, 30.0, 1000.0)) * rng.randint(1, 40)
        jobs.append(
            {
                "id": i,
                "submit": 0.0 if rng.random() < 0.7 else float(rng.randint(0, 40 * n)),
                "run_time": seconds * rng.random(),
                "walltime": seconds,
                "nodes": rng.randint(1, most),
                "burst_buffer": rng.choice((0, 1, 10, 400, 900)),
                "user": rng.randint(0, 5),
                "cancel": float(rng.randint(1, 10**5)) if rng.random() < 0.1 else float("inf"),
            }
        )
    return pooled.workload(jobs), pooled.platform(*machine)


def both(policy, w, machine, limits=""):
    """The hash of the log with the index, and without."""
    every = f"{policy}{',' if ':' in policy else ':'}max_backfill={EVERYBODY}"
    return [fb.simulate(w, machine, spec + limits).facts["log_sha256"] for spec in (policy, every)]


def with_and_without(monkeypatch, policy, w, machine, **given):
    """The same of policies that have no such number: the longest line is short, or the shortest long."""
    logs = []
    for short in (0, EVERYBODY):
        monkeypatch.setattr(index, "SHORT", short)
        logs.append(fb.simulate(w, machine, policy, **given).facts["log_sha256"])
    return logs


@pytest.mark.parametrize("policy", ["fcfs-easy", "fcfs-bb", "filler", *IN_OTHER_ORDERS])
@pytest.mark.parametrize("seed", chunks(1, 4))
def test_the_same_runs_as_job_by_job(policy, seed):
    indexed, plain = both(policy, *crowd(seed, 3000))
    assert indexed == plain


@pytest.mark.parametrize("policy", ["conservative", "conservative-bb", "conservative-bb:reservations=pinned"])
@pytest.mark.parametrize("seed", chunks(1, 3))
def test_the_same_runs_with_many_reservations(policy, seed):
    """With one of nodes alone, buffers are no part of what is struck out."""
    w, machine = crowd(seed, 1500)
    indexed, plain = both(policy, w, machine)
    assert indexed == plain


@pytest.mark.parametrize("seed", range(3))
def test_the_same_runs_with_many_reservations_where_nodes_are_not_alike(seed, monkeypatch):
    indexed, plain = with_and_without(monkeypatch, "conservative-bb", *pooled.with_classes(*crowd(seed, 700), seed))
    assert indexed == plain


@pytest.mark.small
def test_many_reservations_with_a_short_line_too(monkeypatch):
    """Shorter ones have no room for sets of places."""
    indexed, plain = with_and_without(monkeypatch, "conservative-bb", *crowd(1, 215))
    assert indexed == plain


@pytest.mark.parametrize("policy", ["fcfs-bb", "filler", "sjf-bb", "conservative-bb", "multifactor"])
def test_under_limits(policy):
    """Jobs that are held back leave the queue and come back to it."""
    indexed, plain = both(policy, *crowd(7, 1500), "+limits:user_jobs=3")
    assert indexed == plain


@pytest.mark.small
@pytest.mark.parametrize("policy", ["sjf-bb", "multifactor", "mebf"])
def test_starts_that_a_limit_puts_off(policy, monkeypatch):
    """Jobs that were to start, and were put off, are found again; those that are held back grow older all the same."""
    indexed, plain = with_and_without(monkeypatch, f"{policy}+limits:user_jobs=3", *crowd(8, 160))
    assert indexed == plain


@pytest.mark.parametrize("placement", ["best-fit", "lowest", "worst-fit"])
@pytest.mark.parametrize(
    "policy", ["fcfs-easy", "filler", "sjf-easy", "fcfs-easy:backfill_order=walltime", "multifactor"]
)
def test_on_shared_nodes(policy, placement):
    platform, workload = crowd_inside(len(policy) + len(placement), 1200, 40)
    indexed, plain = both(policy, workload, platform.model_copy(update={"placement": placement}))
    assert indexed == plain


@pytest.mark.small
@pytest.mark.parametrize("policy", ["fcfs-easy", "fcfs-bb", "filler", *IN_OTHER_ORDERS, "sas", "mebf"])
@pytest.mark.parametrize("seed", range(6))
def test_on_all_shapes_of_jobs_and_with_a_short_line_too(policy, seed, monkeypatch):
    """Legs, phases, releases, ties. With the compiler off even the shortest line goes by its index."""
    indexed, plain = with_and_without(monkeypatch, policy, *pooled.make(seed))
    assert indexed == plain


@pytest.mark.small
@pytest.mark.parametrize(
    "policy", ["fcfs-easy", "filler", "sjf-easy", "fcfs-easy:backfill_order=walltime", "multifactor"]
)
@pytest.mark.parametrize("seed", range(6))
def test_on_shared_nodes_with_a_short_line_too(policy, seed, monkeypatch):
    """Classes, partitions, parts that are spread or exclusive, and reservations of the site."""
    platform, workload = with_windows(seed, 30)
    if seed % 2:
        platform = platform.model_copy(update={"reservations": ()})
    indexed, plain = with_and_without(monkeypatch, policy, workload, platform)
    assert indexed == plain


@pytest.mark.small
def test_who_looks_at_everybody_has_no_index():
    named = ("fcfs-easy", "fcfs-bb", "filler", "sjf-bb", "conservative")
    assert all(load(name).memory(10, 2)[0][0] > 0 for name in named)
    for name in ("fcfs", "conservative:order=walltime", "fcfs-bb:depth=2,backfill_order=walltime"):
        assert load(name).memory(10, 2)[0][0] == 0, name
    assert load(f"filler:max_backfill={EVERYBODY}").memory(10, 2)[0][0] == 0
