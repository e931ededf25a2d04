"""Policies that do what no policy may: each is stopped by name, and told when, which job and what was wrong."""

import itertools
import math

import numba
import pytest

import forebay
from cases import pooled
from forebay import LogReason, errors
from forebay.workload import job_table, models

pytestmark = pytest.mark.small

MACHINE = pooled.platform(4, 10)
# Rows 0, 1, 2; their ids are 11, 12, 13, so that a message that mixes up rows and ids shows.
JOBS = [
    {"id": 11, "submit": 0.0, "walltime": 5.0, "nodes": 3, "burst_buffer": 4},
    {"id": 12, "submit": 2.0, "walltime": 5.0, "nodes": 2, "burst_buffer": 8},
    {"id": 13, "submit": 9.0, "walltime": 5.0, "nodes": 1, "burst_buffer": 0},
]


class Scripted:
    """Starts what fits, first come first served, but plays `prank` from time `when` on."""

    def __init__(self, when, prank):
        self.when, self.prank = when, prank

    def decide(self, view, act):
        if view.now >= self.when:
            self.prank(view, act)
            return
        for job in view.queue:
            if not act.fits(job):
                break
            act.start(job)


def divide(view, act):
    view.walltime(int(view.queue[0]))
    return 1 // 0


def start_twice(view, act):
    act.start(0)
    act.start(0)


def start_all(view, act):
    for job in view.queue:
        act.start(job)


def flood(view, act):
    for _ in range(len(JOBS) + 1024 + 1):
        act.wake(view.now + 1)


def leave(how):
    def prank(view, act):
        raise how

    return prank


def spoil(view, act):
    del view._state, view.last_job
    return 1 // 0


def unseal(view, act):
    view.jobs.flags.writeable = True


