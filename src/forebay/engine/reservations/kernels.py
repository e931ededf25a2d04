"""Reservations of nodes that a site has planned, around any policy: where a job may run depends on when it would end.

A job that would overlap a reservation is not offered its nodes; if too few others remain, policies do not see the job.
Users of the reservation see its nodes while it lasts. Partitions that let no job start for a time work alike: a job
that has not begun does not see their nodes then, unless it is in another partition that has them.
"""

from forebay._numba.jit import kernel
from forebay.algorithms.availability.site_windows import keeps_out
from forebay.algorithms.nodes.shared_nodes import holds
from forebay.core.codes import Trigger
from forebay.core.tables import nodes_in
from forebay.engine.causes import HeldBy
from forebay.engine.partitions.tables import shut_to
from forebay.engine.queue import has_begun

_NARROWED = 1 << 62
"""Beyond all atoms: so that a leg with one atom left is taken for one that may choose, and looked up atom by atom."""


@kernel
def _narrowed(state, truth, j, allowed):
    """What of the atoms of job `j` it may start on now, and what it might start on if there were no reservations.

    And what keeps it from others first, see `causes`: by what, and which row.
    """
    by, row, later = HeldBy.NOTHING.value, -1, allowed
    now, walltime = state.clock[0]["now"], state.legs[state.jobs[j]["leg"]]["walltime"]
    for p in range(len(state.planned)):
        if keeps_out(state.planned[p], now, walltime, (truth.member[j] >> p) & 1):
            allowed &= ~state.planned[p]["atoms"]
            if row < 0:
                by, row = HeldBy.RESERVATION.value, p
    if len(truth.doors.table) > 0 and not has_begun(state, j):
        shut, atoms = shut_to(truth.doors, j, now)
        if shut >= 0:
            allowed &= atoms
            later &= atoms
            if row < 0 or atoms == 0:
                by, row = HeldBy.PARTITION.value, shut
    return allowed, later, by, row


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
    """What keeps waiting job `j` from starting now, see `causes`: a reservation, else a partition.

    Shows where it may run, now and later.
    """
    if len(state.planned) == 0 and len(truth.doors.table) == 0:
        return HeldBy.NOTHING.value, -1
    leg, shared = state.jobs[j]["leg"], len(truth.asks) > 0
    wanted = truth.asks[leg]["parts"] if shared else state.demands[leg, 0]
    if wanted == 0:
        return HeldBy.NOTHING.value, -1
    mine = truth.asks[leg]["allowed"] if shared else truth.legs[leg]["allowed"]
    allowed, later, by, row = _narrowed(state, truth, j, mine)
    if shared:
        closed = row >= 0 and _room_inside(state, allowed, truth.asks[leg]) < wanted
        state.inside.asks[leg]["allowed"] = allowed
    else:
        closed = row >= 0 and _room_outside(state, allowed) < wanted
        if len(state.nodes.atoms) > 0:
            state.legs[leg]["allowed"] = mine if row < 0 else allowed | _NARROWED
    shown = state.legs[leg]
    shown["mine"] = truth.member[j] if len(truth.member) > 0 else 0
    # A job that was never seen has been promised nothing: it need not hold up others now.
    shown["later"] = later if not closed or shown["later"] != 0 else 0
    if closed:
        return by, row
    return HeldBy.NOTHING.value, -1


@kernel
def open_or_close(state):
    """A reservation, or a stretch in which a partition lets no job start, begins or ends: policies decide."""
    state.clock[0]["triggers"] |= Trigger.RESERVATION
    state.counts[0]["opened"] += 1
