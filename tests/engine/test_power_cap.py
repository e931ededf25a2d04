"""Caps on what a machine draws: solved by hand, and against a twin that adds up node by node what the log says."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forebay
from cases import pooled
from cases.chunks import examples
from cases.flexible import Jobs, compute, loop
from cases.pooled import workload
from forebay.errors import InputError
from forebay.explain import reasons
from forebay.metrics import consumed_energy, energy, power
from forebay.platforms import NodeClass, Platform
from forebay.workload import job_table
from forebay.workload.workload import Workload
from twins.power import draws, integral, most

pytestmark = pytest.mark.small

POLICIES = (
    *("fcfs", "fcfs-easy", "fcfs-bb", "conservative-bb", "conservative", "sjf-bb", "filler", "multifactor", "slurm"),
    *("window-weighted", "window-naive", "plan-best", "plan-2", "cerberus-fcfs", "fcfs-easy+limits:user_nodes=3"),
)


def machine(nodes=4, **parts):
    return Platform(name="m", nodes=nodes, power={"idle": 100, "busy": 300, **parts})


def job(number, submit, length, nodes, **more):
    return {"id": number, "submit": float(submit), "walltime": float(length), "nodes": nodes, **more}


def starts(result):
    return dict(result.jobs.select("job_id", "starting_time").rows())


def test_a_start_that_would_exceed_the_cap_waits_and_blocks_nobody():
    """4 nodes of 100 W idle, 300 W busy, cap 1,000 W: 3 busy nodes at a time. Job 1 has 2 to 100; job 2 (2 nodes) would
    make 4; job 3 (1 node) starts at once."""
    jobs = workload([job(1, 0, 100, 2), job(2, 0, 10, 2), job(3, 0, 50, 1)])
    result = forebay.simulate(jobs, machine(cap="1 kW"), "fcfs")
    assert starts(result) == {1: 0.0, 2: 100.0, 3: 0.0}
    assert power(result)["amount"].max() == 1000.0
    why = reasons(result).select("job_id", "seconds", "reason", "slurm", "detail").rows()
    assert why == [(2, 100.0, "limit", "PowerNotAvail", "with it the machine would draw more than 1 kW")]


def test_jobs_that_say_what_they_draw_count_for_that():
    """Cap 1,000 W, 400 W of it idle: jobs of 400 W on a node add 300; two at a time. One of 100 W adds nothing."""
    rows = [job(1, 0, 10, 1), job(2, 0, 10, 1), job(3, 0, 10, 1), job(4, 0, 10, 1)]
    jobs = Workload("w", job_table({**_columns(rows), "power": [400, 400, 400, 50]}))
    result = forebay.simulate(jobs, machine(cap="1 kW"), "fcfs")
    assert starts(result) == {1: 0.0, 2: 0.0, 3: 10.0, 4: 0.0}


def _columns(rows):
    rows = [{"run_time": row["walltime"], **row} for row in rows]
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_what_can_never_start_is_rejected_and_what_just_can_is_not():
    result = forebay.simulate(workload([job(1, 0, 10, 4), job(2, 0, 10, 3)]), machine(cap="1 kW"), "fcfs-easy")
    assert starts(result) == {1: None, 2: 0.0}
    rejected = result.log.filter(result.log["kind"] == "reject").select("job", "reason").rows()
    assert rejected == [(1, "over_limit")]
    exact = machine(nodes=3, idle=0.1, busy=0.3, cap=0.9)  # 3 x 0.3 is more than 0.9 in floats, and it is no more
    assert starts(forebay.simulate(workload([job(1, 0, 10, 3)]), exact, "fcfs")) == {1: 0.0}


def test_a_job_counts_for_the_most_that_it_may_draw_where_it_may_run():
    """2 nodes add 200 W, 1 adds 900 W: a job of 2 nodes adds 1,100 W at most, and a cap of 1,000 W more allows none."""
    classes = (NodeClass(name="small", nodes=2), NodeClass(name="large", nodes=1, idle=100, busy=1000))
    for cap, started in ((1299.0, None), (1399.0, None), (1400.0, 0.0)):
        platform = Platform(name="m", classes=classes, power={"idle": 100, "busy": 300, "cap": cap})
        result = forebay.simulate(workload([job(1, 0, 10, 2)]), platform, "fcfs")
        assert starts(result) == {1: started}


def test_jobs_that_change_their_size_have_no_cap():
    with pytest.raises(InputError, match="a cap on power holds for jobs that keep their size"):
        forebay.simulate(_flexible([1, 2]), machine(cap="1 kW"), "mebf")
    rigid = forebay.simulate(_flexible([2]), machine(cap="1 kW"), "mebf")
    assert starts(rigid) == {0: 0.0}
    assert energy(forebay.simulate(_flexible([1, 2]), machine(), "mebf")) == 10 * 800.0


def _flexible(sizes):
    """A job of a round of 20 node-seconds."""
    jobs = Jobs()
    jobs.add("malleable" if len(sizes) > 1 else "rigid", 0, sizes, loop(1, compute(lambda n: 20 / n)), walltime=99)
    return jobs.workload()


@st.composite
def runs(draw):
    """A machine with a cap, jobs, and a policy."""
    n_classes = draw(st.integers(1, 3))
    sizes = [draw(st.integers(1, 4)) for _ in range(n_classes)]
    pairs = [(idle, idle + draw(st.integers(0, 300))) for idle in (draw(st.integers(0, 200)) for _ in sizes)]
    nodes = [pair for pair, size in zip(pairs, sizes, strict=True) for _ in range(size)]
    base, full = sum(idle for idle, _ in nodes), sum(busy for _, busy in nodes)
    exact = base + draw(st.integers(0, len(nodes))) * (pairs[0][1] - pairs[0][0])  # so many of the first busy nodes
    cap = draw(st.sampled_from((exact, exact, draw(st.integers(base, full + 100)) + 0.25)))
    n = draw(st.integers(1, 9))
    jobs = {"id": list(range(1, n + 1)), "submit": sorted(draw(st.integers(0, 20)) for _ in range(n))}
    jobs["run_time"] = [draw(st.integers(1, 30)) for _ in range(n)]
    jobs["walltime"] = [length + draw(st.sampled_from((0, 0, 5))) for length in jobs["run_time"]]
    jobs["nodes"] = [draw(st.integers(1, len(nodes))) for _ in range(n)]
    jobs["user"] = [draw(st.integers(1, 2)) for _ in range(n)]
    watts = {}
    if draw(st.booleans()):
        jobs["power"] = [draw(st.integers(0, 400)) + 0.5 for _ in range(n)]
        watts = dict(zip(jobs["id"], jobs["power"], strict=True))
    own = ["power"] if watts else []
    classes = [
        NodeClass(name=f"c{k}", nodes=size, idle=idle, busy=busy)
        for k, (size, (idle, busy)) in enumerate(zip(sizes, pairs, strict=True))
    ]
    if n_classes == 1:
        parts = {"nodes": sizes[0], "power": {"idle": pairs[0][0], "busy": pairs[0][1], "cap": cap}}
    else:
        parts = {"classes": tuple(classes), "power": {"idle": 0, "busy": 1000, "cap": cap}}
    platform = Platform(name="m", **parts)
    return Workload("w", job_table(jobs, own=own)), platform, draw(st.sampled_from(POLICIES)), nodes, watts


@settings(max_examples=examples(60))
@given(runs())
def test_no_policy_ever_exceeds_a_cap(run):
    jobs, platform, policy, nodes, watts = run
    result = forebay.simulate(jobs, platform, policy)
    moments, cap = draws(result, nodes, watts), platform.power.cap
    assert most(moments) <= cap + 1e-6
    assert set(result.jobs["final_state"]) <= {"COMPLETED_SUCCESSFULLY", "REJECTED"}
    end = result.jobs["finish_time"].max()
    if end is not None:
        # Means over the makespan begin with the first job that counts, which may come after a rejected one.
        first = result.jobs.filter(result.jobs["finish_time"].is_not_null())["submission_time"].min()
        later = [(max(time, first), draw) for time, draw in moments]
        assert energy(result) == pytest.approx(integral(later, end), abs=1e-6)
    _check_steps(result, moments)
    joules = _joules_of_jobs(result, nodes, watts)
    assert consumed_energy(result).to_list() == pytest.approx(joules, abs=1e-6)
    assert result.jobs["consumed_energy"].to_list() == consumed_energy(result).to_list()
    _check_put_off(result, platform, nodes, watts, moments)


def _at(moments, time):
    return [draw for moment, draw in moments if moment <= time][-1]


def _check_steps(result, moments):
    steps = power(result).rows()
    assert [draw for _, draw in steps] == pytest.approx([_at(moments, time) for time, _ in steps], abs=1e-6)
    assert [_at(steps, time) for time, _ in moments] == pytest.approx([draw for _, draw in moments], abs=1e-6)


def _joules_of_jobs(result, nodes, watts):
    """From starts and ends of jobs that have their nodes all along."""
    found = []
    for row in result.jobs.rows(named=True):
        had = [n for part in row["allocated_resources"].split() for n in _range(part)]
        length = (row["finish_time"] or 0.0) - (row["starting_time"] or 0.0)
        found.append(math.fsum(watts.get(row["job_id"], nodes[n][1]) for n in had) * length)
    return found


def _range(text):
    low, _, high = text.partition("-")
    return range(int(low), int(high or low) + 1)


def _check_put_off(result, platform, nodes, watts, moments):
    """On nodes that are all alike, nobody is held back or rejected whom the cap would allow."""
    if len(set(nodes)) > 1:
        return
    idle, busy = nodes[0]
    asked = dict(result.jobs.select("job_id", "requested_number_of_resources").rows())
    adds = {j: n * max(watts.get(j, busy) - idle, 0) for j, n in asked.items()}
    for time, j, _, slurm, _ in result.held.rows():
        if slurm == "PowerNotAvail":
            running = result.jobs.filter((result.jobs["starting_time"] <= time) & (result.jobs["finish_time"] > time))
            assert sum(adds[k] for k in running["job_id"]) + adds[j] + len(nodes) * idle > platform.power.cap - 1e-3
    for j in result.jobs.filter(result.jobs["final_state"] == "REJECTED")["job_id"]:
        assert adds[j] + len(nodes) * idle > platform.power.cap - 1e-3 or asked[j] > 3  # or by the limit of users


class Dice(forebay.Policy):
    """Starts what fits in random order, interrupts, kills and wakes."""

    def decide(self, view, act):
        for j in view.rng.permutation(view.queue):
            if act.fits(j):
                act.start(j)
        for j in view.running["job"].tolist():
            draw, begun = view.rng.random(), view.jobs["leg_start"][j] < view.now
            if draw < 0.1 and begun:
                act.interrupt(j)
            elif draw < 0.12 and begun:
                act.kill(j)
        if len(view.queue):
            act.wake(view.now + 2.5)


@settings(max_examples=examples(25))
@given(runs(), st.integers(0, 5))
def test_jobs_that_start_again_keep_below_it_too(run, seed):
    """Those that have begun are never held back: wherever they start again, there is room."""
    jobs, platform, _, nodes, watts = run
    for policy, failures in ((Dice(), None), ("fcfs-easy", "mtbf=30s,downtime=4s")):
        result = forebay.simulate(jobs, platform, policy, seed=seed, failures=failures)
        moments = draws(result, nodes, watts)
        assert most(moments) <= platform.power.cap + 1e-6
        _check_steps(result, moments)


@pytest.mark.parametrize("seed", range(12))
def test_jobs_of_several_legs_keep_below_it_too(seed):
    """They carry nodes from leg to leg, wait for the next, and give nodes back early."""
    jobs, plain = pooled.make(seed, legs=True)
    power = {"idle": 100, "busy": 300, "cap": 100 * plain.nodes + 200 * (plain.nodes * 2 // 3 or 1)}
    platform = Platform(name="m", nodes=plain.nodes, tiers=plain.tiers, power=power)
    result = forebay.simulate(jobs, platform, Dice(), seed=seed)
    moments = draws(result, [(100, 300)] * plain.nodes, {})
    assert most(moments) <= platform.power.cap
    _check_steps(result, moments)
