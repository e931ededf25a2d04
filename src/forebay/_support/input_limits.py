"""How much a small input may ask of the machine, and the variables by which users raise it."""

import math
import os

from forebay.errors import InputError, brief

UNPACKED = "FOREBAY_MAX_BYTES"
NODES = "FOREBAY_MAX_NODES"
JOBS = "FOREBAY_MAX_JOBS"
STEPS = "FOREBAY_MAX_STEPS"

LONGEST = 1e10
"""Seconds, 317 years: a longer time is in other units, or a slip. No end at all is written as such."""

_NAME = 255  # characters

_SMALL = 64 * 2**20  # bytes that any packed file may hold
_RATIO = 100  # and times its own size: traces shrink to a tenth, blanks to a thousandth
_LARGE = 4 * 2**30  # but no more than this


def limit(variable: str, default: int) -> int:
    """The number that the user has set in the environment, else `default`."""
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 1 <= number < 2**63:
        raise InputError(f"the variable {variable} is {brief(text)}; set it to a whole number above 0, or unset it")
    return int(number)


class TooLongError(InputError):
    """A time beyond LONGEST."""


def too_long(text: object) -> TooLongError:
    """What to raise for such a time, as it was written."""
    return TooLongError(f"{brief(text)} is longer than {LONGEST:g} s (317 years); correct it or its unit")


def short_enough(name: str) -> str:
    """A name that can stand in a table or a sentence; ValueError for a longer one."""
    if len(name) > _NAME:
        raise ValueError(f"{brief(name)} is a name of {len(name):,} characters; {_NAME} are the most")
    return name


def unpacked(size: int) -> int:
    """How many bytes a packed file of `size` bytes may become in memory."""
    return limit(UNPACKED, min(max(_SMALL, _RATIO * size), _LARGE))


def too_much(where: str, most: int) -> InputError:
    """What to raise where it becomes more; `where` names the file."""
    return InputError(
        f"{where}: unpacks to more than {most / 1e6:,.0f} MB, far more than a file of its size should; if it is meant "
        f"so, set the variable {UNPACKED} to the bytes that it may take"
    )
