"""One job has the file system: the one whose I/O would be over first, alone. It gives way to a shorter one.

Of the family of Gainaru, Aupy, Benoit, Cappello, Robert & Snir (2015), who give all bandwidth to one application after
the other and choose when one begins or ends. Of two that need the same time, the one that came first.
"""

import numpy as np

from forebay._numba.jit import kernel
from forebay.engine.io_scheduling.amounts import left_alone

_BELOW = 1.0 - 1e-9  # beside what rounds in what is left


@kernel
def arrange(state, truth, now):
    """The request with the least left moves."""
    io, best, least = truth.io, 0, np.inf
    for i in range(io.plan[0]["n"]):
        io.requests[i]["grant"] = 0.0
        left = left_alone(truth, io.requests[i]["job"], now)[0]
        if left < least * _BELOW:
            best, least = i, left
    io.requests[best]["grant"] = 1.0
