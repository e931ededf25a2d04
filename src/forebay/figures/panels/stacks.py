"""What something is made up of, under several policies side by side: stacked bars of shares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.patches import Patch

from forebay.figures import _header, _look, _style


@dataclass(frozen=True)
class Stack:
    """A bar: its parts, by their names, from the bottom up. The last one is what is left, in grey."""

    panel: str
    group: str
    policy: str
    parts: Mapping[str, float]


def draw(stacks: Sequence[Stack], path: Path, label: str, groups: str) -> list[Path]:
    """A panel beside another, with a tick a group, in which policies stand in their order; the CSV has the numbers."""
    panels, policies = (list(dict.fromkeys(getattr(one, key) for one in stacks)) for key in ("panel", "policy"))
    parts = list(dict.fromkeys(name for one in stacks for name in one.parts))
    look = dict(zip(parts, _look.FILLS, strict=False)) | {parts[-1]: "#dddddd"}
    schema: dict[str, Any] = dict.fromkeys(("panel", "group", "policy", "part"), pl.String) | {"value": pl.Float64}
    rows = [(one.panel, one.group, one.policy, name, value) for one in stacks for name, value in one.parts.items()]
    with _style.page(_style.PAGE, 2.7) as figure:
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axis, panel in zip(axes, panels, strict=True):
            _panel(axis, [one for one in stacks if one.panel == panel], policies, look)
            axis.set_title(panel, loc="left", fontweight="bold")
        axes[0].set_ylabel(label)
        figure.supxlabel(f"{groups}; bars: {', '.join(policies)}", fontsize=8)
        _style.legend(figure, [Patch(color=colour, label=name) for name, colour in look.items()], 8)
        return _style.write(figure, path, {"": pl.DataFrame(rows, schema, orient="row")}, _header.caption)


def _panel(axis: Any, stacks: Sequence[Stack], policies: list[str], look: dict[str, str]) -> None:
    groups = list(dict.fromkeys(one.group for one in stacks))
    width = 0.84 / len(policies)
    for one in stacks:
        x = groups.index(one.group) + (policies.index(one.policy) - (len(policies) - 1) / 2) * width
        bottom = 0.0
        for name, value in one.parts.items():
            axis.bar(x, value, 0.92 * width, bottom=bottom, color=look[name], lw=0)
            bottom += value
    axis.set_xticks(range(len(groups)), [group.replace(" ", "\n") for group in groups])
    axis.tick_params(axis="x", length=0)
    axis.grid(True, axis="y")
