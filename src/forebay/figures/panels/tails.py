"""The largest values of each policy, every one a dot: who pays for a short mean."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from forebay.figures import _header, _look, _style

GOLDEN = 0.6180339887498949
"""Its multiples, modulo 1, spread evenly: dots lie apart, and at the same place in every picture."""


def draw(
    values: Mapping[str, np.ndarray], path: Path, label: str, set_up: Callable[[Any, float, float], None], most: int
) -> list[Path]:
    """A row a policy with its `most` largest values. The CSV has them all, the largest of each first."""
    tails = {name: np.sort(some)[::-1][:most] for name, some in values.items()}
    schema = {"policy": pl.String, "rank": pl.Int64, "value": pl.Float64}
    table = pl.concat(
        pl.DataFrame([[name] * some.size, np.arange(1, some.size + 1), some], schema) for name, some in tails.items()
    )
    with _style.page(_style.COLUMN, 0.75 + 0.3 * max(len(tails), 3)) as figure:
        axis = figure.subplots()
        for row, some in enumerate(tails.values()):
            apart = (np.arange(some.size) * GOLDEN) % 1 - 0.5
            axis.plot(some, row + 0.72 * apart, ".", ms=1.4, mew=0, alpha=0.5, color=_look.BLUE, rasterized=True)
            if some.size:
                middle = float(np.median(some))
                axis.plot([middle, middle], [row - 0.4, row + 0.4], color="black", lw=1.2, solid_capstyle="butt")
        filled = [some for some in tails.values() if some.size]
        if filled:
            set_up(axis, float(min(some[-1] for some in filled)), float(max(some[0] for some in filled)))
        else:
            _style.note(axis, "no job started")
        _style.rows_axis(axis, list(tails))
        axis.set_xlabel(label)
        axis.grid(True, axis="x")
        return _style.write(figure, path, {"": table}, _header.caption)
