"""Three queues: by hand, against a slow twin, and what a knapsack may not do."""

import random

import polars as pl
import pytest

import forebay as fb
from cases import pooled as make
from cases.chunks import chunks, compiles
from forebay import policies
from forebay.errors import InputError, StalledError
from twins import cerberus

MODEL = "alloc-only:kill=false"
SPECS = (
    "cerberus-fcfs",
    "cerberus-fcfs:service=in/run/out",
    "cerberus-throughput",
    "cerberus-parallelism",
    "cerberus-throughput:knapsack=run/out,considered=3",
    "cerberus-throughput:considered=all,alpha=2",
    "cerberus-throughput:method=table,unit_nodes=3,unit_bytes=4",
    "cerberus-parallelism:run_value=by-time,service=in/run/out",
    "cerberus-throughput:run_value=one,method=table,unit_nodes=3,unit_bytes=4,round=down",
)
PREDICTED = (
    "cerberus-throughput:run_value=by-prediction,like=user,weight=0",
    "cerberus-throughput:run_value=by-prediction,like=request,last=2",
    "cerberus-parallelism:run_value=by-prediction,weight=0.5,service=in/run/out",
)


def three_legs(rng, n, users=False):
    """Jobs of three legs with ties everywhere; buffer goes back between legs, so that nothing can get stuck."""
    jobs, legs, phases = [], [], []
    for i in range(n):
        seconds = [float(rng.randint(1, 8)) for _ in range(3)]
        jobs.append({"id": i + 1, "submit": float(rng.randint(0, 6)), "walltime": seconds[1], "nodes": 1})
        if users:
            jobs[-1]["user"] = i * 7 % 5 - 1  # of some nothing is known
        for leg in range(3):
            nodes = rng.randint(1, 6) if leg == 1 else 0
            legs.append({"job": i + 1, "leg": leg, "walltime": float(rng.choice((2, 4, 7))), "nodes": nodes})
            legs[-1] |= {"carry": "", "burst_buffer": rng.choice((0, 1, 2, 5, 9, 12))}
            phases.append({"job": i + 1, "leg": leg, "seconds": seconds[leg]})
    return make.workload(jobs, legs, phases), make.platform(7, 12)


def starts(result):
    """(job, leg) -> time of its start."""
    rows = result.log.filter(pl.col("kind") == "start").select("job", "leg", "time").rows()
    return {(job, leg): time for job, leg, time in rows}


def same(seed, spec, n):
    workload, machine = three_legs(random.Random(seed), n)
    ours = fb.simulate(workload, machine, spec, job_model=MODEL)
    slow = fb.simulate(workload, machine, cerberus.Cerberus(policies.load(spec)), job_model=MODEL)
    assert starts(ours) == starts(slow), f"seed {seed}"


@pytest.mark.small
@pytest.mark.parametrize("spec", SPECS)
def test_like_the_slow_twin(spec):
    for seed in range(4):
        same(seed, spec, 12)


@pytest.mark.parametrize("chunk", chunks(1, 5))
@pytest.mark.parametrize("spec", SPECS)
def test_like_the_slow_twin_many_times(spec, chunk):
    for seed in range(100 + 12 * chunk, 112 + 12 * chunk):
        same(seed, spec, 25)


@compiles
@pytest.mark.parametrize("spec", PREDICTED)
def test_predictions_are_those_of_the_slow_twin(spec):
    for seed in range(200, 206):
        workload, machine = three_legs(random.Random(seed), 25, users=True)
        ours = fb.simulate(workload, machine, spec, job_model=MODEL)
        slow = fb.simulate(workload, machine, cerberus.Predicted(policies.load(spec)), job_model=MODEL)
        assert starts(ours) == starts(slow), f"seed {seed}"


@compiles
def test_runs_by_what_their_users_ran_before():
    """User 1's first job runs for the 10 s that it asks for, user 2's for 2 s of 10: on 2 nodes of 4, both at once.

    Of the two that come at 40 s, user 1's 3 nodes x 5 are worth more than 2 x 5, also by the same 10 s squared, 0.15
    against 0.1; but not than 2 x 5 by the 2 s squared that user 2 ran before, 2.5, nor by the mean with 10 s, 0.28.
    """
    rows = [(0.0, 1, 2, 10.0), (0.0, 2, 2, 2.0), (40.0, 1, 3, 10.0), (40.0, 2, 2, 10.0)]
    jobs, legs, phases = [], [], []
    for i, (submit, user, nodes, seconds) in enumerate(rows, 1):
        jobs.append({"id": i, "submit": submit, "walltime": 10.0, "nodes": nodes, "user": user})
        for leg in range(3):
            some, amount, takes = (nodes, 5, seconds) if leg == 1 else (0, 0, 0.0)
            legs.append({"job": i, "leg": leg, "walltime": 10.0, "nodes": some, "carry": "", "burst_buffer": amount})
            phases.append({"job": i, "leg": leg, "seconds": takes})
    made, machine = make.workload(jobs, legs, phases), make.platform(4, 10)
    first = {"product": 3, "by-time": 3, "by-prediction,weight=0,like=user": 4, "by-prediction": 4}
    for value, job in first.items():
        found = starts(fb.simulate(made, machine, f"cerberus-throughput:run_value={value}", job_model=MODEL))
        assert found[job, 1] == 40.0 < found[7 - job, 1], value


