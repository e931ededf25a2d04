"""Pictures of a prediction: starts with intervals, and the next day of the machine."""

from pathlib import Path
from typing import TYPE_CHECKING

from forebay._predict import _words
from forebay.errors import InputError, nearest

if TYPE_CHECKING:
    from forebay.figures._plan import Plan

NAMES = ("starts", "ahead")


def plan(found: _words.Predicted, figure: str) -> "Plan":
    """One of the figures that `NAMES` has."""
    from forebay.figures.panels.times import ahead, intervals

    if figure == "starts":
        return intervals.plan(found.table)
    if figure == "ahead":
        return ahead.plan(found.outlook, found.facts["at"], found.facts.get("epoch"))
    raise InputError(f"there is no figure {figure!r} of a prediction: {nearest(figure, NAMES)}")


def draw(found: _words.Predicted, folder: Path) -> list[Path]:
    """Write all of them, with the data behind each."""
    from forebay.figures import _plan

    names = [name for name in NAMES if name != "starts" or found.table.height]
    return [file for name in names for file in _plan.save(plan(found, name), folder / f"{name}.svg")]
