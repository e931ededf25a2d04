"""What every part refuses: counts that are no counts, rates that are no rates, more servers than there can be."""

import math
from numbers import Integral, Real
from typing import Any

from forebay._support.text import counted
from forebay.errors import InputError, brief, wrong_type

MOST_SERVERS = 16_000_000
"""As many as a machine may have nodes: tables have a place for each."""


def count(what: str, value: Any, least: int = 1, most: int = 2**62) -> int:
    """A whole number in its range."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise wrong_type(what, value, "a whole number")
    given = int(value)
    if not least <= given <= most:
        limit = f"from {least} up" if given < least else f"of {most:,} at most"
        raise InputError(f"{what} is {brief(given)}; give a number {limit}")
    return given


def number(what: str, value: Any, *, above: bool = False) -> float:
    """A finite number from 0 up, or above 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise wrong_type(what, value, "a number")
    given = float(value)
    if not math.isfinite(given) or given < 0 or (above and given == 0):
        raise InputError(f"{what} is {given:g}; give a finite number {'above 0' if above else 'from 0 up'}")
    return given


def share(what: str, value: Any) -> float:
    """A share of a whole."""
    if number(what, value) > 1:
        raise InputError(f"{what} is {float(value):g}; give a share from 0 to 1")
    return float(value)


def servers(value: Any, nodes: int | None) -> int:
    """How many servers a file system is to have: no more than it has nodes."""
    if isinstance(value, Integral) and int(value) <= 0:
        raise InputError(f"a file system cannot have {brief(int(value))} servers; leave it 1 at least")
    number = count("the number of servers", value, most=MOST_SERVERS)
    if nodes is not None and number > nodes:
        raise InputError(
            f"{counted(number, 'server')} asked for, but there are {counted(nodes, 'node')}; ask for fewer"
        )
    return number


def room(held: int, capacity: int | None, what: str) -> None:
    """Refuse what would put more bytes on a server than it holds."""
    if capacity is not None and held > capacity:
        raise InputError(
            f"{what} needs {held:,} bytes on one server, which holds {capacity:,}; write less, or add servers first"
        )
