"""A share of the machine over time under several policies, a panel a workload."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _header, _steps, _style

MOST = 240
"""Intervals over which means are drawn: work that comes and goes in rounds would be a grey band."""

Curves = Mapping[str, Mapping[str, _steps.Steps]]
"""Steps in percent by workload and policy."""


def draw(curves: Curves, path: Path, label: str) -> list[Path]:
    """Every policy is drawn to its end. The CSV has a row an interval."""
    end = max(float(times[-1]) for some in curves.values() for times, _ in some.values())
    width = _steps.width_for(0.0, end, MOST)
    look = _style.looks(list(dict.fromkeys(policy for some in curves.values() for policy in some)))
    frames = []
    rows = -(-len(curves) // 2)
    with _style.page(_style.PAGE, 0.7 + 1.5 * rows) as figure:
        axes = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False)
        for axis in axes.ravel()[len(curves) :]:
            axis.set_axis_off()
        unit = _style.clock(axes[0, 0], 0.0, end)
        clock = f"{axes[0, 0].get_xlabel()}; means over {_style.duration(width)}"
        for axis, (workload, some) in zip(axes.ravel(), curves.items(), strict=False):
            for policy, steps in some.items():
                times, values = _steps.averaged(steps, 0.0, float(steps[0][-1]), width)
                x, y = np.append(times, times[-1] + width) / unit, np.append(values, 0.0)
                axis.plot(x, y, drawstyle="steps-post", **look[policy])
                columns = {"workload": workload, "policy": policy, "time": times, "percent": values}
                frames.append(pl.DataFrame(columns))
            axis.set(xlabel="", ylim=(0, 104), yticks=[0, 25, 50, 75, 100])
            axis.set_title(workload, loc="left", fontweight="bold")
            axis.grid(True)
        for axis in axes[-1]:
            axis.set_xlabel(clock)
        for row in axes:
            row[0].set_ylabel(label)
        _style.legend(figure, [Line2D([], [], label=policy, **style) for policy, style in look.items()], 4)
        return _style.write(figure, path, {"": pl.concat(frames)}, _header.told)
