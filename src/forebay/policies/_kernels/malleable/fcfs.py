"""First come, first served, for jobs whose size is not fixed: see fcfs-malleable."""

from forebay._numba.jit import kernel
from forebay.core.codes import LogReason
from forebay.core.tables import flex_row, policy_kernel
from forebay.policies._families.malleable import Param
from forebay.policies._kernels.availability.placement import what_is_there
from forebay.policies._kernels.malleable.sizing import grant_requests, has_room, largest_size, resize_now, start_sized


@kernel
def _grow(state, have, j, row):
    nodes = largest_size(state, row, state.jobs[j]["held"] + have.free[0])
    if nodes > state.jobs[j]["held"]:
        resize_now(state, have, j, nodes)


@kernel
def _serve(state, have):
    """Start jobs in order, each with as many nodes as it may have, up to the first that finds too few."""
    counts = state.counts[0]
    for q in range(counts["queue_first"], counts["queue_last"]):
        j = state.queue[q]
        if j < 0:
            continue
        row = flex_row(state, j)
        nodes = 0 if row < 0 else largest_size(state, row, have.free[0])
        if (row >= 0 and nodes == 0) or not has_room(state, have, j, nodes):
            return
        start_sized(state, have, j, nodes, LogReason.IN_ORDER)


@policy_kernel
def malleable(state, params, memory, rng):
    """The decision of one instant: requests first, then the queue, then jobs at points."""
    have, flexible = what_is_there(state, False), state.flexible
    nobody_waits = state.counts[0]["n_queued"] == 0
    grant_requests(state, have)
    _serve(state, have)
    if params[Param.WHEN_IDLE] > 0 and not nobody_waits:
        return
    for k in range(flexible.n_points[0]):
        j = flexible.points[k]["job"]
        row = flex_row(state, j)
        if flexible.jobs[row]["at_point"] and flexible.jobs[row]["wants"] == 0:
            _grow(state, have, j, row)
