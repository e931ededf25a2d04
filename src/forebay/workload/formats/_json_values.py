"""Values out of parsed JSON, of the type asked for, or a message that says where and what.

Messages are put together only when needed: a file may have a million jobs.
"""

import math
from collections.abc import Mapping
from typing import Any

from forebay.errors import InputError

_INT64 = 2**63


def member(table: Mapping[str, Any], key: str, where: str) -> Any:
    """A key that must be there."""
    if key not in table:
        raise InputError(f"{where}: {key!r} is missing; add it")
    return table[key]


def number(value: Any, where: str, key: str) -> float:
    """A finite number; true and false are none, though Python thinks otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{where}: {key!r} is {brief(value)}; it must be a number")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise InputError(f"{where}: {key!r} is {brief(value)}; it must be a finite number")
    return result


def whole(value: Any, where: str, key: str) -> int:
    """A whole number that fits 64 bits; 4.0 is one."""
    number(value, where, key)
    if value != int(value) or not -_INT64 <= value < _INT64:
        raise InputError(f"{where}: {key!r} is {brief(value)}; it must be a whole number that fits 64 bits")
    return int(value)


def brief(value: Any) -> str:
    """A value as messages show it: on one line, and short."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
