"""The moving-block bootstrap: against draws made one by one, and on series whose truth is known."""

import numpy as np
import pytest

from forebay.experiments.comparison.blocks import CELLS, FEWEST_JOBS, LEAST, MOST, WAITS, Blocks, count_blocks
from forebay.experiments.verdicts import weigh

pytestmark = pytest.mark.small


def test_how_many_blocks():
    hours = np.arange(1001) * 3600.0  # a job an hour
    assert count_blocks(hours, 0.0) == MOST
    assert count_blocks(hours, 3600.0) == MOST
    assert count_blocks(hours, 3600.0 * 1000 / (WAITS * 10)) == 10
    assert count_blocks(hours, 1e9) == LEAST
    assert count_blocks(hours[:FEWEST_JOBS], 0.0) == MOST
    assert count_blocks(hours[: FEWEST_JOBS - 1], 0.0) == 0


def _by_hand(values, share, count, resamples, seed):
    """Draw blocks job by job; of quantiles the value that this share does not exceed."""
    cells = count * CELLS
    cell = np.arange(values.shape[1]) * cells // values.shape[1]
    means, quantiles = [], []
    for starts in np.random.default_rng(seed).integers(0, cells, (resamples, count)):
        drawn = [values[:, cell == (start + k) % cells].ravel() for start in starts for k in range(CELLS)]
        jobs = np.concatenate(drawn)
        jobs = jobs[np.isfinite(jobs)]
        means.append(jobs.mean())
        quantiles.append(np.quantile(jobs, share, method="inverted_cdf"))
    return means, quantiles


@pytest.mark.parametrize("runs", [1, 3])
def test_draws_are_those_made_one_by_one(runs):
    rng = np.random.default_rng(1)
    values = rng.exponential(100, (runs, 310))
    values[0, ::17] = np.nan
    blocks = Blocks(np.arange(310.0), 2.0, resamples=40, seed=5)
    means, quantiles = _by_hand(values, 0.95, blocks.count, 40, 5)
    found = blocks.means(values)
    assert found.value == pytest.approx(np.nanmean(values))
    assert found.draws == pytest.approx(means)
    tail = blocks.quantiles(values, 0.95)
    assert tail.value == pytest.approx(np.nanquantile(values, 0.95))
    assert tail.draws == pytest.approx(quantiles, rel=0.01)


def test_what_policies_share_does_not_count():
    """Twice the reference everywhere is twice the reference, however uneven the trace is."""
    rng = np.random.default_rng(2)
    theirs = rng.exponential(100, (1, 500)) * np.linspace(1, 50, 500)
    blocks = Blocks(np.arange(500.0), 1.0)
    twice = blocks.deviation(blocks.means(2 * theirs), blocks.means(theirs))
    assert twice.size == pytest.approx(0, abs=1e-12)
    assert twice.freedom == blocks.count - 1
    apart = blocks.deviation(blocks.means(rng.permuted(theirs, axis=1)), blocks.means(theirs))
    assert apart.size > 0.1


def test_where_nothing_can_be_told():
    few = Blocks(np.arange(8.0), 1.0)
    assert few.deviation(few.means(np.ones((1, 8))), few.means(np.ones((1, 8)))) is None
    blocks = Blocks(np.arange(100.0), 1.0)
    none, some = blocks.means(np.zeros((1, 100))), blocks.means(np.ones((1, 100)))
    assert blocks.deviation(none, some) is None
    assert blocks.deviation(some, none) is None
    empty = np.full((1, 100), np.nan)
    assert blocks.deviation(blocks.means(empty), some) is None
    assert blocks.deviation(blocks.quantiles(empty, 0.95), some) is None


def _autoregressive(rng, n, rho):
    """Waits that rise and fall together, as in a queue: exp of an AR(1) series of unit variance."""
    noise = rng.normal(0, np.sqrt(1 - rho**2), n)
    series = np.empty(n)
    series[0] = rng.normal()
    for k in range(1, n):
        series[k] = rho * series[k - 1] + noise[k]
    return series


def _hits(rho, handicap, trials, n=2000):
    """How often the interval holds the truth, and how often the word is worse, by mean and by p95."""
    rng = np.random.default_rng(3)
    submits = np.arange(float(n))
    held = worse = 0
    for _ in range(trials):
        shared = _autoregressive(rng, n, rho)
        mine, theirs = (np.exp(0.8 * shared + 0.3 * _autoregressive(rng, n, rho))[None] for _ in range(2))
        mine = mine * (1 + handicap)
        blocks = Blocks(submits, 1 / (1 - rho), resamples=400)
        for take in (blocks.means, lambda values: blocks.quantiles(values, 0.95)):  # noqa: B023
            a, b = take(mine), take(theirs)
            deviation = blocks.deviation(a, b)
            found = weigh(("a", "b", "mean_wait"), (a.value, b.value), [deviation], blocks.count, "blocks")
            held += found.low <= handicap <= found.high
            worse += found.word == "worse"
    return held / (2 * trials), worse / (2 * trials)


def test_intervals_hold_the_truth_and_a_handicap_is_seen():
    held, _ = _hits(0.9, 0.0, 60)
    assert held >= 0.88
    _, worse = _hits(0.9, 0.3, 20)
    assert worse >= 0.9


@pytest.mark.full
@pytest.mark.parametrize("rho", [0.0, 0.9, 0.97])
def test_intervals_hold_the_truth_about_95_times_in_100(rho):
    held, _ = _hits(rho, 0.1, 400)
    assert 0.90 <= held <= 0.98
