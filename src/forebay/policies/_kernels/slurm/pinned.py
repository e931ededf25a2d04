"""A cycle of sched/backfill whose reservations are of certain nodes, step by step as Slurm goes.

Slurm keeps two things apart. A *table* has what the reservations laid so far leave: see `table`. What running
jobs hold is asked of the select plug-in: when, as they end, are enough of some nodes free, and which are these; see
`select`. So for each job, from now on:

1. The nodes that no reservation needs from a time on until the job would end. If too few: again from the next time at
   which others come free of reservations.
2. When enough of these are free of running jobs; nodes are picked among all that are by then.
   If that is later than others come free of reservations: again from then on.
3. If the time is now, the job starts. Otherwise, if a reservation has some of the nodes while the job would run there:
   again from that time on. If not, the nodes are reserved.

Two things follow that an earliest fit would not do. Nodes are picked among those that are free at the first time at
which they suffice, though the job may begin later. And a job's end counts to it, when a reservation begins just then.
"""

import math

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.availability.profile import take
from forebay.algorithms.nodes.bits import count_bits, lowest
from forebay.algorithms.nodes.shared_nodes import BLOCK, holds, next_open
from forebay.core.codes import LogReason
from forebay.core.tables import instant_width
from forebay.core.verbs import interrupted
from forebay.policies._families.slurm_scheduler import Sched
from forebay.policies._kernels.availability.licenses import has_licenses
from forebay.policies._kernels.availability.placement import fits_now
from forebay.policies._kernels.availability.profile import availability, end_if_now
from forebay.policies._kernels.slurm.pick import pick_free, start_picked_nodes
from forebay.policies._kernels.slurm.returns import note_start
from forebay.policies._kernels.slurm.select import (
    ask_whole,
    bits_of,
    free_by,
    least_nodes,
    note_freed,
    select_of,
    when_free,
)
from forebay.policies._kernels.slurm.shared_nodes import Try, ask_inside, ask_nodes, too_few, when_inside
from forebay.policies._kernels.slurm.table import (
    begin_tries,
    hold,
    is_reserved,
    next_try,
    nodes_of,
    table_of,
    window_end,
)

FROM_ZERO = True


@inlined_kernel
def n_licences(params):
    """How many resources reservations hold: nodes, and licences if these are held."""
    return int(params[Sched.LAST_LICENSE]) if params[Sched.RESERVED] > 1.0 else 1


@kernel
def find_nodes(state, have, select, table, profile, params, j):
    """When job `j` begins, and whether it starts now; inf = it does not start, and reserves nothing.

    Its nodes are then `select.picked`, and on shared nodes the first `n` of `select.picks`: the last number returned.
    """
    R, now, later = n_licences(params), state.clock[0]["now"], state.clock[0]["now"]
    linear = params[Sched.BF_LINEAR]
    leg, last = state.jobs[j]["leg"], window_end(state, params)
    demand, walltime, count = state.demands[leg], state.legs[leg]["walltime"], least_nodes(state, leg)
    young = state.jobs[j]["submit"] > now - params[Sched.BF_MIN_AGE]
    span, shared = 0, len(have.inside) > 0
    nodes_of(select.atoms, bits_of(state, leg), select.allowed)
    if shared:
        ask_inside(state, have, select, leg)
    else:
        ask_whole(select, profile, R)
    begin_tries(table)
    while later <= last and not interrupted(state):
        span, start, later = next_try(table, R, span, later, walltime, demand, count)
        if start > last:
            break
        if young:
            later = np.inf
        end = start + walltime
        end += instant_width(end)
        if shared:
            this = Try(leg, count, span, end, later)
            begin = when_inside(state, have, select, table, R, this, linear)
        else:
            if later < np.inf:
                free_by(select, profile, later)
                if too_few(select, table, R, span, end, count):
                    continue  # it would begin later than others come free of reservations
            ask_nodes(select, table, R, span, end)
            if count_bits(select.nodes) < count:
                continue
            begin = when_free(select, profile, count, linear)
        begin = max(begin, start)
        if begin == np.inf:
            continue
        if begin <= now + instant_width(now) and fits_now(state, have, j):
            return begin, True, pick_free(state, have, select, leg)
        if young or later < begin:
            continue
        if begin > last:
            break
        n_picks = pick_free(state, have, select, leg)
        first, behind = _slots(params, begin, walltime)
        if is_reserved(table, R, last, first, behind, demand, select.picked):
            later = begin if begin > start else begin + params[Sched.BF_RESOLUTION]
            continue
        return begin, False, n_picks
    return np.inf, False, 0


@inlined_kernel
def _slots(params, begin, walltime):
    """Beginning and end of a reservation, at multiples of bf_resolution."""
    slot = params[Sched.BF_RESOLUTION]
    first = math.floor(begin / slot) * slot
    return first, max(math.floor((begin + walltime) / slot) * slot, first + slot)


