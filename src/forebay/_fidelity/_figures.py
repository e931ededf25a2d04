"""Pictures of a replay: distributions and use of the machine, waits job by job, and waits over time."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._fidelity import _paper
from forebay.errors import InputError, nearest

if TYPE_CHECKING:
    from forebay.figures._plan import Plan

NAMES = ("waits", "jobs", "moving")
_PREFIX = "fidelity"


def plan(found: _paper.Replayed, figure: str) -> "Plan":
    """One of the figures that `NAMES` has."""
    from forebay.figures.panels.times import against, moving

    if figure == "waits":
        return _distributions(found)
    if figure == "jobs":
        return against.plan(*_both(found))
    if figure == "moving":
        return moving.plan(found.moving, found.numbers["moving_window"], found.result.facts.get("epoch"))
    raise InputError(f"there is no figure {figure!r} of a fidelity: {nearest(figure, NAMES)}")


def draw(found: _paper.Replayed, folder: Path) -> list[Path]:
    """Write all of them, with the data behind each."""
    from forebay.figures import _plan

    paths = [folder / f"{_PREFIX}{'' if name == NAMES[0] else f'-{name}'}.svg" for name in NAMES]
    return [file for name, path in zip(NAMES, paths, strict=True) for file in _plan.save(plan(found, name), path)]


def _distributions(found: _paper.Replayed) -> "Plan":
    """Both distributions of waits, and both uses of the machine over time."""
    from forebay.figures.panels import fidelity

    uses = {"recorded": found.use.recorded, "simulated": found.use.simulated}
    about = fidelity.Machine(found.use.unit, found.use.capacity, found.use.period, found.result.facts.get("epoch"))
    return fidelity.plan(dict(zip(uses, _both(found), strict=True)), uses, about)


def _both(found: _paper.Replayed) -> list[Any]:
    return [found.jobs[f"{kind}_wait"].to_numpy() for kind in ("recorded", "simulated")]
