"""Lines that cannot be read: the first is refused, or all are left out, counted and named."""

import re
from collections.abc import Iterable
from pathlib import Path

from forebay._support.text import counted
from forebay.errors import InputError

DROPPED = "cannot be read"
"""Why such a line is left out."""

_NAMED = 3  # lines that a note tells of one by one


class BadLines:
    """Those of one file."""

    def __init__(self, path: Path, skip: bool, unit: str = "line") -> None:
        self._path, self._skip, self._unit = path, skip, unit
        self.count = 0
        self._told: list[str] = []

    def add(self, wrong: Iterable[tuple[int, str]]) -> None:
        """Lines by number with what is wrong with each, in order."""
        for place, why in wrong:
            if not self._skip:
                raise InputError(f"{self._path}: {self._unit} {place}: {why}")
            self.count += 1
            if len(self._told) < _NAMED:
                what = re.split(r"; ", why, maxsplit=1)[0]  # without the cure
                self._told.append(f"{self._unit} {place} ({what})")

    def dropped(self) -> dict[str, int]:
        """For the reasons why records were left out."""
        return {DROPPED: self.count} if self.count else {}

    def notes(self) -> list[str]:
        """Which they are."""
        if not self.count:
            return []
        more = f", and {self.count - _NAMED:,} more" if self.count > _NAMED else ""
        who = counted(self.count, f"{self._unit} is", f"{self._unit}s are")
        return [
            f"{who} left out, as {'it' if self.count == 1 else 'they'} cannot be read: {', '.join(self._told)}{more}"
        ]
