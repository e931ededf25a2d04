"""Jobs in sets by how often they read or write; one of each set at a time, and sets share by weights.

SET-10 of IO-SETS (Boito, Pallez, Teylo & Vidal, 2023): a job is in set round(log10 w), where w is the mean time between
the beginnings of two of its I/O phases; within a set one moves after the other, in order of arrival; set i has the
weight 10^-i. Of a job of which no period is known, its whole run is one.
"""

import numpy as np

from forebay._numba.jit import kernel
from forebay.engine.io_scheduling.tables import SETS

_LEAST = -8
"""The set of what comes at most every 10 ns."""


@kernel
def set_of(state, truth, j):
    """Which set job `j` is in, from what is known of it."""
    period = truth.io.jobs[j]["period"]
    if len(state.known_io) > 0:
        period = min(state.known_io[j]["period"], state.known_io[j]["seconds"])
    if not period > 0.0:
        return _LEAST
    return int(min(max(np.floor(np.log10(period) + 0.5), _LEAST), _LEAST + SETS - 1.0))


@kernel
def arrange(state, truth, now):
    """The first of each set moves."""
    io = truth.io
    io.first[:] = -1
    for i in range(io.plan[0]["n"]):
        request = io.requests[i]
        of = set_of(state, truth, request["job"])
        request["grant"] = 0.0
        if io.first[of - _LEAST] < 0:
            io.first[of - _LEAST] = i
            request["grant"] = 10.0**-of
