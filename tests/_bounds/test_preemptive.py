"""Schedules that may interrupt, against every way to hand out units of time."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from forebay._bounds._preemptive import least_busy_moment, least_completion

pytestmark = pytest.mark.small


def drawn(seed):
    """A few jobs in whole units of time."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    return rng.integers(0, 6, n), rng.integers(0, 4, n), rng.integers(0, 4, n)


@pytest.mark.parametrize("seed", range(60))
def test_busy_moments_against_an_assignment(seed):
    """Each unit of a job goes to a unit of time of its own, at the cost of its middle: an assignment problem."""
    ready, load, weight = drawn(seed)
    units = [j for j, seconds in enumerate(load) for _ in range(seconds)]
    expected = float((weight * ready)[load == 0].sum())
    if units:
        slots = np.arange(int(ready.max()) + len(units))
        cost = [[1e9 if t < ready[j] else weight[j] / load[j] * (t + 0.5) for t in slots] for j in units]
        expected += float(np.array(cost)[linear_sum_assignment(cost)].sum())
    found = least_busy_moment(ready.astype(float), load.astype(float), weight.astype(float))
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(60))
def test_completions_against_every_schedule(seed):
    """In each unit of time any job that is ready may run, or none has to."""
    ready, load, _ = drawn(seed)

    @cache
    def least(time, left):
        if not any(left):
            return 0
        able = [j for j in range(len(left)) if left[j] and ready[j] <= time]
        if not able:
            return least(time + 1, left)
        costs = []
        for j in able:
            rest = (*left[:j], left[j] - 1, *left[j + 1 :])
            costs.append(least(time + 1, rest) + (time + 1 if rest[j] == 0 else 0))
        return min(costs)

    expected = least(0, tuple(int(one) for one in load)) + int(ready[load == 0].sum())
    assert least_completion(ready.astype(float), load.astype(float)) == pytest.approx(expected)


def test_times_far_from_zero_stay_exact():
    """A shift of all times by a year shifts every moment by as much."""
    ready, load, weight = np.array([0.0, 3.0, 4.0]), np.array([5.0, 1.0, 2.0]), np.ones(3)
    year = 365 * 86400.0
    assert least_completion(ready + year, load) - 3 * year == pytest.approx(least_completion(ready, load))
    shifted = least_busy_moment(ready + year, load, weight) - 3 * year
    assert shifted == pytest.approx(least_busy_moment(ready, load, weight))
