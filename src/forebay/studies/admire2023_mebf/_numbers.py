"""What is taken from the runs: means over draws, and by how much a policy is below another on the same jobs."""

from collections.abc import Sequence

from forebay.experiments import statistics
from forebay.studies import _tables
from forebay.studies._frame import Finished
from forebay.studies._tables import Metric, Row

EXECUTION = Metric("mean_execution_time", "mean execution", 0)
TURNAROUND = Metric("mean_turnaround_time", "mean turnaround", 0)
MAKESPAN = Metric("makespan", "makespan", 0)
TIMES = (EXECUTION, TURNAROUND, MAKESPAN)
NODES = Metric("utilisation_nodes", "nodes in use", 3)
ALLOCATIONS = Metric("allocations_per_node", "jobs per node", 2)
METRICS = (*TIMES, NODES, ALLOCATIONS)


def rows_of(finished: Finished) -> list[Row]:
    """A row a run, with the mean time from start to completion."""
    rows = _tables.rows_of(finished)
    return [{**row, EXECUTION.name: row["mean_turnaround_time"] - row["mean_waiting_time"]} for row in rows]


def by_draw(rows: Sequence[Row], metric: Metric) -> list[float]:
    """One value a draw of jobs, in their order."""
    return [row[metric.name] for row in sorted(rows, key=lambda row: row["draw"])]


def spread(rows: Sequence[Row], metric: Metric) -> statistics.Spread:
    """Over draws."""
    return statistics.spread(by_draw(rows, metric))


def falls(rows: Sequence[Row], bases: Sequence[Row], metric: Metric) -> statistics.Spread:
    """By which share the metric is below that of others, draw by draw: 0.3 is 30 % less."""
    pairs = zip(by_draw(rows, metric), by_draw(bases, metric), strict=True)
    return statistics.spread([1 - one / base for one, base in pairs])


def more(rows: Sequence[Row], bases: Sequence[Row], metric: Metric) -> statistics.Spread:
    """What the metric has over that of others, draw by draw."""
    return statistics.paired(by_draw(rows, metric), by_draw(bases, metric))
