"""Backfilling as a verb: give a line of jobs, and the kernel of the queue policies does the rest.

It begins with what the decision has left, so it may follow starts of the policy's own, or another line.
"""

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, kernel
from forebay._numba.pointer import keep, replaced
from forebay.core.tables import PARAMS, STATE
from forebay.policies._families.backfill import Param
from forebay.policies._kernels.availability.queries import waits
from forebay.policies._kernels.availability.remaining import what_is_left
from forebay.policies._kernels.backfill.backfill import serve
from forebay.policies._kernels.predicted import believed
from forebay.policies._kernels.queue.keys import AS_IS
from forebay.policies._kernels.queue.ordering import queue_by
from forebay.policies._orders import ALL

_i8, _N_PARAMS = types.int64, len(Param)


@kernel
def _is_held(state, place):
    """Whether a place of a line is that of a job which waits, and is not seen: see engine.limits."""
    j = -2 - place
    return 0 <= j < len(state.jobs) and state.queue[state.jobs[j]["at"]] == place


@allocating_kernel
def _acted_on(state):
    """Of each place in the queue, whether this decision has started its job, or turned it away."""
    counts = state.counts[0]
    taken = np.zeros(counts["queue_last"] - counts["queue_first"], np.bool_)
    for a in range(min(counts["n_actions"], len(state.actions))):
        j = state.actions[a]["job"]
        if waits(state, j):
            taken[state.jobs[j]["at"] - counts["queue_first"]] = True
    return taken


@allocating_kernel
def line_of(state, order, sign):
    """The waiting jobs by a word of ORDERS, given as its place there; those that have begun stay first."""
    counts = state.counts[0]
    queue = state.queue[counts["queue_first"] : counts["queue_last"]]
    if order != AS_IS:
        return queue_by(state, what_is_left(state), order, sign)
    line = np.empty(len(queue), np.int64)
    for i in range(len(queue)):
        line[i] = queue[i]
    return line


@allocating_kernel
def _stand_in(state, given, line):
    """Write the jobs of `given` that are still to decide on into `line`; returns how many.

    -1 - i if the one in place i does not wait, or stands there for the second time.
    """
    counts, acted, n = state.counts[0], _acted_on(state), 0
    seen = np.zeros(len(acted), np.bool_)
    for i in range(len(given)):
        j = given[i]
        if j == -1:
            continue  # a hole, as the queue has them
        if _is_held(state, j):
            line[n] = j  # nobody starts it, but what it was promised may be kept
            n += 1
            continue
        if not waits(state, j):
            return -1 - i
        place = state.jobs[j]["at"] - counts["queue_first"]
        if seen[place]:
            return -1 - i
        seen[place] = True
        if not acted[place]:
            line[n] = j
            n += 1
    return n


@allocating_kernel
def backfill_by(state, given, params):
    """Backfill with the jobs of `given`, in this order, under the parameters of the queue policies.

    Jobs that this decision has started or turned away already are passed over. Returns what is left of each resource,
    and -1; or instead of -1 the place in `given` of who does not wait, or stands there twice: then nothing has changed.
    """
    have, line = what_is_left(state), np.empty(len(given), np.int64)
    n = _stand_in(state, given, line)
    if n > 0:
        serve(state, have, line[:n], params)
    return have.free, -1 if n >= 0 else -1 - n


@allocating_kernel(types.Tuple((_i8[::1], _i8))(STATE, _i8[::1], PARAMS, types.float64[::1]))
def line_up(state, given, params, expected):
    """The same for Python. An order by a word takes the whole queue instead of `given`.

    `expected` has how long each job is expected to take, by row (0: its walltime); or nothing, then that is walltimes.
    """
    if len(expected) == 0:
        return _line_up(state, given, params)
    legs, running = believed(state, expected)
    found = _line_up(replaced(replaced(state, "legs", legs), "running", running), given, params)
    keep(legs)
    keep(running)
    return found


@allocating_kernel
def _line_up(state, given, params):
    order = int(params[Param.ORDER])
    if order < 0:
        return backfill_by(state, given, params)
    return backfill_by(state, line_of(state, order, -1.0 if params[Param.DESCENDING] > 0 else 1.0), params)


@allocating_kernel
def backfill(state, line, depth, reserve):
    """Backfilling as a verb of kernels: jobs of `line` start in order until one does not fit.

    It and up to `depth` jobs get a reservation (ALL: conservative), of the first `reserve` resources (ALL: of every
    one); those behind start now if they delay none. Whoever does not wait, or stands twice in the line, has it refused:
    then False is returned.
    """
    params = np.zeros(_N_PARAMS)
    params[Param.DEPTH], params[Param.RESERVED], params[Param.MAX_BACKFILL] = depth, reserve, ALL
    return backfill_by(state, line, params)[1] < 0
