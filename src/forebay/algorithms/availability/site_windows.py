"""Windows of a site, maintenance and advance reservations: from which nodes they keep whom, and when that changes."""

from forebay._numba.jit import inlined_kernel, kernel
from forebay.core.tables import instant_width


@inlined_kernel
def keeps_out(plan, time, walltime, mine):
    """Whether a window keeps a job that would start at `time` from its nodes; `mine`: it is for this job, once begun.

    Who ends in the very instant in which it begins is not in its way.
    """
    if time + walltime <= plan["start"] + instant_width(plan["start"]):
        return False
    if time >= plan["end"] - instant_width(plan["end"]):
        return False
    return not (mine and time >= plan["start"] - instant_width(plan["start"]))


@kernel
def left_open(planned, allowed, mine, time, walltime):
    """The atoms of those allowed, as bits, on which a job may start at `time`; `mine` are windows for it, as bits."""
    for p in range(len(planned)):
        if keeps_out(planned[p], time, walltime, (mine >> p) & 1):
            allowed &= ~planned[p]["atoms"]
    return allowed


@kernel
def next_edge(planned, passed):
    """When, behind `passed`, the next window begins or ends; inf if none does."""
    time = float("inf")
    for p in range(len(planned)):
        if planned[p]["start"] > passed:
            time = min(time, planned[p]["start"])
        if planned[p]["end"] > passed:
            time = min(time, planned[p]["end"])
    return time
