"""A window in two steps, for rules of a site's own: the points to choose among, and the start of those chosen.

Between the two a rule in Python chooses. See `window` for what is done.
"""

from numba import types

from forebay._numba.jit import allocating_kernel
from forebay.core.tables import MEMORY, PARAMS, RNG, STATE
from forebay.policies._families.window import Param
from forebay.policies._kernels.window import in_base_order, points_in, start_in

JOBS = types.int64[::1]
POINTS = types.Tuple((JOBS, JOBS, types.float64[:, ::1]))
"""The jobs to choose among; points as bits; the share that each would use of each resource."""


@allocating_kernel(POINTS(STATE, PARAMS, MEMORY, RNG))
def points(state, params, memory, rng):
    """The points of a window in the order that the parameters name."""
    return points_in(state, params, memory[0], rng, in_base_order(state, int(params[Param.ORDER])))


@allocating_kernel(types.void(STATE, JOBS, PARAMS, MEMORY))
def starts(state, chosen, params, memory):
    """Start the jobs chosen, and backfill the others."""
    start_in(state, params, memory[0], in_base_order(state, int(params[Param.ORDER])), chosen)
