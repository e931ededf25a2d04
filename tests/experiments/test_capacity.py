"""The search for the least capacity: on curves of which the answer is known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.experiments.capacity.search import Answer, Point, least

pytestmark = pytest.mark.small


def few_digits(x):
    return float(f"{x:.4g}")


def on(curve, factors=(1.0,)):
    """An evaluation that counts what it is asked for: the curve times a factor for each replica."""
    asked = []

    def evaluate(capacities):
        asked.extend(capacities)
        return [[factor * curve(one) for factor in factors] for one in capacities]

    evaluate.asked = asked
    return evaluate


@given(crossing=st.floats(1.01, 990), precision=st.floats(0.005, 0.5), power=st.floats(0.2, 4))
def test_the_answer_of_a_falling_curve_is_the_crossing_within_the_precision(crossing, precision, power):
    evaluate = on(lambda c: (crossing / c) ** power)
    answer = least(evaluate, 1.0, 1.0, 1000.0, precision)
    assert answer.reached
    assert crossing <= answer.capacity * (1 + 1e-9)
    failing = max(point.capacity for point in answer.points if point.mean > 1)
    assert answer.capacity <= failing * (1 + precision) * (1 + 1e-9)
    assert len(evaluate.asked) == len(set(evaluate.asked)) <= 7 + 11 + 4
    assert answer.interval is None  # of one replica
    assert answer.rises == answer.lucky == ()


@given(st.lists(st.floats(0.7, 1.4), min_size=2, max_size=12), st.floats(2, 400))
def test_the_interval_holds_the_answer_and_the_crossing_of_the_mean(factors, scale):
    answer = least(on(lambda c: scale / c, factors), 1.0, 1.0, 1000.0, 0.05, few_digits)
    low, high = answer.interval
    assert low <= answer.capacity <= high
    # Straight lines between points lie above a convex curve, by less than the precision.
    assert low / 1.06 <= scale * np.mean(factors) <= high
    if len(set(factors)) == 1:
        assert high <= low * 1.06


def test_the_interval_holds_the_true_crossing_about_as_often_as_it_says():
    """Ten replicas that differ by a third among themselves and by a tenth from one capacity to the next."""
    held, true = 0, 40.0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        factors = np.exp(rng.normal(-(0.3**2) / 2, 0.3, 10))

        def evaluate(capacities, rng=rng, factors=factors):
            noise = np.exp(rng.normal(-(0.1**2) / 2, 0.1, (len(capacities), 10)))
            return ((1 + true / np.array(capacities))[:, None] * factors * noise).tolist()

        low, high = least(evaluate, 2.0, 2.5, 640.0).interval
        held += low <= true <= high
    assert 34 <= held <= 40


@given(st.integers(0, 10**6))
def test_on_noisy_curves_everything_from_the_answer_on_meets_the_limit(seed):
    rng = np.random.default_rng(seed)
    noise = {}

    def evaluate(capacities):
        for one in capacities:
            noise.setdefault(one, rng.normal(0, 0.3, 5))
        return [(30 / one + noise[one]).tolist() for one in capacities]

    answer = least(evaluate, 1.0, 1.0, 100.0, 0.1, few_digits)
    means = [point.mean for point in answer.points]
    above = [point for point in answer.points if answer.capacity is not None and point.capacity >= answer.capacity]
    assert all(point.mean <= 1.0 for point in above)
    below = [point for point in answer.points if point not in above]
    assert not below or below[-1].mean > 1.0
    assert [point.capacity for point in answer.points] == sorted(point.capacity for point in answer.points)
    assert answer.best.mean == min(means)


def test_a_hump_above_a_lucky_capacity_moves_the_answer_up():
    """3 would do, but 4 to 9 do not."""

    def curve(c):
        return 0.5 if 2.5 < c < 3.5 or c > 9 else 2.0

    answer = least(on(curve), 1.0, 1.0, 27.0, 0.01)
    assert 9 < answer.capacity <= 9.1
    assert [point.capacity for point in answer.lucky] == [3.0]
    assert answer.rises[0][0].capacity == 3.0


def test_a_rise_within_the_noise_is_none():
    quiet, loud = Point(1.0, (1.0, 2.0, 3.0)), Point(2.0, (1.1, 2.1, 3.1))
    assert len(Answer(9.0, (quiet, loud), None).rises) == 1  # a tenth in every pair
    assert Answer(9.0, (quiet, Point(2.0, (3.1, 2.1, 1.1))), None).rises == ()


def test_a_limit_that_nothing_reaches():
    answer = least(on(lambda c: 5 + 1 / c), 5.0, 1.0, 100.0)
    assert not answer.reached
    assert answer.capacity is None
    assert answer.best.capacity == 100.0
    assert len(answer.points) == 7


def test_a_limit_that_the_least_capacity_reaches():
    answer = least(on(lambda c: 1 / c, (0.9, 1.0)), 5.0, 1.0, 100.0)
    assert answer.at_lowest
    assert answer.interval == (1.0, 1.0)


def test_an_interval_that_goes_beyond_the_range_says_so():
    answer = least(on(lambda c: 100 / c, (0.5, 1.49)), 1.0, 1.0, 100.0)
    assert answer.reached
    assert answer.interval[1] == math.inf


def test_capacities_that_do_not_count_never_meet_a_limit():
    """Below 8 the number is small, but it is not one of all jobs."""
    answer = least(on(lambda c: math.inf if c < 8 else 1.0, (1.0, 1.0)), 1.0, 1.0, 64.0, 0.01)
    assert 8 <= answer.capacity <= 8.08
    assert answer.interval[0] >= 8 / 1.01


def test_whole_numbers_are_told_apart_to_the_last():
    answer = least(on(lambda c: 1.0 if c >= 37 else 2.0), 1.0, 1.0, 64.0, 0.001, lambda c: float(round(c)))
    assert answer.capacity == 37
    assert 36 in [point.capacity for point in answer.points]
    assert all(point.capacity == int(point.capacity) for point in answer.points)
