"""Plans against the slow twin, against brute force, and against themselves without shortcuts."""

import random
from dataclasses import replace

import polars as pl
import pytest

import forebay
from cases import pooled
from cases.chunks import chunks, uncompiled
from forebay.errors import InputError
from forebay.policies import load
from forebay.policies._families.plan import Planning
from twins import planner
from twins.compare import compare


def parameters(seed):
    """Random parameters, small enough for the slow twin."""
    rng = random.Random(f"plan {seed}")
    return {
        "alpha": rng.choice((1.0, 2.0, 2.0, 3.0, 0.5)),
        "exhaustive": rng.choice((0, 2, 3, 4)),
        "rate": rng.choice((0.9, 0.5)),
        "steps": rng.choice((0, 2, 4)),
        "moves": rng.choice((1, 3)),
        "floor": rng.choice((0.0, 1.0)),
        "heat": rng.choice((0.01, 1.0, 1.0)),
        "insertions": rng.choice((0.0, 0.0, 0.5, 1.0)),
        "keep": rng.random() < 0.3,
        "objective": rng.choice(("wait", "wait", "slowdown")),
    }


def check_seed(seed):
    params = parameters(seed)
    workload, platform = pooled.make(seed, legs=params["objective"] != "slowdown")
    if params["objective"] == "slowdown":  # its bound is ten minutes: seconds are too short for it
        longer = [pl.col(name) * 100 for name in ("submit", "walltime", "run_time")]
        workload = replace(workload, jobs=workload.jobs.with_columns(longer))
    slow = planner.simulate(workload, platform, params, "alloc-only" if seed % 3 else "alloc-only:kill=false", seed)
    compare(slow, workload, platform, Planning(**params), seed)


@pytest.mark.parametrize("chunk", chunks(1, 10))
def test_plans_equal_the_naive_ones(chunk):
    for seed in range(3000 + 5 * chunk, 3005 + 5 * chunk):
        check_seed(seed)


@uncompiled
@pytest.mark.parametrize("seed", range(3100, 3104))
def test_plans_equal_the_naive_ones_small(seed):
    check_seed(seed)


@pytest.mark.full
@pytest.mark.parametrize("chunk", range(40))
def test_plans_equal_the_naive_ones_at_length(chunk):
    for seed in range(13_000 + 5 * chunk, 13_005 + 5 * chunk):
        check_seed(seed)


@pytest.mark.small
@pytest.mark.parametrize(("objective", "first"), [("wait", [2, 3]), ("slowdown", [1])])
def test_what_a_plan_is_made_for(objective, first):
    """Two nodes; a job of an hour on both, and two of 90 min on one each.

    In all 120 min are waited if the wide job is first, and 90 min if it is last. Of slowdowns the wide job's 90 / 60 is
    more than the others' 2 x 60 / 90.
    """
    wide = {"id": 1, "submit": 0.0, "walltime": 3600.0, "nodes": 2}
    jobs = [wide, *({"id": k, "submit": 0.0, "walltime": 5400.0, "nodes": 1} for k in (2, 3))]
    policy = Planning(alpha=1.0, objective=objective)
    result = forebay.simulate(pooled.workload(jobs), pooled.platform(2), policy)
    assert result.jobs.filter(pl.col("starting_time") == 0)["job_id"].cast(pl.Int64).to_list() == first


def crowd(seed, n=40):
    """Many jobs at once on a small machine: long queues, all of them searched."""
    rng = random.Random(seed)
    jobs = [
        {
            "id": i,
            "submit": float(rng.choice((0, 0, rng.randint(0, 60)))),
            "walltime": float(rng.choice((5, 10, rng.randint(1, 40)))),
            "nodes": rng.randint(1, 8),
            "burst_buffer": rng.randint(0, 12) * 10,
        }
        for i in range(1, n + 1)
    ]
    return pooled.workload(jobs)


CHUNKED = """
name = "chunked"
nodes = 8
[tiers.burst_buffer]
kind = "shared_bb"
capacity = "120 B"
placement = "chunked"
servers = 4
"""


@pytest.fixture
def machines(tmp_path):
    path = tmp_path / "chunked.toml"
    path.write_text(CHUNKED)
    return {"pooled": "flat:nodes=8,burst_buffer=120B", "chunked": str(path)}