CASES = {
    "names a job by a float": (0.0, lambda view, act: act.start(1.5), errors.BadActionError, ["by 1.5;", "row"]),
    "names a job by nan": (0.0, lambda view, act: view.demand(math.nan), errors.BadActionError, ["by nan;", "row"]),
    "names a job by text": (0.0, lambda view, act: act.fits("11"), errors.BadActionError, ["by '11';", "row"]),
    "names no job": (0.0, lambda view, act: view.walltime(None), errors.BadActionError, ["by None;", "row"]),
    "asks of no row": (0.0, lambda view, act: view.demand(-1), errors.UnknownJobError, ["row -1", "rows 0 to 2"]),
    "rejects a text": (0.0, lambda view, act: act.reject("x"), errors.BadActionError, ["by 'x';"]),
    "has no such reason": (0.0, lambda view, act: act.start(0, 57), errors.BadActionError, ["job 11", "reason 57"]),
    "gives an ending as reason": (
        0.0,
        lambda view, act: act.start(0, LogReason.COMPLETED),
        errors.BadActionError,
        ["job 11", "reason 10", "BACKFILLED"],
    ),
    "gives a word as reason": (0.0, lambda view, act: act.start(0, "why"), errors.BadActionError, ["'why'", "reason"]),
    "has no such way": (0.0, lambda view, act: act.start(0, way=7), errors.BadActionError, ["job 11", "way 7"]),
    "picks no nodes": (0.0, lambda view, act: act.start(0, nodes=[]), errors.OversubscribedError, ["job 11", "the 3"]),
    "picks one node thrice": (
        0.0,
        lambda view, act: act.start(0, nodes=[1, 1, 1]),
        errors.OversubscribedError,
        ["job 11", "the 3"],
    ),
    "picks too many nodes": (
        0.0,
        lambda view, act: act.start(0, nodes=[0, 1, 2, 3]),
        errors.OversubscribedError,
        ["job 11", "the 3"],
    ),
    "picks nodes without end": (
        0.0,
        lambda view, act: act.start(0, nodes=itertools.repeat(1)),
        errors.BadActionError,
        ["more than the 4 nodes"],
    ),
    "picks half a node": (0.0, lambda view, act: act.start(0, nodes=[0.5, 1, 2]), errors.BadActionError, ["0.5"]),
    "picks a number": (
        0.0,
        lambda view, act: act.start(0, nodes=4),
        errors.BadActionError,
        ["4 nodes", "view.sizes"],
    ),
    "picks a node far away": (0.0, lambda view, act: act.start(0, nodes=[2**70] * 3), errors.BadActionError, ["node"]),
    "wakes at a word": (2.0, lambda view, act: act.wake("soon"), errors.BadActionError, ["'soon'", "view.now + 60"]),
    "wakes at nan": (2.0, lambda view, act: act.wake(math.nan), errors.BadActionError, ["t = 2 s", "not later"]),
    "stops the engine": (2.0, lambda view, act: act._stop(), errors.BadActionError, ["t = 2 s", "act._stop()"]),
    "leaves": (2.0, leave(SystemExit(0)), errors.PolicyRaisedError, ["t = 2 s", "SystemExit"]),
    "interrupts": (2.0, leave(KeyboardInterrupt()), errors.PolicyRaisedError, ["t = 2 s", "KeyboardInterrupt"]),
    "closes a generator": (2.0, leave(GeneratorExit()), errors.PolicyRaisedError, ["t = 2 s", "GeneratorExit"]),
    "raises the base of all": (2.0, leave(BaseException("x")), errors.PolicyRaisedError, ["t = 2 s", "BaseException"]),
    "spoils its view": (2.0, spoil, errors.PolicyRaisedError, ["t = 2 s", "ZeroDivisionError"]),
    "unseals a table": (2.0, unseal, errors.PolicyRaisedError, ["ValueError", "WRITEABLE"]),
    "oversubscribes": (2.0, start_all, errors.OversubscribedError, ["t = 2 s", "job 12", "2 nodes", "1 are free"]),
    "starts twice in one decision": (
        0.0,
        start_twice,
        errors.StartedTwiceError,
        ["t = 0 s", "job 11", "already in the same decision, by act.start or by act.backfill"],
    ),
    "starts what it has backfilled": (
        0.0,
        lambda view, act: act.start(act.backfill()[0]),
        errors.StartedTwiceError,
        ["job 11", "in the same decision"],
    ),
    "starts a running job": (2.0, lambda view, act: act.start(0), errors.StartedTwiceError, ["t = 2 s", "job 11"]),
    "starts an ended job": (5.0, lambda view, act: act.start(0), errors.StartedTwiceError, ["job 11", "completed"]),
    "starts a job to come": (
        0.0,
        lambda view, act: act.start(2),
        errors.StartedEarlyError,
        ["t = 0 s", "job 13", "only at 9 s"],
    ),
    "names no row": (0.0, lambda view, act: act.start(11), errors.UnknownJobError, ["row 11", "rows 0 to 2"]),
    "names a negative row": (0.0, lambda view, act: act.start(-1), errors.UnknownJobError, ["row -1", "rows 0 to 2"]),
    "wakes in the past": (2.0, lambda view, act: act.wake(1.0), errors.BadActionError, ["t = 2 s", "not later"]),
    "wakes now": (2.0, lambda view, act: act.wake(2.0), errors.BadActionError, ["t = 2 s", "not later"]),
    "rejects a running job": (2.0, lambda view, act: act.reject(0), errors.BadActionError, ["t = 2 s", "job 11"]),
    "acts without end": (0.0, flood, errors.BadActionError, ["t = 0 s", "1,027 actions"]),
    "raises": (2.0, divide, errors.PolicyRaisedError, ["t = 2 s", "ZeroDivisionError", "job 12", "return 1 // 0"]),
    "leaves jobs waiting": (
        2.0,
        lambda view, act: None,
        errors.StalledError,
        ["t = 9 s", "2 jobs", "job 12 first", "4 nodes, 10 burst_buffer"],
    ),
}


