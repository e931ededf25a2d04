"""The same on nodes that jobs share: reservations of particular nodes in a calendar, as the queue policies lay them."""

import numba
import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.availability.timelines import SEGMENT, Timelines, take_between
from forebay.algorithms.nodes.shared_nodes import taken_by
from forebay.core.inside import ASK
from forebay.core.tables import PICKS, STATE
from forebay.core.views.profile import NOT_WAITING
from forebay.policies._kernels.availability.calendar import (
    Calendar,
    clear_now,
    is_roomy,
    n_pools,
    new_calendar,
    roomy,
)
from forebay.policies._kernels.availability.earliest_start import begins, lay, place_at, start_clear
from forebay.policies._kernels.availability.placement import leg_fits_now
from forebay.policies._kernels.availability.queries import waits
from forebay.policies._kernels.availability.remaining import what_is_left

_f8, _i8 = types.float64, types.int64
_COUNTS, _FREE = _i8[::1], _i8[:, ::1]
_LINES = types.NamedTuple((numba.from_dtype(SEGMENT)[::1], _FREE, _COUNTS), Timelines)
_CALENDAR = types.NamedTuple(
    (
        _LINES, _f8[::1], _f8[:, :, ::1], types.boolean[::1], _COUNTS, _FREE, _COUNTS,
        numba.from_dtype(ASK)[::1], PICKS, _f8[::1], _COUNTS, _COUNTS,
    ),
    Calendar,
)  # fmt: skip


@allocating_kernel(_CALENDAR(STATE, _i8))
def open_calendar(state, reserved):
    """What is free when on each node, and of pools among the first `reserved` resources."""
    have = what_is_left(state)
    return roomy(new_calendar(state, have, min(len(have.free), reserved)))


@kernel
def _pools(state, reserved):
    """How many pools a reservation holds that holds the first `reserved` resources."""
    return n_pools(state, min(len(state.resources), reserved))


@allocating_kernel(
    _i8(STATE, _CALENDAR, _i8, _i8[::1], _f8[:, ::1], PICKS, _COUNTS, types.UniTuple(types.boolean, 2), _i8)
)
def lay_inside(state, calendar, reserved, jobs, spans, picks, ends, how, first):
    """As `reserving.lay` from the `first` job on, for `how`: only then, and keeps.

    The places of job i end at `ends[i]` of `picks`. Returns the number of jobs if all is done; the place of the first
    for which the calendar or `picks` lack rows; -1 less the place of the first that does not fit when it is to; with
    NOT_WAITING less the number of jobs for -1, that of one that does not wait.
    """
    for i in range(len(jobs) if first == 0 else 0):
        if not waits(state, jobs[i]):
            return NOT_WAITING - len(jobs) - i
    n_pooled, (only, keeps) = _pools(state, reserved), how
    for i in range(first, len(jobs)):
        used = ends[i - 1] if i > 0 else 0
        if keeps and not (is_roomy(calendar) and used + len(calendar.picks) <= len(picks)):
            return i
        leg = state.jobs[jobs[i]]["leg"]
        begin = begins(state, calendar, leg, n_pooled, spans[i, 0], spans[i, 0] if only else np.inf)
        if begin == np.inf and only:
            return -1 - i
        spans[i, 0], spans[i, 1], ends[i] = begin, begin + state.legs[leg]["walltime"], used
        if keeps and begin < np.inf:
            n = place_at(state, calendar, leg, begin)
            lay(state, calendar, leg, n_pooled, n, begin)
            for k in range(n):
                picks[used + k] = calendar.picks[k]
            ends[i] += n
    return len(jobs)


@allocating_kernel(types.void(STATE, _CALENDAR, _i8, _i8, PICKS, _f8, _f8))
def give_back_inside(state, calendar, reserved, j, picks, begin, end):
    """Places that job `j` held are free again."""
    n_pooled, leg, full, needs = _pools(state, reserved), state.jobs[j]["leg"], state.inside.full, calendar.needs
    for r in range(n_pooled):
        needs[r] = -state.demands[leg, r + 1]
    take_between(calendar.lines, len(full), begin, end, needs[:n_pooled])
    for i in range(len(picks)):
        node = picks[i]["low"]
        held = taken_by(full, node, state.inside.asks[leg], picks[i]["count"])
        take_between(calendar.lines, node, begin, end, (-held[0], -held[1], -held[2], -held[3]))
        calendar.unsure[node] = True
        for k in range(calendar.runs.shape[2]):
            calendar.runs[node, 0, k] = calendar.runs[node, 1, k] = np.inf  # it was of less room


@allocating_kernel(types.Tuple((_COUNTS, types.boolean))(STATE, _CALENDAR, _i8, _i8))
def start_in_calendar(state, calendar, reserved, j):
    """Start job `j` now where a calendar has room for it, which it takes; what is left, and whether it has."""
    have, leg, n_pooled = what_is_left(state), state.jobs[j]["leg"], _pools(state, reserved)
    if not leg_fits_now(state, have, j, leg) or not clear_now(state, have, calendar, leg, n_pooled, True):
        return have.free, False
    start_clear(state, have, calendar, j, leg, n_pooled)
    return have.free, True
