"""The searches for plans against the best of all orders, and that against the slow twin's."""

import importlib.util
from itertools import permutations
from pathlib import Path

import numba
import numpy as np
import pytest

from cases import pooled
from twins.planner import Planner

SPEC = importlib.util.spec_from_file_location("optimality", Path(__file__).parents[2] / "benchmarks" / "optimality.py")
optimality = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(optimality)
N_QUEUES = 30


def queue(number, n_jobs=None, table=optimality.jobs_of_default()):  # noqa: B008 (made once)
    """Of 6 and 7 jobs in turn, if it is not told."""
    return optimality.draw(table, n_jobs or 6 + number % 2, np.random.default_rng([7, number]))


def naive_best(queue, alpha):
    """The least score of all orders, every plan made from nothing."""
    rows = [
        {"id": i, "submit": submit, "walltime": walltime, "nodes": int(nodes), "burst_buffer": int(buffer)}
        for i, (submit, walltime, (nodes, buffer)) in enumerate(
            zip(queue.submit.tolist(), queue.walltime.tolist(), queue.demand, strict=True)
        )
    ]
    platform = pooled.platform(*optimality.CAPACITY.tolist())
    run = Planner(pooled.workload(rows), platform, {"alpha": alpha})
    run.queue = sorted(run.jobs, key=lambda job: job.id)
    for job, end in zip(list(run.queue), queue.end, strict=False):
        run.start(job, end - job.walltime, run.fits_now(job))
    assert any(run.fits_now(job) for job in run.queue)
    return min(run.score(order, queue.now) for order in permutations(run.queue))


def check_naive(number, alpha, n_jobs=None):
    one = queue(number, n_jobs)
    desk = optimality.Desk(one)
    assert optimality.best_of_all(desk, alpha) == pytest.approx(naive_best(one, alpha), rel=1e-12)


@pytest.mark.small
@pytest.mark.skipif(not numba.config.DISABLE_JIT, reason="compiles for 20 s what the full run compiles")
def test_the_best_of_all_orders_is_the_naive_one():
    check_naive(0, 2.0, 5)


@pytest.mark.full
@pytest.mark.parametrize("number", [*range(0, 50, 2), *range(1, 13, 2)])  # 25 queues of 6 jobs, 6 of 7
def test_the_best_of_all_orders_is_the_naive_one_at_length(number):
    check_naive(number, optimality.ALPHAS[number // 2 % 2])


@pytest.mark.full
@pytest.mark.parametrize("alpha", optimality.ALPHAS)
def test_no_search_beats_the_best_of_all_orders(alpha):
    """And a search is worth its while."""
    gaps = {}
    for number in range(N_QUEUES):
        desk = optimality.Desk(queue(number))
        best = optimality.best_of_all(desk, alpha)
        assert best > 0
        for name, values in optimality.found(desk, alpha).items():
            assert min(values) >= best
            gaps.setdefault(name, []).extend(value / best - 1 for value in values)
    means = {name: np.mean(values) for name, values in gaps.items()}
    assert means["descent"] < means["best of nine orders"] < means["arrival"]
    assert means["annealing"] < means["best of nine orders"]