@inlined_kernel
def hold_nodes(state, select, table, params, j, begin):
    """Reserve the nodes picked for job `j` from a time on."""
    leg = state.jobs[j]["leg"]
    first, end = _slots(params, begin, state.legs[leg]["walltime"])
    hold(table, n_licences(params), first, end, window_end(state, params), state.demands[leg], select.picked)


@allocating_kernel
def start_found(state, have, select, table, profile, params, j, n_picks):
    """Start job `j` on nodes that were found; returns how long the profile is."""
    (times, ahead, n), R, now = profile, n_licences(params), state.clock[0]["now"]
    demand, picked = state.demands[state.jobs[j]["leg"]], select.picked
    start_picked_nodes(state, have, select, j, LogReason.BACKFILLED, n_picks)
    if len(have.inside) > 0:
        note_start(state, select.returns, have.inside, j, state.actions[state.counts[0]["n_actions"] - 1])
    end, slot = end_if_now(state, j), params[Sched.BF_RESOLUTION]
    if ahead.shape[1] > R:
        taken = np.empty(R + len(picked), np.int64)
        for r in range(len(taken)):
            taken[r] = demand[r] if r < R else picked[r - R]
        n = take(times, ahead, n, R, taken, 0, end)
        note_freed(select, (times, ahead, n), R)
    if R > 1:
        hold(table, R, now, math.floor(end / slot) * slot, window_end(state, params), demand, picked[:0])
    return n


@allocating_kernel
def profile_of(state, have, R, W):
    """What will be free when: licences and, in words, nodes that jobs have to themselves. Of neither, only the time."""
    if R > 1 or W > 0:
        return availability(state, have, -1, R, 0, W)
    return np.full(1, state.clock[0]["now"]), np.zeros((1, 1), np.int64), 1


@kernel
def _finds_inside(state, have, table, ask, end):
    """Whether parts find room now on shared nodes that no reservation needs by a time."""
    inside, left, n_nodes = state.inside, ask["parts"], len(state.inside.full)
    for a in range(len(inside.atoms) - 1):
        if not (ask["allowed"] >> a) & 1:
            continue
        node, high = next_open(have.inside, n_nodes, inside.atoms[a], inside.atoms[a + 1], ask), inside.atoms[a + 1]
        while node < high and left > 0:
            if table.until[node] > end:
                left -= holds(have.inside, inside.full, node, ask)
            node += 1
            if node % BLOCK == 0:
                node = next_open(have.inside, n_nodes, node, high, ask)
    return left <= 0


@kernel
def _may_start(state, have, table, j):
    """Whether job `j` fits now, on nodes that no reservation needs before it would end. That is lost once and for all:
    during a cycle there is ever less."""
    if not fits_now(state, have, j):
        return False
    leg, end = state.jobs[j]["leg"], end_if_now(state, j)
    end += instant_width(end)
    if len(have.inside) > 0:
        return _finds_inside(state, have, table, state.inside.asks[leg], end)
    left = state.demands[leg, 0]
    for w in range(len(have.words)):
        word = have.words[w] if left > 0 else 0
        while word != 0:
            left -= table.until[32 * w + lowest(word)] > end
            word &= word - 1
    return left <= 0


@kernel
def last_who_may(state, have, table, line, last):
    """The last place in line, up to `last`, of a job that may still start now; -1 if none may."""
    while last >= 0 and not _may_start(state, have, table, line[last]) and not interrupted(state):
        last -= 1
    return last


@kernel
def last_who_fits(state, have, line, last):
    """The last place in line, up to `last`, of a job that fits into what is there now; -1 if none does."""
    while last >= 0 and not fits_now(state, have, line[last]):
        last -= 1
    return last


@allocating_kernel
def pinned_cycle(state, have, line, params):
    """Start whoever delays no reservation of those before it, of the jobs in line; returns how many."""
    last = last_who_fits(state, have, line, len(line) - 1)
    if last < 0:
        return 0
    R = n_licences(params)
    times, ahead, n = profile_of(state, have, R, len(have.words))
    select = select_of(state, have, line, len(times))
    note_freed(select, (times, ahead, n), R)
    table = table_of(state, (times, ahead, n), line, R, select.atoms, params)
    last, i, n_started = last_who_may(state, have, table, line, last), 0, 0
    while i <= last:
        j = line[i]
        i += 1
        if interrupted(state):
            break
        if params[Sched.RESERVED] == 1.0 and not has_licenses(state, have, j, params):
            continue
        begin, starts, n_picks = find_nodes(state, have, select, table, (times, ahead, n), params, j)
        if starts:
            n = start_found(state, have, select, table, (times, ahead, n), params, j, n_picks)
            n_started += 1
            if n_started == params[Sched.BF_MAX_START]:
                break
        elif begin < np.inf:
            hold_nodes(state, select, table, params, j, begin)
        last = last_who_may(state, have, table, line, last)
    return n_started
