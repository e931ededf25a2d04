"""The parameters of mebf, by place."""

import math
import re
from enum import IntEnum

from forebay.errors import InputError


class Param(IntEnum):
    """What the kernel reads, by place."""

    SHARING = 0
    GAMMA = 1
    ALPHA = 2
    RECORDED = 3
    GUARD = 4
    AT_LEAST = 5  # whether jobs behind the first may start at their smallest size
    LOW_FIRST = 6  # the priorities of jobs that give nodes back; NaN = those below the waiting job's
    LOW_LAST = 7
    HIGH_FIRST = 8  # and of those that take idle ones; NaN = those no lower than it
    HIGH_LAST = 9


RELATIVE = "relative"


def priorities(policy: object, name: str) -> tuple[float, float]:
    """A range of priorities such as 0-3, or NaN where they are compared with the waiting job's."""
    text = str(getattr(policy, name))
    if text == RELATIVE:
        return math.nan, math.nan
    found = re.fullmatch(r"\s*(-?\d+)\s*-\s*(-?\d+)\s*", text)
    if found is None or int(found[1]) > int(found[2]):
        raise InputError(f"{name} is {text!r}; give priorities from least to most, such as 0-3, or {RELATIVE}")
    return float(found[1]), float(found[2])
