"""What counts as one moment, by hand: a policy that only watches writes down every call."""

import pytest

import forebay
from cases import pooled
from forebay.core.codes import Trigger

pytestmark = pytest.mark.small

NOTHING_CARRIED = {"carry": "", "nodes": 1}


class Watcher:
    """First come, first served, in plain Python; keeps (now, reasons) of each call."""

    def __init__(self):
        self.calls = []

    def decide(self, view, act):
        self.calls.append((view.now, {reason for reason in Trigger if view.because(reason)}))
        for job in view.queue:
            if not act.fits(job):
                break
            act.start(job)


def run(nodes, jobs, legs=(), phases=()):
    """The calls, and the result, of jobs given as (id, submit, run time, nodes)."""
    rows = [dict(zip(("id", "submit", "walltime", "nodes"), row, strict=True)) for row in jobs]
    watcher = Watcher()
    workload = pooled.workload(rows, legs, phases)
    result = forebay.simulate(workload, pooled.platform(nodes), watcher)
    return watcher.calls, result.jobs


def test_ends_a_rounding_apart_are_one_instant():
    """Two ends 1e-12 s apart free 2 nodes for one decision, at the later of them; each keeps its own time."""
    calls, jobs = run(2, [(1, 0.0, 5.0, 1), (2, 0.0, 5.0 + 1e-12, 1), (3, 1.0, 1.0, 2)])
    assert [now for now, _ in calls] == [0, 1, 5.0 + 1e-12, 6.0 + 1e-12]
    assert jobs["finish_time"].to_list() == [5.0, 5.0 + 1e-12, 6.0 + 1e-12]


def test_ends_a_microsecond_apart_are_two():
    calls, _ = run(2, [(1, 0.0, 5.0, 1), (2, 0.0, 5.000001, 1)])
    assert [now for now, _ in calls] == [0, 5.0, 5.000001]


def test_width_grows_with_time_up_to_a_microsecond():
    """A billionth of the time, at most 1e-6 s: 5e-7 s apart are two instants at 1 s and one at 1e3 s, where floats are
    coarser; 2e-6 s apart are two even at 1e4 s.
    """
    for time, apart, instants in ((1.0, 5e-7, 2), (1e3, 5e-7, 1), (1e4, 5e-7, 1), (1e4, 2e-6, 2)):
        calls, _ = run(2, [(1, 0.0, time, 1), (2, 0.0, time + apart, 1)])
        assert len(calls) == 1 + instants


def test_submit_at_the_very_time_of_an_end():
    """Ends come first: job 2, submitted as job 1 ends, finds the node free, in one decision that has both reasons."""
    calls, jobs = run(1, [(1, 0.0, 3.0, 1), (2, 3.0, 1.0, 1)])
    assert [now for now, _ in calls] == [0, 3, 4]
    assert calls[1][1] == {Trigger.SUBMIT, Trigger.JOB_ENDED}
    assert jobs["waiting_time"].to_list() == [0, 0]


def test_submits_together_are_one_decision_in_order_of_id():
    calls, jobs = run(1, [(7, 0.0, 2.0, 1), (3, 0.0, 2.0, 1), (5, 0.0, 2.0, 1)])
    assert calls[0] == (0, {Trigger.SUBMIT})
    assert dict(jobs.select("job_id", "starting_time").rows()) == {3: 0, 5: 2, 7: 4}


def test_kill_and_end_together():
    """Job 1 is killed at 4, job 2 ends at 4: one decision starts job 3 on both nodes."""
    legs = [{"job": 1, "leg": 0, "walltime": 4.0, **NOTHING_CARRIED}]
    phases = [{"job": 1, "leg": 0, "seconds": 9.0}]
    calls, jobs = run(2, [(1, 0.0, 4.0, 1), (2, 0.0, 4.0, 1), (3, 1.0, 1.0, 2)], legs, phases)
    assert [now for now, _ in calls] == [0, 1, 4, 5]
    assert jobs["starting_time"].to_list() == [0, 0, 4]


def test_zero_length_phases_pass_in_their_instant():
    """3 s between phases of no length: the leg ends at 3, and nobody is asked at the silent phase ends."""
    legs = [{"job": 1, "leg": 0, "walltime": 9.0, **NOTHING_CARRIED}]
    phases = [{"job": 1, "leg": 0, "seconds": seconds} for seconds in (0.0, 0.0, 3.0, 0.0, 0.0)]
    calls, jobs = run(1, [(1, 0.0, 9.0, 1), (2, 0.0, 1.0, 1)], legs, phases)
    assert [now for now, _ in calls] == [0, 3, 4]
    assert jobs["finish_time"].to_list() == [3, 4]


def test_zero_length_leg_ends_in_a_new_instant():
    """Started in the decision at 0, over at 0: a second decision at the same time, then the next job."""
    legs = [{"job": 1, "leg": 0, "walltime": 1.0, **NOTHING_CARRIED}]
    phases = [{"job": 1, "leg": 0, "seconds": 0.0}]
    calls, jobs = run(1, [(1, 0.0, 1.0, 1), (2, 0.0, 2.0, 1)], legs, phases)
    assert calls == [(0, {Trigger.SUBMIT}), (0, {Trigger.JOB_ENDED}), (2, {Trigger.JOB_ENDED})]
    assert jobs["starting_time"].to_list() == [0, 0]
    assert jobs["finish_time"].to_list() == [0, 2]


def test_rejected_jobs_do_not_wait():
    """A job larger than the machine is turned away on arrival; the others never notice."""
    _, jobs = run(2, [(1, 0.0, 3.0, 1), (2, 1.0, 3.0, 3), (3, 1.0, 3.0, 1)])
    assert jobs["final_state"].to_list() == ["COMPLETED_SUCCESSFULLY", "REJECTED", "COMPLETED_SUCCESSFULLY"]
    assert jobs["starting_time"].to_list() == [0, None, 1]
