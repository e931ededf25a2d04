"""One compiled kernel for the whole family of queue policies: order x reserve x fit.

Jobs start in queue order until one does not fit. It, and up to `depth` jobs that cannot start, get a reservation at
the earliest time their resources will be free; the jobs behind may start now if they delay no reservation. This is
Algorithm 1 of Kopański & Rządca (2021); a preset is a row of numbers:

- depth 0 reserves nothing (filler; fcfs if nobody may pass), 1 is EASY, all is conservative;
- `reserved` counts the resources that a reservation holds. With nodes alone, a head that waits for burst buffer holds
  idle nodes from now on: the barrier of that paper's Fig. 1.

Expected ends are start + walltime. A leg past its estimate is taken to end a second from now.

Where a tier lies in chunks on servers, or reservations pin nodes, places matter beside amounts: see `places`. Where
nodes are of two kinds, a job that may have either takes as many small ones as are free for its whole time, and
reservations are of so many of each: see algorithms.kinds.
"""

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.order import sort_smallest
from forebay.algorithms.place import count_chunks
from forebay.algorithms.plan import enough, lay, least
from forebay.algorithms.profile import fits, reserve, take
from forebay.core.codes import LogReason
from forebay.core.tables import PARAMS, STATE, instant_width, policy_kernel
from forebay.core.verbs import interrupted
from forebay.policies._families.backfill import Param
from forebay.policies._kernels.ahead import HAVE, availability, end_if_now
from forebay.policies._kernels.kinds import (
    charge,
    fewest,
    fewest_beside,
    large_column,
    large_until,
    spare_fewest,
)
from forebay.policies._kernels.long_line import SHORT, bring_up_to_date, next_place
from forebay.policies._kernels.places import (
    chunks_of,
    pick,
    start_fitting,
    start_picked,
    take_picks,
    what_is_there,
)
from forebay.policies._orders import ORDERS

_AS_IS, _WALLTIME, _PRIORITY, _NODES, _AREA, _USER, _GROUP, _QUEUE = range(len(ORDERS))
_i8 = types.int64


@kernel
def _key(state, j, order):
    job = state.jobs[j]
    leg = job["leg"]
    if order == _WALLTIME:
        return state.legs[leg]["walltime"]
    if order == _PRIORITY:
        return job["priority"]
    if order == _NODES:
        return float(state.demands[leg, 0])
    if order == _AREA and state.demands[leg, 0] > 0:  # no walltime is long enough for 0 x inf
        return state.demands[leg, 0] * state.legs[leg]["walltime"]
    if order == _AREA:
        return 0.0
    if order == _USER:
        return float(job["user"])
    if order == _GROUP:
        return float(job["group"])
    return float(job["queue"])


@kernel
def fits_now(state, have, j):
    """Whether what the waiting leg of job `j` takes is there now."""
    leg = state.jobs[j]["leg"]
    for r in range(len(have.free)):
        if state.demands[leg, r] > have.free[r]:
            return False
    n_chunks = chunks_of(state, j)
    return n_chunks == 0 or count_chunks(have.room, state.legs[leg]["chunk"], n_chunks) >= n_chunks


@kernel
def start_now(state, have, j, reason):
    """Start job `j`, which fits: where places matter on the lowest nodes, servers near first, as the engine would."""
    start_fitting(state, have, j, reason, fewest(state, have.free, state.jobs[j]["leg"]))


@allocating_kernel
def _sorted(state, have, line, fitting, order, sign, count):
    """Jobs of `line` by key, then id, at least the first `count` in order; all of them, or only those `fitting` now.

    Leaving out what does not fit is exact: what is there only shrinks during a decision.
    """
    n = 0
    for j in line:
        if j >= 0 and (not fitting or fits_now(state, have, j)):
            n += 1
    keys, ties, items = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    n = 0
    for j in line:
        if j >= 0 and (not fitting or fits_now(state, have, j)):
            keys[n] = sign * _key(state, j, order)
            ties[n] = state.jobs[j]["id"]
            items[n] = j
            n += 1
    sort_smallest(keys, ties, items, n, count)
    return items


