"""Quantiles of draws and beyond them, and intervals as wide as past ones should have been."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay._predict._calibration import FEWEST, Calibration
from forebay._predict._quantiles import BANDS, LEVELS, quantile, share_up_to

WAITS = st.lists(st.floats(0, 1e6), min_size=2, max_size=40).map(np.array)


@given(WAITS)
def test_quantiles_go_up_and_stay_near_the_draws(waits):
    found = quantile(waits, np.linspace(0, 1, 21))
    assert (np.diff(found) >= 0).all()
    assert found[0] >= waits.min() / 1.5 - 1e-9
    assert found[-1] <= waits.max() * 1.5 + 1e-9


@given(WAITS, st.floats(0, 1))
def test_a_share_is_where_its_quantile_lies(waits, share):
    """Where waits are equal, and so the quantile the same, the share is in the middle of those."""
    value = float(quantile(waits, np.array([share]))[0])
    back = float(quantile(waits, np.array([share_up_to(waits, value)]))[0])
    assert back == pytest.approx(value, rel=1e-6, abs=1e-6)


def test_by_hand():
    """Four draws, in the middle of their quarters; the ends lie half as far again outside."""
    waits = np.array([40.0, 10.0, 20.0, 30.0])
    assert quantile(waits, np.array([0.125, 0.375, 0.5, 1.0])).tolist() == [10.0, 20.0, 25.0, 60.0]
    assert share_up_to(waits, 25.0) == 0.5
    assert share_up_to(waits, 5.0) == 0.0
    assert share_up_to(waits, 100.0) == 1.0


def test_few_predictions_move_nothing():
    calibration = Calibration()
    for _ in range(FEWEST - 1):
        calibration.add(np.array([10.0, 20.0]), 1000.0)
    assert calibration.levels(np.array([10.0, 20.0])).tolist() == LEVELS.tolist()


def test_intervals_that_were_too_narrow_become_wider():
    """Draws spread by a third of the truth's spread: as drawn, 90 % cover about 40 %, calibrated about 90."""
    rng = np.random.default_rng(3)
    calibration, inside = Calibration(), {"drawn": 0, "calibrated": 0}
    for k in range(1500):
        centre = float(rng.uniform(1000, 5000))
        waits, truth = centre + 100 * rng.standard_normal(40), centre + 300 * rng.standard_normal()
        low, high = BANDS[0.9]
        if k >= 500:
            for name, found in (("drawn", quantile(waits, LEVELS)), ("calibrated", calibration.quantiles(waits))):
                inside[name] += found[low] <= truth <= found[high]
        calibration.add(waits, truth)
    assert inside["drawn"] < 500
    # A level may at most lead to half of the shortest, or half as far again as the longest draw: here far enough.
    assert 850 < inside["calibrated"] < 950


def test_waits_of_another_length_are_left_out():
    """Short waits came as drawn, long ones at the end of their draws: a short one is read by the short."""
    calibration = Calibration()
    for k in range(100):
        calibration.add(np.linspace(10, 20, 20), 10 + k / 10)
        calibration.add(np.linspace(1e5, 2e5, 20), 2e5)
    assert calibration.levels(np.linspace(10, 20, 20))[3] == pytest.approx(0.5, abs=0.05)
    assert calibration.levels(np.linspace(1e5, 2e5, 20))[3] > 0.9
