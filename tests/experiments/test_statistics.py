"""Statistics between runs, against tables and sums by hand."""

import math

import pytest

from forebay.experiments import statistics as s

pytestmark = pytest.mark.small

# Two-sided 95 % (0.975) and 90 % (0.95) points of Student's t, as tables print them.
TABLE = {
    1: (12.706, 6.314),
    2: (4.303, 2.920),
    3: (3.182, 2.353),
    4: (2.776, 2.132),
    5: (2.571, 2.015),
    7: (2.365, 1.895),
    10: (2.228, 1.812),
    15: (2.131, 1.753),
    20: (2.086, 1.725),
    29: (2.045, 1.699),
    60: (2.000, 1.671),
    120: (1.980, 1.658),
    1000: (1.962, 1.646),
}


@pytest.mark.parametrize("freedom", TABLE)
def test_t_quantiles_are_those_of_the_table(freedom):
    assert (s.t_quantile(0.975, freedom), s.t_quantile(0.95, freedom)) == pytest.approx(TABLE[freedom], abs=6e-4)


def test_t_quantiles_elsewhere():
    assert s.t_quantile(0.5, 5) == pytest.approx(0, abs=1e-9)
    assert s.t_quantile(0.025, 9) == -s.t_quantile(0.975, 9)
    assert s.t_quantile(0.75, 1) == pytest.approx(1)  # Cauchy: tan(pi / 4)
    assert s.t_quantile(0.9, 2) == pytest.approx(0.8 * math.sqrt(2 / (1 - 0.8**2)))  # closed form for 2
    for share, freedom in ((0, 3), (1, 3), (0.9, 0)):
        with pytest.raises(ValueError, match="t quantile"):
            s.t_quantile(share, freedom)


def test_spread_by_hand():
    found = s.spread([2.0, 4.0, 6.0])  # mean 4, variance (4 + 0 + 4) / 2 = 4
    assert (found.n, found.mean, found.deviation, found.least, found.largest) == (3, 4.0, 2.0, 2.0, 6.0)
    assert found.half == pytest.approx(4.302653 * 2 / math.sqrt(3))


def test_one_value_has_no_interval():
    found = s.spread([5.0])
    assert (found.mean, found.deviation, found.half) == (5.0, None, None)
    with pytest.raises(ValueError, match="no values"):
        s.spread([])


def test_pairs_share_what_they_share():
    others = [100.0, 200.0, 300.0]
    found = s.paired([101.0, 203.0, 302.0], others)
    assert (found.mean, found.deviation) == (2.0, 1.0)
    with pytest.raises(ValueError, match="zip"):
        s.paired([1.0], others)


def test_a_rise_is_of_the_mean_and_its_interval_of_pairs():
    """From 200 to 170 on average; pair by pair 20 and 40 less, a tenth and a fifth of 200."""
    found = s.rise([80.0, 260.0], [100.0, 300.0])
    assert found.mean == pytest.approx(-0.15)
    assert (found.least, found.largest) == pytest.approx((-0.2, -0.1))


def test_the_order_of_values_does_not_count():
    values = [0.1, 1e16, 0.3, -1e16, 0.7]
    assert len({s.mean(values[k:] + values[:k]) for k in range(5)}) == 1


def test_ratios_and_medians():
    assert s.geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
    assert s.geometric_mean([2.0, 8.0]) == pytest.approx(1 / s.geometric_mean([0.5, 0.125]))
    with pytest.raises(ValueError, match="above 0"):
        s.geometric_mean([1.0, 0.0])
    assert s.median([3.0, 1.0, 2.0]) == 2.0
    assert s.median([4.0, 1.0, 2.0, 3.0]) == 2.5
    assert (s.quantile([1.0, 2.0, 3.0], 0), s.quantile([1.0, 2.0, 3.0], 1)) == (1.0, 3.0)
    assert s.quantile([0.0, 10.0, 20.0, 30.0], 0.25) == 7.5
