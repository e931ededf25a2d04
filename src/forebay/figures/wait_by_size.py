"""Who waits: mean waits of small and of large jobs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _look, _multiples, _style
from forebay.figures._plan import Legend, Plan, save
from forebay.metrics.groups import by_size_class
from forebay.results import Result

DESCRIPTION = "mean waiting time by size of jobs (nodes, or cores where they share nodes), a line a policy"


def draw(results: Mapping[str, Result], path: Path) -> list[Path]:
    """A line a result over classes of sizes, those without any job left out. The CSV has `by_size_class` of all."""
    return save(plan(results), path, results)


def plan(results: Mapping[str, Result]) -> Plan:
    """One panel; of many results, one for each."""
    tables = {label: by_size_class(result) for label, result in results.items()}
    table = pl.concat([found.insert_column(0, _named(label, found.height)) for label, found in tables.items()])
    classes = list(dict.fromkeys(table.filter(pl.col("n") > 0)["size_class"]))
    classes.sort(key=lambda name: int(name.partition("-")[0]))
    sizes = f"{next(iter(results.values())).unit} of a job (number of such jobs)"
    longest = float(table["mean_wait"].max() or 0)  # type: ignore[arg-type]
    shortest = float(table["mean_wait"].min() or 0)  # type: ignore[arg-type]

    def means(label: str) -> np.ndarray:
        known = dict(tables[label].select("size_class", "mean_wait").rows())
        return np.array([np.nan if known.get(name) is None else known[name] for name in classes])

    def set_up(axis: Any) -> None:
        if shortest >= 60:
            _style.log_waits_axis(axis, "y", 0.7 * shortest, longest)
        else:
            _style.waits_axis(axis, "y", longest)
        axis.set_xticks(range(len(classes)), [_tick(name, tables) for name in classes])
        axis.set_xlim(-0.5, max(len(classes), 1) - 0.5)
        if not classes:
            _style.note(axis, "no job started")

    if len(results) > _multiples.MANY:
        lines = {label: (np.arange(len(classes)), means(label)) for label in results}
        return _of_many(lines, set_up, sizes, table)
    look = _style.looks(list(results))

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        (axis,) = axes
        handles = []
        for place, (label, style) in enumerate(look.items()):
            # Side by side, so that marks at the same height are seen; no class reaches into its neighbour.
            x = np.arange(len(classes)) + 0.5 * ((place + 0.5) / len(look) - 0.5)
            mark = {"marker": _look.MARKERS[place % len(_look.MARKERS)], "ms": 3.2, "mew": 0, "lw": 0.8, **style}
            axis.plot(x, means(label), clip_on=False, **mark)
            handles.append(Line2D([], [], label=label, **mark))
        set_up(axis)
        axis.set(xlabel=sizes, ylabel="mean waiting time")
        axis.grid(True, axis="y")
        legend(handles, 3)

    height = 2.9 + _style.for_legend(list(results), 3, _style.COLUMN)
    return Plan(_style.COLUMN, height, (1,), paint, {"": table})


def _of_many(
    lines: Mapping[str, _multiples.Line], set_up: Callable[[Any], None], label: str, table: pl.DataFrame
) -> Plan:
    """A panel a result. Classes are written upwards: there is no room for them side by side."""
    n = len(lines)
    wide, rows = _multiples.columns(n), _multiples.rows(n)

    def set_up_small(axis: Any) -> None:
        set_up(axis)
        axis.set_xticks(axis.get_xticks(), [tick.get_text().replace("\n", " ") for tick in axis.get_xticklabels()])
        axis.tick_params(axis="x", rotation=90)
        _multiples.thin_out(axis, "y")

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        _multiples.paint(axes, lines, set_up_small, marker="o", ms=2.4, mew=0)
        _multiples.name_axes(axes, label, "mean waiting time")

    height = 1.1 + _multiples.ROW * rows
    cells = _multiples.cells(n)
    return Plan(_style.PAGE, height, [1.0] * rows, paint, {"": table}, columns=wide, cells=cells)


def _named(label: str, rows: int) -> pl.Series:
    return pl.Series("result", [label] * rows, dtype=pl.String)


def _tick(name: str, tables: Mapping[str, pl.DataFrame]) -> str:
    """A class, and below it how many jobs are of it if all results agree."""
    counts = {found.filter(pl.col("size_class") == name)["n"].sum() for found in tables.values()}
    text = name.replace("-", "\N{EN DASH}")
    return f"{text}\n({counts.pop():,})" if len(counts) == 1 else text
