"""What a policy in plain Python plans with: what will be free when, and reservations that it lays there by itself.

Times, tolerances and places are those of the queue policies, so a policy that lays what they lay starts what they
start. Where jobs share nodes, reservations are of particular ones: see `reserving_inside`.
"""

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.availability.layout import behind, charge_servers
from forebay.algorithms.availability.profile import fits, split, window
from forebay.core.tables import STATE, after, instant_width
from forebay.core.views.profile import NOT_WAITING
from forebay.policies._kernels.availability.node_sets import correct, n_counted, share_within_time
from forebay.policies._kernels.availability.placement import chunks_of
from forebay.policies._kernels.availability.profile import ahead_of, close_windows, given_back, looks_up, n_held
from forebay.policies._kernels.availability.queries import waits
from forebay.policies._kernels.availability.remaining import what_is_left
from forebay.policies._kernels.availability.site_windows import opens
from forebay.policies._kernels.backfill.reservations import start_beside

_f8, _i8 = types.float64, types.int64
_TIMES, _AHEAD, _FACTS = _f8[::1], _i8[:, ::1], _i8[::1]

N, RESOURCES, SERVERS, LOOKS = range(4)
"""Facts of a profile: segments in use, columns of resources and of servers, and whether windows of the site are looked
up for each job, and are not in it."""


@allocating_kernel(types.Tuple((_TIMES, _AHEAD, _FACTS))(STATE, _i8))
def open_profile(state, reserved):
    """What will be free when, as reservations of the first `reserved` resources see it, and the facts of it.

    What is left now is in row 0.
    """
    have = what_is_left(state)
    reserved = min(len(have.free), reserved)
    R, facts = n_held(state, have, reserved), np.zeros(4, np.int64)
    S = len(have.room) if state.machine[0]["chunked"] < reserved else 0
    looks = looks_up(state, have, R)
    times, ahead, n = given_back(state, have, reserved) if looks else ahead_of(state, have, -1, reserved, S, 0)
    facts[N], facts[RESOURCES], facts[SERVERS], facts[LOOKS] = n, R, S, looks
    return times, ahead, facts


@allocating_kernel(_AHEAD(STATE, _TIMES, _AHEAD, _FACTS))
def without_windows(state, times, ahead, facts):
    """The amounts of a profile with what windows of the site that are to come leave of them."""
    shown = ahead.copy()
    close_windows(state, times, shown, facts[N], facts[RESOURCES], facts[SERVERS], 0)
    return shown


@inlined_kernel
def _segment_of(times, n, time):
    """The segment that a time lies in; one that begins in the same instant is begun."""
    i, latest = 0, time + instant_width(time)
    while i + 1 < n and times[i + 1] <= latest:
        i += 1
    return i


@kernel
def _claims(state, ahead, facts, j, at, last, begin, taken, scratch):
    """Whether job `j`, for which amounts suffice from `begin` on up to segment `last`, fits; what it takes, if so."""
    leg, R, S = state.jobs[j]["leg"], facts[RESOURCES], facts[SERVERS]
    for r in range(len(taken)):
        taken[r] = state.demands[leg, r] if r < R else 0
    if n_counted(state, R) > 0:
        allowed = state.legs[leg]["allowed"]
        allowed = opens(state, leg, allowed, begin) if facts[LOOKS] else allowed
        if not share_within_time(state, ahead, at, last, leg, allowed):
            return False
        correct(state, taken[:R], leg, 1)
    elif S > 0:
        size = state.legs[leg]["chunk"]
        return size == 0 or charge_servers(ahead, at, last, size, chunks_of(state, j), R, S, scratch, taken)
    return True


@kernel
def _find(state, profile, j, first, begin, only, taken, scratch):
    """The first segment from `first` on, and time from `begin` on, at which job `j` fits; `only` then, else -1."""
    times, ahead, facts = profile
    n, R, leg = facts[N], facts[RESOURCES], state.jobs[j]["leg"]
    demand, walltime = state.demands[leg], state.legs[leg]["walltime"]
    if only or begin > times[first]:
        end = begin + walltime
        last = behind(times, n, first, end)
        enough = fits(times, ahead, n, first, R, demand, end)
        if enough and _claims(state, ahead, facts, j, first, last, begin, taken, scratch):
            return first, begin
        if only:
            return -1, begin
        first += 1
    at, last = window(times, ahead, n, n, first, R, demand, walltime)
    while at >= 0 and not _claims(state, ahead, facts, j, at, last, times[at], taken, scratch):
        at, last = window(times, ahead, n, n, at + 1, R, demand, walltime)
    return at, times[max(at, 0)]


@kernel
def _keep(times, ahead, facts, first, span, taken):
    """Take something away for a span of time, for an instant at least; it is then that of the segments in question."""
    columns = ahead.shape[1]
    first, facts[N] = split(times, ahead, facts[N], first, columns, span[0])
    last = facts[N]
    span[0] = times[first]
    if span[1] < np.inf:
        last, facts[N] = split(times, ahead, facts[N], first, columns, max(span[1], after(times[first])))
        span[1] = times[last]
    for i in range(first, last):
        for c in range(columns):
            ahead[i, c] -= taken[c]


@allocating_kernel(_i8(STATE, _TIMES, _AHEAD, _FACTS, _i8[::1], _f8[:, ::1], _AHEAD, types.boolean, types.boolean))
def lay(state, times, ahead, facts, jobs, spans, taken, only, keeps):
    """Look for each job in turn for the earliest time from spans[i, 0] on at which it fits, or at that time `only`.

    Its beginning and end are then in `spans`, inf if there is none, and what it takes in `taken`; with `keeps` it
    takes that, in a profile that has rows for two segments a job. Returns the place of the first that does not fit when
    it is to, -1 if all do; NOT_WAITING less the place of one that does not wait, and then nothing has changed.
    """
    scratch = np.empty(taken.shape[1], np.int64)
    for i in range(len(jobs)):
        if not waits(state, jobs[i]):
            return NOT_WAITING - i
    for i in range(len(jobs)):
        j, begin = jobs[i], spans[i, 0]
        first = _segment_of(times, facts[N], begin)
        if abs(begin - times[first]) <= instant_width(begin):
            begin = times[first]
        at, begin = _find(state, (times, ahead, facts), j, first, begin, only, taken[i], scratch)
        if at < 0:
            if only:
                return i
            spans[i, 0] = spans[i, 1] = np.inf
            continue
        spans[i, 0], spans[i, 1] = begin, begin + state.legs[state.jobs[j]["leg"]]["walltime"]
        if keeps:
            _keep(times, ahead, facts, at, spans[i], taken[i])
    return -1


@allocating_kernel(types.Tuple((_i8[::1], types.boolean))(STATE, _TIMES, _AHEAD, _FACTS, _i8))
def start_in(state, times, ahead, facts, j):
    """Start job `j` now where a profile has room for it, which it takes; what is left, and whether it has."""
    have = what_is_left(state)
    n = start_beside(state, have, times, ahead, facts[N], facts[RESOURCES], facts[SERVERS], 0, j)
    if n > 0:
        facts[N] = n
    return have.free, n > 0
