"""Windows: the motivating example of BBSched, the slow twin, nobody passed for ever, and what makes no sense."""

import os
from dataclasses import replace

import polars as pl
import pytest

import forebay as fb
from cases import pooled as make
from cases.chunks import chunks
from forebay import policies
from forebay.errors import InputError, StalledError
from twins import window

TB = 10**12
EXAMPLE = ((80, 20), (10, 85), (40, 5), (10, 0), (20, 0))
"""Nodes and TB of five jobs on 100 nodes with 100 TB: the motivating example of Fan et al. (2019)."""

SPECS = (
    "bbsched-exact",
    "bbsched-exact:window=3,bound=2",
    "bbsched-exact:order=wfp,window=4,bound=1,backfill=conservative",
    "bbsched-exact:order=sjf,window=5,rule=coded",
    "bbsched-exact:window=6,bound=3,backfill=none",
    "window-weighted:window=5,bound=4",
    "window-constrained:window=5",
    "window-packing:window=5,bound=2",
    "window-naive:window=4,bound=2",
)


def example():
    jobs = [
        {"id": i, "submit": 0.0, "walltime": 100.0, "nodes": nodes, "burst_buffer": buffer * TB}
        for i, (nodes, buffer) in enumerate(EXAMPLE, 1)
    ]
    return make.workload(jobs)


def first(spec):
    """The jobs that start at once."""
    result = fb.simulate(example(), "flat:nodes=100,burst_buffer=100TB", spec)
    return set(result.jobs.filter(pl.col("starting_time") == 0)["job_id"].to_list())


@pytest.mark.small
@pytest.mark.parametrize(
    ("spec", "jobs"),
    [
        ("window-naive", {1, 4}),
        ("window-constrained", {1, 5}),
        ("window-constrained:objectives=burst_buffer", {2, 3, 4, 5}),
        ("window-weighted:weights=80/20", {1, 5}),
        ("window-weighted:weights=20/80", {2, 3, 4, 5}),
        ("window-packing", {1, 5}),
        ("bbsched-exact", {2, 3, 4, 5}),
        ("bbsched-exact:rule=coded", {1, 5}),
        ("bbsched", {2, 3, 4, 5}),
        ("bbsched:rule=coded,preset=cqsim", {1, 5}),
        ("bbsched-exact:factor=4", {1, 5}),
    ],
)
def test_the_motivating_example(spec, jobs):
    assert first(spec) == jobs


def same(seed, spec, legs=False, kinds=False):
    workload, machine = make.make(seed, legs=legs)
    if kinds:
        workload, machine = make.with_kinds(workload, machine, seed)
    policy = policies.load(spec)
    slow = window.simulate(workload, machine, policy, policy._weights_on(machine.resources))
    if slow.queue:
        with pytest.raises(StalledError):
            fb.simulate(workload, machine, policy, job_model="alloc-only")
        return
    fast = fb.simulate(workload, machine, policy, job_model="alloc-only")
    starts = fast.log.filter(pl.col("kind") == "start").select("time", "job", "leg").rows()
    assert [row[1:] for row in starts] == [(job, leg) for _, job, leg, _ in slow.starts], f"seed {seed}"
    assert all(a[0] == pytest.approx(b[0], abs=1e-6) for a, b in zip(starts, slow.starts, strict=True))


@pytest.mark.small
@pytest.mark.parametrize("spec", SPECS)
def test_like_the_slow_twin(spec):
    for seed in range(2):
        same(seed, spec.replace("exact", "exact:window=6", 1) if spec == "bbsched-exact" else spec)


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec != "bbsched-exact"])
@pytest.mark.parametrize("legs", [False, True])
@pytest.mark.parametrize("chunk", chunks(1, 9))
def test_like_the_slow_twin_many_times(spec, legs, chunk):
    for seed in range(200 + 5 * chunk, 205 + 5 * chunk):
        same(seed, spec, legs)


@pytest.mark.small
@pytest.mark.parametrize("spec", SPECS)
def test_like_the_slow_twin_on_nodes_of_two_kinds(spec):
    for seed in range(300, 302):
        same(seed, spec.replace("exact", "exact:window=6", 1) if spec == "bbsched-exact" else spec, kinds=True)


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec != "bbsched-exact"])
@pytest.mark.parametrize("chunk", chunks(1, 9))
def test_like_the_slow_twin_many_times_on_nodes_of_two_kinds(spec, chunk):
    for seed in range(310 + 5 * chunk, 315 + 5 * chunk):
        same(seed, spec, seed % 2 > 0, kinds=True)


@pytest.mark.small
@pytest.mark.parametrize("spec", ["bbsched-exact", "bbsched", "window-packing", "window-weighted:weights=0/1"])
def test_nobody_is_passed_for_ever(spec):
    """A job of all nodes behind a stream of small ones: without a bound they pass it as long as they come."""
    stream = [{"id": i, "submit": 10.0 * i, "walltime": 25.0, "nodes": 1, "burst_buffer": 1} for i in range(1, 80)]
    large = {"id": 99, "submit": 25.0, "walltime": 50.0, "nodes": 4, "burst_buffer": 0}
    workload, machine = make.workload([*stream, large]), make.platform(4, 100)
    start = {}
    for bound in (3, 10, 1000):
        given = f"{spec}{',' if ':' in spec else ':'}bound={bound},backfill=none"
        result = fb.simulate(workload, machine, given, job_model="alloc-only")
        start[bound] = result.jobs.filter(pl.col("job_id") == 99)["starting_time"][0]
    # It enters the window at 25 s, and a round is an arrival or an end: of each there is one in 10 s.
    assert start[3] < start[10] < 200
    assert start[1000] > 700