def test_a_job_that_grows_too_far_is_named_with_its_sizes():
    class Grow(forebay.Policy):
        resizes = True

        def decide(self, view, act):
            for job in view.queue:
                act.start(job)
            for job in view.points:
                act.resize(job, 7)

    table = {"id": [1, 2], "submit": [0.0, 0.0], "walltime": [9000.0] * 2, "run_time": [3600.0] * 2, "nodes": [4, 3]}
    jobs = models.attach(forebay.Workload("two", job_table(table)), ["flexible:share=1"], 1)
    says = r"resized job 1 to 7 nodes, 3 more than it has, while 1 is free; grow it by act\.free\[0\] at most"
    with pytest.raises(errors.OversubscribedError, match=says):
        forebay.simulate(jobs, "flat:nodes=8", Grow())


@pytest.mark.parametrize("case", CASES)
def test_named_error(case):
    when, prank, error, words = CASES[case]
    with pytest.raises(error) as caught:
        forebay.simulate(pooled.workload(JOBS), MACHINE, Scripted(when, prank))
    assert [word for word in words if word not in str(caught.value)] == []
    assert caught.value.exit_code == 3


def test_oversubscribed_buffer_is_named():
    """Nodes suffice (3 + 1 of 4); the buffer does not (4 + 8 of 10)."""
    jobs = [JOBS[0], JOBS[1] | {"nodes": 1}]
    with pytest.raises(errors.OversubscribedError, match="needs 8 of burst_buffer while 6 are free"):
        forebay.simulate(pooled.workload(jobs), MACHINE, Scripted(2.0, start_all))


def test_the_well_behaved_policy_is_let_through():
    """The same policy without its prank: what the cases above stop is the prank, nothing else.

    Job 11 runs 0 to 5. Job 12 wants 8 of buffer while 6 are free, so it waits until 5. Job 13 has a free node at 9.
    """
    result = forebay.simulate(pooled.workload(JOBS), MACHINE, Scripted(1e9, None))
    assert result.jobs["starting_time"].to_list() == [0, 5, 9]


def test_a_wake_keeps_the_run_alive():
    """Nothing runs and nothing will arrive, but a wake is pending: not stalled."""

    class Late:
        def decide(self, view, act):
            if view.now < 20:
                act.wake(20.0)
            else:
                start_all(view, act)

    result = forebay.simulate(pooled.workload([JOBS[0]]), MACHINE, Late())
    assert result.jobs["starting_time"].to_list() == [20]


class Restless:
    """In order, and awake every minute whatever happens."""

    def decide(self, view, act):
        act.wake(view.now + 60)
        for job in view.queue:
            if not act.fits(job):
                break
            act.start(job)


def test_a_run_ends_when_nothing_is_to_come_whatever_wakes_are_set():
    result = forebay.simulate(pooled.workload(JOBS), MACHINE, Restless())
    assert result.jobs["finish_time"].to_list() == [5, 10, 14]
    assert result.facts["decisions"] < 10


@pytest.mark.parametrize("step", [60.0, 1e-3])
def test_waking_for_ever_while_jobs_wait_is_stalling(step, monkeypatch):
    class Waiting:
        def decide(self, view, act):
            act.wake(view.now + step)

    if numba.config.DISABLE_JIT:  # they would take some seconds
        monkeypatch.setattr("forebay.engine.loop.MOST_IDLE_WAKES", 1000)
    with pytest.raises(errors.StalledError, match=r"3 jobs waiting and was woken 1(00)?,000 times in a row"):
        forebay.simulate(pooled.workload(JOBS), MACHINE, Waiting())


def test_a_policys_setup_is_its_own_too():
    class Exits:
        def setup(self, view):
            raise SystemExit(0)

        def decide(self, view, act):
            pass

    with pytest.raises(errors.PolicyRaisedError, match="SystemExit"):
        forebay.simulate(pooled.workload(JOBS), MACHINE, Exits())


def test_what_if_on_what_is_free_changes_nothing():
    class Trying:
        def decide(self, view, act):
            for job in view.queue:
                left = act.free
                left[0] -= 100
                view.free[0] = 0
                view.queue[:] = -1
                if act.fits(job):
                    act.start(job)

    result = forebay.simulate(pooled.workload(JOBS), MACHINE, Trying())
    assert result.jobs["starting_time"].to_list() == [0, 5, 9]
