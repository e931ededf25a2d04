"""Nodes that are not all alike, as policies see them: what a leg takes of each atom, beside what it asks for.

What a leg is to take is worked out in the next blank row of `shares`, and stays there if the leg starts. In a profile
the atoms' nodes are the last columns of amounts, where it counts all resources. Everything here does nothing where
nodes are alike.
"""

from forebay._numba.jit import inlined_kernel, kernel
from forebay.algorithms.availability.layout import behind
from forebay.algorithms.availability.profile import reserve, window
from forebay.algorithms.nodes.atoms import COLUMN, atom_of, free_in, has_room, may_choose, share_for, share_now
from forebay.algorithms.nodes.bits import count_word
from forebay.core.inside import CORES, DIMENSIONS
from forebay.policies._kernels.availability.site_windows import opens


@inlined_kernel
def n_counted(state, R):
    """How many atoms there are, if the first `R` resources count them; otherwise 0."""
    atoms = state.nodes.atoms
    return len(atoms) if len(atoms) > 0 and atoms[len(atoms) - 1, COLUMN] < R else 0


@kernel
def counts_no_atom(state):
    """How many resources are no atom's nodes: those before these."""
    atoms = state.nodes.atoms
    if len(atoms) == 0:
        return len(state.resources)
    return atoms[0, COLUMN] if atoms[0, COLUMN] >= 0 else atoms[1, COLUMN]


@kernel
def _blank(state):
    """The row of `shares` for the next start."""
    return min(state.counts[0]["n_shares"], len(state.shares) - 2)


@kernel
def share_picked(state, nodes, picked):
    """What a start takes of each atom, given its picked nodes; `nodes` has the nodes of each atom, in words of bits."""
    share = state.shares[_blank(state)] if len(state.shares) > 0 else picked[:0]
    for a in range(len(share)):
        share[a] = 0
        for w in range(len(picked)):
            share[a] += count_word(nodes[a, w] & picked[w])


@kernel
def fits_atoms(state, free, leg):
    """Whether as many nodes as leg `leg` asks for are free where it may run; of one atom its demand tells."""
    if n_counted(state, len(free)) == 0 or not may_choose(state.legs[leg]["allowed"]):
        return True
    return has_room(free, state.nodes.atoms, state.legs[leg]["allowed"], state.demands[leg, 0])


@kernel
def free_for(state, free, leg):
    """How many nodes are free where leg `leg` may run."""
    atoms, nodes = state.nodes.atoms, 0
    if len(atoms) == 0:
        return free[0]
    for a in range(len(atoms)):
        if (state.legs[leg]["allowed"] >> a) & 1:
            nodes += free_in(free, atoms, a)
    return nodes


@kernel
def may_be_on(state, leg, node):
    """Whether leg `leg` may have a node."""
    atoms = state.nodes.atoms
    return len(atoms) == 0 or (state.legs[leg]["allowed"] >> atom_of(atoms, node)) & 1 != 0


@kernel
def share_within(state, share, leg):
    """How many nodes of a row of `shares` lie where leg `leg` may run."""
    nodes = 0
    for a in range(len(state.nodes.atoms)):
        if (state.legs[leg]["allowed"] >> a) & 1:
            nodes += state.shares[share, a]
    return nodes


@kernel
def share_free(state, free, leg):
    """What leg `leg` takes of each atom if it starts now and reservations do not count; False if that is too few."""
    return share_among(state, free, leg, state.legs[leg]["allowed"])


@kernel
def share_among(state, free, leg, bits):
    """The same of some atoms alone."""
    atoms = state.nodes.atoms
    if len(atoms) == 0:
        return True
    return share_now(free, free, atoms, bits, state.demands[leg, 0], state.shares[_blank(state)])


@kernel
def share_beside(state, free, spare, leg):
    """The same if it may use only what is `spare` of those free."""
    atoms = state.nodes.atoms
    if len(atoms) == 0:
        return True
    if n_counted(state, len(spare)) == 0:
        return share_free(state, free, leg)
    share = state.shares[_blank(state)]
    return share_now(free, spare, atoms, state.legs[leg]["allowed"], state.demands[leg, 0], share)


@inlined_kernel
def share_until(state, free, times, ahead, n, R, leg, end):
    """The same if it runs from now to `end` and delays nobody: the same nodes must be free all the time."""
    if n_counted(state, R) == 0:
        return share_free(state, free, leg)
    allowed, n_nodes, share = state.legs[leg]["allowed"], state.demands[leg, 0], state.shares[_blank(state)]
    return share_for(ahead, 0, behind(times, n, 0, end), state.nodes.atoms, allowed, n_nodes, share)


