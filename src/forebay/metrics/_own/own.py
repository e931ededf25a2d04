"""A metric of a user's: like ours, and nothing that it does stops a run."""

import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from forebay._support.text import plain
from forebay.errors import brief, listed
from forebay.metrics._metric import Metric, Number, Numbers
from forebay.results import Result

_HERE = "here:"
_LONG = 200  # characters of what it raised
_INT64 = 2**63
_NONE = object()


@dataclass(frozen=True)
class Own(Metric):
    """A function of a user's, and where other processes find it."""

    module: str = ""
    file: str = ""  # that any process can read it from; empty where only this one has it
    mark: str = field(default_factory=lambda: f"{_HERE}{uuid.uuid4().hex}")

    @property
    def key(self) -> tuple[str, str]:
        """What defined it: a cell or a file that is run again defines the same one."""
        return self.file or self.module, self.of.__qualname__

    @property
    def token(self) -> str:
        """What a run is given to have it."""
        return self.file or self.mark

    @property
    def title(self) -> str:
        """What messages call it: by its file's name, since a file may travel."""
        code = self.of.__code__.co_filename
        return f"{self.of.__name__}() in {Path(code).name}"

    def tried(self, result: Result) -> tuple[Numbers, str]:
        """Its numbers, and a remark on what went wrong; what it should have given is empty then."""
        try:
            if not self.needs(result):
                return {}, ""
            given: Any = self.of(result)
        except (Exception, SystemExit) as error:
            what = plain(f"{type(error).__name__}: {error}".partition("\n")[0])
            return self._with({}), self._remark(self.names, f"raised {what[:_LONG].removesuffix(': ')}")
        several = len(self.names) > 1 or self.names[0].lower() != self.names[0]
        if several and not isinstance(given, Mapping):
            wanted = f"give a dictionary of {listed(self.names)}"
            return self._with({}), self._remark(self.names, f"gave {brief(given)}; {wanted}")
        return self._checked(given if isinstance(given, Mapping) else {self.names[0]: given})

    def numbers(self, result: Result) -> Numbers:
        """Its numbers, without a remark."""
        return self.tried(result)[0]

    def _checked(self, given: Mapping[Any, Any]) -> tuple[Numbers, str]:
        known = {str(name): _number(value) for name, value in given.items() if self.gives(str(name))}
        if strange := [str(name) for name in given if str(name) not in known]:
            names = f"it is said to give {listed(self.names)}"
            return self._with(_numbers(known)), self._remark(strange, f"gave a number of that name; {names}")
        wrong = [name for name, value in known.items() if value is _NONE]
        if wrong:
            found = given[wrong[0]]
            what = (
                f"gave {brief(found)}, of type {type(found).__name__}; give a finite number, or None if there is none"
            )
            return self._with(_numbers(known)), self._remark(wrong, what)
        return self._with(_numbers(known)), ""

    def _with(self, known: Numbers) -> Numbers:
        """Every name that does not vary, empty where there is no number."""
        return dict.fromkeys(name for name in self.names if name.lower() == name) | dict(known)

    def _remark(self, names: Any, what: str) -> str:
        return f"metric {listed(names)} is left empty: {self.title} {what}"


def stays_here(tokens: tuple[str, ...]) -> bool:
    """Whether only this process has one of these."""
    return any(map(is_mark, tokens))


def is_mark(token: str) -> bool:
    """Whether it stands for a metric that no file has."""
    return token.startswith(_HERE)


def _numbers(known: Mapping[str, Any]) -> dict[str, Number]:
    return {name: None if value is _NONE else value for name, value in known.items()}


def _number(value: Any) -> Any:
    """As tables and JSON have it; `_NONE` for what is no number. NaN is what NumPy gives of no jobs."""
    if value is None:
        return None
    if isinstance(value, Integral) and abs(int(value)) < _INT64:
        return int(value)
    if not isinstance(value, Real):
        return _NONE
    try:
        number = float(value)
    except OverflowError:
        return _NONE
    return None if math.isnan(number) else number if math.isfinite(number) else _NONE
