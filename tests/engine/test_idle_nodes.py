"""`act.idle_nodes` are the nodes that are idle once the engine has carried out the verbs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import forebay as fb
from cases import classes, shared, transfers
from cases.flexible import Jobs, compute, loop
from cases.pooled import make as pooled_case

pytestmark = pytest.mark.small


class Named(fb.Policy):
    """Starts some jobs as the engine likes and others on nodes that are left, which must not be taken."""

    def decide(self, view, act):
        for job in view.queue:
            if not act.fits(job):
                continue
            n, left = int(view.demand(job)[0]), act.idle_nodes
            allowed = int(view.legs["allowed"][view.jobs["leg"][job]])
            first = view._state.nodes.atoms[:, 0]
            atom = np.searchsorted(first, left, side="right") - 1 if len(first) else np.zeros(len(left), int)
            may = left[(allowed >> np.maximum(atom, 0)) & 1 == 1] if len(first) else left
            if n and view.rng.random() < 0.5 and len(may) >= n:
                act.start(job, nodes=view.rng.permutation(may)[:n].tolist())
            else:
                act.start(job)
            assert len(act.idle_nodes) == len(left) - n
        self.left = act.idle_nodes.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_nodes_that_are_left_can_be_named(seed):
    fb.simulate(*pooled_case(seed, legs=False), Named(), seed=seed)


@pytest.mark.parametrize("seed", range(6))
def test_where_buffers_are_in_chunks(seed):
    fb.simulate(*transfers.make(seed), Named(), seed=seed)


@pytest.mark.parametrize("seed", [seed for seed in range(12) if not classes.make(seed)[1].sharing][:4])
def test_where_nodes_are_not_all_alike(seed):
    made, platform, *_ = classes.make(seed)
    fb.simulate(made, platform, Named(), seed=seed)


def test_after_backfilling():
    class Backfills(fb.Policy):
        def decide(self, view, act):
            before = act.idle_nodes
            started = act.backfill(depth=0)
            taken = sum(int(view.demand(job)[0]) for job in started)
            assert act.idle_nodes.tolist() == before[taken:].tolist()

    fb.simulate(*pooled_case(1, legs=False), Backfills())


@pytest.mark.parametrize("seed", range(3))
def test_shared_nodes_of_which_nobody_has_a_part(seed):
    class Fills(fb.Policy):
        def decide(self, view, act):
            for job in view.queue:
                if act.fits(job):
                    act.start(job)
            self.left = act.idle_nodes.tolist()
            assert set(self.left) <= set(view.idle_nodes.tolist())
            self.looked = getattr(self, "looked", 0) + (len(self.left) < len(view.idle_nodes))

    platform, made = shared.random_case(seed, 30)
    policy = Fills()
    fb.simulate(made, platform, policy)
    assert policy.looked > 0


class Shuffles(fb.Policy):
    """Resizes and starts at random; what it expects to be left is compared where it is called again at once."""

    resizes = True

    def setup(self, view):
        self.expected, self.compared = (-1.0, []), 0

    def decide(self, view, act):
        rng = view.rng
        if view.triggers == fb.Trigger.RELEASED and view.now == self.expected[0]:
            assert view.idle_nodes.tolist() == self.expected[1]
            self.compared += 1
        for job in rng.permutation(view.points).astype(int).tolist():
            size = int(rng.choice(view.sizes(job)))
            if size - view.size(job) <= act.free[0] and size != view.size(job):
                act.resize(job, size)
        for job in view.queue.tolist():
            sizes = [n for n in view.sizes(job) if act.fits(job, nodes=n)]
            if sizes and rng.random() < 0.7:
                n = int(rng.choice(sizes))
                named = rng.random() < 0.3
                act.start(job, nodes=rng.permutation(act.idle_nodes)[:n].tolist() if named else n)
        assert len(act.idle_nodes) == act.free[0]
        self.expected = view.now, act.idle_nodes.tolist()
        if len(view.queue):
            act.wake(view.now + 1)


@given(st.integers(0, 10_000))
def test_nodes_given_up_at_a_point_are_those_that_the_engine_frees(seed):
    rng, jobs = np.random.default_rng(seed), Jobs()
    for _ in range(6):
        low = int(rng.integers(1, 4))
        high = low + int(rng.integers(1, 6))
        seconds = float(rng.integers(1, 6))
        jobs.add(
            "malleable", float(rng.integers(0, 10)), range(low, high), loop(int(rng.integers(2, 8)), compute(seconds))
        )
    fb.simulate(jobs.workload(), "flat:nodes=9", Shuffles(), seed=seed)


def test_some_are_compared():
    jobs, policy = Jobs(), Shuffles()
    for k in range(6):
        jobs.add("malleable", float(k), range(1, 6), loop(10, compute(3.0)))
    fb.simulate(jobs.workload(), "flat:nodes=9", policy, seed=1)
    assert policy.compared > 3