@allocating_kernel
def _easy(state, have, head, rest, limit, R, index, first):
    """One reservation of amounts: only what is free now and at its beginning matters, as running legs only release.

    With an index, `rest` is the queue from place `first` on.
    """
    head_leg, now = state.jobs[head]["leg"], state.clock[0]["now"]
    known = False
    shadow, latest = np.inf, np.inf
    spare, at = have.free[:R].copy(), 0
    while True:
        at = next_place(state, index, first + at, first, have.free, spare, latest - now) - first
        if at >= len(rest) or limit == 0:
            return
        j = rest[at]
        at += 1
        if j < 0:
            continue
        limit -= 1
        if not fits_now(state, have, j):
            continue
        if not known:
            known = True
            times, ahead, n = availability(state, have, head_leg, R, 0, 0)
            shadow = times[n - 1]
            for r in range(R):
                spare[r] = ahead[n - 1, r] - state.demands[head_leg, r]
                if spare[r] < 0:  # it will never fit: there is nothing to delay
                    shadow = np.inf
            latest = shadow + instant_width(shadow)
            spare_fewest(state, spare, ahead[n - 1], head_leg)
        leg = state.jobs[j]["leg"]
        n_large = fewest(state, have.free, leg)
        if now + state.legs[leg]["walltime"] > latest:
            n_large = fewest_beside(state, have.free, spare, leg)
            harmless = n_large >= 0
            for r in range(R):
                harmless = harmless and state.demands[leg, r] <= spare[r]
            if not harmless:
                continue
            charge(state, spare, leg, n_large)
        start_fitting(state, have, j, LogReason.BACKFILLED, n_large)


@kernel
def _fill(state, have, rest, limit, index, first):
    """Start whoever fits."""
    at = 0
    while True:
        at = next_place(state, index, first + at, first, have.free, have.free, np.inf) - first
        if at >= len(rest) or limit == 0:
            return
        j = rest[at]
        at += 1
        if j >= 0:
            limit -= 1
            if fits_now(state, have, j):
                start_now(state, have, j, LogReason.BACKFILLED)


@kernel
def can_start(state, have, times, ahead, n, R, j):
    """Whether job `j` can start now and delay nobody, as far as amounts tell."""
    if j < 0 or not fits_now(state, have, j):
        return False
    leg, end = state.jobs[j]["leg"], end_if_now(state, j)
    if not fits(times, ahead, n, 0, R, state.demands[leg], end):
        return False
    return large_until(state, have.free, times, ahead, n, R, leg, end) >= 0


@allocating_kernel
def _start_beside(state, have, times, ahead, n, R, S, W, j):
    """Start job `j` now if that delays no reservation; returns the profile's new length, 0 if it cannot."""
    if not can_start(state, have, times, ahead, n, R, j):
        return 0
    leg, end = state.jobs[j]["leg"], end_if_now(state, j)
    if len(have.words) == 0:
        n_large, needs = large_until(state, have.free, times, ahead, n, R, leg, end), state.demands[leg]
        if large_column(state, R) >= 0:
            needs = needs.copy()
            needs[R - 1] = n_large
        start_fitting(state, have, j, LogReason.BACKFILLED, n_large)
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
    charge(state, have.free, leg, 0)
    start_picked(state, j, LogReason.BACKFILLED, have.words, first)
    return take(times, ahead, n, R + S, taken, 0, end)


@kernel
def reserve_for(state, times, ahead, n, R, S, W, j, least_free, taken):
    """Reserve the earliest time at which all is free for job `j`; returns the profile's new length."""
    leg, n_chunks = state.jobs[j]["leg"], chunks_of(state, j)
    demand, size, walltime = state.demands[leg], state.legs[leg]["chunk"], state.legs[leg]["walltime"]
    _, n = lay(
        times, ahead, n, demand, walltime, size, n_chunks, R, S, W, state.nodes.seats, state.servers.near,
        least_free, taken, large_column(state, R),
    )  # fmt: skip
    return n


