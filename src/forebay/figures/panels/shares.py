"""Shares of jobs by a measure such as the response time, on a plain axis of time: one curve a result."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _header, _style


def draw(values: Mapping[str, np.ndarray], path: Path, label: str, share: str) -> list[Path]:
    """The share of jobs up to each value. The CSV has every job of every curve."""
    table = pl.concat(_curve(name, some) for name, some in values.items())
    with _style.page(_style.COLUMN, 2.6) as figure:
        axis = figure.subplots()
        longest = max(float(some.max(initial=1.0)) for some in values.values())
        unit = _style.clock(axis, 0.0, 1.03 * longest, ticks=8)
        look = _style.looks(list(values))
        for name, style in look.items():
            rows = table.filter(pl.col("result") == name)
            x = np.concatenate([[0.0], rows["value"].to_numpy(), [1.03 * longest]]) / unit
            axis.plot(x, np.concatenate([[0.0], rows["share"].to_numpy(), [1.0]]), drawstyle="steps-post", **style)
        axis.set(ylim=(0, 1.02), ylabel=share, xlabel=axis.get_xlabel().replace("time", label))
        axis.grid(True)
        _style.legend(figure, [Line2D([], [], label=name, **style) for name, style in look.items()], 2)
        return _style.write(figure, path, {"": table}, _header.caption)


def _curve(name: str, values: np.ndarray) -> pl.DataFrame:
    ordered = np.sort(values.astype(float))
    names = pl.Series("result", [name] * ordered.size, dtype=pl.String)
    share = np.arange(1, ordered.size + 1) / max(ordered.size, 1)
    return pl.DataFrame([names, pl.Series("value", ordered), pl.Series("share", share)])
