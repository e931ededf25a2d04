"""Find plug-ins by looking: a module in the group's folder, or an entry point `forebay.<group>`. No registry to edit.

A *spec* is how users name one on the command line: `fcfs-bb:depth=3,max_backfill=100`.
"""

import inspect
import math
import pkgutil
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from forebay._support.input_limits import too_long
from forebay._support.programs import may_start
from forebay._support.text import plain
from forebay.errors import InputError, brief, nearest


def _module_name(name: str) -> str:
    return name.replace("-", "_")


@cache
def _installed() -> Any:  # its type differs between versions of Python
    """All that packages announce. Cached: looking through everything installed takes milliseconds."""
    return entry_points()


@cache
def _outside(group: str) -> dict[str, EntryPoint]:
    """Plug-ins of other packages."""
    return {entry.name: entry for entry in _installed().select(group=f"forebay.{group}")}


def is_announced(group: str, module: str) -> bool:
    """Whether another package announces a module as a plug-in."""
    return any(entry.module == module for entry in _outside(group).values())


def names(group: str) -> list[str]:
    """Every plug-in of a group (a sub-package of forebay, such as `policies`), as users write it."""
    return sorted(_known(group))


def _known(group: str) -> frozenset[str]:
    package = import_module(f"forebay.{group}")
    return _own(tuple(package.__path__)).union(_outside(group))


@cache
def _own(folders: tuple[str, ...]) -> frozenset[str]:
    """Ours. Cached: a run asks 30 times, a millisecond or two each."""
    found = (module.name for module in pkgutil.iter_modules(folders))
    return frozenset(name.replace("_", "-") for name in found if not name.startswith("_"))


def find(group: str, name: str) -> str | None:
    """The plug-in that a user means by `name`, as `names` spells it: case does not count, and `_` is `-`."""
    known = _known(group)
    return name if name in known else {_folded(one): one for one in sorted(known)}.get(_folded(name))


def spelled(group: str, spec: str) -> str:
    """A spec with its plug-in's name as `names` spells it; one of something else, such as a user's file, as it is."""
    name = re.match(r"[^:+]*", spec)
    found = name and find(group, name[0])
    return f"{found}{spec[name.end() :]}" if name and found else spec


def _folded(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def unknown(what: str, name: str, known: Iterable[str]) -> InputError:
    """What to raise where there is no such plug-in."""
    return InputError(f"unknown {what} {brief(name)}: {nearest(_folded(name), known)}")


def load(group: str, name: str, what: str) -> ModuleType:
    """The module that implements `name`; `what` is the word for it in messages ("policy", "platform")."""
    found = find(group, name)
    if found is None:
        raise unknown(what, name, names(group))
    if found in _outside(group):
        may_start()
        module: ModuleType = _outside(group)[found].load()
        return module
    return import_module(f"forebay.{group}.{_module_name(found)}")


def parse_spec(text: str) -> tuple[str, dict[str, str]]:
    """`name:key=value,key=value` in its parts; values stay text: see `values`."""
    name, _, rest = text.partition(":")
    return name.strip(), assignments(rest, text, f"{name}:key=value,key=value")


def assignments(items: str, spec: str, form: str) -> dict[str, str]:
    """`key=value,key=value` in its parts; `spec` is all that the user wrote, `form` what should have been written."""
    if plain(spec) != spec:
        raise InputError(f"{spec!r} has characters that cannot be seen; write names and values in letters and digits")
    params: dict[str, str] = {}
    for item in filter(None, items.split(",")):
        key, equals, value = item.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise InputError(f"{spec!r}: {item!r} is not key=value; write {form}")
        if key.strip() in params:
            raise InputError(f"{spec!r}: {key.strip()!r} is given twice; keep one")
        params[key.strip()] = value.strip()
    return params


def values(
    owner: str, given: Mapping[str, str], parameters: Mapping[str, inspect.Parameter], words: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """What a spec gives, each text as its parameter wants it; `owner` begins messages, such as "policy 'fcfs'".

    The type is that of the default. `Annotated[float, parse_seconds]` names a reader of units, which a bare number does
    without. `words` stand for whole numbers.
    """
    found = {}
    for key, text in given.items():
        if key not in parameters:
            known = nearest(key, parameters) if parameters else "it has none"
            raise InputError(f"{owner} has no parameter {key!r}: {known}")
        found[parameters[key].name] = _convert(f"{owner}: {key}", text, parameters[key], words)
    return found


TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
"""What specs have for true and false."""


def _convert(what: str, text: str, parameter: inspect.Parameter, words: Mapping[str, Any]) -> Any:
    default = parameter.default
    if isinstance(default, bool):
        if text.lower() not in TRUTH:
            raise InputError(f"{what}={brief(text)} is not true or false")
        return TRUTH[text.lower()]
    if not isinstance(default, int | float):
        return text
    whole = isinstance(default, int)
    if whole and text in words:
        return words[text]
    units = getattr(parameter.annotation, "__metadata__", ())
    try:
        number = int(text) if whole else float(text)
        # Infinity is a word: so many digits that they become it are none.
        if units and number > getattr(units[0], "most", math.inf) and re.search("[0-9]", text):
            raise InputError(f"{what}: {too_long(text)}")
        return number
    except ValueError:
        if not units:
            also = "".join(f" or {word!r}" for word in words) if whole else ""
            raise InputError(f"{what}={brief(text)} is not a {'whole ' if whole else ''}number{also}") from None
    try:
        return type(default)(units[0](text))
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
