"""Any number of reservations, each at the earliest time at which all that a job needs is free, as walltimes tell.

A decision is about who starts now. So it ends where nobody is left who can, and it needs to know what is taken up to
its *horizon* alone: when the last of those who can start would end. A job that cannot begin by then is put off, which
is quick to see, as few segments begin so early: see `lazy`.

Where jobs share nodes, reservations are of particular ones: see `deep_shared`.
"""

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, apart_kernel, kernel
from forebay.algorithms.availability.layout import enough, least
from forebay.algorithms.availability.profile import fits, reserve, take
from forebay.core.codes import LogReason
from forebay.core.tables import PARAMS, STATE
from forebay.core.verbs import interrupted
from forebay.policies._families.backfill import Param
from forebay.policies._kernels.availability.node_sets import charge, correct, n_counted, share_until
from forebay.policies._kernels.availability.placement import (
    chunks_of,
    fits_now,
    fits_places,
    leg_fits_now,
    pick,
    start_fitting,
    start_picked,
    take_picks,
)
from forebay.policies._kernels.availability.profile import (
    HAVE,
    ahead_of,
    end_if_now,
    given_back,
    looks_up,
    n_held,
    planned_ahead,
)
from forebay.policies._kernels.availability.site_windows import unseen
from forebay.policies._kernels.backfill.lazy import nobody_put_off, put_off, reserve_for, settle
from forebay.policies._kernels.queue.index import MANY, asks_within, next_place
from forebay.policies._kernels.queue.ordering import behind

_i8 = types.int64

_NOW_AND_THEN = 64  # steps, after which it is worth to look who can still start
_LAYING = 16  # steps in whose time a reservation is laid


@kernel
def can_start(state, have, times, ahead, n, R, j, leg):
    """Whether job `j` can start `leg` now and delay nobody, as far as amounts tell.

    The leg is an argument, as rows of jobs lie far apart in memory, and many of them are looked at in vain.
    """
    if j < 0 or not leg_fits_now(state, have, j, leg):
        return False
    end = state.clock[0]["now"] + state.legs[leg]["walltime"]
    if not fits(times, ahead, n, 0, R, state.demands[leg], end):
        return False
    return share_until(state, have.free, times, ahead, n, R, leg, end)


@allocating_kernel
def start_beside(state, have, times, ahead, n, R, S, W, j):
    """Start job `j` now if that delays no reservation; returns the profile's new length, 0 if it cannot."""
    leg, end = state.jobs[j]["leg"], end_if_now(state, j)
    if not can_start(state, have, times, ahead, n, R, j, leg):
        return 0
    if len(have.words) == 0:
        needs = state.demands[leg]  # what it takes of each atom was worked out as it was asked whether it can start
        if n_counted(state, R) > 0:
            needs = needs.copy()
            correct(state, needs, leg, 1)
        start_fitting(state, have, j, LogReason.BACKFILLED)
        return reserve(times, ahead, n, R, needs, 0, end)
    least_free, taken = np.empty(R + S + W, np.int64), np.empty(R + S + W, np.int64)
    least(times, ahead, n, 0, end, R + S, least_free)
    if not enough(least_free, state.demands[leg], state.legs[leg]["chunk"], chunks_of(state, j), R, S, W):
        return 0
    # On servers where no reservation needs the room; on nodes that none has pinned, or any if they are only counted.
    words = least_free[R + S :] if W > 0 else have.words
    first = pick(state, j, words, least_free[R : R + S] if S > 0 else have.room.copy())
    take_picks(state, j, first, R, S, W, taken)
    size = state.legs[leg]["chunk"]
    if size > 0:
        for i in range(first, state.counts[0]["n_picks"]):
            have.room[state.picks[i]["server"]] -= size * state.picks[i]["count"]
    charge(state, have.free, leg)
    start_picked(state, j, LogReason.BACKFILLED, have.words, first)
    return take(times, ahead, n, R + S, taken, 0, end)


