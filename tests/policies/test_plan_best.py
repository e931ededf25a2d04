"""The descent against a slow twin, without shortcuts, and against what it begins with."""

import random

import numpy as np
import pytest

import forebay
from cases import pooled
from cases.chunks import chunks
from forebay._numba.pointer import pointer
from forebay.core.tables import STATE
from forebay.errors import InputError
from forebay.policies import load
from forebay.policies.plan_best import PlanBest
from policies.test_plan import CHUNKED, crowd
from twins.compare import compare
from twins.planner import Planner

POOLED = "flat:nodes=8,burst_buffer=120B"


class Descent(Planner):
    """A run that plans so: the best of the candidates, rounds of Smith's rule, then jobs put forward, or elsewhere.

    It knows of no bound: that may save work, and must not change an outcome.
    """

    def smith(self, jobs, costs):
        """What one more second would cost, over walltime x the largest share of a resource; ties as they arrived."""
        alpha = self.params["alpha"]

        def worth(job):
            share = max(need / have for need, have in zip(job.needs(), self.capacities, strict=True))
            area = job.walltime * share if share else 0.0
            return costs[job] ** ((alpha - 1) / alpha) / max(area, 1e-300)

        return sorted(jobs, key=lambda job: -worth(job))

    def best_order(self, jobs, now):
        params, n = self.params, len(jobs)
        if n <= params["exhaustive"]:
            return super().best_order(jobs, now)
        best = min(self.candidates(jobs), key=lambda order: self.score(order, now))
        score, left, costs = self.score(best, now), params["steps"] * params["moves"], self.costs(best, now)
        for _ in range(min(params["rounds"], left)):
            left -= 1
            tried = self.smith(jobs, costs)
            costs = self.costs(tried, now)
            if self.score(tried, now) < score:
                best, score = tried, self.score(tried, now)
        moves, halves = self.moves(n), True
        while True:
            helped = False
            for start, end in moves[halves]:
                if left == 0:
                    return best
                left -= 1
                tried = list(best)
                tried.insert(end, tried.pop(start))
                if self.score(tried, now) < score:
                    best, score, helped = tried, self.score(tried, now), True
            if not helped and not halves:
                return best
            halves = helped  # once they help no more, everything is tried

    @staticmethod
    def moves(n):
        """Whether by halves -> (from, to): forward by n / 2, n / 4, ... 1; or by 1, 2, ... both ways, forward first."""
        forward = {ahead: [(place + ahead, place) for place in range(n - ahead)] for ahead in range(1, n)}
        halves = [move for k in range(1, n.bit_length()) for move in forward[n >> k]]
        both = [move for moves in forward.values() for move in moves + [(end, start) for start, end in moves]]
        return {True: halves, False: both}


def parameters(seed):
    """Random parameters, small enough for the slow twin."""
    rng = random.Random(f"descent {seed}")
    return {
        "alpha": rng.choice((1.0, 1.75, 1.75, 2.0, 3.0)),
        "exhaustive": rng.choice((0, 2, 3)),
        "steps": rng.choice((0, 1, 4, 7, 20, 60)),
        "moves": rng.choice((1, 3)),
        "rounds": rng.choice((0, 1, 3, 8)),
        "keep": rng.random() < 0.3,
    }


def check_seed(seed):
    workload, platform = pooled.make(seed)
    params = parameters(seed)
    slow = Descent(workload, platform, params, "alloc-only" if seed % 3 else "alloc-only:kill=false").finished()
    compare(slow, workload, platform, PlanBest(**params))


@pytest.mark.parametrize("chunk", chunks(1, 8))
def test_descents_equal_the_naive_ones(chunk):
    for seed in range(5000 + 5 * chunk, 5005 + 5 * chunk):
        check_seed(seed)


@pytest.mark.small
@pytest.mark.parametrize("seed", [5105, 5107, 5117, 5119])
def test_descents_equal_the_naive_ones_small(seed):
    check_seed(seed)


@pytest.fixture
def machines(tmp_path):
    path = tmp_path / "chunked.toml"
    path.write_text(CHUNKED)
    return {"pooled": POOLED, "chunked": str(path)}


@pytest.mark.parametrize(
    ("machine", "reservations"),
    [("pooled", "counted"), ("pooled", "pinned"), ("chunked", "counted"), ("chunked", "pinned")],
)
@pytest.mark.parametrize("seed", chunks(1, 5))
def test_shortcuts_change_no_outcome(machines, machine, reservations, seed):
    for spec in ("steps=30", "alpha=2,rounds=0,exhaustive=2", "alpha=3,rounds=2,keep=true", "alpha=1,steps=5"):
        logs = {
            forebay.simulate(
                crowd(seed), machines[machine], f"plan-best:{spec},reservations={reservations},shortcuts={word}"
            ).facts["log_sha256"]
            for word in ("yes", "no")
        }
        assert len(logs) == 1


