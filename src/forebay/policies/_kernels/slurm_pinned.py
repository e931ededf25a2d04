"""A cycle of sched/backfill whose reservations are of certain nodes, step by step as Slurm goes.

Slurm keeps two things apart. A *table* has what the reservations laid so far leave: spans of time, each with the nodes
(and licences, with bf_licenses) that are free of reservations during all of it. What running jobs hold is asked of the
select plug-in: when, as they end, are enough of some nodes free, and which are these. So for each job, from now on:

1. The nodes that no reservation needs from a time on until the job would end. If too few: again from the next time at
   which others come free of reservations.
2. When enough of these are free of running jobs; nodes are picked by blocks of neighbours among all that are by then.
   If that is later than others come free of reservations: again from then on.
3. If the time is now, the job starts. Otherwise, if a reservation has some of the nodes while the job would run there:
   again from that time on. If not, the nodes are reserved.

Two things follow that an earliest fit would not do. Nodes are picked among those that are free at the first time at
which they suffice, though the job may begin later. And a job's end counts to it, when a reservation begins just then.
"""

import math

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.bits import count_bits
from forebay.algorithms.blocks import pick_blocks
from forebay.algorithms.profile import take
from forebay.core.codes import LogReason
from forebay.core.tables import after, instant_width
from forebay.core.verbs import interrupted
from forebay.policies._families.slurm_scheduler import Sched
from forebay.policies._kernels.ahead import availability, end_if_now
from forebay.policies._kernels.atoms import charge
from forebay.policies._kernels.licenses import has_licenses
from forebay.policies._kernels.places import fits_now, start_picked

_PRECISION = 30.0  # s
_ALL_BITS = 2**32 - 1


@kernel
def _add_picks(state, picked):
    """Add the nodes of a set to the picks, run by run; returns the first pick."""
    counts, first, size = state.counts[0], state.counts[0]["n_picks"], 0
    for node in range(32 * len(picked) + 1):
        if node < 32 * len(picked) and (picked[node >> 5] >> (node & 31)) & 1:
            size += 1
        elif size > 0:
            row = state.picks[counts["n_picks"]]
            row["low"], row["count"], row["server"] = node - size, size, -1
            counts["n_picks"] += 1
            size = 0
    return first


@kernel
def start_on(state, have, j, reason, picked):
    """Start job `j` on the nodes of a set."""
    charge(state, have.free, state.jobs[j]["leg"])
    start_picked(state, j, reason, have.words, _add_picks(state, picked))


@allocating_kernel
def start_in_blocks(state, have, j, reason):
    """Start job `j`, which fits, on the nodes that Slurm would pick of all that are idle."""
    picked = np.zeros(len(have.words), np.int64)
    pick_blocks(have.words.copy(), state.demands[state.jobs[j]["leg"], 0], picked)
    start_on(state, have, j, reason, picked)


@kernel
def _span_from(begins, left, n, time):
    """Let a span begin at a time behind the first one's beginning; returns its place and how many there are."""
    i = n
    while i > 0 and begins[i - 1] >= time:
        i -= 1
    if i < n and begins[i] == time:
        return i, n
    for k in range(n, i, -1):
        begins[k] = begins[k - 1]
        for r in range(left.shape[1]):
            left[k, r] = left[k - 1, r]
    begins[i] = time
    for r in range(left.shape[1]):
        left[i, r] = left[i - 1, r]
    return i, n + 1


@kernel
def _hold(begins, left, n, R, begin, end, window_end, demand, nodes):
    """Take licences and nodes from the table while a reservation lasts; returns how many spans there are."""
    begin = max(begin, begins[0])
    if begin >= window_end:
        return n
    first, n = _span_from(begins, left, n, begin)
    last = n
    if end < window_end:
        last, n = _span_from(begins, left, n, end)
    for i in range(first, last):
        for r in range(1, R):
            left[i, r] -= demand[r]
        for w in range(len(nodes)):
            left[i, R + w] &= ~nodes[w]
    return n


