"""What a kernel may know of the numbers of its policy: their *shape*. What it excludes is then not compiled."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from forebay._numba.facts import NO_FACTS, Fact, Facts


class Shape(NamedTuple):
    """Bounds of some of the numbers, by their places."""

    facts: Facts

    def holds(self, params: np.ndarray) -> bool:
        """Whether numbers are within these bounds."""
        return all(int(one.what) < len(params) and one.low <= params[int(one.what)] <= one.high for one in self.facts)

    @property
    def text(self) -> str:
        """In a word: `0=0:0,3=0:1`."""
        return ",".join(f"{one.what}={one.low}:{one.high}" for one in sorted(self.facts))


ANY = Shape(NO_FACTS)


def shape(bounds: Mapping[Any, tuple[int, int]]) -> Shape:
    """Numbers that are within these bounds, by their places."""
    return Shape(frozenset(Fact("", str(int(place)), low, high) for place, (low, high) in bounds.items()))


def shape_of(text: str) -> Shape:
    """The shape that a word stands for."""
    found = set()
    for word in filter(None, text.split(",")):
        place, _, bounds = word.partition("=")
        low, _, high = bounds.partition(":")
        found.add(Fact("", place, int(low), int(high)))
    return Shape(frozenset(found))


def shapes_of(policies: list[Any], rows: list[np.ndarray]) -> list[Shape]:
    """The shapes that fit the numbers of all of these policies, which have one kernel: the narrowest first."""
    known: tuple[Shape, ...] = getattr(policies[0], "shapes", ())
    return [*(one for one in known if all(map(one.holds, rows))), ANY]
