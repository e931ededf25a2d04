"""Jobs that pay for what they hold, against every start tried."""

import numpy as np
import pytest

from forebay.algorithms import prices
from twins import prices as slow

pytestmark = pytest.mark.small


def drawn(seed):
    """A few jobs and cells, with many ties; halves are exact in floats."""
    rng = np.random.default_rng(seed)
    n, n_resources, n_cells = int(rng.integers(1, 6)), int(rng.integers(1, 3)), int(rng.integers(1, 8))
    price = rng.integers(0, 4, (n_resources, n_cells)) * rng.choice([0.0, 1.0, 0.5], (n_resources, n_cells))
    paid = np.zeros((n_resources, n_cells + 1))
    paid[:, 1:] = np.cumsum(price, axis=1)
    ready, lasts = rng.integers(0, 2 * n_cells, n) / 2, rng.integers(0, 2 * n_cells, n) / 2
    return price, paid, ready, lasts, rng.integers(0, 4, (n, n_resources)), rng.integers(0, 4, n) / 2


@pytest.mark.parametrize("seed", range(60))
def test_the_least_that_jobs_pay(seed):
    """And what they hold then is what that start gives: prices follow from it."""
    price, paid, ready, lasts, held, weight = drawn(seed)
    used = np.full(price.shape, np.nan)
    total = prices.least_cost(ready, lasts, held, weight, paid, used)
    expected, _ = slow.least_cost(ready, lasts, held, weight, price.tolist())
    assert total == pytest.approx(expected, abs=1e-9)
    # Several starts may cost the same; whichever was taken, what it holds is paid for.
    assert (used >= 0).all()
    assert float((used * price).sum()) <= total + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_what_is_paid_up_to_a_moment(seed):
    """Also inside a cell, before the first and behind the last."""
    price, paid, _, _, held, _ = drawn(seed)
    for cell in (-1.0, 0.0, 0.25, 1.0, 1.5, price.shape[1] - 0.5, float(price.shape[1]), price.shape[1] + 2.0):
        found = prices.paid_until(paid, held, 0, cell)
        assert found == pytest.approx(slow.paid_until(price.tolist(), held[0].tolist(), cell), abs=1e-9)