@kernel
def _unreserved(begins, left, n, R, window_end, start, end, demand, nodes):
    """The nodes that no reservation needs from `start` to `end`, into `nodes`.

    Returns when others come free of reservations, inf if never; and whether licences suffice throughout.
    """
    later, licensed, W = np.inf, True, len(nodes)
    for w in range(W):
        nodes[w] = _ALL_BITS
    for i in range(n):
        over = begins[i + 1] if i + 1 < n else window_end
        if over <= start:
            continue
        if i + 1 < n and later == np.inf:
            for w in range(W):
                if left[i + 1, R + w] & ~(nodes[w] & left[i, R + w]):
                    later = over
        if begins[i] > end + instant_width(end):
            break
        for w in range(W):
            nodes[w] &= left[i, R + w]
        for r in range(1, R):
            if demand[r] > left[i, r]:
                licensed, later = False, over
    return later, licensed


@kernel
def _wider(window, linear, needed):
    """The next window: twice as wide, or wider by a step, and at least as wide as needed."""
    if linear > 0.0:
        return window + linear * max(1.0, math.ceil((needed - window) / linear))
    window *= 2.0
    while window < needed:
        window *= 2.0
    return window


@kernel
def _free_of_jobs(times, ahead, n, first_word, nodes, count, linear, free):
    """When `count` of some nodes are free as running jobs end (inf: never), and which are then, into `free`.

    Of the jobs that have some of these nodes, those are taken to end together, as the last of them does, that end
    within a window from the first end on, rounded up to half a minute: 30 s, then 60 s, and so on. As in Slurm, jobs
    that have none of the nodes do not close a window, however late they end.
    """
    for w in range(len(nodes)):
        free[w] = ahead[0, first_word + w] & nodes[w]
    if count_bits(free) >= count:
        return times[0]
    window, barrier, i = _PRECISION, np.inf, 1
    while i < n:
        last = -1
        while i < n and (last < 0 or last < i - 1 or times[i] <= barrier + window):
            concerned = False
            for w in range(len(nodes)):
                more = ahead[i, first_word + w] & nodes[w] & ~free[w]
                concerned = concerned or more != 0
                free[w] |= more
            if concerned:
                last = i
                if barrier == np.inf:
                    barrier = (math.floor(times[i] / _PRECISION) + 1.0) * _PRECISION
            i += 1
        if last >= 0 and count_bits(free) >= count:
            return times[last]
        if i < n:
            window = _wider(window, linear, times[i] - barrier)
    return np.inf


@kernel
def _reserved(begins, left, n, R, window_end, begin, end, demand, nodes):
    """Whether a reservation needs some of the nodes, or the licences, between two times."""
    for i in range(n):
        if begins[i] < end and (begins[i + 1] if i + 1 < n else window_end) > begin:
            for w in range(len(nodes)):
                if nodes[w] & ~left[i, R + w]:
                    return True
            for r in range(1, R):
                if demand[r] > left[i, r]:
                    return True
    return False


@allocating_kernel
def table_of(state, profile, n_reservations, R, W, params):
    """Nothing reserved yet, but for what sites have reserved; licences as running jobs give them back."""
    (times, ahead, n), slot = profile, params[Sched.BF_RESOLUTION]
    window_end = times[0] + params[Sched.BF_WINDOW]
    room = n + 2 * (n_reservations + len(state.planned)) + 2
    begins, left = np.empty(room), np.zeros((room, R + W), np.int64)
    begins[0], m = times[0], 1
    for r in range(R + W):
        left[0, r] = ahead[0, r] if r < R else _ALL_BITS
    for i in range(1, n if R > 1 else 0):
        begin = max(math.floor(times[i] / slot) * slot, after(times[0]))
        if begin >= window_end:
            break
        m -= 1 if m > 1 and begin <= begins[m - 1] else 0
        begins[m] = begin
        for r in range(R + W):
            left[m, r] = ahead[i, r] if r < R else _ALL_BITS
        m += 1
    soon, nothing, nodes = after(times[0]), np.zeros(R, np.int64), np.full(W, _ALL_BITS)
    for p in range(len(state.planned)):
        plan = state.planned[p]
        if plan["start"] > soon:
            m = _hold(begins, left, m, R, plan["start"], plan["end"], window_end, nothing, nodes)
    return begins, left, m


@kernel
def last_who_fits(state, have, line, last):
    """The last place in line, up to `last`, of a job that fits into what is there now; -1 if none does."""
    while last >= 0 and not fits_now(state, have, line[last]):
        last -= 1
    return last


