"""One compiled kernel for the whole family of queue policies: order x reserve x fit.

Jobs start in queue order until one does not fit. It, and up to `depth` jobs that cannot start, get a reservation at
the earliest time their resources will be free; the jobs behind may start now if they delay no reservation. This is
Algorithm 1 of Kopański & Rządca (2021); a preset is a row of numbers:

- depth 0 reserves nothing (filler; fcfs if nobody may pass), 1 is EASY, all is conservative;
- `reserved` counts the resources that a reservation holds. With nodes alone, a head that waits for burst buffer holds
  idle nodes from now on: the barrier of that paper's Fig. 1.

Expected ends are start + walltime. A leg past its estimate is taken to end a second from now.
"""

import numpy as np
from numba import types

from forebay._jit import allocating_kernel, kernel
from forebay.algorithms.order import sort_smallest
from forebay.algorithms.profile import earliest, fits, reserve
from forebay.core.codes import Why
from forebay.core.tables import STATE, instant_width, policy_kernel
from forebay.core.verbs import act_start
from forebay.policies._orders import ORDERS

_AS_IS, _WALLTIME, _PRIORITY, _NODES, _AREA, _USER, _GROUP, _QUEUE = range(len(ORDERS))
_FREE = types.int64[:, ::1]
_ORDER, _DESCENDING, _BACKFILL_ORDER, _DEPTH, _MAX_BACKFILL, _RESERVED = range(6)


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
def _fits_now(state, free, j):
    leg = state.jobs[j]["leg"]
    for r in range(len(free)):
        if state.demands[leg, r] > free[r]:
            return False
    return True


@kernel
def _start(state, free, j, why):
    leg = state.jobs[j]["leg"]
    for r in range(len(free)):
        free[r] -= state.demands[leg, r]
    act_start(state, j, why)


@allocating_kernel
def _sorted(state, line, free, order, sign, count):
    """Jobs of `line` by key, then id, at least the first `count` in order; if `free` is not empty, only those that fit.

    Leaving out what does not fit is exact: `free` only shrinks during a decision.
    """
    n = 0
    for j in line:
        if j >= 0 and (len(free) == 0 or _fits_now(state, free, j)):
            n += 1
    keys, ties, items = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    n = 0
    for j in line:
        if j >= 0 and (len(free) == 0 or _fits_now(state, free, j)):
            keys[n] = sign * _key(state, j, order)
            ties[n] = state.jobs[j]["id"]
            items[n] = j
            n += 1
    sort_smallest(keys, ties, items, n, count)
    return items


@allocating_kernel
def _started_by_end(state):
    """Legs that this decision has started so far, by expected end."""
    n = state.clock[0]["n_actions"]
    ends, ties, legs = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    for a in range(n):
        leg = state.jobs[state.actions[a]["job"]]["leg"]
        ends[a] = state.clock[0]["now"] + state.legs[leg]["walltime"]
        ties[a] = a
        legs[a] = leg
    sort_smallest(ends, ties, legs, n, n)
    return legs


@allocating_kernel(
    types.Tuple((types.float64[::1], _FREE, types.int64))(STATE, types.int64[::1], types.int64, types.int64)
)
def _availability(state, free_now, until_fits, R):
    """What will be free when, from now until the demand of leg `until_fits` fits (-1: until everything has ended)."""
    clock, running, releases = state.clock[0], state.running, state.releases
    now, n_running = clock["now"], clock["n_running"]
    started = _started_by_end(state)
    n_late = 0
    while n_late < n_running and running[n_late]["end"] <= now:
        n_late += 1
    room = n_running + 3 + (clock["n_queued"] if until_fits < 0 else len(started))
    times, free = np.empty(room), np.empty((R, room), np.int64)
    times[0] = now
    for r in range(R):
        free[r, 0] = free_now[r]
    n, i, s, late = 1, n_late, 0, n_late > 0
    while True:
        if until_fits >= 0:
            enough = True
            for r in range(R):
                enough = enough and free[r, n - 1] >= state.demands[until_fits, r]
            if enough:
                break
        time = np.inf
        if i < n_running:
            time = running[i]["end"]
        if s < len(started):
            time = min(time, now + state.legs[started[s]]["walltime"])
        if late:
            time = min(time, now + 1.0)
        if time == np.inf:
            break
        width = instant_width(time)
        if time - times[n - 1] > width:
            times[n] = time
            for r in range(R):
                free[r, n] = free[r, n - 1]
            n += 1
        while i < n_running and running[i]["end"] <= time + width:
            for r in range(R):
                free[r, n - 1] += releases[running[i]["leg"], r]
            i += 1
        while s < len(started) and now + state.legs[started[s]]["walltime"] <= time + width:
            for r in range(R):
                free[r, n - 1] += releases[started[s], r]
            s += 1
        if late and now + 1.0 <= time + width:
            late = False
            for k in range(n_late):
                for r in range(R):
                    free[r, n - 1] += releases[running[k]["leg"], r]
    return times, free, n


