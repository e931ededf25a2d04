"""Jobs completed over time: how many in each interval, and the mean of those around it."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from forebay.figures import _header, _look, _style

INTERVAL = 500.0
"""Seconds, as in Cerberus (2016)."""
AROUND = 41
"""Intervals that a mean is over: without, a curve is a cloud of ones and twos."""


def draw(ends: Mapping[str, np.ndarray], path: Path) -> list[Path]:
    """A panel a result, on one axis of time. The CSV has a row an interval."""
    last = max(float(some.max(initial=1.0)) for some in ends.values())
    edges = np.arange(0.0, last + 2 * INTERVAL, INTERVAL)
    tables, most = [], 1.0
    with _style.page(_style.COLUMN, 0.75 + 0.85 * len(ends)) as figure:
        panels = figure.subplots(len(ends), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        unit = _style.clock(panels[-1], 0.0, edges[-1], ticks=8)
        for axis, (name, some) in zip(panels, ends.items(), strict=True):
            count = np.histogram(some, edges)[0].astype(float)
            mean = np.convolve(count, np.ones(AROUND), "same") / np.convolve(
                np.ones(count.size), np.ones(AROUND), "same"
            )
            most = max(most, float(np.quantile(count, 0.995)), float(mean.max()))
            axis.plot(edges[:-1] / unit, count, ".", ms=1.6, mew=0, color=_look.GREY, alpha=0.7, rasterized=True)
            axis.plot(edges[:-1] / unit, mean, color=_look.BLUE)
            axis.set_title(name, loc="left", fontsize=7, pad=2)
            axis.grid(True)
            names = pl.Series("result", [name] * count.size, dtype=pl.String)
            columns = {"time": edges[:-1], "jobs": count, "mean_around": mean}
            tables.append(pl.DataFrame([names, *(pl.Series(key, value) for key, value in columns.items())]))
        panels[-1].set_ylim(0, 1.08 * most)
        figure.supylabel(f"jobs completed in {INTERVAL:g} s", fontsize=8)
        return _style.write(figure, path, {"": pl.concat(tables)}, _header.caption)