@allocating_kernel
def who_fits(state, have, line, index, first):
    """The places in line of those who fit into what is there now, when the last of them would end; everybody's leg."""
    places, legs, n, horizon = np.empty(len(line), np.int64), np.empty(len(line), np.int64), 0, 0.0
    for i in range(len(line)):
        if line[i] < 0:
            continue
        legs[i], enough_there = asks_within(state, index, first + i, line[i], have.free)
        if enough_there and fits_places(state, have, line[i], legs[i]):
            places[n] = i
            n += 1
            horizon = max(horizon, end_if_now(state, line[i]))
    return places[:n], horizon, legs


@kernel
def who_can_start(state, have, profile, R, line, legs, first, places):
    """Keep the places from `first` on whose jobs can still start; how many these are, and when the last would end."""
    (times, ahead, n), n_left, longest = profile, 0, 0.0
    for k in range(len(places)):
        if k & 63 == 63 and interrupted(state):
            break
        place = places[k]
        if place >= first and can_start(state, have, times, ahead, n, R, line[place], legs[place]):
            places[n_left] = place
            n_left += 1
            longest = max(longest, state.legs[legs[place]]["walltime"])
    return n_left, state.clock[0]["now"] + longest


@kernel
def n_until_last(state, have, profile, R, line, legs, places):
    """How many of these places there are up to the last whose job can still start."""
    (times, ahead, n), n_left = profile, len(places)
    while n_left > 0:
        place = places[n_left - 1]
        if n_left & 63 == 0 and interrupted(state):
            break
        if can_start(state, have, times, ahead, n, R, line[place], legs[place]):
            break
        n_left -= 1
    return n_left


@kernel
def _narrow(room, have, ahead, R):
    """What there is now for who delays no reservation, as far as amounts tell."""
    for r in range(len(room)):
        room[r] = min(have.free[r], ahead[0, r]) if r < R else have.free[r]


@allocating_kernel
def _let_pass(state, have, rest, params, limit, profile, columns, index, first):
    """Start whoever of `rest` delays no reservation; with an index, it is the queue from place `first` on."""
    (times, ahead, n), (R, S, W) = profile, columns
    rest, room = behind(state, have, rest, params, limit), np.empty(len(have.free), np.int64)
    _narrow(room, have, ahead, R)
    at, in_vain = 0, 0
    while True:
        if in_vain % MANY == 0:
            at = next_place(state, index, first + at, room, room, np.inf) - first
            if interrupted(state):
                return
        if at >= len(rest) or limit == 0:
            return
        j = rest[at]
        at += 1
        in_vain += 1
        if j < 0:
            continue
        limit -= 1
        started = start_beside(state, have, times, ahead, n, R, S, W, j)
        if started > 0:
            n, in_vain = started, 0
            _narrow(room, have, ahead, R)


@allocating_kernel
def _somebody_fits(state, have, rest, index, first):
    """Whether anybody of `rest` fits into what is there now."""
    at = 0
    while True:
        at = next_place(state, index, first + at, have.free, have.free, np.inf) - first
        if at >= len(rest) or interrupted(state):
            return False
        if rest[at] >= 0 and fits_now(state, have, rest[at]):
            return True
        at += 1


@allocating_kernel
def shallow(state, have, line, params, columns, index, first):
    """Reserve for line[0], which does not fit, and start whoever does not delay it; nodes are not shared.

    With an index, `line` is the queue from place `first` on.
    """
    reserved, S, W = columns
    if not _somebody_fits(state, have, line[1:], index, first + 1):
        return
    R = n_held(state, have, reserved)
    times, ahead, n = ahead_of(state, have, -1, reserved, S, W)
    later = nobody_put_off(1, state.clock[0]["now"], np.inf, R + S + W, 0.0, np.inf)
    if W > 0:
        n = reserve_for(state, times, ahead, n, R, S, W, line[0], later)
    else:
        later.jobs[0], later.legs[0] = line[0], state.jobs[line[0]]["leg"]
        n = settle(state, times, ahead, n, R, S, later, 1)
    limit = int(params[Param.MAX_BACKFILL])
    _let_pass(state, have, line[1:], params, limit, (times, ahead, n), (R, S, W), index, first + 1)


