"""Nodes that a job gives up at its point can be used in the same instant, also by a policy that looked before."""

import pytest

import forebay as fb
from cases.flexible import Jobs, compute, loop

pytestmark = pytest.mark.small


class LooksFirst(fb.Policy):
    """Serves the queue, and then shrinks jobs at a point while others wait."""

    resizes = True

    def __init__(self, name_nodes=False, **more):
        self.name_nodes, self.more, self.seen = name_nodes, more, []

    def decide(self, view, act):
        self.seen.append((view.now, view.points, view.because(fb.Trigger.RELEASED)))
        for job in view.queue:
            if act.fits(job):
                act.start(job)
        for job in view.points:
            sizes = view.sizes(job)
            if len(view.queue) and view.size(job) > sizes[0]:
                least = view.nodes_of(job)[: sizes[0]] if self.name_nodes else sizes[0]
                act.resize(job, least, **self.more)
            elif view.size(job) < sizes[-1] <= view.size(job) + act.free[0]:
                act.resize(job, sizes[-1])


def waiting_beside_one_that_shrinks():
    # Rounds of 10 s on 16 nodes. The other comes at 25 and needs 4; at the point at 30 twelve come free.
    jobs = Jobs()
    jobs.add("malleable", 0, [4, 16], loop(8, compute(lambda n: 160 / n)))
    jobs.add("rigid", 25, [4], loop(1, compute(7)))
    return jobs.workload()


@pytest.mark.parametrize("name_nodes", [False, True])
def test_who_fits_starts_in_the_instant_of_the_shrink(name_nodes):
    policy = LooksFirst(name_nodes)
    result = fb.simulate(waiting_beside_one_that_shrinks(), "flat:nodes=16", policy)
    assert result.jobs["starting_time"].to_list() == [0, 30]
    # Once for the point, and once more for what it gave up, when it is there no longer; growth causes no call.
    at_once = [call for call in policy.seen if call[0] == 30]
    assert at_once == [(30, [0], False), (30, [], True)]
    assert [now for now, *_ in policy.seen].count(70) == 1


def test_a_policy_can_do_without_the_second_call():
    policy = LooksFirst(again=False)
    result = fb.simulate(waiting_beside_one_that_shrinks(), "flat:nodes=16", policy)
    assert [call for call in policy.seen if call[0] == 30] == [(30, [0], False)]
    assert result.jobs["starting_time"].to_list() == [0, 70]


class Restless(fb.Policy):
    """At its point a job goes down if it can, else up: for ever, if it were asked again there."""

    resizes = True

    def __init__(self):
        self.calls = 0

    def decide(self, view, act):
        self.calls += 1
        for job in view.queue:
            act.start(job)
        for job in view.points:
            low, high = view.sizes(job)
            act.resize(job, low if view.size(job) == high else high)


def test_it_comes_to_an_end_where_rounds_take_no_time():
    jobs = Jobs()
    jobs.add("malleable", 0, [1, 4], loop(50, compute(0.0)))
    policy = Restless()
    fb.simulate(jobs.workload(), "flat:nodes=4", policy)
    assert policy.calls <= 2 * 50 + 2


class Wavering(fb.Policy):
    """Promises a job nodes and takes some back, in every decision: neither is done at its point."""

    resizes = True

    def __init__(self):
        self.calls = 0

    def decide(self, view, act):
        self.calls += 1
        for job in view.queue:
            act.start(job)
        for job in view.running["job"].tolist():
            if job not in view.points and view.because(fb.Trigger.WAKE):
                act.resize(job, 4)
                act.resize(job, 2)
        if view.now < 5:
            act.wake(view.now + 1)


def test_what_was_only_promised_calls_nobody():
    jobs = Jobs()
    jobs.add("malleable", 0, [1, 2, 4], loop(2, compute(10)), nodes=1)
    policy = Wavering()
    fb.simulate(jobs.workload(), "flat:nodes=4", policy)
    assert policy.calls == 6 + 2  # at 0, 1, ..., 5 s, at the point, and at the end
