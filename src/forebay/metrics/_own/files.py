"""Files of metrics: what `--metrics mine.py` names, and what runs in other processes read."""

import inspect
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from forebay._support.own_file import import_file, sources_digest
from forebay._support.reading import check_regular
from forebay.errors import InputError
from forebay.metrics._own import registry
from forebay.metrics._own.own import Own, is_mark

_FORM = 'write @fb.metric(unit="s") before a function that takes a result and returns a number'


def load(path: str | PathLike[str]) -> None:
    """Know the metrics of a file, in this process and in the runs that are made from now on."""
    resolved = Path(path).resolve()
    registry.replace(str(resolved), read(resolved, str(path)), str(path))


def read(path: Path, written: str = "") -> list[Own]:
    """The metrics of a file; it is run again where it, or a module of its user's below it, has changed."""
    written = written or str(path)
    check_regular(path)
    if not path.is_file():
        raise InputError(f"{written}: no such file; name a Python file of metrics: {_FORM}")
    if path.suffix != ".py":
        raise InputError(f"{written}: is not a Python file (.py); {_FORM}")
    marked = (getattr(one, "metric", None) for one in vars(import_file(path)).values() if inspect.isfunction(one))
    found = list(dict.fromkeys(one for one in marked if isinstance(one, Own)))
    if not found:
        raise InputError(f"{written}: defines no metric; {_FORM}")
    return found


def named(tokens: Iterable[str]) -> list[Own]:
    """The metrics that a run is given."""
    here, found = {one.token: one for one in registry.own()}, list[Own]()
    for token in tokens:
        found += [here[token]] if is_mark(token) else read(Path(token))
    return list(dict.fromkeys(found))


def described(tokens: Iterable[str]) -> list[list[str]]:
    """What tells runs apart by their metrics: each file's name and digest; one that no file has is always another."""
    return [[token] if is_mark(token) else [Path(token).name, sources_digest(Path(token))] for token in tokens]
