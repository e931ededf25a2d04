"""Another trace of the same kind, drawn from the one there is: a moving-block bootstrap over the order of arrival.

Jobs that wait in one queue are not independent, so single jobs cannot be drawn; stretches of the trace that are longer
than queues last can. All policies are drawn with the same blocks: what blocks have in common does not count.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forebay.experiments import verdicts as of
from forebay.experiments.statistics import mean, t_quantile
from forebay.experiments.verdicts import Deviation, Verdict

Floats = NDArray[np.float64]

MOST, LEAST = 25, 6
"""How many blocks there are at most and at least."""
WAITS = 4.0
"""A block is no shorter than so many mean waits, so long as there are enough blocks."""
CELLS = 4
"""Blocks start at any quarter of a block."""
FEWEST_JOBS = 50
"""Fewer jobs than this tell nothing of others."""
_BINS = 1024
_TAIL = 0.3
"""Quantiles are taken on a grid of this share of all values below and above them."""


@dataclass(frozen=True)
class Resampled:
    """A number of the trace, and of every trace drawn from it."""

    value: float
    draws: Floats


class Blocks:
    """Blocks of the jobs of one trace, in order of arrival, and which of them each draw has."""

    def __init__(self, submits: Floats, mean_wait: float, resamples: int = 2000, seed: int = 0) -> None:
        self.count = count_blocks(submits, mean_wait)
        cells = self._n_cells = max(self.count, 1) * CELLS
        self._cells = np.arange(len(submits)) * cells // max(len(submits), 1)
        starts = np.random.default_rng(seed).integers(0, cells, (resamples, self.count))
        members = (starts[:, :, None] + np.arange(CELLS)) % cells
        rows = np.arange(resamples)[:, None] * cells
        counts = np.bincount((members.reshape(resamples, -1) + rows).ravel(), minlength=resamples * cells)
        # The first row is the trace itself: each cell once.
        self._weights = np.vstack([np.ones(cells), counts.reshape(resamples, cells)])

    def draw(self, values: Floats, share: float | None) -> Resampled:
        """The mean, or the quantile of this share, of the trace and of every trace drawn from it."""
        return self.means(values) if share is None else self.quantiles(values, share)

    def means(self, values: Floats) -> Resampled:
        """Of values a run (rows) and a job (columns): means over all runs. NaN stands for a job that does not count."""
        there = np.isfinite(values)
        cells = np.broadcast_to(self._cells, values.shape)[there]
        sums = np.bincount(cells, values[there], self._n_cells)
        counts = np.bincount(cells, minlength=self._n_cells)
        with np.errstate(invalid="ignore"):  # a draw may have no job that counts
            return _resampled((self._weights @ sums) / (self._weights @ counts.astype(float)))

    def quantiles(self, values: Floats, share: float) -> Resampled:
        """The same for the value below which a share of all values lies, on a grid of values about it."""
        there = np.isfinite(values)
        cells, found = np.broadcast_to(self._cells, values.shape)[there], values[there]
        if not len(found):
            return _resampled(np.full(len(self._weights), np.nan))
        places = np.linspace(max(share - _TAIL, 0), min(share + _TAIL, 1), _BINS)
        grid = np.unique(np.quantile(found, places, method="inverted_cdf"))
        bins = np.searchsorted(grid, found)  # the first of the grid that is not below a value
        size = len(grid) + 1
        counts = np.bincount(cells * size + bins, minlength=self._n_cells * size).reshape(self._n_cells, size)
        below = np.cumsum(self._weights @ counts, axis=1)
        wanted = share * below[:, -1:]
        at = np.minimum((below < wanted * (1 - 1e-12)).sum(axis=1), len(grid) - 1)
        draws = grid[at]
        draws[0] = np.quantile(found, share)
        return _resampled(draws)

    def totals(self, values: Floats, groups: NDArray[np.int64], n_groups: int) -> tuple[Floats, Floats | None]:
        """Of values a run (rows) and a job (columns): each group's total, a mean over runs, and half its 95 % interval.

        The interval is over traces drawn from this one; None where jobs are too few. NaN counts as nothing.
        """
        there = np.isfinite(values)
        at = np.broadcast_to(self._cells * n_groups + groups, values.shape)[there]
        size = self._n_cells * n_groups
        sums = np.bincount(at, values[there], size).reshape(self._n_cells, n_groups) / len(values)
        if not self.count:
            return sums.sum(axis=0), None
        # A drawn total is a weighted sum over cells, so its variance follows from how the weights vary together.
        together = np.cov(self._weights[1:], rowvar=False, bias=True)
        variance = np.maximum((sums * (together @ sums)).sum(axis=0), 0.0) * self.count / (self.count - 1)
        return sums.sum(axis=0), t_quantile(0.975, self.count - 1) * np.sqrt(variance)

    def deviation(self, mine: Resampled, theirs: Resampled) -> Deviation | None:
        """How uncertain the ratio of two numbers is; None where a draw has a number of 0, or jobs are too few."""
        if not self.count or not (np.all(mine.draws > 0) and np.all(theirs.draws > 0)):
            return None
        size = float(np.std(np.log(mine.draws / theirs.draws)))
        return Deviation(size * math.sqrt(self.count / (self.count - 1)), self.count - 1)


def judge(names: tuple[str, str, str], blocks: Blocks, mine: Floats, theirs: Floats, share: float | None) -> Verdict:
    """The verdict by measures of every run (row) and job (column): of their mean, or of a quantile.

    `names` are the policy, the reference and the metric; rows after the first are replicas. The estimate is the mean
    over all runs. Its variance is that over blocks, each with its jobs of all runs: chaos is in it, and the less the
    more runs there are. Adding the variance between runs would count chaos twice. Jobs count where both have them.
    """
    n = len(mine)
    both = np.isfinite(mine) & np.isfinite(theirs)
    sides = [np.where(both, side, np.nan) for side in (mine, theirs)]
    runs = [of_runs(side, share) for side in sides]
    values = (mean(runs[0]), mean(runs[1])) if runs[0] else (None, None)
    deviation = blocks.deviation(*(blocks.draw(side, share) for side in sides))
    over, count = (of.REPLICAS, n) if n > 1 else (of.BLOCKS, blocks.count)
    return of.weigh(names, values, [] if deviation is None else [deviation], count, over)


def of_runs(values: Floats, share: float | None) -> list[float]:
    """The mean or a quantile of every run, of the jobs that count."""
    rows = [row[np.isfinite(row)] for row in values]
    return [float(row.mean() if share is None else np.quantile(row, share)) for row in rows if len(row)]


def count_blocks(submits: Floats, mean_wait: float) -> int:
    """Twenty-five blocks, or as many as are longer than a few mean waits, but no fewer than six; 0 of too few jobs."""
    if len(submits) < FEWEST_JOBS:
        return 0
    length = WAITS * mean_wait
    span = float(submits[-1] - submits[0])
    return MOST if length * MOST <= span else max(int(span / length), LEAST)


def _resampled(numbers: Floats) -> Resampled:
    return Resampled(float(numbers[0]), numbers[1:])
