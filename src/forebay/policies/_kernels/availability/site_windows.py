"""Windows of a site, as policies see them: where jobs that start later may run, and which hidden jobs wait.

A job for which windows leave too few nodes now is not in the queue that policies see. If it was seen before, it was
promised a start, and holds its place in line.
"""

from forebay._numba.jit import inlined_kernel, kernel
from forebay.algorithms.availability.site_windows import left_open


@inlined_kernel
def opens(state, leg, allowed, time):
    """The atoms, as bits, on which a leg may be that starts at `time`; now, and for ever without windows, `allowed`."""
    if len(state.planned) == 0:
        return allowed
    row = state.legs[leg]
    return left_open(state.planned, row["later"], row["mine"], time, row["walltime"])


@kernel
def unseen(state, place):
    """The job at a place of the line that is not seen, and holds its place; -1 if there is none: see engine.limits."""
    j = -2 - place
    return j if j >= 0 and state.legs[state.jobs[j]["leg"]]["later"] != 0 else -1
