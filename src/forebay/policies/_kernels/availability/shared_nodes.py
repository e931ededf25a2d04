"""Nodes that jobs share, as policies see them: whether the parts of a job find room now, and where."""

from forebay._numba.jit import kernel
from forebay.algorithms.nodes.shared_nodes import count_parts, place_parts, take_parts
from forebay.core.verbs import act_start, take_picks_from


@kernel
def fits_inside(inside, room, ask):
    """Whether all parts find room; `room` is what a decision has left of it."""
    return count_parts(room, inside.full, inside.atoms, ask) >= ask["parts"]


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
        take_parts(room, inside.full, state.picks[i]["low"], ask, state.picks[i]["count"])


@kernel
def start_inside(state, room, j, reason):
    """Start job `j`, whose parts find `room`, by the rule, and take it."""
    leg = state.jobs[j]["leg"]
    first = pick_inside(state, leg, room)
    take_picked(state, leg, room, first)
    take_picks_from(state, act_start(state, j, reason), first)