@allocating_kernel
def deep(state, have, line, params, R, S, W):
    """Any number of reservations, on the whole availability profile. line[0] is the first job that does not fit.

    Room only shrinks during a decision, so a job that cannot start now will not: behind the `last` one that can,
    reservations have nobody to be kept from.
    """
    last = len(line) - 1
    while last >= 0 and (line[last] < 0 or not fits_now(state, have, line[last])):
        last -= 1
    if last < 0:
        return
    times, ahead, n = availability(state, have, -1, R, S, W)
    least_free, taken = np.empty(R + S + W, np.int64), np.empty(R + S + W, np.int64)
    depth, limit = int(params[Param.DEPTH]), int(params[Param.MAX_BACKFILL])
    i, n_reserved = 0, 0
    while i <= last and n_reserved < depth and (n_reserved == 0 or limit > 0):
        j = line[i]
        i += 1
        if j < 0:
            continue
        if i & 63 == 0 and interrupted(state):
            return
        if n_reserved > 0:
            limit -= 1
        started = _start_beside(state, have, times, ahead, n, R, S, W, j)
        if started > 0:
            n = started
        else:
            n = reserve_for(state, times, ahead, n, R, S, W, j, least_free, taken)
            n_reserved += 1
        while last >= i and not can_start(state, have, times, ahead, n, R, line[last]):
            last -= 1
    if i > last:
        return
    for j in _behind(state, have, line[i:], params, limit):
        if j < 0:
            continue
        if limit == 0:
            return
        limit -= 1
        started = _start_beside(state, have, times, ahead, n, R, S, W, j)
        if started > 0:
            n = started


@allocating_kernel
def _behind(state, have, rest, params, limit):
    """The jobs behind the reservations in backfill order; the first `limit` of them may be tried."""
    order = int(params[Param.BACKFILL_ORDER])
    if order == _AS_IS:
        return rest
    if limit < len(rest):  # every job tried counts, fitting or not
        return _sorted(state, have, rest, False, order, 1.0, limit)[:limit]
    return _sorted(state, have, rest, True, order, 1.0, len(rest))


@allocating_kernel(types.void(STATE, HAVE, _i8[::1], PARAMS))
def serve(state, have, line, params):
    """Start jobs of `line` in order until one does not fit; reserve for it, and let those behind pass."""
    _serve(state, have, line, params, np.empty((0, 0), np.int64), 0)


@allocating_kernel
def _serve(state, have, line, params, index, first):
    """The same; with an index, `line` is the queue from place `first` on."""
    i = 0
    while i < len(line):
        j = line[i]
        if j >= 0:
            if not fits_now(state, have, j):
                break
            start_now(state, have, j, LogReason.IN_ORDER)
        i += 1
    if i == len(line) or params[Param.MAX_BACKFILL] == 0:
        return
    n_words = len(have.words)
    pinned = n_words > 0 and params[Param.PINNED] > 0 and params[Param.DEPTH] > 0
    R = min(len(have.free), int(params[Param.RESERVED]))
    limit = int(params[Param.MAX_BACKFILL])
    if params[Param.DEPTH] > 1 or (params[Param.DEPTH] == 1 and n_words > 0):
        S = len(have.room) if state.machine[0]["chunked"] < R else 0
        deep(state, have, line[i:], params, R, S, n_words if pinned else 0)
        return
    rest = _behind(state, have, line[i + 1 :], params, limit)
    if params[Param.DEPTH] == 1:
        _easy(state, have, line[i], rest, limit, R, index, first + i + 1)
    else:
        _fill(state, have, rest, limit, index, first + i + 1)


@allocating_kernel
def decide(state, params, index):
    """The decision of one instant, with an index over the queue in order of arrival if there is one."""
    counts = state.counts[0]
    if counts["n_queued"] == 0:
        return
    have = what_is_there(state, params[Param.PINNED] > 0 and params[Param.DEPTH] > 0)
    line = state.queue[counts["queue_first"] : counts["queue_last"]]
    if params[Param.ORDER] != _AS_IS:
        sign = -1.0 if params[Param.DESCENDING] > 0 else 1.0
        line = _sorted(state, have, line, False, int(params[Param.ORDER]), sign, len(line))
    if counts["n_queued"] <= SHORT:
        index = index[:0]
    elif len(index) > 0:
        bring_up_to_date(state, index)
    _serve(state, have, line, params, index, counts["queue_first"])


@policy_kernel
def backfill(state, params, memory, rng):
    """The decision of one instant."""
    decide(state, params, memory[0])