def jobs_of(*rows):
    """Three-leg jobs as (submit, in, (nodes, buffer), out), each leg one buffer amount and 10 s."""
    jobs, legs, phases = [], [], []
    for i, (submit, inwards, (nodes, buffer), outwards) in enumerate(rows, 1):
        jobs.append({"id": i, "submit": float(submit), "walltime": 10.0, "nodes": nodes})
        for leg, (some, amount) in enumerate(((0, inwards), (nodes, buffer), (0, outwards))):
            legs.append({"job": i, "leg": leg, "walltime": 10.0, "nodes": some, "carry": "", "burst_buffer": amount})
            phases.append({"job": i, "leg": leg, "seconds": 10.0})
    return make.workload(jobs, legs, phases)


@pytest.mark.small
def test_heads_hold_back_their_own_queue_alone():
    # 4 nodes, 10 of buffer. Job 1 stages in at 0 with 6, and holds job 2 (5) back, and so job 3 (1), though it would
    # fit. At 10 job 1 runs with 2 and jobs 2 and 3 stage in. At 20 job 1 stages out with 6; job 2 cannot run beside
    # it (needs 5, free 4) and holds back job 3, which needs 1. At 30 both run; at 40 both stage out.
    workload = jobs_of((0, 6, (2, 2), 6), (0, 5, (2, 5), 3), (0, 1, (2, 1), 3))
    found = starts(fb.simulate(workload, make.platform(4, 10), "cerberus-fcfs", job_model=MODEL))
    first = {(1, 0): 0, (1, 1): 10, (1, 2): 20}
    assert found == first | {(2, 0): 10, (3, 0): 10, (2, 1): 30, (3, 1): 30, (2, 2): 40, (3, 2): 40}


@pytest.mark.small
def test_volume_or_jobs():
    # Three jobs to stage in, of 9, 4 and 4, in 10: the most volume is the first, the most jobs are the others.
    workload = jobs_of((0, 9, (1, 0), 0), (0, 4, (1, 0), 0), (0, 4, (1, 0), 0))
    machine = make.platform(4, 10)
    first = {name: starts(fb.simulate(workload, machine, name, job_model=MODEL)) for name in SPECS[2:4]}
    assert [first["cerberus-throughput"][job, 0] for job in (1, 2, 3)] == [0, 10, 10]
    assert [first["cerberus-parallelism"][job, 0] for job in (1, 2, 3)] == [10, 0, 0]


@pytest.mark.small
def test_runs_by_nodes_times_buffer():
    # Staged in together, 4 nodes and 10 of buffer to run in: 3 x 5 is worth more than 1 x 5 + 2 x 4 together, and less
    # than 2 x 10 alone. By time, with the same walltimes, the same.
    workload = jobs_of((0, 0, (3, 5), 0), (0, 0, (1, 5), 0), (0, 0, (2, 4), 0), (0, 0, (2, 10), 0))
    for spec in ("cerberus-throughput", "cerberus-throughput:run_value=by-time"):
        found = starts(fb.simulate(workload, make.platform(4, 10), spec, job_model=MODEL))
        assert [found[job, 1] for job in (1, 2, 3, 4)] == [20, 20, 30, 10]


@pytest.mark.small
def test_coarse_units_keep_nobody_out_for_ever():
    # Of 7 nodes in units of 4 there is one: a job of 5 needs two, and never fits in units. It starts when it fits.
    workload = jobs_of((0, 1, (5, 1), 1), (0, 1, (2, 1), 1), (0, 1, (7, 1), 1))
    spec = "cerberus-throughput:method=table,unit_nodes=4,unit_bytes=1"
    result = fb.simulate(workload, make.platform(7, 10), spec, job_model=MODEL)
    assert result.jobs["success"].to_list() == [1, 1, 1]


