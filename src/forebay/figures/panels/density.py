"""Two quantities of many jobs: where most of them lie, and the second from job to job."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl
from matplotlib.ticker import MaxNLocator

from forebay.figures import _header, _look, _style

BINS = 40


def draw(table: pl.DataFrame, path: Path, labels: Mapping[str, str]) -> list[Path]:
    """`labels` are those of three columns: the two quantities, and the job. The CSV is the table."""
    first, second, job = labels
    with _style.page(_style.PAGE, 2.4) as figure:
        left, right = figure.subplots(1, 2)
        x, y = table[first].to_numpy(), table[second].to_numpy()
        *_, image = left.hist2d(x, y, bins=BINS, cmap="viridis", cmin=1, rasterized=True)
        figure.colorbar(image, ax=left, label="jobs", ticks=MaxNLocator(integer=True))
        left.set(xlabel=labels[first], ylabel=labels[second])
        right.plot(table[job].to_numpy(), y, ".", ms=1.2, mew=0, color=_look.BLUE, rasterized=True)
        right.set(xlabel=labels[job], ylabel=labels[second])
        right.grid(True)
        return _style.write(figure, path, {"": table}, _header.caption)
