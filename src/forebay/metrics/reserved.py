"""Nodes that were reserved, or in maintenance: how much of the machine's time that was, and what was left to all."""

from itertools import pairwise

import numpy as np
import polars as pl

from forebay.metrics._metric import metric
from forebay.metrics._table import span
from forebay.metrics.stays import stays
from forebay.results import Result

_SCHEMA = {"name": pl.String, "first_node": pl.Int64, "last_node": pl.Int64, "start": pl.Float64, "end": pl.Float64}


def _has_any(result: Result) -> bool:
    return bool(result.facts.get("reserved"))


def reservations(result: Result) -> pl.DataFrame:
    """Nodes that were reserved: `name`, `first_node`, `last_node`, `start` and `end`, a row a stretch of nodes.

    Examples
    --------
    >>> fb.metrics.reservations(fb.simulate("table1")).height
    0
    """
    facts = result.facts.get("reserved")
    rows = [
        (str(one["name"]), int(low), int(high), float(one["start"]), float(one["end"]))
        for one in (facts if isinstance(facts, list) else [])
        for low, high in one["nodes"]
    ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _cells(result: Result, during: tuple[float, float]) -> np.ndarray:
    """Where and when anything was reserved, cut so that no two pieces overlap: first node, behind it, start, end."""
    found = reservations(result)
    low, high = found["first_node"].to_numpy(), found["last_node"].to_numpy() + 1
    start, end = np.clip(found["start"].to_numpy(), *during), np.clip(found["end"].to_numpy(), *during)
    nodes, times = np.unique(np.concatenate([low, high])), np.unique(np.concatenate([start, end]))
    cells = [
        (a, b, s, e)
        for a, b in pairwise(nodes)
        for s, e in pairwise(times)
        if ((low <= a) & (b <= high) & (start <= s) & (e <= end)).any()
    ]
    return np.array(cells, float).reshape(-1, 4)


@metric("reserved_share", "open_utilisation", unit="share", group="machine", needs=_has_any)
def _reserved(result: Result) -> dict[str, float | None]:
    """The share of node-time that was reserved, and the share of the rest that jobs held."""
    during, nodes = span(result), result.resources[result.unit]
    if during is None or during[0] >= during[1] or nodes == 0:
        return dict.fromkeys(("reserved_share", "open_utilisation"))
    boxes = stays(result).with_columns(pl.col("end").fill_null(during[1]))
    low, high = boxes["first_node"].to_numpy(), boxes["last_node"].to_numpy() + 1
    start, end = np.clip(boxes["start"].to_numpy(), *during), np.clip(boxes["end"].to_numpy(), *during)
    held, reserved = float(((high - low) * (end - start)).sum()), 0.0
    for a, b, s, e in _cells(result, during):
        reserved += (b - a) * (e - s)
        wide = np.clip(np.minimum(high, b) - np.maximum(low, a), 0, None)
        held -= float((wide * np.clip(np.minimum(end, e) - np.maximum(start, s), 0, None)).sum())
    whole = nodes * (during[1] - during[0])
    left = whole - reserved
    return {"reserved_share": float(reserved / whole), "open_utilisation": float(held / left) if left > 0 else None}
