"""Values for jobs in an order, as few of them new as can be: each costs slurmctld a call.

Some jobs have a value of an earlier plan, and others none. Of those that have one as many keep it as leave room for the
others between them; and jobs at the end of the order that stand right by themselves need none.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple


class Band(NamedTuple):
    """Values lie above `floor` and up to `top`, at least `apart` from each other."""

    floor: int
    top: int
    apart: int = 1


def tail(order: Sequence[int], own: Mapping[int, int], current: Mapping[int, int]) -> int:
    """Where the end of the order begins that needs no values: there, priorities of jobs go down by themselves."""
    place = len(order)
    while place and order[place - 1] not in current:
        if place < len(order) and own[order[place - 1]] <= own[order[place]]:
            break
        place -= 1
    return place


def new_values(order: Sequence[int], current: Mapping[int, int], band: Band) -> dict[int, int]:
    """New values by job, so that all of the order have some that go down along it. There has to be room for all."""
    kept = _keep([current.get(job) for job in order], band)
    ends = [(-1, band.top + band.apart), *kept, (len(order), band.floor)]
    found = {}
    for (left, high), (right, low) in pairwise(ends):
        for place in range(left + 1, right):
            found[order[place]] = high - (high - low) * (place - left) // (right - left)
    return found


def _keep(values: Sequence[int | None], band: Band) -> list[tuple[int, int]]:
    """Places and values that stay: the most of them between which there is room for the others.

    Between a value and a later one stand as many others as places: `value + apart * place` may not go up. The longest
    such sequence, by patience sorting.
    """
    heights: list[int] = []  # of the best sequences of each length: their last value, turned round so that it goes up
    last: list[int] = []
    before: dict[int, int] = {}
    end = len(values)
    for place, value in enumerate(values):
        if value is None or value + band.apart * place > band.top or value - band.apart * (end - place) < band.floor:
            continue
        height = -(value + band.apart * place)
        length = bisect_right(heights, height)
        if length:
            before[place] = last[length - 1]
        heights[length : length + 1] = [height]
        last[length : length + 1] = [place]
    found = []
    at = last[-1] if last else None
    while at is not None:
        value = values[at]
        assert value is not None
        found.append((at, value))
        at = before.get(at)
    return found[::-1]
