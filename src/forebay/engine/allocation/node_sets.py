"""Nodes that are not all alike, in the engine: how many of each atom a start takes, and which nodes these are.

`releases` has what a leg took of each: a job that may have nodes of several atoms asks for none of them.
"""

from forebay._numba.jit import kernel
from forebay.algorithms.nodes.atoms import COLUMN, FIRST, atom_of
from forebay.algorithms.nodes.nodeset import take_from, take_lowest
from forebay.core.inside import DIMENSIONS


@kernel
def _free_in(state, a):
    """How many nodes of an atom are free now."""
    atoms, resources = state.nodes.atoms, state.resources
    if atoms[a, COLUMN] >= 0:
        return resources[atoms[a, COLUMN]]["free"]
    free = resources[0]["free"]
    for b in range(len(atoms)):
        if b != a:
            free -= resources[atoms[b, COLUMN]]["free"]
    return free


@kernel
def _share_picked(state, action, share):
    """The nodes that a start names, by atom."""
    atoms = state.nodes.atoms
    for i in range(action["first_pick"], action["first_pick"] + action["n_picks"]):
        at, end = state.picks[i]["low"], state.picks[i]["low"] + state.picks[i]["count"]
        while 0 <= at < end:
            a = atom_of(atoms, at)
            beyond = atoms[a + 1, FIRST] if a + 1 < len(atoms) else end
            share[a] += min(beyond, end) - at
            at = beyond


@kernel
def _share_in_order(state, leg, share):
    """What a start takes of each atom that says nothing of them: all that is free, atom by atom."""
    left = state.demands[leg, 0]
    for a in range(len(state.nodes.atoms)):
        if (state.legs[leg]["allowed"] >> a) & 1:
            share[a] = min(_free_in(state, a), left)
            left -= share[a]


@kernel
def settle_atoms(state, leg, action):
    """Put into `releases` how many nodes of each atom a start takes; False if there are not so many where it may run.

    That is what its picks say, or the policy did, else what is free from the first atom on.
    """
    atoms, allowed, left = state.nodes.atoms, state.legs[leg]["allowed"], state.demands[leg, 0]
    if len(atoms) == 0:
        return True
    share = state.shares[len(state.shares) - 1]  # no start's own
    given = action["n_picks"] == 0 and 0 <= action["share"] < len(state.shares) - 1
    for a in range(len(atoms)):
        share[a] = state.shares[action["share"], a] if given else 0
    if action["n_picks"] > 0:
        _share_picked(state, action, share)
    elif not given:
        _share_in_order(state, leg, share)
    for a in range(len(atoms)):
        if share[a] < 0 or share[a] > _free_in(state, a) or (share[a] > 0 and (allowed >> a) & 1 == 0):
            return False
        left -= share[a]
    if left != 0:
        return False
    for a in range(len(atoms)):
        if atoms[a, COLUMN] >= 0:
            state.releases[leg, atoms[a, COLUMN]] = share[a]
    return True


@kernel
def may_have(state, leg, low, count):
    """Whether a leg may have the nodes low, low + 1, ..."""
    atoms = state.nodes.atoms
    if len(atoms) == 0:
        return True
    for a in range(atom_of(atoms, low), atom_of(atoms, low + count - 1) + 1):
        if (state.legs[leg]["allowed"] >> a) & 1 == 0:
            return False
    return True


@kernel
def counts_atom(state, r):
    """Whether a resource counts the nodes of an atom; these are the last."""
    atoms = state.nodes.atoms
    return len(atoms) > 0 and r >= (atoms[0, COLUMN] if atoms[0, COLUMN] >= 0 else atoms[1, COLUMN])


@kernel
def amount_taken(state, leg, r):
    """What a leg takes of a resource when it starts."""
    machine = state.machine[0]
    if machine["placement"] >= 0 and (r == 0 or r >= machine["first_inside"]):
        return state.releases[leg, r]
    return state.releases[leg, r] if counts_atom(state, r) else state.demands[leg, r]


@kernel
def take_lowest_of_atoms(state, j, count):
    """Give job `j` the lowest idle nodes; of each atom, where they are several, as many as it is to have."""
    counts, atoms, job, nodes = state.counts[0], state.nodes.atoms, state.jobs[j], state.nodes
    first = count
    for a in range(1, len(atoms)):
        first -= state.releases[job["leg"], atoms[a, COLUMN]]
    n_idle, blank, head = take_lowest(
        nodes.idle, counts["n_idle"], nodes.pieces, counts["blank_piece"], job["piece"], first
    )
    for a in range(1, len(atoms)):
        some = state.releases[job["leg"], atoms[a, COLUMN]]
        n_idle, blank, head = take_from(nodes.idle, n_idle, nodes.pieces, blank, head, atoms[a, FIRST], some)
    counts["n_idle"] = n_idle
    counts["blank_piece"] = blank
    job["piece"] = head


@kernel
def count_node(state, node, by):
    """So many nodes more are free, where `node` stands; of a shared one, all that is in it."""
    atoms, inside = state.nodes.atoms, state.inside
    if len(inside.full) > 0:
        for d in range(DIMENSIONS):
            if inside.counted[node, d] >= 0:
                state.resources[inside.counted[node, d]]["free"] += by * inside.full[node, d]
        return
    state.resources[0]["free"] += by
    if len(atoms) > 0:
        column = atoms[atom_of(atoms, node), COLUMN]
        if column >= 0:
            state.resources[column]["free"] += by