@pytest.mark.parametrize("reservations", ["counted", "pinned"])
@pytest.mark.parametrize("machine", ["pooled", "chunked"])
@pytest.mark.parametrize("seed", chunks(1, 5))
def test_shortcuts_change_no_outcome(machines, machine, reservations, seed):
    """Neither of swaps nor of insertions, hot or cold."""
    for spec in ("plan-2:exhaustive=4", "plan-1:heat=0.02,insertions=0.5,keep=true", "plan-3:steps=5"):
        full = f"{spec}{',' if ':' in spec else ':'}reservations={reservations}"
        logs = {
            forebay.simulate(crowd(seed), machines[machine], f"{full},shortcuts={word}", seed).facts["log_sha256"]
            for word in ("yes", "no")
        }
        assert len(logs) == 1


@pytest.mark.small
def test_pinned_and_counted_agree_where_nodes_do_not_matter(machines):
    """One node a job and a pool: which node it is makes no difference to anybody's time."""
    single = crowd(3, 25)
    single = replace(single, jobs=single.jobs.with_columns(nodes=pl.lit(1, pl.Int64)))
    starts = [
        forebay.simulate(single, machines["pooled"], f"plan-2:reservations={kind}", 1).jobs["starting_time"].to_list()
        for kind in ("counted", "pinned")
    ]
    assert starts[0] == starts[1]


@pytest.mark.small
def test_the_seed_counts_and_repeats(machines):
    starts = [
        forebay.simulate(crowd(7, 30), machines["pooled"], "plan-2", seed).facts["log_sha256"] for seed in (1, 1, 2)
    ]
    assert starts[0] == starts[1] != starts[2]


@pytest.mark.small
def test_a_plan_waits_for_the_better_order():
    """2 nodes, busy until 10 but for one. At 1 arrive 2 (2 nodes, 10 s), then 3 (1 node, 20 s), then 4 (1 node, 9 s).

    EASY reserves 10 for job 2; 3 would delay it and waits, 4 may pass: ends at 10. Then 2 runs to 20, 3 from 20 on.
    Squared waits: 81 + 361 + 0 = 442. Another order: 3 first, at 1 beside job 1, to 21: then 2 at 21, 4 at 10 to 19:
    400 + 0 + 81 = 481. So the plan agrees with EASY here; with job 2 of 100 s it does not: 2 at 10 to 110 and 3 at 110
    cost 81 + 109^2, while 3 at 1, 4 at 10, 2 at 21 cost 400 + 81: jobs 3 and 4 go first.
    """

    def job(number, submit, walltime, nodes):
        return {"id": number, "submit": submit, "walltime": walltime, "nodes": nodes}

    def starts(length, policy):
        jobs = [job(1, 0.0, 10.0, 1), job(2, 1.0, length, 2), job(3, 1.0, 20.0, 1), job(4, 1.0, 9.0, 1)]
        result = forebay.simulate(pooled.workload(jobs), "flat:nodes=2", policy)
        return result.jobs["starting_time"].to_list()

    assert starts(10.0, "fcfs-easy") == starts(10.0, "plan-2") == [0, 10, 20, 1]
    assert starts(100.0, "fcfs-easy") == [0, 10, 110, 1]
    assert starts(100.0, "plan-2") == [0, 21, 1, 10]


@pytest.mark.small
@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("plan:alpha=0", "alpha is 0; give a number above 0 and up to 30"),
        ("plan:alpha=inf", "alpha is inf; give a number above 0 and up to 30"),
        ("plan-2:alpha=-1", "alpha is -1"),
        ("plan-2:steps=-1", "steps is -1; give a number from 0 up"),
        ("plan-2:moves=-3", "moves is -3"),
        ("plan-2:steps=all", "steps x moves is .*at most 10,000,000"),
        ("plan-best:rounds=10000001", "rounds is 10,000,001: so many orders"),
        ("plan-2:heat=inf", "heat has no end; give a number"),
        ("plan-2:exhaustive=9", "at most 8"),
        ("plan-2:insertions=2", "share from 0 to 1"),
        ("plan-2:reservations=some", "did you mean|known"),
        ("plan-2:alpha=nan", "alpha is nan"),
        ("plan-4", "did you mean"),
    ],
)
def test_what_makes_no_sense_is_refused(spec, words):
    with pytest.raises(InputError, match=words):
        load(spec)


@pytest.mark.small
def test_the_long_annealing_has_the_orders_of_its_source():
    """100 x log(0.0001) / log(0.9) are 8,742 orders, so the 88th temperature is the last."""
    long = load("plan-zheng")
    assert vars(long) == vars(Planning(exhaustive=0, steps=88, moves=100, floor=0.0))
    assert (long.steps - 1) * long.moves < 8742 <= long.steps * long.moves
    assert long.rate**long.steps < 1e-4 < long.rate ** (long.steps - 1)
