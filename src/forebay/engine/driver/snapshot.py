"""Where a run stands at a decision, as copies that outlive it; and what a policy in plain Python keeps by itself."""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from forebay.core.view import View
from forebay.engine.driver.history import Mark, joined
from forebay.errors import InputError, brief

_OF_VIEW = ("jobs", "legs", "demands", "releases", "capacity", "rng")
"""What a policy may have taken from its view in `setup`, to be read ever after."""


@dataclass(frozen=True)
class Saved:
    """Copies of all that a run changes."""

    tables: tuple[np.ndarray, ...]
    memory: tuple[np.ndarray, ...]  # of a compiled policy
    own: dict[str, Any] | None  # of one in plain Python
    rng: dict[str, Any]
    draws: Any  # of failures
    said: tuple[Any, ...]
    mark: Mark
    status: int
    spent: tuple[float, float]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "mark": tuple(joined(last) for last in self.mark)}

    @property
    def n_bytes(self) -> int:
        """That these copies take; what was recorded before is shared with the run."""
        return sum(table.nbytes for table in (*self.tables, *self.memory))


@dataclass(frozen=True)
class _Held:
    """Stands for what belongs to the view of whatever run it is put back into."""

    name: str  # "" = the view itself

    def __reduce__(self) -> tuple[Any, ...]:
        return _held, (self.name,)  # from a file comes the same one: it is known by its identity


def _held(name: str) -> _Held:
    return _HELD[name]


_HELD = {name: _Held(name) for name in ("", *_OF_VIEW)}


def _parts(view: View) -> dict[str, Any]:
    return {"": view} | {name: getattr(view, name) for name in _OF_VIEW}


def kept_by(policy: Any, view: View) -> dict[str, Any] | None:
    """A copy of what a policy keeps; what it has of its view is named only."""
    if not hasattr(policy, "__dict__"):
        return None
    memo: dict[int, Any] = {id(part): _HELD[name] for name, part in _parts(view).items()}
    try:
        own: dict[str, Any] = copy.deepcopy(vars(policy), memo)
    except Exception as error:
        name, what = type(policy).__name__, f"{type(error).__name__}: {brief(str(error))}"
        raise InputError(
            f"policy {name} keeps what cannot be copied ({what}): "
            "there are no snapshots of its runs; keep numbers, lists and tables, or give what it keeps a __deepcopy__"
        ) from error
    return own


def give_back(policy: Any, kept: dict[str, Any] | None, view: View) -> None:
    """Let a policy have what one like it kept."""
    if kept is None:
        return
    parts = _parts(view)
    memo: dict[int, Any] = {id(held): parts[name] for name, held in _HELD.items()}
    own = copy.deepcopy(kept, memo)
    vars(policy).clear()
    vars(policy).update(own)
