"""Nodes that are switched off: solved by hand, and against a twin that follows each node through the log."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forebay
from cases import stepped
from cases.chunks import examples
from cases.flexible import Jobs, compute, loop
from cases.pooled import workload
from engine.test_power_cap import POLICIES, runs, starts
from forebay.errors import InputError
from forebay.metrics import energy, power
from forebay.platforms import Platform
from twins.power import boots, draws, integral, most

pytestmark = pytest.mark.small
OFF = {"after": 100.0, "boot": 20.0, "off_watts": 5}


def machine(nodes=2, **parts):
    return Platform(name="m", nodes=nodes, power={"idle": 100, "busy": 300, "shutdown": OFF, **parts})


def job(number, submit, length, nodes, **more):
    return {"id": number, "submit": float(submit), "walltime": float(length), "nodes": nodes, **more}


def ends(result):
    return dict(result.jobs.select("job_id", "finish_time").rows())


def test_nodes_off_by_hand():
    """2 nodes, off after 100 s at 5 W, back in 20 s. The first job comes at 10: both are idle since then.

    Job 1 has node 0 from 10 to 70; node 1 is off from 110. Job 2 has node 0, idle for 80 s, from 150 to 210, and needs
    no boot. Node 0 is off from 310. Job 3 starts on both at 400: they boot to 420, and it works to 480.
    """
    result = forebay.simulate(workload([job(1, 10, 60, 1), job(2, 150, 60, 1), job(3, 400, 60, 2)]), machine(), "fcfs")
    assert starts(result) == {1: 10.0, 2: 150.0, 3: 400.0}
    assert ends(result) == {1: 70.0, 2: 210.0, 3: 480.0}
    steps = [(10, 400), (70, 200), (110, 105), (150, 305), (210, 105), (310, 10), (400, 600), (480, 200)]
    assert power(result).rows() == steps
    assert energy(result) == 60 * 400 + 40 * 200 + 40 * 105 + 60 * 305 + 100 * 105 + 90 * 10 + 80 * 600
    assert dict(result.jobs.select("job_id", "consumed_energy").rows()) == {1: 18e3, 2: 18e3, 3: 80 * 600.0}


def test_a_node_is_off_as_soon_as_it_is_idle_for_so_long():
    """Idle from 10 to 110, or to 109: off, and not."""
    for submit, end in ((110, 140.0), (109, 119.0)):
        result = forebay.simulate(workload([job(1, 0, 10, 2), job(2, submit, 10, 1)]), machine(), "fcfs")
        assert ends(result)[2] == end


def test_one_node_that_is_off_lets_a_job_wait_for_all():
    """Node 1 is off from 100; job 1 has node 0 to 90. Job 2 takes both at 150."""
    result = forebay.simulate(workload([job(1, 0, 90, 1), job(2, 150, 10, 2)]), machine(), "fcfs")
    assert ends(result)[2] == 180.0


def test_a_walltime_begins_when_nodes_are_up():
    """Off at 100. Job 2 works for 30 s and may for 30; job 3 works for 30 and may for 20, on a node that is on."""
    jobs = [job(1, 0, 1, 1), job(2, 200, 30, 1), job(3, 260, 20, 1, run_time=30.0)]
    result = forebay.simulate(workload(jobs), machine(), "fcfs-easy")
    assert ends(result) == {1: 1.0, 2: 250.0, 3: 280.0}
    assert result.jobs["final_state"].to_list()[1:] == ["COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED"]
    late = forebay.simulate(workload([job(1, 0, 1, 1), job(2, 200, 20, 1, run_time=30.0)]), machine(), "fcfs")
    assert ends(late)[2] == 240.0


def test_policies_see_when_a_job_that_boots_will_end():
    """Job 2 boots from 200 to 220 and works to 250 on both; job 3 of 2 nodes is promised 250 by EASY, so 4 must not
    start: there is no node. With 3 nodes, 4 (45 s) may run beside, as it ends by 250."""
    jobs = [job(1, 0, 1, 1), job(2, 200, 30, 2), job(3, 201, 10, 3), job(4, 202, 28, 1)]
    result = forebay.simulate(workload(jobs), machine(3), "fcfs-easy")
    assert starts(result) == {1: 0.0, 2: 200.0, 3: 250.0, 4: 202.0}
    assert ends(result)[4] == 250.0  # it boots, too: 20 + 28


def test_a_job_withdrawn_while_its_nodes_boot_leaves_them_on():
    jobs = [job(1, 0, 1, 1), job(2, 200, 30, 1, cancel=10.0), job(3, 205, 10, 2)]
    result = forebay.simulate(workload([{"cancel": float("inf"), **one} for one in jobs]), machine(), "fcfs")
    assert ends(result)[2] == 210.0
    assert ends(result)[3] == 240.0  # node 1 is off still
    kinds = result.log.filter(result.log["job"] == 2)["kind"].to_list()
    assert kinds == ["submit", "start", "end"]


class Breaks:
    """Starts jobs in order, and interrupts job 2 at 210, once."""

    def __init__(self):
        self.done = False

    def decide(self, view, act):
        for j in view.queue:
            if act.fits(j):
                act.start(j)
        if view.now < 210 and not self.done:
            act.wake(210.0)
        elif not self.done:
            self.done = True
            act.interrupt(1)


def test_a_job_interrupted_while_its_nodes_boot_starts_again_without():
    """At 210 it goes back to the queue, and starts at once on the node that is on by now."""
    result = forebay.simulate(workload([job(1, 0, 1, 1), job(2, 200, 30, 1)]), machine(), Breaks())
    log = result.log.filter(result.log["job"] == 2).select("time", "kind").rows()
    assert log[1:] == [
        (200.0, "start"),
        (210.0, "end"),
        (210.0, "queue"),
        (210.0, "start"),
        (240.0, "end"),
    ]


def test_legs_boot_when_they_start_and_nodes_go_off_one_by_one():
    """Job 1 stages 150 s without nodes; both are off by then, and boot to 170. It gives one back at 180, one at 300;
    job 2 takes both at 310: the first is off since 280."""
    legs = [{"job": k, "leg": 0, "walltime": 150.0, "nodes": 0 if k == 1 else 2, "carry": ""} for k in (1, 2)]
    legs.insert(1, {"job": 1, "leg": 1, "walltime": 150.0, "nodes": 2, "carry": ""})
    phases = [
        {"job": 1, "leg": 0, "seconds": 150.0},
        {"job": 1, "leg": 1, "seconds": 10.0, "release": "nodes=1"},
        {"job": 1, "leg": 1, "seconds": 120.0},
        {"job": 2, "leg": 0, "seconds": 10.0},
    ]
    jobs = workload([job(1, 0, 300, 2), job(2, 310, 150, 2)], legs, phases)
    result = forebay.simulate(jobs, machine(), "fcfs")
    assert ends(result) == {1: 300.0, 2: 340.0}
    assert boots(result, 100.0) == [1, 2]


def test_a_run_that_is_opened_and_copied_boots_alike():
    jobs = workload([job(1, 0, 1, 1), job(2, 200, 30, 1), job(3, 210, 10, 2)])
    whole = forebay.simulate(jobs, machine(), "fcfs")
    for rate in (0.15, 0.5, 0.9):
        result = stepped.simulate(jobs, machine(), "fcfs", rate=rate)
        assert result.facts["log_sha256"] == whole.facts["log_sha256"]


def test_what_is_not_modelled_together():
    jobs = workload([job(1, 0, 1, 1)])
    with pytest.raises(InputError, match="nodes that fail are not switched off"):
        forebay.simulate(jobs, machine(), "fcfs", failures="mtbf=1h")
    forebay.simulate(jobs, machine(), "fcfs", failures="mtbf=inf")
    flexible = Jobs()
    flexible.add("malleable", 0, [1, 2], loop(1, compute(lambda n: 20 / n)), walltime=99)
    with pytest.raises(InputError, match="nodes are switched off under jobs that keep their size"):
        forebay.simulate(flexible.workload(), machine(), "mebf")


@settings(max_examples=examples(40))
@given(runs(), st.sampled_from((1.0, 3.0, 10.0)), st.sampled_from((0.5, 2.0, 7.0)), st.sampled_from(POLICIES))
def test_any_run_boots_and_draws_as_its_twin_has_it(run, after, boot, policy):
    jobs, platform, _, nodes, watts = run
    off = {"after": after, "boot": boot, "off_watts": 0}
    given = {"idle": platform.power.idle, "busy": platform.power.busy, "cap": platform.power.cap, "shutdown": off}
    platform = Platform(name="m", nodes=platform.nodes, classes=platform.classes, power=given)
    result = forebay.simulate(jobs, platform, policy)
    moments = draws(result, nodes, watts, (after, 0.0))
    assert most(moments) <= platform.power.cap + 1e-6
    slow, length = boots(result, after), dict(jobs.jobs.select("id", "run_time").rows())
    for row in result.jobs.rows(named=True):
        if row["finish_time"] is not None:
            wanted = length[row["job_id"]] + boot * (row["job_id"] in slow)
            assert row["finish_time"] - row["starting_time"] == pytest.approx(wanted)
    first = result.jobs.filter(result.jobs["finish_time"].is_not_null())["submission_time"].min()
    if first is not None:
        later = [(max(time, first), draw) for time, draw in moments]
        assert energy(result) == pytest.approx(integral(later, result.jobs["finish_time"].max()), abs=1e-6)


def test_a_machine_whose_nodes_stay_on_has_the_log_of_one_without_power():
    jobs = workload([job(1, 10, 60, 1), job(2, 150, 60, 1), job(3, 400, 60, 2)])
    without = forebay.simulate(jobs, Platform(name="m", nodes=2), "fcfs").facts["log_sha256"]
    on = machine(shutdown={**OFF, "after": "1000 d"})
    assert forebay.simulate(jobs, on, "fcfs").facts["log_sha256"] == without
