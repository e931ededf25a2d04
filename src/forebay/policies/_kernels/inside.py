"""Nodes that jobs share, as policies see them: whether the parts of a job find room now, and where.

During a decision room only shrinks. So who asks for no less than somebody that was refused is refused too, which is
quick to see: `refused` remembers some of them, in rows from 1 on; how many stands in its first row.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.inside import count_parts, place_parts, take_parts
from forebay.core.verbs import act_start, take_picks_from

_MANY = 24  # rows that are remembered; further ones take the place of the oldest
_PARTS, _CORES, _MEMORY, _GPUS, _ALLOWED, _HOW = range(6)


@allocating_kernel
def nobody_refused():
    """The table of those refused in a decision, as it begins."""
    return np.zeros((_MANY + 1, 6), np.int64)


@kernel
def _how(ask):
    """Jobs that are placed alike: others cannot be compared."""
    return 2 * ask["exclusive"] + ask["spread"] if ask["parts"] > 1 else 2 * ask["exclusive"]


@kernel
def _asks_as_much(ask, row):
    return (
        ask["parts"] >= row[_PARTS]
        and ask["cores"] >= row[_CORES]
        and ask["memory"] >= row[_MEMORY]
        and ask["gpus"] >= row[_GPUS]
        and ask["allowed"] & ~row[_ALLOWED] == 0
        and _how(ask) == row[_HOW]
    )


@kernel
def fits_inside(inside, room, refused, ask):
    """Whether all parts find room; `room` is what a decision has left of it."""
    n = min(refused[0, 0], _MANY)
    for i in range(1, n + 1):
        if _asks_as_much(ask, refused[i]):
            return False
    if count_parts(room, inside.full, inside.atoms, ask) >= ask["parts"]:
        return True
    row = refused[1 + refused[0, 0] % _MANY]
    row[_PARTS] = ask["parts"]
    row[_CORES] = ask["cores"]
    row[_MEMORY] = ask["memory"]
    row[_GPUS] = ask["gpus"]
    row[_ALLOWED] = ask["allowed"]
    row[_HOW] = _how(ask)
    refused[0, 0] += 1
    return False


@kernel
def pick_inside(state, leg, room):
    """Add picks for a leg whose parts find `room`; returns the first of them."""
    counts, inside = state.counts[0], state.inside
    first = counts["n_picks"]
    placement = state.machine[0]["placement"]
    counts["n_picks"] = place_parts(room, inside.full, inside.atoms, inside.asks[leg], placement, state.picks, first)
    return first


@kernel
def take_picked(state, leg, room, first):
    """The parts of a leg leave `room` where the picks from `first` on put them."""
    ask, inside = state.inside.asks[leg], state.inside
    for i in range(first, state.counts[0]["n_picks"]):
        take_parts(room, state.picks[i]["low"], ask, state.picks[i]["count"])


@kernel
def start_inside(state, room, j, reason):
    """Start job `j`, whose parts find `room`, by the rule, and take it."""
    leg = state.jobs[j]["leg"]
    first = pick_inside(state, leg, room)
    take_picked(state, leg, room, first)
    take_picks_from(state, act_start(state, j, reason), first)