@apart_kernel(types.void(STATE, HAVE, _i8[::1], PARAMS, types.UniTuple(_i8, 3), _i8[:, ::1], _i8))
def deep(state, have, line, params, columns, index, first):
    """Start whoever delays no reservation; line[0] is the first job that does not fit; nodes are not shared.

    With an index, `line` is the queue from place `first` on. Room only shrinks during a decision, so a job that cannot
    start now will not: behind the last one that can, reservations have nobody to be kept from. Pinned nodes (W > 0)
    hang on the order in which they are taken: then nobody is put off. Where windows of the site are looked up,
    one who is not seen holds its place in line.
    """
    reserved, S, W = columns
    places, horizon, legs = who_fits(state, have, line, index, first)
    n_places = len(places)
    if n_places == 0:
        return
    R = n_held(state, have, reserved)
    looks = looks_up(state, have, R)
    times, ahead, n = given_back(state, have, reserved) if looks else ahead_of(state, have, -1, reserved, S, W)
    # Elsewhere who fits can start: what runs only gives back.
    if n_counted(state, R) > 0 or planned_ahead(state):
        n_places, horizon = who_can_start(state, have, (times, ahead, n), R, line, legs, 0, places[:n_places])
    later, n_later = nobody_put_off(len(line), state.clock[0]["now"], horizon, R + S + W, 0.0, np.inf), 0
    later.looks[0] = looks
    depth, limit = int(params[Param.DEPTH]), int(params[Param.MAX_BACKFILL])
    i, n_reserved, steps, k = 0, 0, 0, 0
    while n_places > 0 and i <= places[n_places - 1] and n_reserved < depth and (n_reserved == 0 or limit > 0):
        j = line[i]
        i += 1
        if j < 0 and looks:
            j = unseen(state, j)
            if j >= 0:
                legs[i - 1] = state.jobs[j]["leg"]
        if j < 0:
            continue
        steps += 1
        if i & 63 == 0 and interrupted(state):
            return
        if n_reserved > 0 and line[i - 1] >= 0:
            limit -= 1
        while places[k] < i - 1:
            k += 1
        started = 0
        if places[k] == i - 1:
            started = start_beside(state, have, times, ahead, n, R, S, W, j)
        if started > 0:
            n = started
        else:
            n_reserved += 1
            if W > 0:
                n = reserve_for(state, times, ahead, n, R, S, W, j, later)
            else:
                n_later += 1
                if put_off(state, later, n_later - 1, R, j, legs[i - 1]):
                    continue
                later.until[0] = horizon
                n = settle(state, times, ahead, n, R, S, later, n_later)
                if later.jobs[n_later - 1] == j:
                    continue
        n_places = n_until_last(state, have, (times, ahead, n), R, line, legs, places[:n_places])
        steps += _LAYING
        if steps >= max(_NOW_AND_THEN, n_places):
            steps, k, left = 0, 0, places[:n_places]
            n_places, horizon = who_can_start(state, have, (times, ahead, n), R, line, legs, i, left)
    if n_places == 0 or i > places[n_places - 1]:
        return
    rest = line[i:]
    if limit >= len(rest):  # all of them may be tried: only who fitted when the decision began can start
        rest = np.empty(n_places, np.int64)
        for p in range(n_places):
            rest[p] = line[places[p]] if places[p] >= i else -1
    _let_pass(state, have, rest, params, limit, (times, ahead, n), (R, S, W), np.empty((0, 0), np.int64), 0)
