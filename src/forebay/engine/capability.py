"""What a capability of the engine says of itself, in the `capability.py` of its room."""

from typing import NamedTuple


class Capability(NamedTuple):
    """Which tables are its own, by their names, and how a run treats these."""

    name: str = ""  # what variants call it; none where every run has it
    state: tuple[str, ...] = ()  # tables of State that have no rows in a run without it
    truth: tuple[str, ...] = ()  # tables of Truth, by their names there
    machine: str = ""  # a number of the machine that is -1 without it
    read_only: tuple[str, ...] = ()  # tables that are filled before a run begins, and never again
    buffers: tuple[str, ...] = ()  # tables that are emptied before they are copied
    scratch: tuple[str, ...] = ()  # tables of which nothing counts from one decision to the next


def within(group: str, *names: str) -> tuple[str, ...]:
    """Tables of a group."""
    return tuple(f"{group}.{name}" for name in names)
