"""The same reservations in a long queue in order of arrival, where those that can start are a set: see `reservations`.

A job that starts now needs what it asks for until it ends. So at each time at which less is left than before, a bound
says which ones it strikes out: those that ask for more and would still run then. What is left of the set is looked at
one by one, from the first on, until one can start; those that stand before it and may be in its way are laid: see
`lazy`.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.nodes.bits import lowest
from forebay.algorithms.queues.thresholds import (
    BOUNDS,
    MOST,
    WORD,
    drop,
    leave,
    next_in,
    put_within,
    strike_out,
)
from forebay.core.verbs import interrupted
from forebay.policies._kernels.availability.placement import fits_places
from forebay.policies._kernels.availability.profile import ahead_of, looks_up, n_held
from forebay.policies._kernels.backfill.lazy import LAID, next_open, nobody_put_off, put_off, settle, with_sets
from forebay.policies._kernels.backfill.reservations import can_start, start_beside
from forebay.policies._kernels.queue.index import asks_within, n_indexed, sets_in


@allocating_kernel
def sets_for_deep(state, have, n_jobs, index, first, reserved, rules):
    """The sets of an index, if they are of use for a line from place `first` on; otherwise none.

    All in it may be tried, and have a reservation; nodes are not pinned, nor windows of the site looked up.
    """
    depth, limit, W = rules
    of_use = len(index) > 0 and W == 0 and min(depth, limit) >= n_jobs and first >= n_indexed(index)[0]
    return sets_in(state, index if of_use and not looks_up(state, have, n_held(state, have, reserved)) else index[:0])


@kernel
def _can_start_at(state, have, profile, R, queue, i):
    """Whether the job at a place can start; without a profile, whether it fits."""
    (times, ahead, n), (line, index, first) = profile, queue
    j = line[i]
    if j < 0:
        return False
    leg, enough = asks_within(state, index, first + i, j, have.free)
    if n == 0:
        return enough and fits_places(state, have, j, leg)
    return enough and can_start(state, have, times, ahead, n, R, j, leg)


@kernel
def _next_who_can(state, have, profile, R, queue, sets, who, place):
    """The next place from `place` on of a set whose job can start; who stands before and cannot leaves the set.

    It is the end of the line if there is none.
    """
    (line, index, first), looked = queue, 0
    shift = first - n_indexed(index)[0]
    at = next_in(who, place + shift)
    while at - shift < len(line):
        looked += 1
        if looked & 63 == 0 and interrupted(state):
            break
        if _can_start_at(state, have, profile, R, queue, at - shift):
            return at - shift
        if line[at - shift] == -1:
            leave(sets, at)
        drop(who, at)
        at = next_in(who, at + 1)
    return len(line)


@kernel
def _latest_end(state, have, profile, R, queue, sets, who, place):
    """A time by which all of a set would end who can start, of those from a place on.

    The longest walltimes are in the set of the last bound. A job that cannot start leaves the set, until one can.
    """
    (line, index, first), k, longest = queue, BOUNDS, 0.0
    shift = first - n_indexed(index)[0]
    while k > 0 and longest == 0.0:
        k -= 1
        for w in range((place + shift) // WORD, len(who)):
            left = who[w] & sets.rows[1 + k, w] if k > 0 else who[w]
            while left != 0:
                i = WORD * w + lowest(left) - shift
                left &= left - 1
                if i < 0 or i >= len(line):
                    continue
                if longest > 0.0 or _can_start_at(state, have, profile, R, queue, i):
                    longest = max(longest, state.legs[state.jobs[line[i]]["leg"]]["walltime"] if line[i] >= 0 else 0.0)
                else:
                    drop(who, i + shift)
    return state.clock[0]["now"] + longest


@kernel
def _narrow(profile, horizon, R, sets, who, place, least, low):
    """Take out of a set, from a place on, who would find too little left while it runs, as far as bounds tell."""
    times, ahead, n = profile
    last, i = min(R, len(sets.bounds) - 1), 0
    for r in range(last):
        low[r] = np.int64(2**62)
    while i < n and times[i] <= horizon:
        for r in range(last):
            if ahead[i, r] < low[r]:
                low[r] = ahead[i, r]
                for c in range(MOST):
                    least[c] = 0
                # A second more than it takes: so it is no matter what counts as the same instant.
                least[0] = int(np.ceil(times[i] - times[0])) + 1 if i > 0 else 0
                least[1 + r] = low[r] + 1
                strike_out(sets, who, place, least)
        i += 1


@allocating_kernel
def deep_by_sets(state, have, line, reserved, S, index, first, sets):
    """Start those that delay no reservation; line[0], at place `first` of the queue, is the first that does not fit."""
    queue, who, shift = (line, index, first), np.empty(sets.rows.shape[1], np.int64), first - n_indexed(index)[0]
    R, times, ahead, n = n_held(state, have, reserved), np.empty(0), np.empty((0, 0), np.int64), 0
    put_within(sets, who, 1, have.free)
    found = _next_who_can(state, have, (times, ahead, n), R, queue, sets, who, 0)
    if found == len(line):
        return
    times, ahead, n = ahead_of(state, have, -1, reserved, S, 0)
    least, low = np.empty(MOST, np.int64), np.empty(MOST, np.int64)
    horizon = _latest_end(state, have, (times, ahead, n), R, queue, sets, who, found)
    later = nobody_put_off(len(line), state.clock[0]["now"], horizon, max(R + S, MOST), 0.0, np.inf)
    later = with_sets(later, sets, line, shift)
    i, n_laid, due, looked, known = 0, 0, 1, 0, False
    while True:
        looked += 1
        if looked & 63 == 0 and interrupted(state):
            return
        if not known or found < i:
            known = True
            found = _next_who_can(state, have, (times, ahead, n), R, queue, sets, who, i)
            if found == len(line):
                return
        place = min(next_open(later, 0, i), found)
        j, i = line[place], place + 1
        if j < 0:
            if j == -1:
                leave(sets, place + shift)
            continue
        started = start_beside(state, have, times, ahead, n, R, S, 0, j) if place == found else 0
        if started > 0:
            n = started
            later.jobs[place] = LAID
        else:
            if put_off(state, later, place, R, j, state.jobs[j]["leg"]):
                continue
            later.until[0] = horizon
            n = settle(state, times, ahead, n, R, S, later, i)
            if later.jobs[place] == j:
                continue
        known, n_laid = False, n_laid + 1
        if n_laid >= due:
            due = n_laid + 1 + n_laid // 4
            _narrow((times, ahead, n), horizon, R, sets, who, i + shift, least, low)
            latest = _latest_end(state, have, (times, ahead, n), R, queue, sets, who, i)
            horizon = min(horizon, latest)
