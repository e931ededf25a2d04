"""Response times by how many jobs a shared link carries at full speed; at the right end, every job has its own lane."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _header, _style

PANELS = {"mean_turnaround_time": "mean response (h)", "max_turnaround_time": "worst response (h)"}
_HOUR = 3600.0


def draw(rows: Sequence[dict[str, Any]], path: Path) -> list[Path]:
    """A curve a variant in each panel. The CSV has the rows as they are."""
    table = pl.DataFrame(list(rows), infer_schema_length=None)
    variants = table["variant"].unique(maintain_order=True).to_list()
    some = sorted({lanes for lanes in table["lanes"].to_list() if lanes is not None})
    places = {lanes: float(k) for k, lanes in enumerate([*some, None])}
    with _style.page(_style.PAGE, 2.7) as figure:
        look = _style.looks(variants)
        for axis, (metric, label) in zip(figure.subplots(1, len(PANELS)), PANELS.items(), strict=True):
            highest = 0.0
            for name, style in look.items():
                mine = [row for row in rows if row["variant"] == name]
                x, y = [places[row["lanes"]] for row in mine], [row[metric] / _HOUR for row in mine]
                half = [(row[f"half_95_{metric}"] or 0.0) / _HOUR for row in mine]
                axis.errorbar(x, y, half, marker="o", ms=3, elinewidth=0.8, capsize=2, **style)
                highest = max(highest, *y)
            axis.set_xticks(list(places.values()), [*map(str, some), "own\nlanes"])
            least = min(row[metric] / _HOUR for row in rows)
            _style.log_axis(axis, "y", least / 1.3, 1.3 * highest)
            axis.set_ylim(least / 1.3, 1.3 * highest)
            axis.set(xlabel="jobs that a link carries at full speed", ylabel=label)
            axis.grid(True)
        handles = [Line2D([], [], marker="o", ms=3, label=name, **style) for name, style in look.items()]
        _style.legend(figure, handles, 3)
        return _style.write(figure, path, {"": table}, _header.caption)
