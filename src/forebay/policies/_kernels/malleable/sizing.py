"""Starting and resizing jobs at sizes of the policy's choice: what policies for malleable jobs share."""

from forebay._numba.jit import kernel
from forebay.core.codes import Flexibility
from forebay.core.tables import flex_row, nodes_kept
from forebay.core.verbs import act_resize, act_start
from forebay.policies._kernels.availability.placement import fits_now
from forebay.policies._kernels.backfill.backfill import start_now


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
def is_malleable(state, row):
    """Whether the policy may resize a job at its points; `row` is that of its application."""
    kind = state.flexible.jobs[row]["kind"]
    return kind in (Flexibility.MALLEABLE, Flexibility.ADAPTIVE)


@kernel
def has_room(state, have, j, nodes):
    """Whether all that job `j` needs is there now, with so many nodes if it has an application."""
    if flex_row(state, j) < 0:
        return fits_now(state, have, j)
    leg = state.jobs[j]["leg"]
    for r in range(1, len(have.free)):
        if state.demands[leg, r] > have.free[r]:
            return False
    return nodes <= have.free[0]


@kernel
def start_sized(state, have, j, nodes, reason):
    """Start job `j`, which has room, with so many nodes if it has an application."""
    if flex_row(state, j) < 0:
        start_now(state, have, j, reason)
        return
    leg = state.jobs[j]["leg"]
    act_start(state, j, reason)["nodes"] = nodes
    have.free[0] -= nodes
    for r in range(1, len(have.free)):
        have.free[r] -= state.demands[leg, r]


@kernel
def resize_now(state, have, j, nodes):
    """Give job `j`, which stands at its point, so many nodes."""
    have.free[0] -= nodes_kept(state, j, nodes) - state.jobs[j]["held"]
    act_resize(state, j, nodes)


@kernel
def grant_requests(state, have):
    """Give jobs that ask for another size what they ask for, in the order in which they came, where nodes are there."""
    flexible = state.flexible
    for k in range(flexible.n_points[0]):
        j = flexible.points[k]["job"]
        flex = flexible.jobs[flex_row(state, j)]
        if flex["at_point"] and flex["wants"] > 0 and flex["wants"] - state.jobs[j]["held"] <= have.free[0]:
            resize_now(state, have, j, flex["wants"])
