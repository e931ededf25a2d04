"""What a decision has left after the actions that it has written so far, whoever wrote them.

A start that names no places takes those that the engine would choose. They are written down with it here: whoever looks
ahead then knows where it will be, and the engine, which carries actions out in order, does the same.
"""

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.nodes.atoms import atom_of
from forebay.algorithms.nodes.bits import wipe
from forebay.algorithms.nodes.shared_nodes import holds, take_parts
from forebay.core.codes import Verb
from forebay.core.tables import flex_row, nodes_kept
from forebay.core.verbs import take_picks_from
from forebay.policies._kernels.availability.node_sets import charge, keep_share, share_free
from forebay.policies._kernels.availability.placement import fits_now, pick, what_is_there


@kernel
def _take_inside(state, have, action, leg):
    """A start on shared nodes, which always names its places."""
    inside, ask = state.inside, state.inside.asks[leg]
    charge(state, have.free, leg)
    for i in range(action["first_pick"], action["first_pick"] + action["n_picks"]):
        node, some = state.picks[i]["low"], state.picks[i]["count"]
        if 0 <= node < len(inside.full) and holds(have.inside, inside.full, node, ask) >= some:
            take_parts(have.inside, inside.full, node, ask, some)


@kernel
def _take_places(state, have, action, leg):
    """A start where places matter."""
    size = state.legs[leg]["chunk"]
    if action["n_picks"] == 0:
        if not fits_now(state, have, action["job"]):
            return  # the engine will refuse it
        first = pick(state, action["job"], have.words, have.room)
        if first < 0:
            return
        take_picks_from(state, action, first)
    else:
        for i in range(action["first_pick"], action["first_pick"] + action["n_picks"]):
            if size > 0 and 0 <= state.picks[i]["server"] < len(have.room):
                have.room[state.picks[i]["server"]] -= size * state.picks[i]["count"]
    charge(state, have.free, leg)
    for i in range(action["first_pick"], action["first_pick"] + action["n_picks"]):
        low, count = state.picks[i]["low"], state.picks[i]["count"]
        if low >= 0 and low + count <= 32 * len(have.words):
            wipe(have.words, low, count)


@kernel
def _take_amounts(state, have, action, leg):
    """A start where amounts alone matter, with what it takes of each atom."""
    if len(state.nodes.atoms) == 0:
        charge(state, have.free, leg)
        return
    share = state.shares[min(state.counts[0]["n_shares"], len(state.shares) - 2)]
    if action["n_picks"] > 0:
        for a in range(len(share)):
            share[a] = 0
        for i in range(action["first_pick"], action["first_pick"] + action["n_picks"]):
            for node in range(state.picks[i]["low"], state.picks[i]["low"] + state.picks[i]["count"]):
                if node >= 0:
                    share[atom_of(state.nodes.atoms, node)] += 1
    elif action["share"] >= 0:
        for a in range(len(share)):
            share[a] = state.shares[action["share"], a]
    else:
        share_free(state, have.free, leg)
    charge(state, have.free, leg)
    if action["share"] < 0:
        keep_share(state, action)


@allocating_kernel
def what_is_left(state):
    """What is there now for a decision that has written actions; without any, what it began with."""
    have = what_is_there(state, False)
    for a in range(min(state.counts[0]["n_actions"], len(state.actions))):
        action = state.actions[a]
        if action["verb"] == Verb.START:
            leg = state.jobs[action["job"]]["leg"]
            if len(state.inside.full) > 0:
                _take_inside(state, have, action, leg)
            elif len(have.words) > 0:
                _take_places(state, have, action, leg)
            else:
                _take_amounts(state, have, action, leg)
        elif action["verb"] == Verb.RESIZE and flex_row(state, action["job"]) >= 0:
            j = action["job"]
            have.free[0] -= nodes_kept(state, j, action["nodes"]) - state.jobs[j]["held"]
    return have
