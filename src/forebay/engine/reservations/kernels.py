"""Reservations of nodes that a site has planned, around any policy: where a job may run depends on when it would end.

Who would still run on reserved nodes when their reservation begins does not see these nodes, or, if there are too few
others, is not seen. Its own users see them while it lasts. So with partitions that let no job start for a time: who has
not begun does not see their nodes then, unless it is in another that has them.
"""

from forebay._numba.jit import kernel
from forebay.algorithms.inside import holds
from forebay.algorithms.windows import keeps_out
from forebay.core.tables import nodes_in
from forebay.engine.partitions.tables import shut_to
from forebay.engine.queue import has_begun

_NARROWED = 1 << 62
"""Beyond all atoms: so that a leg with one atom left is taken for one that may choose, and looked up atom by atom."""


@kernel
def _narrowed(state, truth, j, allowed):
    """What of the atoms of job `j` it may start on now; what keeps it from others first, -1 if nothing does.

    And what it might start on if there were no reservations.
    """
    first, later = -1, allowed
    now, walltime = state.clock[0]["now"], state.legs[state.jobs[j]["leg"]]["walltime"]
    for p in range(len(state.planned)):
        if keeps_out(state.planned[p], now, walltime, (truth.member[j] >> p) & 1):
            allowed &= ~state.planned[p]["atoms"]
            if first < 0:
                first = p
    if len(truth.doors.table) > 0 and not has_begun(state, j):
        shut, atoms = shut_to(truth.doors, j, now)
        if shut >= 0:
            allowed &= atoms
            later &= atoms
            if first < 0 or atoms == 0:
                first = len(state.planned) + shut
    return allowed, first, later


@kernel
def _room_inside(state, allowed, ask):
    """How many parts of a leg such nodes hold while they are idle, where jobs share them."""
    inside, room = state.inside, 0
    for a in range(len(inside.atoms) - 1):
        if (allowed >> a) & 1:
            room += (inside.atoms[a + 1] - inside.atoms[a]) * holds(inside.full, inside.full, inside.atoms[a], ask)
    return room


@kernel
def _room_outside(state, allowed):
    """How many nodes there are where a leg may run that has its nodes to itself."""
    if len(state.nodes.atoms) == 0:
        return state.resources[0]["capacity"] if allowed != 0 else 0
    room = 0
    for a in range(len(state.nodes.atoms)):
        if (allowed >> a) & 1:
            room += nodes_in(state, a)
    return room


@kernel
def closed_to(state, truth, j):
    """What keeps waiting job `j` from starting now: a reservation, else a partition, numbered after these; -1 if none.

    Shows where it may run, now and later.
    """
    leg, shared = state.jobs[j]["leg"], len(truth.asks) > 0
    wanted = truth.asks[leg]["parts"] if shared else state.demands[leg, 0]
    if wanted == 0:
        return -1
    mine = truth.asks[leg]["allowed"] if shared else truth.legs[leg]["allowed"]
    allowed, first, later = _narrowed(state, truth, j, mine)
    if shared:
        closed = first >= 0 and _room_inside(state, allowed, truth.asks[leg]) < wanted
        state.inside.asks[leg]["allowed"] = allowed
    else:
        closed = first >= 0 and _room_outside(state, allowed) < wanted
        if len(state.nodes.atoms) > 0:
            state.legs[leg]["allowed"] = mine if first < 0 else allowed | _NARROWED
    shown = state.legs[leg]
    shown["mine"] = truth.member[j] if len(truth.member) > 0 else 0
    # A job that was never seen has been promised nothing: it need not hold up others now.
    shown["later"] = later if not closed or shown["later"] != 0 else 0
    return first if closed else -1
