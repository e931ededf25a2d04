"""Marks: what stands for an object of this process where a run has a spec, and which no spec looks like."""

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_MARK = "object of this process: "
_there: dict[str, Any] = {}


@dataclass(frozen=True)
class Objects:
    """What takes the place of names in the keys of a sweep."""

    marks: Mapping[str, str] = field(default_factory=dict)  # by the name that tables show
    names: Mapping[str, str] = field(default_factory=dict)  # by the file of a workload


def of(spec: str) -> Any:
    """What a mark stands for; any other spec as it is. A policy comes as a copy that no other run has used."""
    if not is_mark(spec):
        return spec
    found = _there[spec]
    if inspect.isclass(found):
        return found
    try:
        return copy.deepcopy(found)
    except Exception:
        return found  # it holds something that cannot be copied; `setup` is to begin it again


def is_mark(spec: str) -> bool:
    """Whether it stands for an object."""
    return spec.startswith(_MARK)


def marked(name: str, one: Any, content: str) -> str:
    """The mark of an object, which is known from now on; its content tells it from others of the name."""
    mark = f"{_MARK}{name} {content}"
    _there[mark] = one
    return mark