@kernel
def find_nodes(state, have, table, profile, params, R, j, scratch):
    """When job `j` begins, and whether it starts now; inf = it does not start, and reserves nothing.

    The last row of `scratch` then has its nodes. `table` is of spans, `profile` of running jobs, each with its length.
    """
    (begins, left, m), (times, ahead, n), now = table, profile, state.clock[0]["now"]
    nodes, free, picked = scratch[0], scratch[1], scratch[2]
    leg, window_end = state.jobs[j]["leg"], now + params[Sched.BF_WINDOW]
    demand, walltime = state.demands[leg], state.legs[leg]["walltime"]
    young, later = state.jobs[j]["submit"] > now - params[Sched.BF_MIN_AGE], now
    while later < np.inf:
        start = later
        if start > window_end:
            break
        later, licensed = _unreserved(begins, left, m, R, window_end, start, start + walltime, demand, nodes)
        if young:
            later = np.inf
        if not licensed or count_bits(nodes) < demand[0]:
            continue
        begin = max(_free_of_jobs(times, ahead, n, R, nodes, demand[0], params[Sched.BF_LINEAR], free), start)
        if begin == np.inf:
            continue
        for w in range(len(picked)):
            picked[w] = 0
        pick_blocks(free, demand[0], picked)
        if begin <= now + instant_width(now) and fits_now(state, have, j):
            return begin, True
        if young or later < begin:
            continue
        if begin > window_end:
            break
        first, end = _slots(params, begin, walltime)
        if _reserved(begins, left, m, R, window_end, first, end, demand, picked):
            later = begin if begin > start else begin + params[Sched.BF_RESOLUTION]
            continue
        return begin, False
    return np.inf, False


@kernel
def _slots(params, begin, walltime):
    """Beginning and end of a reservation, at multiples of bf_resolution."""
    slot = params[Sched.BF_RESOLUTION]
    first = math.floor(begin / slot) * slot
    return first, max(math.floor((begin + walltime) / slot) * slot, first + slot)


@kernel
def hold_nodes(state, table, params, R, j, begin, picked):
    """Reserve nodes for job `j` from a time on; returns how many spans there are."""
    leg, window_end = state.jobs[j]["leg"], state.clock[0]["now"] + params[Sched.BF_WINDOW]
    first, end = _slots(params, begin, state.legs[leg]["walltime"])
    return _hold(table[0], table[1], table[2], R, first, end, window_end, state.demands[leg], picked)


@allocating_kernel
def start_found(state, have, table, profile, params, R, j, picked):
    """Start job `j` on nodes that were found; returns how many spans there are, and how long the profile is."""
    (begins, left, m), (times, ahead, n), now = table, profile, state.clock[0]["now"]
    demand, taken = state.demands[state.jobs[j]["leg"]], np.empty(R + len(picked), np.int64)
    for r in range(len(taken)):
        taken[r] = demand[r] if r < R else picked[r - R]
    start_on(state, have, j, LogReason.BACKFILLED, picked)
    end, slot = end_if_now(state, j), params[Sched.BF_RESOLUTION]
    n = take(times, ahead, n, R, taken, 0, end)
    if R > 1:
        until, window_end = math.floor(end / slot) * slot, now + params[Sched.BF_WINDOW]
        m = _hold(begins, left, m, R, now, until, window_end, demand, picked[:0])
    return m, n


@allocating_kernel
def pinned_cycle(state, have, line, params, R):
    """Start whoever delays no reservation of those before it, of the jobs in line; returns how many."""
    last = last_who_fits(state, have, line, len(line) - 1)
    if last < 0:
        return 0
    times, ahead, n = availability(state, have, -1, R, 0, len(have.words))
    begins, left, m = table_of(state, (times, ahead, n), len(line), R, len(have.words), params)
    scratch, i, n_started = np.empty((3, len(have.words)), np.int64), 0, 0
    while i <= last:
        j = line[i]
        i += 1
        if i & 63 == 0 and interrupted(state):
            break
        if params[Sched.RESERVED] == 1.0 and not has_licenses(state, have, j, params):
            continue
        table, profile = (begins, left, m), (times, ahead, n)
        begin, starts = find_nodes(state, have, table, profile, params, R, j, scratch)
        if starts:
            m, n = start_found(state, have, table, profile, params, R, j, scratch[2])
            n_started += 1
            if n_started == params[Sched.BF_MAX_START]:
                break
        elif begin < np.inf:
            m = hold_nodes(state, table, params, R, j, begin, scratch[2])
        last = last_who_fits(state, have, line, last)
    return n_started