@pytest.mark.small
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("unit_nodes=0", "unit_nodes is 0; give a count from 1 up"),
        ("unit_bytes=0", "unit_bytes is 0; give a count from 1 up"),
        ("considered=0", "considered is 0; give a count from 1 up"),
        ("alpha=0.5", "alpha is 0.5; give a number from 1 up"),
        ("alpha=nan", "alpha is nan"),
        ("service=in/out", "service is 'in/out'; name each of in, run and out once"),
        ("knapsack=in/in", "knapsack is 'in/in'; name some of in, run and out"),
        ("knapsack=all", "knapsack is 'all'"),
        ("stage_value=bytes", "stage_value is 'bytes'"),
        ("run_value=time", "run_value is 'time'"),
        ("method=exact", "method is 'exact'"),
        ("round=down", "write method=table"),
        ("round=off,method=table", "round is 'off'"),
        ("unit_bytes=much", "much"),
        ("run_value=by-prediction,like=name", "like is 'name'"),
        ("run_value=by-prediction,last=0", "last is 0; give a count from 1 up"),
        ("run_value=by-prediction,weight=-1", "weight is -1; give a number from 0 up"),
    ],
)
def test_what_makes_no_sense_is_refused(given, said):
    with pytest.raises(InputError) as error:
        policies.load(f"cerberus-throughput:{given}")
    assert said in str(error.value)


@pytest.mark.small
def test_sizes_may_have_units():
    assert policies.load("cerberus-throughput:unit_bytes=1TB").unit_bytes == 10**12
    assert policies.load("cerberus-throughput:unit_bytes=512").unit_bytes == 512


def keeping(*rows):
    """Three-leg jobs as (submit, input, (nodes, more buffer), output); what is staged in is kept until the end."""
    jobs, legs, phases = [], [], []
    for i, (submit, inwards, (nodes, more), outwards) in enumerate(rows, 1):
        jobs.append({"id": i, "submit": float(submit), "walltime": 10.0, "nodes": nodes})
        amounts = (0, inwards, "burst_buffer"), (nodes, inwards + more, "burst_buffer"), (0, outwards, "")
        for leg, (some, amount, carry) in enumerate(amounts):
            legs.append({"job": i, "leg": leg, "walltime": 10.0, "nodes": some, "carry": carry, "burst_buffer": amount})
            phases.append({"job": i, "leg": leg, "seconds": 10.0})
    return make.workload(jobs, legs, phases)


@pytest.mark.small
def test_inputs_do_not_fill_the_buffer_so_that_no_job_can_run():
    """10 of buffer. Two jobs stage 5 in and run with 7: together their inputs fill it, and neither can go on.

    So the second waits until the first has ended at 30. Meanwhile a job may stage in that needs no more than the 3
    that the first leaves: job 3 does at 10, behind 2, where queues go by knapsack.
    """
    workload, machine = keeping((0, 5, (1, 2), 7), (0, 5, (1, 2), 7), (0, 1, (1, 2), 3)), make.platform(4, 10)
    with pytest.raises(StalledError):
        fb.simulate(workload, machine, "cerberus-fcfs:banker=false", job_model=MODEL)
    found = {spec: starts(fb.simulate(workload, machine, spec, job_model=MODEL)) for spec in SPECS[0::2]}
    assert [found["cerberus-fcfs"][job, 0] for job in (1, 2, 3)] == [0, 30, 30]
    assert [found["cerberus-throughput"][job, 0] for job in (1, 2, 3)] == [0, 30, 10]


@pytest.mark.small
def test_who_can_go_on_does_so_behind_one_that_may_not():
    """Jobs keep 4 and 5 of 10 and wait for 1 node in this order. Job 1 needs 6 more, so 2, behind it, has to go first.

    Had job 1 its way it would wait for the buffer of job 2, and job 2 behind it in the queue of its turn.
    """
    workload, machine = keeping((0, 4, (1, 6), 10), (0, 1, (1, 5), 6)), make.platform(1, 10)
    for spec in SPECS:
        result = fb.simulate(workload, machine, spec, job_model=MODEL)
        assert result.jobs["success"].to_list() == [1, 1]


@pytest.mark.small
@pytest.mark.parametrize("spec", SPECS)
def test_no_three_queues_wait_for_one_another(spec):
    """Whatever jobs keep: all that could run alone are done. Without the rule, some of these runs stand still."""
    stalled = 0
    for seed in range(8):
        rng = random.Random(700 + seed)
        rows = []
        for _ in range(10):
            kept = rng.randint(0, 9)
            more = rng.randint(0, 12 - kept)
            rows.append((rng.randint(0, 9), kept, (rng.randint(1, 7), more), rng.randint(0, kept + more)))
        workload, machine = keeping(*rows), make.platform(7, 12)
        result = fb.simulate(workload, machine, spec, job_model=MODEL)
        assert result.jobs["success"].to_list() == [1] * 10
        try:
            fb.simulate(workload, machine, f"{spec}{',' if ':' in spec else ':'}banker=false", job_model=MODEL)
        except StalledError:
            stalled += 1
    assert stalled > 0
