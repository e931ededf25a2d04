"""Step functions of time, as figures need them: taken from the log, and averaged where they have too many steps."""

import math

import numpy as np
import polars as pl

from forebay.metrics._table import is_warm
from forebay.results import Result

Steps = tuple[np.ndarray, np.ndarray]
"""Times, and the value from each on; 0 before the first."""

_WIDTHS = (60, 300, 900, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000)


def summed(times: np.ndarray, changes: np.ndarray) -> Steps:
    """The step function that jumps by `changes` at `times`."""
    order = np.argsort(times, kind="stable")
    moments, first = np.unique(times[order], return_index=True)
    return moments, np.add.reduceat(changes[order], first).cumsum() if moments.size else np.zeros(0)


def queued_nodes(result: Result) -> Steps:
    """Nodes asked for by all legs that wait. The first leg of a job asks for what the job asks for.

    A leg that was interrupted waits once more.
    """
    kind = pl.col("kind").cast(pl.String)
    keys = ["job", "leg", "turn"]
    rows = result.log.lazy().select("time", "job", "leg", "amount", kind=kind)
    turn = pl.col("time").cum_count().over("job", "leg").alias("turn")
    joins = rows.filter(pl.col("kind").is_in(["submit", "queue"])).with_columns(turn)
    leaves = rows.filter(pl.col("kind").is_in(["start", "reject"])).with_columns(turn)
    waits = joins.join(leaves, on=keys, suffix="_left", maintain_order="left")
    asked = pl.when(pl.col("kind") == "submit").then("amount").otherwise("amount_left")
    found = waits.select("time", "time_left", asked=asked.cast(pl.Float64)).collect()
    begin, end, nodes = (found[name].to_numpy() for name in ("time", "time_left", "asked"))
    return summed(np.concatenate([begin, end]), np.concatenate([nodes, -nodes]))


def width_for(start: float, end: float, most: int) -> float:
    """A round number of seconds of which at most `most` fill the span."""
    return float(next((width for width in _WIDTHS if (end - start) / width <= most), (end - start) / most))


def averaged(steps: Steps, start: float, end: float, width: float) -> Steps:
    """Means over intervals of `width` seconds from `start` on; the last may reach beyond the end."""
    times, values = steps
    edges = start + width * np.arange(max(1, math.ceil((end - start) / width)) + 1)
    if times.size == 0:
        return edges[:-1], np.zeros(edges.size - 1)
    area = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(times))])
    place = np.searchsorted(times, edges, side="right") - 1
    inside = np.maximum(place, 0)
    upto = np.where(place < 0, 0.0, area[inside] + values[inside] * (edges - times[inside]))
    return edges[:-1], np.diff(upto) / np.diff(edges)


def transfers(result: Result, kinds: tuple[str, ...]) -> Steps:
    """Bytes/s moved by phases of some kinds; a phase counts with its average rate.

    An end belongs to the last beginning of the same kind, leg and job before it. What moved in no time has no rate.
    """
    reason = pl.col("reason").cast(pl.String)
    rows = result.log.lazy().select("time", "job", "leg", "amount", kind=pl.col("kind").cast(pl.String), reason=reason)
    rows = rows.filter(pl.col("reason").is_in(kinds))
    begins = rows.filter(pl.col("kind") == "begin_phase").select("time", "job", "leg", "reason", begin="time")
    ends = rows.filter(pl.col("kind") == "end_phase")
    keys = ["job", "leg", "reason"]
    pairs = _in_order(ends).join_asof(_in_order(begins), on="time", by=keys, check_sortedness=False)
    length = pl.col("time") - pl.col("begin")
    whole = (length > 0) & (pl.col("amount") >= 0)  # a checkpoint that was cut off does not tell
    found = pairs.filter(whole).select("begin", "time", rate=pl.col("amount") / length).collect()
    begin, end, rate = (found[name].to_numpy() for name in ("begin", "time", "rate"))
    times, values = summed(np.concatenate([begin, end]), np.concatenate([rate, -rate]))
    return times, np.where(values > 1e-9 * values.max(initial=0.0), values, 0.0)  # sums of rates need not end at 0


def _in_order(rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.sort("time", maintain_order=True)


def over(result: Result) -> tuple[float, float]:
    """From the first submission to the last change of a job; a second at least.

    Of a period that began with jobs under way, from there.
    """
    times = result.log.filter(pl.col("job").is_not_null())["time"]
    if times.is_empty():
        return 0.0, 1.0
    start, end = float(times.min()), float(times.max())  # type: ignore[arg-type]
    if is_warm(result):
        start = 0.0
    return start, max(end, start + 1.0)
