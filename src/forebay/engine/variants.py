"""Which of its capabilities a run uses, and the variants of compiled code that leave the others out.

A capability that a run does not use shows in its tables: those that its description names are empty.
That is decided when the tables are made and never changes in a run, so kernels may be compiled for it: see
`_numba.narrow`. A *variant* is a set of capabilities by a name. Of those that have all that a run uses the smallest is
taken, or the smallest that was compiled before.
"""

import os
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from forebay._numba.facts import NO_FACTS, ROWS, Fact, Facts
from forebay.core.shapes import ANY, Shape
from forebay.core.tables import State
from forebay.engine.capabilities import DESCRIBED
from forebay.engine.truth import Truth
from forebay.errors import InputError, nearest

CAPABILITIES = {one.name: one for one in DESCRIBED if one.name}
"""By name, with what is empty without it."""

FULL = "full"
_MOVING = frozenset({"transfers", "servers", "known-io"})
_SITE = frozenset({"columns", "kinds", "classes", "limits", "reservations", "partitions", "dependencies"})
VARIANTS = {
    "rigid": frozenset[str](),
    "contention": _MOVING,
    "storage": _MOVING | {"tiers", "counters", "columns", "kinds"},
    "failures": _MOVING | {"failures"},
    "malleable": _MOVING | {"applications"},
    "site": _SITE,
    "shared-nodes": _SITE | {"shared-nodes"},
    FULL: frozenset(CAPABILITIES),
}
"""By name, with what runs may use: rigid jobs on nodes that are all alike; jobs that move data; these where storage is
chosen or watched, nodes fail, or jobs change their size; the rules of a site; these on nodes that jobs share;
everything."""


def uses(state: State, truth: Truth) -> frozenset[str]:
    """The capabilities that a run uses."""
    return uses_of_state(state) | {name for name, tables in _truth.items() if any(map(len, tables(truth)))}


def uses_of_state(state: State) -> frozenset[str]:
    """Those that show in what policies see."""
    machine = state.machine[0]
    found = {name for name, tables in _state.items() if any(map(len, tables(state)))}
    return frozenset(found | {name for name, column in _machine.items() if machine[column] != -1})


def _getter(tables: tuple[str, ...]) -> Any:
    get = attrgetter(*tables)
    return get if len(tables) > 1 else lambda every: (get(every),)


_state = {name: _getter(one.state) for name, one in CAPABILITIES.items() if one.state}
_truth = {name: _getter(one.truth) for name, one in CAPABILITIES.items() if one.truth}
_machine = {name: one.machine for name, one in CAPABILITIES.items() if one.machine}


def covering(used: Iterable[str]) -> list[str]:
    """The variants that have these capabilities, the smallest first; with FOREBAY_VARIANT none smaller than that."""
    least = os.environ.get("FOREBAY_VARIANT") or "rigid"
    if least not in VARIANTS:
        raise InputError(f"FOREBAY_VARIANT is {least!r}: {nearest(least, VARIANTS)}")
    wanted = frozenset(used) | VARIANTS[least]
    return sorted((name for name, has in VARIANTS.items() if wanted <= has), key=lambda name: len(VARIANTS[name]))


def ways_in(used: Iterable[str], shapes: Iterable[Shape] = (ANY,)) -> list[tuple[str, Shape]]:
    """The variants and shapes of a policy's kernel that such runs may enter, the smallest first: all of it is one."""
    kept = tuple(shapes)
    return [(name, shape) for name in covering(used) for shape in (kept if name != FULL else (ANY,))]


def facts_of(variant: str) -> tuple[Facts, Facts]:
    """What a variant knows of State and of Truth."""
    if variant not in _facts:
        left_out = [one for name, one in CAPABILITIES.items() if name not in VARIANTS[variant]]
        state = {Fact(table, ROWS, 0, 0) for one in left_out for table in one.state}
        state |= {Fact("machine", one.machine, -1, -1) for one in left_out if one.machine}
        truth = {Fact(table, ROWS, 0, 0) for one in left_out for table in one.truth}
        _facts[variant] = frozenset(state), frozenset(truth)
    return _facts[variant]


_facts: dict[str, tuple[Facts, Facts]] = {FULL: (NO_FACTS, NO_FACTS)}
