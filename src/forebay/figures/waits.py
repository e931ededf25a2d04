"""Waiting times as a distribution: the share of jobs that wait at most so long, and that of those that wait longer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _multiples, _style
from forebay.figures._plan import Legend, Plan, save
from forebay.figures._waits import waiting_times
from forebay.results import Result

DESCRIPTION = "waiting times: share of jobs that wait at most so long, and the tail of the longest waits"

MOST = 400
"""Steps drawn of a curve; evenly spread over jobs, and over the orders of magnitude of the tail."""


def draw(results: Mapping[str, Result], path: Path) -> list[Path]:
    """All results in both panels. The CSV has a row a step drawn: `share_at_most` is the ECDF at `wait`."""
    return save(plan(results), path, results)


def plan(results: Mapping[str, Result]) -> Plan:
    """Two panels: the shares, and their tail. Of many results, each has these two to itself."""
    table = pl.concat([curve(label, waiting_times(result)) for label, result in results.items()])
    longest = float(table["wait"].max() or 0)  # type: ignore[arg-type]
    if len(results) > _multiples.MANY:
        return _of_many(list(results), table, longest)
    look = _style.looks(list(results))

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        share, tail = axes
        for label, style in look.items():
            rows = table.filter(pl.col("result") == label)
            for axis, (x, y) in zip(axes, _lines(rows, longest), strict=True):
                if x.size:
                    axis.plot(x, y, drawstyle="steps-post", **style)
        _style.waits_axis(share, "x", longest)
        share.set(ylim=(0, 1.02), ylabel="share of jobs waiting\nat most so long", xlabel="waiting time")
        share.grid(True)
        _tail_axis(tail, table, longest)
        legend([Line2D([], [], label=label, **style) for label, style in look.items()], 3)

    height = 4.3 + _style.for_legend(list(results), 3, _style.COLUMN)
    return Plan(_style.COLUMN, height, (1, 1), paint, {"": table})


def _lines(rows: pl.DataFrame, longest: float) -> tuple[_multiples.Line, _multiples.Line]:
    """The shares of one result and their tail, by where each step begins; empty where there is nothing to show."""
    x, y = rows["wait"].to_numpy(), rows["share_at_most"].to_numpy()
    share = tail = (np.zeros(0), np.zeros(0))
    if x.size:
        share = np.concatenate([[0.0], x, [2 * max(longest, 60.0)]]), np.concatenate([[0.0], y, [1.0]])
    waited = x > 0
    if waited.any():
        above = np.concatenate([[1 - np.max(y[~waited], initial=0.0)], 1 - y[waited]])
        # A step starts at the wait before it; the first goes on to the left as far as the axis does.
        tail = np.concatenate([[1e-3], x[waited]]), above
    return share, tail


def _of_many(labels: list[str], table: pl.DataFrame, longest: float) -> Plan:
    """A panel a result: first the shares of all, then their tails."""
    lines = {label: _lines(table.filter(pl.col("result") == label), longest) for label in labels}
    n, wide, rows = len(labels), _multiples.columns(len(labels)), _multiples.rows(len(labels))

    def share_axis(axis: Any) -> None:
        _style.waits_axis(axis, "x", longest)
        axis.set(ylim=(0, 1.02), yticks=[0, 0.5, 1])
        _multiples.thin_out(axis, "x")

    def tail_axis(axis: Any) -> None:
        _tail_axis(axis, table, longest)
        axis.set(xlabel="", ylabel="")
        _multiples.thin_out(axis, "x")

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        words = ("share of jobs waiting\nat most so long", "share of jobs\nwaiting longer")
        for block, (set_up, word) in enumerate(zip((share_axis, tail_axis), words, strict=True)):
            panels = axes[block * n : (block + 1) * n]
            _multiples.paint(panels, {label: _multiples.steps(*lines[label][block]) for label in labels}, set_up)
            _multiples.name_axes(panels, "waiting time", word)

    heights = [1.0] * (2 * rows)
    cells = _multiples.cells(n, 2)
    height = 0.4 + _multiples.ROW * len(heights)
    return Plan(_style.PAGE, height, heights, paint, {"": table}, columns=wide, cells=cells)


def curve(label: str, waits: np.ndarray) -> pl.DataFrame:
    """Distinct waits and the share of jobs up to each, thinned where there are too many to see."""
    values, counts = np.unique(waits, return_counts=True)
    share = np.cumsum(counts) / max(waits.size, 1)
    if values.size > MOST:
        even = np.linspace(0, 1, MOST // 2)
        last = 1 - np.geomspace(1 / waits.size, 1, MOST // 2)
        keep = np.searchsorted(share, np.concatenate([even, last]))
        keep = np.unique(np.concatenate([[0], np.clip(keep, 0, values.size - 1), [values.size - 1]]))
        values, share = values[keep], share[keep]
    names = pl.Series("result", [label] * values.size, dtype=pl.String)
    columns = {"wait": values.astype(float), "share_at_most": share, "share_above": 1 - share}
    return pl.DataFrame([names, *(pl.Series(name, column) for name, column in columns.items())])


def _tail_axis(axis: Any, table: pl.DataFrame, longest: float) -> None:
    """Logarithmic both ways."""
    axis.set(xlabel="waiting time", ylabel="share of jobs\nwaiting longer")
    waited = table.filter(pl.col("wait") > 0)
    if waited.is_empty():
        axis.set(xticks=[], yticks=[])
        _style.note(axis, "no job waits")
        return
    shares = table.filter(pl.col("share_above") > 1e-12)["share_above"]
    least = float(shares.min()) if shares.len() else 0.1  # type: ignore[arg-type]
    axis.set_yscale("log", nonpositive="clip")
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.yaxis.set_minor_formatter(lambda value, _: "")
    axis.set_ylim(10 ** np.floor(np.log10(0.99 * least)), 1.2)
    _style.log_waits_axis(axis, "x", float(waited["wait"].quantile(0.01) or 1.0), longest)
    axis.grid(True)
