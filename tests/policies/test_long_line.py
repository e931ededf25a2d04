"""A long queue is passed over in stretches: whoever could start still does, and nobody else."""

import random

import pytest

import forebay as fb
from cases import pooled
from forebay.policies import load
from forebay.policies._kernels import backfill

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
    return [
        fb.simulate(w, machine, spec + limits).facts["log_sha256"]
        for spec in (policy, f"{policy}:max_backfill={EVERYBODY}")
    ]


@pytest.mark.parametrize("policy", ["fcfs-easy", "fcfs-bb", "filler"])
@pytest.mark.parametrize("seed", range(4))
def test_the_same_runs_as_job_by_job(policy, seed):
    indexed, plain = both(policy, *crowd(seed, 3000))
    assert indexed == plain


@pytest.mark.parametrize("policy", ["fcfs-bb", "filler"])
def test_under_limits(policy):
    """Jobs that are held back leave the queue and come back to it."""
    indexed, plain = both(policy, *crowd(7, 1500), "+limits:user_jobs=3")
    assert indexed == plain


@pytest.mark.small
@pytest.mark.parametrize("policy", ["fcfs-easy", "fcfs-bb", "filler"])
@pytest.mark.parametrize("seed", range(6))
def test_on_all_shapes_of_jobs_and_with_a_short_line_too(policy, seed, monkeypatch):
    """Legs, phases, releases, ties. With the compiler off even the shortest line goes by its index."""
    monkeypatch.setattr(backfill, "SHORT", 0)
    indexed, plain = both(policy, *pooled.make(seed))
    assert indexed == plain


@pytest.mark.small
def test_only_who_goes_through_the_queue_as_it_is_has_an_index():
    with_index = [name for name in ("fcfs", "fcfs-easy", "fcfs-bb", "filler") if load(name).memory(10, 2)[0][0] > 0]
    assert with_index == ["fcfs-easy", "fcfs-bb", "filler"]
    for name in ("sjf-bb", "conservative", "sjf-predict:order=arrival", f"filler:max_backfill={EVERYBODY}"):
        memory = load(name).memory(10, 2)[0]
        assert memory[0] < 100, name
