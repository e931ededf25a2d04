"""A second opinion on fronts: pymoo's NSGA-II finds nothing that beats an exact one, and much of what is on it."""

import random
import warnings

import numpy as np
import pytest

from forebay.algorithms.search import pareto
from forebay.core.stopping import NO_CLOCK

N_WINDOWS, JOBS = 20, 14


def window(rng, kinds):
    """Jobs of nodes, buffer and, with `kinds`, SSDs and large nodes; room for about half; and what they waste."""
    if not kinds:  # of many sizes, for fronts of some length
        demand = np.array([(rng.randint(1, 1000), rng.randint(1, 1000)) for _ in range(JOBS)])
        return demand, demand.sum(axis=0) * 2 // 5, None
    nodes = [rng.randint(1, 8) for _ in range(JOBS)]
    large = [rng.random() < 0.4 for _ in nodes]
    each = [rng.randint(129, 256) if big else rng.randint(1, 128) for big in large]
    demand = [(n, rng.choice((0, rng.randint(1, 50)))) for n in nodes]
    demand = [(*row, n * ssd, n * big) for row, n, ssd, big in zip(demand, nodes, each, large, strict=True)]
    waste = [n * ((256 if big else 128) - ssd) for n, ssd, big in zip(nodes, each, large, strict=True)]
    small = [n * (not big) for n, big in zip(nodes, large, strict=True)]
    return np.array(demand), np.array([30, 60, 15 * 128 + 15 * 256, 15]), (np.array(waste), np.array(small))


def values(chosen, demand, room, wasted):
    """Objectives of selections, a row each: all is to be large."""
    loads = chosen @ demand
    if wasted is None:
        return loads
    extra = np.maximum(chosen @ wasted[1] - 15, 0)
    return np.column_stack([loads[:, :3], -(chosen @ wasted[0]) - 128 * extra])


def exact(demand, room, wasted):
    loads, sets = np.empty((20_000, 2 if wasted is None else 4), np.int64), np.empty(20_000, np.int64)
    if wasted is None:
        n = pareto.front(demand, room, 10**9, loads, sets, NO_CLOCK)
    else:
        n = pareto.front_with_waste(demand, room, (*wasted, 15, 128), 10**9, loads, sets, NO_CLOCK)
    assert n > 0
    return loads[:n]


def nsga2(demand, room, wasted, seed):
    """The distinct points of pymoo's front."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own imports
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.problem import Problem
        from pymoo.operators.crossover.pntx import TwoPointCrossover
        from pymoo.operators.mutation.bitflip import BitflipMutation
        from pymoo.operators.sampling.rnd import BinaryRandomSampling
        from pymoo.optimize import minimize

        class Window(Problem):
            def __init__(self):
                n_obj = 2 if wasted is None else 4
                super().__init__(n_var=len(demand), n_obj=n_obj, n_ieq_constr=len(room), xl=0, xu=1, vtype=bool)

            def _evaluate(self, x, out, *args, **kwargs):
                chosen = x.astype(np.int64)
                out["F"] = -values(chosen, demand, room, wasted).astype(float)
                out["G"] = (chosen @ demand - room).astype(float)

        method = NSGA2(
            pop_size=100,
            sampling=BinaryRandomSampling(),
            crossover=TwoPointCrossover(),
            mutation=BitflipMutation(),
            eliminate_duplicates=True,
        )
        found = minimize(Window(), method, ("n_gen", 100), seed=seed, verbose=False)
    return np.unique(np.rint(-found.F).astype(np.int64), axis=0)


@pytest.mark.full
@pytest.mark.parametrize("kinds", [False, True], ids=["two objectives", "four objectives"])
def test_nothing_beats_an_exact_front(kinds):
    pytest.importorskip("pymoo", reason="pymoo is not installed: a second opinion only")
    rng, n_exact, n_shared = random.Random(1), 0, 0
    for seed in range(N_WINDOWS):
        one = window(rng, kinds)
        front, found = exact(*one), nsga2(*one, seed)
        for point in found:
            assert (front >= point).all(axis=1).any(), f"window {seed}: {point} is on no exact front"
        n_exact += len(front)
        n_shared += len({*map(tuple, front.tolist())} & {*map(tuple, found.tolist())})
    print(f"NSGA-II found {n_shared} of {n_exact} points ({100 * n_shared / n_exact:.0f} %)")
    assert n_shared > 0.3 * n_exact
