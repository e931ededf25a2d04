"""What is taken from the runs: changes against the reference, workload by workload."""

from collections.abc import Sequence
from typing import Any

from forebay.experiments import statistics
from forebay.studies._tables import Metric, Row

CHECKPOINT = Metric("mean_io_time", "mean checkpoint time (s)", 1)
MAKESPAN = Metric("makespan", "makespan (s)", 0)
TURNAROUND = Metric("mean_turnaround_time", "mean turnaround (s)", 0)
WAIT = Metric("mean_waiting_time", "mean queue time (s)", 0)
TIMES = (CHECKPOINT, MAKESPAN, TURNAROUND, WAIT)
CPU = Metric("cpu_utilisation", "CPU in use", 3)
FILES = Metric("write_utilisation", "file system in use", 3)


def by_workload(rows: Sequence[Row], metric: Metric) -> list[float]:
    """The values in the order of workloads."""
    return [row[metric.name] for row in sorted(rows, key=lambda row: int(row["workload"]))]


def mean(rows: Sequence[Row], metric: Metric) -> float:
    """Over workloads."""
    return statistics.mean(by_workload(rows, metric))


def changes(rows: Sequence[Row], others: Sequence[Row], metric: Metric) -> list[float]:
    """By how many percent `rows` have more than `others`, each workload against itself."""
    pairs = zip(by_workload(rows, metric), by_workload(others, metric), strict=True)
    return [100 * (one / other - 1) for one, other in pairs]


def change(rows: Sequence[Row], others: Sequence[Row], metric: Metric) -> statistics.Spread:
    """The same over workloads."""
    return statistics.spread(changes(rows, others, metric))


def more(rows: Sequence[Row], others: Sequence[Row], metric: Metric) -> statistics.Spread:
    """What `rows` have over `others`, each workload against itself."""
    return statistics.paired(by_workload(rows, metric), by_workload(others, metric))


def change_text(spread: statistics.Spread, unit: str = " %") -> str:
    """A change with its interval; none of what is compared with itself."""
    if spread.least == spread.largest == 0:
        return "-"
    return f"{spread.mean:+.1f}" + ("" if spread.half is None else f" ± {spread.half:.1f}") + unit


def beside(rows: Sequence[Row], others: Sequence[Row], **tags: Any) -> Row:
    """The means of some runs, and their changes against others."""
    row: Row = {**tags, "n_workloads": len(rows)}
    for metric in TIMES:
        spread = change(rows, others, metric)
        row |= {metric.name: mean(rows, metric), f"change_{metric.name}": spread.mean}
        row |= {f"half_95_{metric.name}": spread.half, f"told_{metric.name}": change_text(spread)}
    return row | {metric.name: mean(rows, metric) for metric in (CPU, FILES)}
