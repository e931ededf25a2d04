"""Bars of several policies side by side, with their 95 % intervals and published values where there are any."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from forebay.figures import _header, _look, _style


@dataclass(frozen=True)
class Bar:
    """One of them: a mean, half of its interval, and the value published for it."""

    panel: str
    group: str
    policy: str
    mean: float
    half: float | None
    published: float | None = None


def draw(bars: Sequence[Bar], path: Path, label: str, groups: str = "") -> list[Path]:
    """A panel beside another, with a tick a group; `groups` says what these are. The CSV has the numbers as given."""
    schema: dict[str, Any] = dict.fromkeys(("panel", "group", "policy"), pl.String)
    schema |= dict.fromkeys(("mean", "half_95", "published"), pl.Float64)
    rows = [(one.panel, one.group, one.policy, one.mean, one.half, one.published) for one in bars]
    panels = list(dict.fromkeys(one.panel for one in bars))
    look = dict(zip(dict.fromkeys(one.policy for one in bars), _look.PALETTE, strict=False))
    with _style.page(_style.PAGE if len(panels) > 1 else _style.COLUMN, 2.4) as figure:
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axis, panel in zip(axes, panels, strict=True):
            _panel(axis, [one for one in bars if one.panel == panel], look)
            axis.set_title(panel, loc="left", fontweight="bold")
        axes[0].set_ylim(bottom=0)  # intervals of a few draws may reach below
        axes[0].set_ylabel(label)
        if groups:
            figure.supxlabel(groups, fontsize=8)
        handles: list[Any] = [Patch(color=colour, alpha=0.75, label=policy) for policy, colour in look.items()]
        if any(one.published is not None for one in bars):
            handles.append(Line2D([], [], color="black", marker="D", ls="", ms=3.6, mfc="white", label="published"))
        _style.legend(figure, handles, 4)
        return _style.write(figure, path, {"": pl.DataFrame(rows, schema, orient="row")}, _header.caption)


def _panel(axis: Any, bars: Sequence[Bar], look: dict[str, str]) -> None:
    groups, policies = list(dict.fromkeys(one.group for one in bars)), list(look)
    width = 0.8 / len(policies)
    for one in bars:
        x = groups.index(one.group) + (policies.index(one.policy) - (len(policies) - 1) / 2) * width
        axis.bar(x, one.mean, 0.92 * width, color=look[one.policy], alpha=0.75, lw=0)
        if one.half is not None:
            axis.errorbar(x, one.mean, one.half, color="black", elinewidth=0.9, capsize=2, capthick=0.9)
        if one.published is not None:
            axis.plot(x, one.published, "D", color="black", ms=3.6, mfc="white", mew=0.8, zorder=4)
    axis.set_xticks(range(len(groups)), groups)
    axis.tick_params(axis="x", length=0)
    axis.grid(True, axis="y")
