"""How waits are spread: letter values, and the share of jobs that waited longer, on logarithmic axes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from forebay.figures import _look
from forebay.figures._waits import letter_values, waiting_times
from forebay.report import _axes, tables
from forebay.report._models import Field, Model, fields
from forebay.report.page import Section
from forebay.results import Result

MOST = 1500
"""Points of a curve; of more, those at even steps on its logarithmic axes are kept."""


def of(results: Mapping[str, Result]) -> dict[str, np.ndarray]:
    """Waiting times by policy."""
    return {label: waiting_times(result) for label, result in results.items()}


def section(waits: Mapping[str, np.ndarray]) -> Section:
    """Both figures of waiting times, in seconds, by policy."""
    longest = max((float(some.max()) for some in waits.values() if some.size), default=60.0)
    title = "Waiting times"
    if not any(some.size for some in waits.values()):
        return Section(title, tables.paragraph("No job started."))
    text = (
        '<div class="pair apart"><figure><h3>Letter values</h3><div class="plot" id="plot-letters"></div>'
        f"<figcaption>{_BOXES}</figcaption></figure>"
        '<figure><h3>Tails</h3><div class="plot" id="plot-tails"></div>'
        f"<figcaption>{_TAILS}</figcaption></figure></div>"
    )
    plots = {"plot-letters": _letters(waits, longest), "plot-tails": _tails(waits, longest)}
    return Section(title, text, plots=plots)


_BOXES = "A line at the median; boxes hold the middle half of jobs, three quarters, seven eighths and so on."
_TAILS = "Of all jobs, the share that waited longer than a time. Both axes are logarithmic."


def _letters(waits: Mapping[str, np.ndarray], longest: float) -> Model:
    made = _axes.panel(52 + 30 * max(len(waits), 3))
    columns: dict[str, list[float]] = {name: [] for name in ("left", "right", "bottom", "top", "alpha")}
    medians, beyond = [], []
    for row, some in enumerate(waits.values()):
        found = letter_values(some)
        for place in range(len(found) - 1, 0, -1):
            _, low, high = found[place]
            half = 0.4 * 0.8 ** (place - 1)
            box = (low, high, row + half, row - half, 0.25 + 0.75 * (1 - (place - 1) / max(len(found) - 1, 1)))
            for name, one in zip(columns, box, strict=True):
                columns[name].append(float(_axes.bent(one)) if name in ("left", "right") else one)
        if found:
            medians.append((float(_axes.bent(found[0][1])), row))
            outer = np.unique(some[(some < found[-1][1]) | (some > found[-1][2])])
            beyond += [(float(x), row) for x in _axes.bent(outer[-200:])]
    edges = fields("left", "right", "bottom", "top")
    made.draw("Quad", columns, **edges, fill_alpha=Field("alpha"), line_color=None, fill_color=_look.BLUE)
    outside = {"x": [x for x, _ in beyond], "y": [y for _, y in beyond]}
    made.draw("Scatter", outside, **fields("x", "y"), size=3, **_axes.filled(_look.GREY))
    lines = {
        "x": [x for x, _ in medians],
        "low": [y - 0.42 for _, y in medians],
        "high": [y + 0.42 for _, y in medians],
    }
    ends: dict[str, Any] = {"x0": Field("x"), "y0": Field("low"), "x1": Field("x"), "y1": Field("high")}
    made.draw("Segment", lines, **ends, line_width=2.5).update(tags=["ink"])
    _axes.rows(made, list(waits))
    _axes.bent_waits(made, longest)
    made.x_axis.update(axis_label="waiting time")
    return made.model


def _tails(waits: Mapping[str, np.ndarray], longest: float) -> Model:
    made = _axes.panel(max(300, 52 + 30 * len(waits)), scales=("log", "log"))
    least = 1.0
    for place, (label, some) in enumerate(waits.items()):
        x, y = tail(some)
        if x.size:
            least = min(least, float(y.min()))
            # Five digits are more than a screen shows.
            columns = {name: [float(f"{one:.5g}") for one in values] for name, values in (("x", x), ("y", y))}
            look = _axes.look(place)
            made.draw("Step", columns, _look.shortened(label, _look.WIDEST), **fields("x", "y"), mode="after", **look)
    _axes.log_waits(made, max(1.0, min(60.0, longest / 100)), max(longest, 2.0))
    made.model.update(y_range=_axes.span(least / 1.5, 1.2))
    _axes.formatted(made.y_axis, "tick >= 0.001 ? `${Number((100 * tick).toPrecision(6))} %` : tick.toExponential()")
    made.x_axis.update(axis_label="waiting time")
    made.y_axis.update(axis_label="jobs that waited longer")
    made.legend_above()
    return made.model


def tail(waits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From each wait on, the share of jobs that waited longer; a share of 0 has no place on the axis."""
    values, counts = np.unique(waits, return_counts=True)
    above = 1 - np.cumsum(counts) / max(waits.size, 1)
    values, above = np.append(1e-3, values), np.append(1.0, above)
    kept = above > 0.5 / max(waits.size, 1)
    values, above = np.maximum(values[kept], 1e-3), above[kept]
    if values.size <= MOST:
        return values, above
    place = np.unique(np.linspace(0, values.size - 1, MOST // 2).astype(int))
    ends = np.searchsorted(-np.log(above), np.linspace(0, -np.log(above[-1]), MOST // 2), side="left")
    chosen = np.unique(np.concatenate([place, np.minimum(ends, values.size - 1)]))
    return values[chosen], above[chosen]