@allocating_kernel
def _easy(state, free, head, rest, limit, R):
    """One reservation: only what is free now and what is left at its beginning matter, as running legs only release."""
    head_leg = state.jobs[head]["leg"]
    now = state.clock[0]["now"]
    known = False
    shadow, latest = 0.0, 0.0
    spare = np.empty(R, np.int64)
    for j in rest:
        if j < 0:
            continue
        if limit == 0:
            return
        limit -= 1
        if not _fits_now(state, free, j):
            continue
        if not known:
            known = True
            times, ahead, n = _availability(state, free, head_leg, R)
            shadow = times[n - 1]
            for r in range(R):
                spare[r] = ahead[r, n - 1] - state.demands[head_leg, r]
                if spare[r] < 0:  # it will never fit: there is nothing to delay
                    shadow = np.inf
            latest = shadow + instant_width(shadow)
        leg = state.jobs[j]["leg"]
        if now + state.legs[leg]["walltime"] > latest:
            harmless = True
            for r in range(R):
                harmless = harmless and state.demands[leg, r] <= spare[r]
            if not harmless:
                continue
            for r in range(R):
                spare[r] -= state.demands[leg, r]
        _start(state, free, j, Why.BACKFILLED)


@kernel
def _can_start(state, free, times, ahead, n, R, j):
    """Whether job `j` can start now and delay nobody."""
    if j < 0 or not _fits_now(state, free, j):
        return False
    leg = state.jobs[j]["leg"]
    return fits(times, ahead, n, 0, R, state.demands[leg], times[0] + state.legs[leg]["walltime"])


@allocating_kernel
def _deep(state, free, line, params, R):
    """Any number of reservations, on the whole availability profile. line[0] is the first job that does not fit.

    Room only shrinks during a decision, so a job that cannot start now will not: behind the `last` one that can,
    reservations have nobody to be kept from.
    """
    now = state.clock[0]["now"]
    last = len(line) - 1
    while last >= 0 and (line[last] < 0 or not _fits_now(state, free, line[last])):
        last -= 1
    if last < 0:
        return
    times, ahead, n = _availability(state, free, -1, R)
    depth, limit = int(params[_DEPTH]), int(params[_MAX_BACKFILL])
    i, n_reserved = 0, 0
    while i <= last and n_reserved < depth and (n_reserved == 0 or limit > 0):
        j = line[i]
        i += 1
        if j < 0:
            continue
        if n_reserved > 0:
            limit -= 1
        leg = state.jobs[j]["leg"]
        demand, walltime = state.demands[leg], state.legs[leg]["walltime"]
        if _can_start(state, free, times, ahead, n, R, j):
            n = reserve(times, ahead, n, R, demand, 0, now + walltime)
            _start(state, free, j, Why.BACKFILLED)
        else:
            at = earliest(times, ahead, n, R, demand, walltime)
            if at >= 0:
                n = reserve(times, ahead, n, R, demand, at, times[at] + walltime)
            n_reserved += 1
        while last >= i and not _can_start(state, free, times, ahead, n, R, line[last]):
            last -= 1
    if i > last:
        return
    for j in _behind(state, free, line[i:], params, limit):
        if j < 0:
            continue
        if limit == 0:
            return
        limit -= 1
        if _can_start(state, free, times, ahead, n, R, j):
            leg = state.jobs[j]["leg"]
            n = reserve(times, ahead, n, R, state.demands[leg], 0, now + state.legs[leg]["walltime"])
            _start(state, free, j, Why.BACKFILLED)


@allocating_kernel
def _behind(state, free, rest, params, limit):
    """The jobs behind the reservations in backfill order; the first `limit` of them may be tried."""
    order = int(params[_BACKFILL_ORDER])
    if order == _AS_IS:
        return rest
    if limit < len(rest):  # every job tried counts, fitting or not
        return _sorted(state, rest, free[:0], order, 1.0, limit)[:limit]
    return _sorted(state, rest, free, order, 1.0, len(rest))


@policy_kernel
def backfill(state, params, memory, rng):
    """The decision of one instant."""
    clock = state.clock[0]
    if clock["n_queued"] == 0:
        return
    free = np.empty(len(state.resources), np.int64)
    for r in range(len(free)):
        free[r] = state.resources[r]["free"]
    line = state.queue[clock["queue_first"] : clock["queue_last"]]
    if params[_ORDER] != _AS_IS:
        sign = -1.0 if params[_DESCENDING] > 0 else 1.0
        line = _sorted(state, line, free[:0], int(params[_ORDER]), sign, len(line))
    i = 0
    while i < len(line):
        j = line[i]
        if j >= 0:
            if not _fits_now(state, free, j):
                break
            _start(state, free, j, Why.IN_ORDER)
        i += 1
    if i == len(line) or params[_MAX_BACKFILL] == 0:
        return
    R = min(len(free), int(params[_RESERVED]))
    limit = int(params[_MAX_BACKFILL])
    if params[_DEPTH] > 1:
        _deep(state, free, line[i:], params, R)
        return
    rest = _behind(state, free, line[i + 1 :], params, limit)
    if params[_DEPTH] == 1:
        _easy(state, free, line[i], rest, limit, R)
        return
    for j in rest:
        if j >= 0:
            if limit == 0:
                return
            limit -= 1
            if _fits_now(state, free, j):
                _start(state, free, j, Why.BACKFILLED)