def test_nothing_is_drawn():
    """The seed decides plan-2's outcome on this queue; it has no say in a descent."""
    logs = {
        spec: {forebay.simulate(crowd(7, 30), POOLED, spec, seed).facts["log_sha256"] for seed in range(4)}
        for spec in ("plan-best", "plan-2")
    }
    assert len(logs["plan-best"]) == 1 < len(logs["plan-2"])


class First:
    """plan-best, of whose decisions the first is kept: the order of all that waits, as ids."""

    def __init__(self, **params):
        self.policy, self.order = PlanBest(keep=True, **params), None

    def setup(self, view):
        integers, floats = self.policy.memory(len(view.jobs), len(view.resources))
        self.memory = np.zeros(integers, np.int64), np.zeros(floats)

    def decide(self, view, act):
        self.policy.kernel()(pointer(view._state, STATE), self.policy.params(), self.memory, view.rng)
        if self.order is None:
            self.order = view.jobs["id"][np.argsort(self.memory[0][0])].tolist()


def at_once(seed, n):
    """`n` jobs that come together."""
    rng = random.Random(f"at once {seed}")
    jobs = [
        {"id": i, "submit": 0.0, "walltime": float(rng.randint(1, 40)), "nodes": rng.randint(1, 8)}
        | {"burst_buffer": 10 * rng.randint(0, 12)}
        for i in range(1, n + 1)
    ]
    return pooled.workload(jobs)


@pytest.mark.parametrize("n", [2, 5, 8, pytest.param(11, marks=pytest.mark.full)])
def test_orders_equal_the_naive_ones(n):
    """With tries enough to come to rest, where every job has been put everywhere and nothing helps."""
    for seed in range(10):
        workload, params = at_once(seed, n), {"exhaustive": 0, "rounds": seed % 3, "steps": 10_000, "moves": 1}
        first = First(**params)
        forebay.simulate(workload, POOLED, first)
        slow = Descent(workload, pooled.platform(8, 120), params | {"alpha": first.policy.alpha, "keep": True})
        assert first.order == [job.id for job in slow.best_order(slow.jobs, 0.0)]


def scored(seed, budget, n=24):
    """The naive score of the first plan of `n` jobs that come at once, after so many tries; and of the candidates."""
    workload, first = at_once(seed, n), First(steps=budget, moves=1)
    forebay.simulate(workload, POOLED, first)
    still = Planner(workload, pooled.platform(8, 120), {"alpha": first.policy.alpha})
    by_id = {job.id: job for job in still.jobs}
    assert sorted(first.order) == sorted(by_id)
    candidates = [still.score(order, 0.0) for order in still.candidates(still.jobs)]
    return still.score([by_id[i] for i in first.order], 0.0), candidates


@pytest.mark.parametrize("seed", chunks(1, 4))
def test_more_tries_never_make_it_worse(seed):
    """With none it is the best candidate; each one more may only help, and in the end they have helped."""
    start, candidates = scored(seed, 0)
    assert start == min(candidates) < max(candidates)
    scores = [scored(seed, budget)[0] for budget in (0, 1, 8, 9, 20, 60, 180, 1000)]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] < start


@pytest.mark.small
def test_a_plan_of_a_few_jobs_begins_with_the_best_order():
    """2 nodes, one of them busy until 10; see test_plan: up to `exhaustive` jobs the search makes no difference."""
    rows = [(1, 0.0, 10.0, 1), (2, 1.0, 100.0, 2), (3, 1.0, 20.0, 1), (4, 1.0, 9.0, 1)]
    jobs = [dict(zip(("id", "submit", "walltime", "nodes"), row, strict=True)) for row in rows]
    result = forebay.simulate(pooled.workload(jobs), "flat:nodes=2", "plan-best")
    assert result.jobs["starting_time"].to_list() == [0, 21, 1, 10]


@pytest.mark.small
@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("plan-best:search=x", "search is 'x'.*(did you mean|known)"),
        ("plan-best:search=descend", "did you mean 'descent'"),
        ("plan-best:rounds=-1", "rounds is -1; give a number from 0 up"),
        ("plan-2:rounds=-1", "rounds is -1"),
        ("plan-best:alpha=0", "alpha is 0; give a number above 0"),
    ],
)
def test_what_makes_no_sense_is_refused(spec, words):
    with pytest.raises(InputError, match=words):
        load(spec)
