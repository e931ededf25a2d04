"""Columns come back as they went in: whole numbers exactly, times to the millisecond."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.report._columns import pack, unpack

pytestmark = pytest.mark.small

times = st.lists(st.one_of(st.floats(-1e9, 2e9), st.just(float("nan"))), max_size=30)
wholes = st.lists(st.integers(0, 2**40), max_size=30)


@given(times, wholes)
def test_round_trip(moments, numbers):
    found = unpack(pack({"time": np.array(moments, float), "count": np.array(numbers, np.int64)}))
    assert found["time"] == pytest.approx(moments, abs=5.1e-4, rel=0, nan_ok=True)
    assert found["count"].tolist() == numbers


def test_more_than_68_years():
    assert unpack(pack({"time": np.array([0.0, 3e9])}))["time"].tolist() == [0.0, 3e9]


def test_a_real_run_of_seconds_takes_little():
    moments = np.cumsum(np.random.default_rng(1).integers(0, 600, 10_000)).astype(float)
    assert len(pack({"time": moments})) < 0.4 * moments.nbytes


def test_numbers_below_0_are_refused():
    with pytest.raises(ValueError, match="from 0 on"):
        pack({"count": np.array([-1])})
