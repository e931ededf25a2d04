"""What is taken from the runs: curves over p or theta, the lowest points of their fits, utilisation over all runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forebay.experiments import statistics
from forebay.studies._tables import Metric, Row

MAKESPAN = Metric("makespan", "makespan (s)", 0)
TURNAROUND = Metric("mean_turnaround_time", "mean turnaround (s)", 0)
TIMES = (MAKESPAN, TURNAROUND)
NODES = Metric("utilisation_nodes", "nodes in use", 3)
FAST = Metric("utilisation_fast", "fast storage in use", 3)


def by_workload(rows: Sequence[Row], metric: Metric) -> list[float]:
    """The mean of each workload: over what was drawn again, but for the jobs."""
    found: dict[int, list[float]] = {}
    for row in rows:
        found.setdefault(row["workload"], []).append(row[metric.name])
    return [statistics.mean(found[workload]) for workload in sorted(found)]


def mean(rows: Sequence[Row], metric: Metric) -> float:
    """Over workloads, each of which counts once."""
    return statistics.mean(by_workload(rows, metric))


def utilisation(rows: Sequence[Row], metric: Metric) -> float:
    """All that was used in some runs over all that there was: the paper's equation (3)."""
    used = sum((row[metric.name] or 0.0) * row["makespan"] for row in rows)
    return float(used / sum(row["makespan"] for row in rows))


@dataclass(frozen=True)
class Curve:
    """Means and deviations over p, or theta."""

    x: list[float]
    y: list[float]
    deviation: list[float]

    @property
    def lowest(self) -> float:
        """Where the least mean is."""
        return self.x[int(np.argmin(self.y))]

    @property
    def fitted(self) -> float:
        """Where the polynomial of second degree is lowest, between the ends."""
        fine = np.linspace(min(self.x), max(self.x), 1001)
        return float(fine[np.argmin(np.polyval(np.polyfit(self.x, self.y, 2), fine))])


def curve(rows: Sequence[Row], over: str, metric: Metric, pooled: bool = False) -> Curve:
    """A metric over a tag; `pooled` is for utilisation. The deviation is that of all single runs."""
    places = sorted({row[over] for row in rows})
    y, deviation = [], []
    for place in places:
        some = [row for row in rows if row[over] == place]
        y.append(utilisation(some, metric) if pooled else mean(some, metric))
        deviation.append(statistics.spread([row[metric.name] or 0.0 for row in some]).deviation or 0.0)
    return Curve(places, y, deviation)


def ratio(rows: Sequence[Row], others: Sequence[Row], metric: Metric) -> statistics.Spread:
    """Of the means of each workload."""
    pairs = zip(by_workload(rows, metric), by_workload(others, metric), strict=True)
    return statistics.spread([one / other for one, other in pairs])
