"""When jobs waited and ran, a line a job in order of arrival, a panel for each policy."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.collections import LineCollection
from matplotlib.patches import Patch

from forebay.figures import _header, _look, _style
from forebay.figures.panels.timelines.over_time import COLUMNS, grid, tidy


def draw(tables: Mapping[str, pl.DataFrame], path: Path) -> list[Path]:
    """Each table has a row a job: job, submit, start and end. The CSV has them all."""
    end = max(float(table["end"].to_numpy().max()) for table in tables.values())
    with _style.page(_style.PAGE, 0.4 + 1.6 * -(-len(tables) // COLUMNS)) as figure:
        axes = grid(figure, len(tables))
        for axis, (title, table) in zip(axes, tables.items(), strict=False):
            unit = _style.clock(axis, 0.0, end, ticks=5)
            for since, until, colour in (("submit", "start", _look.ORANGE), ("start", "end", _look.BLUE)):
                axis.add_collection(_lines(table, since, until, unit, colour))
            axis.set_ylim(len(table), 0)
            axis.set_title(title, loc="left")
        tidy(axes, len(tables), "job")
        handles = [Patch(color=_look.ORANGE, label="waits"), Patch(color=_look.BLUE, label="runs")]
        _style.legend(figure, handles, 2)
        data = pl.concat(table.select(pl.lit(title).alias("panel"), pl.all()) for title, table in tables.items())
        return _style.write(figure, path, {"": data}, _header.caption)


def _lines(table: pl.DataFrame, since: str, until: str, unit: float, colour: str) -> Any:
    """As pixels: one cannot be picked out of thousands, and files stay small."""
    y = np.arange(len(table)) + 0.5
    ends = [np.column_stack([table[name].to_numpy() / unit, y]) for name in (since, until)]
    return LineCollection(np.stack(ends, axis=1), colors=colour, linewidths=0.3, capstyle="butt", rasterized=True)
