"""Jobs in order of their relative slowdown, as many at a time as the file system has bandwidth for in full.

After Zhou et al. (2015), whose scheduler lets jobs have the bandwidth that they ask for, or suspends them. The slowdown
is that of all the I/O of a job so far, if it went on alone from now: the time that it has taken and what is left, over
the time alone of what has begun. The first always moves, the others if they fit. Of two that are slowed down
alike, the one that came first.
"""

from forebay._numba.jit import kernel
from forebay.engine.io_scheduling.amounts import left_alone

_ABOVE = 1.0 + 1e-9  # beside what sums round: of the whole link, and of a slowdown


@kernel
def slowdown(truth, j, now):
    """The relative slowdown of the I/O of job `j`, and how much of the file system it could use."""
    own = truth.io.jobs[j]
    left, share = left_alone(truth, j, now)
    taken = own["taken"] + (now - own["since"] if own["since"] == own["since"] else 0.0)
    return (taken + left) / own["alone"] if own["alone"] > 0.0 else 1.0, share


@kernel
def arrange(state, truth, now):
    """From the slowest on, those move that fit."""
    io = truth.io
    n, used = io.plan[0]["n"], 0.0
    for i in range(n):
        io.requests[i]["grant"] = -1.0
    for _ in range(n):
        best, worst, need = -1, 0.0, 0.0
        for i in range(n):
            if io.requests[i]["grant"] < 0.0:
                slow, share = slowdown(truth, io.requests[i]["job"], now)
                if slow > worst * _ABOVE:
                    best, worst, need = i, slow, share
        fits = used == 0.0 or used + need <= _ABOVE
        io.requests[best]["grant"] = 1.0 if fits else 0.0
        used += need if fits else 0.0