@inlined_kernel
def earliest_for(state, times, ahead, n, n_begins, first, R, leg, duration):
    """The first segment from `first` on, of `n_begins`, with all that leg `leg` needs for a while; -1 if none has it.

    Its share of each atom is worked out too.
    """
    demand, allowed = state.demands[leg], state.legs[leg]["allowed"]
    at, last = window(times, ahead, n, n_begins, first, R, demand, duration)
    if n_counted(state, R) > 0:
        atoms, share = state.nodes.atoms, state.shares[_blank(state)]
        while at >= 0 and not share_for(ahead, at, last, atoms, allowed, demand[0], share):
            at, last = window(times, ahead, n, n_begins, at + 1, R, demand, duration)
    return at


@inlined_kernel
def share_within_time(state, ahead, at, last, leg, allowed):
    """What leg `leg` takes of each of some atoms from segment `at` to before segment `last`; False if that is too few.

    The same nodes must be free all the time.
    """
    share = state.shares[_blank(state)]
    return share_for(ahead, at, last, state.nodes.atoms, allowed, state.demands[leg, 0], share)


@inlined_kernel
def _is_open(state, times, ahead, at, last, leg):
    """Whether leg `leg`, for which enough is free in total, fits where windows let it start in segment `at`."""
    allowed = opens(state, leg, state.legs[leg]["allowed"], times[at])
    return share_within_time(state, ahead, at, last, leg, allowed)


@inlined_kernel
def earliest_open(state, times, ahead, n, n_begins, first, R, leg, duration):
    """The same with windows of the site, of which the profile has only the times."""
    demand = state.demands[leg]
    at, last = window(times, ahead, n, n_begins, first, R, demand, duration)
    while at >= 0 and not _is_open(state, times, ahead, at, last, leg):
        at, last = window(times, ahead, n, n_begins, at + 1, R, demand, duration)
    return at


@inlined_kernel
def reserve_shared(state, times, ahead, n, R, leg, at, end, taken):
    """Keep what leg `leg` takes from others, with its share of each atom as worked out last; returns n.

    `taken` is scratch, with a place a resource.
    """
    if n_counted(state, R) == 0:
        return reserve(times, ahead, n, R, state.demands[leg], at, end)
    for r in range(R):
        taken[r] = state.demands[leg, r]
    correct(state, taken[:R], leg, 1)
    return reserve(times, ahead, n, R, taken, at, end)


@kernel
def charge(state, free, leg):
    """What leg `leg` takes leaves `free`, with its share of each atom as worked out last."""
    for r in range(len(free)):
        free[r] -= state.demands[leg, r]
    correct(state, free, leg, -1)


@kernel
def correct(state, free, leg, sign):
    """Count the atoms' nodes of leg `leg` by its share, as worked out last, and not by what it asks for."""
    for a in range(n_counted(state, len(free))):
        column = state.nodes.atoms[a, COLUMN]
        if column >= 0:
            free[column] += sign * (state.shares[_blank(state), a] - state.demands[leg, column])


@kernel
def spare_head(state, spare, free, leg, allowed):
    """Take from `spare` the nodes that leg `leg` will need of each atom beyond those it asks for, of what is `free`.

    It will be on atoms that are `allowed`.
    """
    if n_counted(state, len(spare)) > 0:
        share = state.shares[_blank(state)]
        share_now(free, free, state.nodes.atoms, allowed, state.demands[leg, 0], share)
        correct(state, spare, leg, -1)


@kernel
def keep_share(state, action):
    """Let a start take its share of each atom as worked out last."""
    counts = state.counts[0]
    if counts["n_shares"] < len(state.shares) - 2 and state.demands[state.jobs[action["job"]]["leg"], 0] > 0:
        action["share"] = counts["n_shares"]
        counts["n_shares"] += 1


@kernel
def return_taken(state, ahead, segment, action, R):
    """Correct what a leg started in this decision gives back: `releases` has what it took only once it runs."""
    if action["share"] < 0:
        return
    leg = state.jobs[action["job"]]["leg"]
    for a in range(n_counted(state, R)):
        column = state.nodes.atoms[a, COLUMN]
        if column >= 0:
            ahead[segment, column] += state.shares[action["share"], a] - state.releases[leg, column]


@inlined_kernel
def n_ids(state, node):
    """How much of the first resource a node is: one node, or its cores where nodes are shared."""
    return state.inside.full[node, CORES] if len(state.inside.full) > 0 else 1


@kernel
def return_node(state, ahead, segment, node, R):
    """A node is back in a segment; of a shared one, all that is in it."""
    inside = state.inside
    if len(inside.full) > 0:
        for d in range(DIMENSIONS):
            if 0 <= inside.counted[node, d] < R:
                ahead[segment, inside.counted[node, d]] += inside.full[node, d]
        return
    ahead[segment, 0] += 1
    if n_counted(state, R) > 0:
        column = state.nodes.atoms[atom_of(state.nodes.atoms, node), COLUMN]
        if column >= 0:
            ahead[segment, column] += 1
