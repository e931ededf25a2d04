"""What a policy may ask of the future: when a waiting job could start, and what will be free when.

Running legs, and those that this decision has started, end as their walltimes tell; nobody else starts.
"""

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.availability.layout import behind, enough, lay, least
from forebay.core.codes import Verb
from forebay.core.tables import STATE, instant_width
from forebay.policies._kernels.availability.node_sets import n_counted, share_until
from forebay.policies._kernels.availability.placement import chunks_of, fits_now
from forebay.policies._kernels.availability.profile import availability, planned_ahead
from forebay.policies._kernels.availability.remaining import what_is_left
from forebay.policies._kernels.backfill.easy_shared import asks_of, finds_room

_f8, _i8 = types.float64, types.int64


@kernel
def waits(state, j):
    """Whether row `j` is that of a job that waits, and may start."""
    counts = state.counts[0]
    if j < 0 or j >= len(state.jobs):
        return False
    at = state.jobs[j]["at"]
    return counts["queue_first"] <= at < counts["queue_last"] and state.queue[at] == j


@kernel
def _is_started(state, j):
    """Whether this decision has started job `j` already."""
    for a in range(min(state.counts[0]["n_actions"], len(state.actions))):
        if state.actions[a]["verb"] == Verb.START and state.actions[a]["job"] == j:
            return True
    return False


@allocating_kernel
def _room_inside(state, have, leg):
    """When a leg's parts find room on shared nodes, exactly."""
    tiers, asks = state.machine[0]["first_inside"], asks_of(state, leg)
    return finds_room(state, leg, len(have.free), have.inside.copy(), have.free[:tiers].copy(), asks)


@allocating_kernel(_f8(STATE, _i8))
def earliest(state, j):
    """When waiting job `j` could start, for all of its walltime; inf if nothing known makes room for it."""
    have, now, leg = what_is_left(state), state.clock[0]["now"], state.jobs[j]["leg"]
    if _is_started(state, j):
        return now
    shared = len(state.inside.full) > 0
    if (shared or not planned_ahead(state)) and fits_now(state, have, j):  # what runs only gives back
        return now
    if shared:
        return _room_inside(state, have, leg)
    R, S = len(have.free), len(have.room)
    times, ahead, n = availability(state, have, -1, R, S, 0)
    least_free, taken, demand = np.empty(R + S, np.int64), np.empty(R + S, np.int64), state.demands[leg]
    n_chunks, size, atoms = chunks_of(state, j), state.legs[leg]["chunk"], state.nodes.atoms[: n_counted(state, R)]
    at, _ = lay(
        times, ahead, n, demand, state.legs[leg]["walltime"], size, n_chunks, R, S, 0, state.nodes.seats,
        state.servers.near, least_free, taken, atoms, state.legs[leg]["allowed"],
    )  # fmt: skip
    return times[at] if at >= 0 else np.inf


@allocating_kernel(types.boolean(STATE, _i8, _f8))
def fits_at(state, j, time):
    """Whether all that waiting job `j` needs is free from `time` on, for all of its walltime."""
    have, leg = what_is_left(state), state.jobs[j]["leg"]
    if len(state.inside.full) > 0 and not planned_ahead(state):
        begin = state.clock[0]["now"] if fits_now(state, have, j) else _room_inside(state, have, leg)
        return begin <= time + instant_width(time)
    R, S = len(have.free), len(have.room)
    times, ahead, n = availability(state, have, -1, R, S, 0)
    first, until, width = 0, time + state.legs[leg]["walltime"], instant_width(time)
    while first + 1 < n and times[first + 1] <= time + width:
        first += 1
    least_free = np.empty(R + S, np.int64)
    least(times, ahead, n, first, until, R + S, least_free)
    if not enough(least_free, state.demands[leg], state.legs[leg]["chunk"], chunks_of(state, j), R, S, 0):
        return False
    last = behind(times, n, first, until)
    return share_until(state, ahead[first, :R], times[first:last], ahead[first:last], last - first, R, leg, until)


@allocating_kernel(types.Tuple((_f8[::1], _i8[:, ::1], _i8, _i8))(STATE))
def profile(state):
    """What will be free when: times, a row a time with resources and then servers; how many rows; how many resources.

    What is left now is in row 0.
    """
    have = what_is_left(state)
    times, ahead, n = availability(state, have, -1, len(have.free), len(have.room), 0)
    return times, ahead, n, len(have.free)
