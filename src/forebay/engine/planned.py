"""Reservations of nodes that a site has planned, around any policy: where a job may run depends on when it would end.

Who would still run on reserved nodes when their reservation begins does not see these nodes, or, if there are too few
others, is not seen. Its own users see them while it lasts.
"""

from forebay._numba.jit import kernel
from forebay.core.tables import instant_width, nodes_in

_NARROWED = 1 << 62
"""Beyond all atoms: so that a leg with one atom left is taken for one that may choose, and looked up atom by atom."""


@kernel
def _hinders(state, truth, j, p):
    """Whether a reservation keeps job `j` from its nodes if it starts now."""
    plan, now = state.planned[p], state.clock[0]["now"]
    end = now + state.legs[state.jobs[j]["leg"]]["walltime"]
    if end <= plan["start"] + instant_width(plan["start"]) or now >= plan["end"] - instant_width(plan["end"]):
        return False
    begun = now >= plan["start"] - instant_width(plan["start"])
    return not (begun and (truth.member[j] >> p) & 1)


@kernel
def closed_to(state, truth, j):
    """The reservation that keeps waiting job `j` from starting now; -1 if none does. Shows where it may run."""
    leg = state.jobs[j]["leg"]
    n_nodes, first = state.demands[leg, 0], -1
    if n_nodes == 0:
        return -1
    allowed = truth.legs[leg]["allowed"]
    for p in range(len(state.planned)):
        if _hinders(state, truth, j, p):
            allowed &= ~state.planned[p]["atoms"]
            if first < 0:
                first = p
    if len(state.nodes.atoms) == 0 or first < 0:
        state.legs[leg]["allowed"] = truth.legs[leg]["allowed"]
        return first
    state.legs[leg]["allowed"] = allowed | _NARROWED
    room = 0
    for a in range(len(state.nodes.atoms)):
        if (allowed >> a) & 1:
            room += nodes_in(state, a)
    return first if room < n_nodes else -1
