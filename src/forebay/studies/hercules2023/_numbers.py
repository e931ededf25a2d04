"""What is taken from the runs: times of jobs, use of the file system, and differences from the reference by seed."""

from collections.abc import Iterable, Mapping, Sequence

from forebay.core.units import parse_rate
from forebay.experiments import statistics
from forebay.experiments.statistics import Spread
from forebay.studies import _tables
from forebay.studies._frame import Finished
from forebay.studies._tables import SLOWDOWN, WAIT, Metric, Row, tagged
from forebay.studies.hercules2023._settings import Machine

TURNAROUND = Metric("mean_turnaround_time", "mean turnaround (s)", 0)
TIMES = (WAIT, TURNAROUND, SLOWDOWN)
FILES = Metric("file_system_load", "file system load", 3)
AVOIDED = Metric("traffic_avoided", "traffic avoided", 3)
SERVERS = Metric("server_share", "nodes that serve", 3)
MORE = Metric("server_node_hours", "server node-hours", 0)
MOVED = Metric("redistributed_bytes", "redistributed", 0)
PFS_AVOIDED = "pfs_bytes_avoided"

_HOUR = 3600.0


def rows_of(finished: Finished, machine: Machine) -> list[Row]:
    """A row a run: its tags, every number of its summary, and three shares."""
    return [row | _shares(row, machine) for row in _tables.rows_of(finished)]


def _shares(row: Row, machine: Machine) -> Row:
    """What was written to the file system of what it can take meanwhile; avoided traffic of all; nodes that serve."""
    span = row["makespan"]
    crossed = row["bytes_write"] + row["bytes_read"]
    avoided = row.get(PFS_AVOIDED) or 0.0
    hours = max(row.get(MORE.name) or 0.0, 0.0)  # a difference of means: of none, a little off 0
    return {
        FILES.name: row["bytes_write"] / (parse_rate(machine.pfs) * span),
        AVOIDED.name: avoided / (crossed + avoided),
        SERVERS.name: hours * _HOUR / (machine.nodes * span),
        MORE.name: hours,
        MOVED.name: row.get(MOVED.name) or 0.0,
    }


def by_seed(rows: Sequence[Row], metric: Metric) -> list[float]:
    """One value a seed, in their order."""
    return [row[metric.name] for row in sorted(rows, key=lambda row: row["seed"])]


def spread(rows: Sequence[Row], metric: Metric) -> Spread:
    """Over seeds."""
    return statistics.spread(by_seed(rows, metric))


def mean(rows: Sequence[Row], metric: Metric) -> float:
    """Over seeds."""
    return statistics.mean(by_seed(rows, metric))


def change(rows: Sequence[Row], bases: Sequence[Row], metric: Metric) -> Spread:
    """By which share the mean is above that of the reference; the interval is of differences seed by seed."""
    return statistics.rise(by_seed(rows, metric), by_seed(bases, metric))


def cells(rows: Sequence[Row], reference: str) -> Iterable[tuple[str, float, list[Row], list[Row]]]:
    """Every system at every share of I/O, in this order: the runs of it, and those of the reference."""
    for system in dict.fromkeys(row["system"] for row in rows):
        for io in sorted({row["io"] for row in rows}):
            cell = tagged(rows, io=io)
            yield system, io, tagged(cell, system=system), tagged(cell, system=reference)


def compared(rows: Sequence[Row], bases: Sequence[Row]) -> Row:
    """Means over seeds, and changes against the reference with half of their intervals."""
    row: Row = {"n_seeds": len(rows)}
    row |= {metric.name: mean(rows, metric) for metric in (*TIMES, FILES, AVOIDED, SERVERS, MORE, MOVED)}
    for metric in TIMES:
        one = change(rows, bases, metric)
        row |= {f"change_{metric.name}": one.mean, f"half_95_{metric.name}": one.half}
    return row


def loses_until(changes: Mapping[float, Spread]) -> float | None:
    """The largest share of I/O at which the change is above 0, whole interval; None: at none."""
    return max((io for io, one in changes.items() if one.half is not None and one.mean > one.half), default=None)


def gains_from(changes: Mapping[float, Spread]) -> float | None:
    """The share of I/O from which on the change is below 0, whole interval, there and at all larger ones."""
    found = None
    for io, one in sorted(changes.items(), reverse=True):
        if one.half is None or one.mean + one.half >= 0:
            break
        found = io
    return found
