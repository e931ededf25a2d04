"""A Pareto front of two uses: all choices as dots, the front as a staircase, and the points that rules take."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from forebay.figures import _header, _look, _style


def draw(choices: np.ndarray, taken: Mapping[str, np.ndarray], path: Path, word: str = "") -> list[Path]:
    """Rows of `choices` are shares of nodes and of buffer. The CSV says of each whether it is on the front."""
    points = np.unique(choices, axis=0)
    one, other = points[:, None, :], points[None, :, :]
    better = np.all(other >= one, axis=2) & np.any(other > one, axis=2)
    on_front = ~np.any(better, axis=1)
    front = points[on_front]  # by nodes, fewest first, so buffer falls
    table = pl.DataFrame({"nodes": points[:, 0], "burst_buffer": points[:, 1], "on_front": on_front})
    looks = ((_look.ORANGE, "D"), (_look.GREEN, "s"), (_look.PINK, "^"))
    with _style.page(_style.COLUMN, 2.9) as figure:
        axis = figure.subplots()
        axis.plot(points[:, 0], points[:, 1], ".", ms=4, mew=0, color=_look.GREY, alpha=0.7, label="a choice that fits")
        x = np.concatenate([[0.0], front[:, 0]])
        axis.step(x, np.concatenate([front[:1, 1], front[:, 1]]), where="pre", color=_look.BLUE, lw=1.0)
        axis.plot([front[-1, 0]] * 2, [front[-1, 1], 0], color=_look.BLUE, lw=1.0)
        axis.plot(front[:, 0], front[:, 1], "o", ms=4, color=_look.BLUE, label="no other is better")
        for (name, point), (colour, marker) in zip(taken.items(), looks, strict=False):
            axis.plot(*point, marker, ms=8, mfc="none", mew=1.4, color=colour, label=name)
        axis.set(
            xlim=(0, 1.06), ylim=(0, 1.06), xlabel=f"share of {word}nodes used", ylabel=f"share of {word}buffer used"
        )
        axis.grid(True)
        _style.legend(figure, axis.get_legend_handles_labels()[0], 3)
        return _style.write(figure, path, {"": table}, _header.caption)
