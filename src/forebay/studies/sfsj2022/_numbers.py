"""What is taken from the runs: use of the machine, flows by size of the job, and differences on the same draws."""

from collections.abc import Sequence

import numpy as np

from forebay.experiments import statistics
from forebay.metrics.accounts import ACCOUNTS
from forebay.results import Record
from forebay.studies._frame import Finished
from forebay.studies._tables import Metric, Row

USEFUL = Metric("useful_utilisation", "useful", 4)
LARGE = Metric("flow_large", "large", 0)
MIDDLE = Metric("flow_middle", "middle", 0)
SMALL = Metric("flow_small", "small", 0)
LONGEST = Metric("max_flow", "max", 0)
MEAN = Metric("mean_flow", "mean", 0)
WEIGHTED = Metric("node_weighted_flow", "weighted", 0)
STEALS = Metric("n_steals", "steals", 0)
FREE = Metric("free_node_share", "time with a free node", 3)
FLOWS = (LONGEST, MEAN, WEIGHTED, LARGE, MIDDLE, SMALL)

SIZES = {LARGE: (8192, np.inf), MIDDLE: (2048, 4096), SMALL: (0, 1024)}
"""Nodes of classes of jobs: those that Mira counted as capability jobs are large."""

SHARES = {
    name: Metric("useful_utilisation" if name == "useful" else f"{name}_share", name.replace("_", " "), 4)
    for name in ACCOUNTS
}
"""Of the node-time, by account."""


def rows_of(finished: Finished) -> list[Row]:
    """A row a run: its tags, every number of its summary, and mean flows by size."""
    return [{**run.tags, **record.summary, **_by_size(record)} for run, record in finished]


def _by_size(record: Record) -> Row:
    flow, nodes = record.measures["turnaround_time"], record.measures["requested_nodes"]
    chosen = {metric.name: flow[(nodes >= least) & (nodes <= most)] for metric, (least, most) in SIZES.items()}
    return {name: float(some.mean()) if len(some) else None for name, some in chosen.items()}


def by_draw(rows: Sequence[Row], metric: Metric) -> list[float]:
    """One value a draw of jobs and failures, in their order."""
    return [row[metric.name] for row in sorted(rows, key=lambda row: row["draw"])]


def spread(rows: Sequence[Row], metric: Metric) -> statistics.Spread:
    """Over draws."""
    return statistics.spread(by_draw(rows, metric))


def more(rows: Sequence[Row], bases: Sequence[Row], metric: Metric) -> statistics.Spread:
    """What a share has over that of others, draw by draw: 0.01 is a point."""
    return statistics.paired(by_draw(rows, metric), by_draw(bases, metric))


def rises(rows: Sequence[Row], bases: Sequence[Row], metric: Metric) -> statistics.Spread:
    """By which share the mean over draws is above that of others; the interval is that of the paired differences.

    Flows differ by a factor of ten between draws: a mean of ratios would be that of the draws without waits.
    """
    return statistics.rise(by_draw(rows, metric), by_draw(bases, metric))
