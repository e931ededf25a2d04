"""The inside of shared nodes, in the engine: where a start goes, and what it takes and gives back there."""

from numba import types

from forebay._numba.jit import inlined_kernel, kernel
from forebay.algorithms.nodes.nodeset import first_from, take_these
from forebay.algorithms.nodes.shared_nodes import (
    all_of,
    give_amounts,
    held_in,
    holds,
    place_parts,
    take_amounts,
    take_parts,
)
from forebay.core.codes import Refusal
from forebay.core.inside import CORES, DIMENSIONS
from forebay.core.tables import PICKS, STATE
from forebay.engine.log import write_nodes
from forebay.engine.truth import TRUTH

_i8 = types.int64


@kernel
def _atom_of(atoms, node):
    a = 0
    while atoms[a + 1] <= node:
        a += 1
    return a


@kernel
def _check(state, action, ask):
    """What is wrong with the nodes picked for a start, if anything. They must ascend, and hold all of its parts."""
    inside, first, n_picks, parts, following = state.inside, action["first_pick"], action["n_picks"], 0, 0
    if n_picks < 0 or n_picks > len(state.picks) or first < 0 or first > len(state.picks) - n_picks:
        return Refusal.WRONG_NODES.value
    for i in range(first, first + n_picks):
        node, count = state.picks[i]["low"], state.picks[i]["count"]
        if node < following or node >= len(inside.full) or count < 1:
            return Refusal.WRONG_NODES.value
        if not (ask["allowed"] >> _atom_of(inside.atoms, node)) & 1:
            return Refusal.WRONG_NODES.value
        if count > holds(inside.room, inside.full, node, ask):
            return Refusal.WRONG_NODES.value
        parts += count
        following = node + 1
    return Refusal.NONE.value if parts == ask["parts"] else Refusal.WRONG_NODES.value


@kernel
def _settle_amounts(state, leg, ask, picks, first, n_picks):
    """Put into `releases` what a start takes of all that is in nodes: who has nodes alone takes what these have."""
    inside, each = state.inside, (ask["cores"], ask["memory"], ask["gpus"], ask["local"])
    state.releases[leg, 0] = 0
    for r in range(state.machine[0]["first_inside"], len(state.resources)):
        state.releases[leg, r] = 0
    for i in range(first, first + n_picks):
        node = picks[i]["low"]
        for d in range(DIMENSIONS):
            r = inside.counted[node, d]
            if r >= 0:
                state.releases[leg, r] += inside.full[node, d] if ask["exclusive"] else picks[i]["count"] * each[d]


@kernel
def settle_inside(state, truth, action):
    """Check the nodes picked for a start, or pick some by the rule into `truth.picks`: what is wrong, how many picks.

    What it takes of what is in nodes then stands in `releases`.
    """
    leg, inside = state.jobs[action["job"]]["leg"], state.inside
    ask = inside.asks[leg]
    if action["n_picks"] != 0:
        refusal = _check(state, action, ask)
        if refusal == Refusal.NONE:
            _settle_amounts(state, leg, ask, state.picks, action["first_pick"], action["n_picks"])
        return refusal, action["n_picks"]
    placement = state.machine[0]["placement"]
    n_picks = place_parts(inside.room, inside.full, inside.atoms, ask, placement, truth.picks, 0)
    if n_picks < 0:
        return Refusal.NO_ROOM.value, 0
    _settle_amounts(state, leg, ask, truth.picks, 0, n_picks)
    return Refusal.NONE.value, n_picks


@kernel(types.void(STATE, TRUTH, _i8, PICKS, _i8, _i8))
def take_inside(state, truth, j, picks, first_pick, n_picks):
    """Give job `j` the lowest idle cores of the nodes picked, and what else its parts ask for there."""
    counts, job, nodes, inside = state.counts[0], state.jobs[j], state.nodes, state.inside
    ask = inside.asks[job["leg"]]
    for i in range(first_pick, first_pick + n_picks):
        node, parts = picks[i]["low"], picks[i]["count"]
        row = inside.blank[0]
        share = inside.shares[row]
        inside.blank[0] = share["next"]
        share["node"] = node
        taken = take_parts(inside.room, inside.full, node, ask, parts)
        share["cores"], share["memory"], share["gpus"], share["local"] = taken
        share["next"] = inside.head[j]
        inside.head[j] = row
        left = share["cores"]
        low = inside.first[node]
        while left > 0:
            at = first_from(nodes.idle, counts["n_idle"], low)
            low = max(low, nodes.idle[at]["low"])
            some = min(nodes.idle[at]["high"] - low + 1, left)
            n_idle, blank, head = take_these(
                nodes.idle, counts["n_idle"], nodes.pieces, counts["blank_piece"], job["piece"], low, some
            )
            counts["n_idle"] = n_idle
            counts["blank_piece"] = blank
            job["piece"] = head
            write_nodes(truth, low, low + some - 1)
            low += some
            left -= some


@kernel(types.void(STATE, _i8))
def give_inside(state, j):
    """Job `j` gives back all that it has inside nodes; its cores are returned by themselves."""
    inside = state.inside
    while inside.head[j] >= 0:
        row = inside.head[j]
        share = inside.shares[row]
        give_amounts(inside.room, inside.full, share["node"], held_in(share))
        inside.head[j] = share["next"]
        share["next"] = inside.blank[0]
        inside.blank[0] = row


@inlined_kernel
def are_shared(state):
    """Whether jobs share nodes."""
    return state.machine[0]["placement"] >= 0


@kernel
def first_on(state, node):
    """The first running job that has a part of a shared node; -1 if none has."""
    inside = state.inside
    for i in range(state.counts[0]["n_running"]):
        row = inside.head[state.running[i]["job"]]
        while row >= 0:
            if inside.shares[row]["node"] == node:
                return state.running[i]["job"]
            row = inside.shares[row]["next"]
    return -1


@kernel
def close_node(state, node):
    """A shared node on which nobody is left fails: all that is in it is gone. Returns its first core, and how many."""
    inside = state.inside
    take_amounts(inside.room, inside.full, node, all_of(inside.full, node))
    return inside.first[node], inside.full[node, CORES]


@kernel
def open_node(state, node):
    """It is back."""
    inside = state.inside
    give_amounts(inside.room, inside.full, node, all_of(inside.full, node))
    return inside.first[node], inside.full[node, CORES]


@kernel
def units_asked(truth, j):
    """What job `j` asks for of what ids of nodes count: nodes, or cores where nodes are shared."""
    job = truth.jobs[j]
    return job["nodes"] if len(truth.asks) == 0 else truth.demands[job["leg"], 0]
