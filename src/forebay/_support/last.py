"""What was made last, kept while what it was made of is there: many runs differ in their policy or seed alone."""

import weakref
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


class Last(Generic[Made]):
    """One value with its keys. It goes when its source does, which is held weakly."""

    def __init__(self) -> None:
        self._kept: tuple[Any, tuple[Any, ...], Made] | None = None

    def of(self, source: Any, *keys: Any) -> Made | None:
        """The value, if it was made of this very source and equal keys."""
        kept = self._kept
        return kept[2] if kept and kept[0]() is source and kept[1] == keys else None

    def keep(self, made: Made, source: Any, *keys: Any) -> Made:
        """Keep a value in place of the one before."""
        self._kept = weakref.ref(source, self._forget), keys, made
        return made

    def _forget(self, gone: Any) -> None:
        if self._kept and self._kept[0] is gone:
            self._kept = None
