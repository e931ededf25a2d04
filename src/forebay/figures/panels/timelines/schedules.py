"""Several schedules below one another, on one clock: what a failure, or a policy, changes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forebay.figures import _header, _style, gantt
from forebay.results import Result


def draw(results: Mapping[str, Result], path: Path) -> list[Path]:
    """A panel a result, of the machine's nodes alone. The CSVs are those of each schedule, by its place."""
    plans = [gantt.plan({label: result}) for label, result in results.items()]
    handles: dict[str, Any] = {}

    def keep(found: Sequence[Any], columns: int) -> None:
        handles.update({str(one.get_label()): one for one in found})

    with _style.page(_style.PAGE, 0.3 + 1.55 * len(plans)) as figure:
        axes = figure.subplots(len(plans), 1, squeeze=False)[:, 0]
        for axis, plan in zip(axes, plans, strict=True):
            plan.paint([axis], keep)
            axis.set_title(plan.title, loc="left", fontweight="bold")
        last = max(axes, key=lambda axis: axis.get_xlim()[1])
        ticks, limits = last.get_xticks(), last.get_xlim()
        for axis in axes:
            axis.set_xticks(ticks)
            axis.set_xlim(limits)
        for axis in axes[:-1]:
            axis.set_xlabel("")
        if handles:
            _style.legend(figure, list(handles.values()), 6)
        data = {f"-{place}{key}": table for place, plan in enumerate(plans, 1) for key, table in plan.data.items()}
        return _style.write(figure, path, data, _header.caption)
