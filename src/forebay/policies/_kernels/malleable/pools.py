"""Which running jobs give nodes back for a waiting one, and which take idle ones: see mebf's low_r and high_r."""

import numpy as np

from forebay._numba.jit import kernel
from forebay.policies._families.mebf import Param


@kernel
def may_give(state, params, j, priority):
    """Whether job `j` ranks so low that it may give nodes back for one of this priority."""
    own, first = state.jobs[j]["priority"], params[Param.LOW_FIRST]
    return own < priority if np.isnan(first) else first <= own <= params[Param.LOW_LAST]


@kernel
def may_take(state, params, j, priority):
    """Whether job `j` ranks so high that it may take idle nodes while one of this priority waits; -inf = none does."""
    own, first = state.jobs[j]["priority"], params[Param.HIGH_FIRST]
    if np.isnan(first) or priority == -np.inf:
        return own >= priority
    return first <= own <= params[Param.HIGH_LAST]


@kernel
def lowest_giver(state, params, running):
    """The priority above which a waiting job has others below it that may give nodes back."""
    lowest = np.inf
    for one in running:
        if np.isnan(params[Param.LOW_FIRST]):
            lowest = min(lowest, state.jobs[one]["priority"])
        elif may_give(state, params, one, 0.0):
            return -np.inf
    return lowest
