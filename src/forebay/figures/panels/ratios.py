"""Ratios of several methods on several workloads, with their 95 % intervals: a panel a workload."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from forebay.figures import _header, _look, _style

Ratio = tuple[str, str, float, float | None]
"""A workload, a method, the ratio, and half of its interval."""


def draw(ratios: Sequence[Ratio], path: Path, label: str) -> list[Path]:
    """The CSV has the numbers as given."""
    schema = {"workload": pl.String, "method": pl.String, "ratio": pl.Float64, "half_95": pl.Float64}
    table = pl.DataFrame(list(ratios), schema, orient="row")
    workloads = table["workload"].unique(maintain_order=True).to_list()
    methods = table["method"].unique(maintain_order=True).to_list()
    with _style.page(_style.PAGE, 0.8 + 0.22 * len(methods)) as figure:
        panels = figure.subplots(1, len(workloads), sharex=True, sharey=True, squeeze=False)[0]
        for axis, workload in zip(panels, workloads, strict=True):
            axis.axvline(1.0, color="black", lw=0.8)
            for _, method, ratio, half in (row for row in ratios if row[0] == workload):
                row, reach = methods.index(method), half or 0.0
                axis.plot([ratio - reach, ratio + reach], [row, row], color=_look.BLUE, lw=1.4, solid_capstyle="butt")
                axis.plot(ratio, row, "o", ms=4, color=_look.BLUE)
            axis.set_title(workload, loc="left", fontweight="bold")
            axis.grid(True, axis="x")
        _style.rows_axis(panels[0], methods)
        figure.supxlabel(label, fontsize=8)
        return _style.write(figure, path, {"": table}, _header.caption)
