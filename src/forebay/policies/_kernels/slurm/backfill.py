"""A cycle of Slurm's sched/backfill: every job that is tested and cannot start holds a reservation.

Reservations are laid as everywhere (see `reservations`), into what is free as Slurm sees it:

- ends that running jobs are expected to have differ by 30 s at first, and by twice as much each further time,
  so that few times are tried (`bf_window_linear` adds seconds instead);
- a reservation begins at a multiple of `bf_resolution` and ends at one;
- a job that cannot begin within `bf_window` holds none.
"""

import math

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.core.tables import after
from forebay.core.verbs import interrupted
from forebay.policies._families.slurm_scheduler import Sched
from forebay.policies._kernels.availability.licenses import has_licenses
from forebay.policies._kernels.availability.profile import ahead_of, n_held
from forebay.policies._kernels.backfill.lazy import nobody_put_off, put_off, reserve_for, settle
from forebay.policies._kernels.backfill.reservations import n_until_last, start_beside, who_can_start, who_fits
from forebay.policies._kernels.priority.numbering import number_of
from forebay.policies._kernels.slurm.pinned import pinned_cycle
from forebay.policies._kernels.slurm.queue import job_at

_USERS, _PARTITIONS = 1, 2
_PRECISION = 30.0  # s
_NOW_AND_THEN, _LAYING = 64, 16  # as in `reservations`


@allocating_kernel
def tested(state, have, line, params, integers):
    """The jobs that a cycle tests, in line: so many, of each user and of each partition so many."""
    by_user, by_part = int(params[Sched.BF_MAX_USER]), int(params[Sched.BF_MAX_PART])
    most, n = min(int(params[Sched.BF_MAX_TEST]), len(line.jobs)), 0
    found = np.empty(most, np.int64)
    users = np.zeros(len(integers) if by_user > 0 else 0, np.int64)
    parts = np.zeros(len(integers) if by_part > 0 else 0, np.int64)
    for i in range(len(line.jobs)):
        if n == most:
            break
        j = job_at(state, line, i)
        if j < 0:
            continue
        if by_part > 0:
            p = number_of(integers, _PARTITIONS, state.jobs[j]["queue"])
            if parts[p] >= by_part:
                continue
            parts[p] += 1
        if by_user > 0 and state.jobs[j]["user"] >= 0:
            u = number_of(integers, _USERS, state.jobs[j]["user"])
            if users[u] >= by_user:
                continue
            users[u] += 1
        if params[Sched.RESERVED] == 1.0 and not has_licenses(state, have, j, params):
            continue
        found[n] = j
        n += 1
    return found[:n]


@kernel
def _copy_segment(times, ahead, source, target):
    times[target] = times[source]
    for r in range(ahead.shape[1]):
        ahead[target, r] = ahead[source, r]


@kernel
def coarsen(times, ahead, n, linear):
    """Put ends close to each other together, at the last of them; returns the profile's new length."""
    precision, kept, i = _PRECISION, 1, 1
    while i < n:
        first = times[i]
        while i + 1 < n and times[i + 1] <= first + precision:
            i += 1
        _copy_segment(times, ahead, i, kept)
        kept += 1
        i += 1
        precision = precision + linear if linear > 0.0 else 2.0 * precision
    return kept


@kernel
def round_down(times, ahead, n, resolution):
    """Let each segment begin at a multiple of the resolution; of those that then begin together the last counts.

    The first stays what is free now, and what comes free in its slot is free just behind it: nodes and servers are
    picked from what is free all the time.
    """
    times[0] = math.floor(times[0] / resolution) * resolution
    kept, soon = 1, after(times[0])
    for i in range(1, n):
        begin = max(math.floor(times[i] / resolution) * resolution, soon)
        if kept > 1 and begin <= times[kept - 1]:
            kept -= 1
        _copy_segment(times, ahead, i, kept)
        times[kept] = begin
        kept += 1
    return kept


@allocating_kernel
def backfill_cycle(state, have, line, params):
    """Start whoever delays no reservation of those before it, of the jobs that it tests; returns how many."""
    if len(have.inside) > 0 or (params[Sched.PINNED] > 0.0 and state.machine[0]["chunked"] < 0):
        return pinned_cycle(state, have, line, params)
    places, horizon, legs = who_fits(state, have, line, np.empty((0, 0), np.int64), 0)
    n_places = len(places)
    if n_places == 0:
        return 0
    now, slot = state.clock[0]["now"], params[Sched.BF_RESOLUTION]
    S = len(have.room) if state.machine[0]["chunked"] < params[Sched.RESERVED] else 0
    W = len(have.words) if params[Sched.PINNED] > 0.0 else 0
    reserved = int(params[Sched.RESERVED])
    R = n_held(state, have, reserved)
    times, ahead, n = ahead_of(state, have, -1, reserved, S, W)
    n = round_down(times, ahead, coarsen(times, ahead, n, params[Sched.BF_LINEAR]), slot)
    n_places, horizon = who_can_start(state, have, (times, ahead, n), R, line, legs, 0, places)
    window_end = math.floor((now + params[Sched.BF_WINDOW]) / slot) * slot
    later, n_later = nobody_put_off(len(line), now, min(horizon, window_end), R + S + W, slot, window_end), 0
    oldest = now - params[Sched.BF_MIN_AGE]
    i, steps, k, n_started = 0, 0, 0, 0
    while n_places > 0 and i <= places[n_places - 1]:
        j = line[i]
        i += 1
        steps += 1
        if interrupted(state):
            return n_started
        while places[k] < i - 1:
            k += 1
        if params[Sched.RESERVED] == 1.0 and not has_licenses(state, have, j, params):
            continue
        started = start_beside(state, have, times, ahead, n, R, S, W, j) if places[k] == i - 1 else 0
        if started > 0:
            n = started
            n_started += 1
            if n_started == params[Sched.BF_MAX_START]:
                return n_started
        elif state.jobs[j]["submit"] > oldest:
            continue
        elif W > 0:
            n = reserve_for(state, times, ahead, n, R, S, W, j, later)
        else:
            n_later += 1
            if put_off(state, later, n_later - 1, R, j, legs[i - 1]):
                continue
            later.until[0] = min(horizon, window_end)
            n = settle(state, times, ahead, n, R, S, later, n_later)
            if later.jobs[n_later - 1] == j:
                continue
        n_places = n_until_last(state, have, (times, ahead, n), R, line, legs, places[:n_places])
        steps += _LAYING
        if steps >= max(_NOW_AND_THEN, n_places):
            steps, k, left = 0, 0, places[:n_places]
            n_places, horizon = who_can_start(state, have, (times, ahead, n), R, line, legs, i, left)
    return n_started
