"""Copies of a run's tables: all that a run changes, and nothing that it only reads."""

import hashlib
from typing import Any, TypeVar

import numpy as np

from forebay.core.tables import State
from forebay.engine.capabilities import DESCRIBED
from forebay.engine.truth import Truth

READ_ONLY = frozenset(name for one in DESCRIBED for name in one.read_only)
"""Tables that are filled before a run begins and never again: all runs from there on may share them. A test holds every
one of them against every kind of run."""
BUFFERS = frozenset(name for one in DESCRIBED for name in one.buffers)
SCRATCH = frozenset(name for one in DESCRIBED for name in one.scratch)
_OUT = READ_ONLY | BUFFERS | SCRATCH

Tables = TypeVar("Tables", State, Truth)


def walk(tables: Any, within: str) -> Any:
    """Every table by its name, those within others by both names."""
    for name, table in zip(tables._fields, tables, strict=True):
        full = f"{within}.{name}" if within else name
        if isinstance(table, tuple):
            yield from walk(table, full)
        else:
            yield full, table


def changing(state: State, truth: Truth) -> list[tuple[str, np.ndarray]]:
    """The tables, by their names, that say where a run stands at a decision."""
    everything = [*walk(state, ""), *walk(truth, "truth")]
    return [(name, table) for name, table in everything if table.size and name not in _OUT]


def digest(state: State, truth: Truth) -> str:
    """A hash of what no run changes: jobs as they will arrive, what they do, and the machine."""
    found = hashlib.sha256()
    for name, table in [*walk(state, ""), *walk(truth, "truth")]:
        if name in READ_ONLY:
            # By columns: what lies between them is anything.
            parts = [table[column] for column in table.dtype.names] if table.dtype.names else [table]
            found.update(f"{name} {table.shape}".encode())
            for part in parts:
                found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()


def twin(tables: Tables) -> Tables:
    """Tables for another run that stands where this one does: what no run changes is shared."""
    made: Tables = _twin(tables, "truth" if isinstance(tables, Truth) else "")
    return made


def _twin(tables: Any, within: str) -> Any:
    made = []
    for name, table in zip(tables._fields, tables, strict=True):
        full = f"{within}.{name}" if within else name
        if isinstance(table, tuple):
            made.append(_twin(table, full))
        elif full in READ_ONLY:
            made.append(table)
        else:
            made.append(np.empty_like(table) if full in BUFFERS else copied(table))
    return type(tables)(*made)


def copied(table: np.ndarray) -> np.ndarray:
    """A copy in one piece: NumPy copies a table with gaps between its columns value by value, in 20 times the time."""
    if table.dtype.names is None or not table.flags.c_contiguous:
        return table.copy()
    whole: np.ndarray = table.view(np.uint8).copy().view(table.dtype)
    return whole
