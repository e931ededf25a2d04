"""How much of an exact front an approximation finds, over its generations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from forebay.figures import _header, _look, _style


def draw(rows: Sequence[dict[str, Any]], path: Path) -> list[Path]:
    """The mean and the lowest tenth of the hypervolume found, for each rate of mutation."""
    table = pl.DataFrame(list(rows))
    rates = table["mutation"].unique(maintain_order=True).to_list()
    with _style.page(1.15 * _style.COLUMN, 2.6) as figure:
        axis = figure.subplots()
        for rate, colour in zip(rates, _look.PALETTE, strict=False):
            mine = table.filter(pl.col("mutation") == rate)
            x = mine["generations"].to_list()
            for name, label, dash in (("mean", "mean", 0), ("lowest_tenth", "lowest tenth", 1)):
                words = f"mutation {rate:g}: {label}"
                axis.plot(
                    x, mine[name].to_list(), marker="o", ms=3, color=colour, linestyle=_look.DASHES[dash], label=words
                )
        every = table["generations"].to_list()
        _style.log_axis(axis, "x", min(every), max(every))
        axis.set(ylim=(0, 1.03), xlabel="generations", ylabel="hypervolume found,\nof that of the exact front")
        axis.grid(True)
        _style.legend(figure, axis.get_legend_handles_labels()[0], len(rates))
        return _style.write(figure, path, {"": table}, _header.caption)