@pytest.mark.small
def test_it_says_where_it_gave_up():
    result = fb.simulate(example(), "flat:nodes=100,burst_buffer=100TB", "bbsched-exact:limit=0")
    assert any("left to the genetic solver" in note for note in result.facts["notes"])
    result = fb.simulate(example(), "flat:nodes=100,burst_buffer=100TB", "bbsched-exact")
    assert not any("genetic" in note for note in result.facts["notes"])


@pytest.mark.small
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("window=0", "window is 0; give a count from 1 to 62"),
        ("window=63", "window is 63"),
        ("weights=0/0", "weights is '0/0'; give numbers from 0 up, one of them above 0"),
        ("weights=-1/2", "weights is '-1/2'"),
        ("weights=a/b", "weights is 'a/b'; give numbers such as 80/20"),
        ("population=1", "population is 1"),
        ("mutation=2", "mutation is 2"),
        ("factor=-1", "factor is -1"),
        ("order=lifo", "order is 'lifo'"),
        ("method=best", "method is 'best'"),
        ("bound=-1", "bound is -1"),
    ],
)
def test_what_makes_no_sense_is_refused(given, said):
    with pytest.raises(InputError) as error:
        policies.load(f"bbsched:{given}")
    assert said in str(error.value)


@pytest.mark.small
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("objectives=nodes/tape", "objectives names 'tape', which this machine does not have"),
        ("weights=1/2/3", "3 numbers for 2 objectives (nodes, burst_buffer)"),
    ],
)
def test_what_this_machine_does_not_have_is_refused(given, said):
    with pytest.raises(InputError) as error:
        fb.simulate(example(), "flat:nodes=100,burst_buffer=100TB", f"window-weighted:{given}")
    assert said in str(error.value)


@pytest.mark.small
def test_without_a_bound_the_naive_method_is_fcfs_bb():
    for seed in range(3):
        workload, machine = make.make(seed, legs=False)
        ours = fb.simulate(workload, machine, "window-naive:bound=1000000", job_model="alloc-only")
        theirs = fb.simulate(workload, machine, "fcfs-bb", job_model="alloc-only")
        assert ours.jobs["starting_time"].to_list() == theirs.jobs["starting_time"].to_list()


def with_known_run_times(seed, buffers, kinds):
    """A random workload whose users know their run times, on a machine with or without pools, and kinds of nodes."""
    workload, machine = make.make(seed, legs=False)
    jobs = workload.jobs.with_columns(walltime=pl.max_horizontal(pl.col("run_time"), 0.1))
    if not buffers:
        machine = make.platform(machine.capacities[0])
    workload = replace(workload, jobs=jobs.with_columns(run_time="walltime"))
    return make.with_kinds(workload, machine, seed) if kinds else (workload, machine)


@pytest.mark.parametrize(
    ("buffers", "kinds"),
    [(False, False), (True, True), *(pytest.param(one, not one, marks=pytest.mark.full) for one in (True, False))],
)
@pytest.mark.parametrize("method", ["exact", "packing", "in-order"])
@pytest.mark.parametrize("chunk", chunks(1, 2))
def test_after_its_bound_no_later_job_delays_a_job(method, buffers, kinds, chunk):
    """What it was promised when the bound was reached is kept: run times are known, so nothing else could delay it."""
    promised = 0
    for seed in range(30 * chunk, 30 * chunk + 30):
        workload, machine = with_known_run_times(seed, buffers, kinds)
        policy = policies.load(f"bbsched-exact:window=5,bound=2,method={method}")
        slow = window.simulate(workload, machine, policy, policy._weights_on(machine.resources))
        result = fb.simulate(workload, machine, policy, job_model="alloc-only")
        starts = dict(result.jobs.select("job_id", "starting_time").rows())
        for job, time in slow.promised.items():
            promised += time < float("inf")
            assert starts[job] <= time + 1e-6, f"seed {seed}, job {job}"
    assert promised > 25  # the bound was reached often enough for this to say anything


@pytest.mark.parametrize("name", [name for name in policies.names() if name.startswith(("bbsched", "window-"))])
def test_eleven_resources(name):
    """The sample of the authors' program: 100 jobs with ten pools besides nodes, each of which runs short."""
    if not os.environ.get("FOREBAY_DATA"):
        pytest.skip("FOREBAY_DATA is not set: the sample is not here")
    result = fb.simulate(fb.read(f"{os.environ['FOREBAY_DATA']}/swf/bbsched_test.swf"), policy=name)
    assert len(result.resources) == 11
    assert result.jobs["starting_time"].null_count() == 0
