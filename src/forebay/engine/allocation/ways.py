"""Ways to run: a job may have legs of its own for each tier of storage, say, and a start names one."""

from forebay._numba.jit import kernel
from forebay.engine.queue import has_begun


@kernel
def takes_way(state, j, way):
    """Make the legs of this way to run those of job `j`, if it has it; one that has begun keeps its way."""
    job = state.jobs[j]
    leg = job["leg"]
    if has_begun(state, j):
        return True
    while leg >= 0 and state.legs[leg]["way"] != way:
        leg = state.legs[leg]["other"]
    if leg < 0:
        return False
    job["leg"] = leg
    job["last_leg"] = state.legs[leg]["last"]
    return True
