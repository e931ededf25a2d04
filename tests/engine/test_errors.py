"""Policies that do what no policy may: each is stopped by name, and told when, which job and what was wrong."""

import pytest

import forebay
from cases import pooled
from forebay import errors

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


CASES = {
    "oversubscribes": (2.0, start_all, errors.OversubscribedError, ["t = 2 s", "job 12", "2 of nodes", "1 are free"]),
    "starts twice in one decision": (0.0, start_twice, errors.StartedTwiceError, ["t = 0 s", "job 11", "runs already"]),
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
        ["t = 9 s", "2 job(s)", "job 12 first", "4 nodes, 10 burst_buffer"],
    ),
}


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
