"""First come, first served, for jobs whose size is not fixed: see fcfs-malleable."""

from forebay._numba.jit import kernel
from forebay.core.codes import LogReason
from forebay.core.tables import flex_row, policy_kernel
from forebay.core.verbs import act_resize, act_start
from forebay.policies._families.malleable import Param
from forebay.policies._kernels.backfill import start_now
from forebay.policies._kernels.places import fits_now, what_is_there


@kernel
def largest_size(state, row, nodes):
    """The most nodes, of those given, that a job may have; 0 if none of its sizes is so small."""
    flex, found = state.flexible.jobs[row], 0
    for k in range(flex["first"], flex["first"] + flex["n_sizes"]):
        if state.flexible.sizes[k]["nodes"] > nodes:
            break
        found = state.flexible.sizes[k]["nodes"]
    return found


@kernel
def _grant(state, have, j, row):
    """Give a job what it asks for, if there are nodes for it."""
    wants = state.flexible.jobs[row]["wants"]
    change = wants - state.jobs[j]["held"]
    if change <= have.free[0]:
        act_resize(state, j, wants)
        have.free[0] -= change


@kernel
def _grow(state, have, j, row):
    nodes = largest_size(state, row, state.jobs[j]["held"] + have.free[0])
    if nodes > state.jobs[j]["held"]:
        have.free[0] -= nodes - state.jobs[j]["held"]
        act_resize(state, j, nodes)


@kernel
def _serve(state, have):
    """Start jobs in order, each with as many nodes as it may have, up to the first that finds too few."""
    counts = state.counts[0]
    for q in range(counts["queue_first"], counts["queue_last"]):
        j = state.queue[q]
        if j < 0:
            continue
        row = flex_row(state, j)
        if row < 0:
            if not fits_now(state, have, j):
                return
            start_now(state, have, j, LogReason.IN_ORDER)
            continue
        nodes, leg = largest_size(state, row, have.free[0]), state.jobs[j]["leg"]
        if nodes == 0:
            return
        for r in range(1, len(have.free)):
            if state.demands[leg, r] > have.free[r]:
                return
        act_start(state, j, LogReason.IN_ORDER)["nodes"] = nodes
        have.free[0] -= nodes
        for r in range(1, len(have.free)):
            have.free[r] -= state.demands[leg, r]


@policy_kernel
def malleable(state, params, memory, rng):
    """The decision of one instant: requests first, then the queue, then jobs at points."""
    have, flexible = what_is_there(state, False), state.flexible
    nobody_waits = state.counts[0]["n_queued"] == 0
    for k in range(flexible.n_points[0]):
        j = flexible.points[k]["job"]
        row = flex_row(state, j)
        if flexible.jobs[row]["at_point"] and flexible.jobs[row]["wants"] > 0:
            _grant(state, have, j, row)
    _serve(state, have)
    if params[Param.WHEN_IDLE] > 0 and not nobody_waits:
        return
    for k in range(flexible.n_points[0]):
        j = flexible.points[k]["job"]
        row = flex_row(state, j)
        if flexible.jobs[row]["at_point"] and flexible.jobs[row]["wants"] == 0:
            _grow(state, have, j, row)
