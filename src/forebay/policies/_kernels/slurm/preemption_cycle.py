"""A cycle of sched/backfill in which jobs displace others: see `victims` for whom, `backfill` for the rest.

Each job in line is tried three ways, as Slurm does it:

1. Where it fits now, beside the reservations of those before it, it starts.
2. If not, but it would if all whom it may displace were gone, some of them leave: as few as the main scheduler would
   choose, on nodes that are not reserved. The job keeps others from what it needs, and starts in the next cycle, or
   when the main scheduler gets to it.
3. If not, it reserves the earliest time, as if those whom it may displace were gone.
"""

import math
from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.availability.profile import reserve, split
from forebay.algorithms.nodes.bits import count_bits
from forebay.core.tables import after
from forebay.core.verbs import interrupted
from forebay.policies._families.preempt import Preempt
from forebay.policies._families.slurm_scheduler import Sched
from forebay.policies._kernels.availability.licenses import has_licenses
from forebay.policies._kernels.availability.node_sets import correct, earliest_for
from forebay.policies._kernels.availability.placement import Have, fits_now
from forebay.policies._kernels.availability.profile import end_if_now, n_held
from forebay.policies._kernels.backfill.reservations import can_start, start_beside
from forebay.policies._kernels.slurm.backfill import coarsen, round_down
from forebay.policies._kernels.slurm.pinned import (
    find_nodes,
    hold_nodes,
    last_who_fits,
    last_who_may,
    n_licences,
    start_found,
)
from forebay.policies._kernels.slurm.select import note_freed, select_of
from forebay.policies._kernels.slurm.table import table_of
from forebay.policies._kernels.slurm.victims import (
    ahead_without,
    candidates,
    give_nodes,
    is_waited_for,
    last_displacer,
    once_gone,
    tell,
)
from forebay.policies._kernels.victims import copy_of, reorder

NOBODY_MAY = -1


@allocating_kernel
def _none():
    return np.empty(0, np.int64)


@allocating_kernel
def _asked(state, block, j, memory):
    """Whom job `j` may displace now, in order; nobody if others are about to leave for it."""
    return _none() if is_waited_for(state, j, memory) else candidates(state, block, j, memory)


@allocating_kernel
def _n_on(state, have, j, line, n, nodes):
    """How many of the first `n` in line must leave until job `j` finds enough of some nodes; -1 = all are too few."""
    for i in range(1, n + 1):
        if interrupted(state):
            break
        there = once_gone(state, have, line[:i])
        for w in range(len(nodes)):
            there.words[w] &= nodes[w]
        if fits_now(state, there, j) and count_bits(there.words) >= state.demands[state.jobs[j]["leg"], 0]:
            return i
    return -1


@allocating_kernel
def _few_on(state, have, j, order, nodes, block):
    """Those who give way to job `j` of some running jobs in order, on some nodes; nobody if all are too few."""
    line, n = np.empty(len(order), np.int64), 0
    for v in order:
        words = np.zeros(len(nodes), np.int64)
        give_nodes(state, words, v)
        holds = False
        for w in range(len(nodes)):
            holds = holds or words[w] & nodes[w] != 0
        if holds:
            line[n] = v
            n += 1
    n = _n_on(state, have, j, line, n, nodes)
    for _ in range(int(block[Preempt.REORDER_COUNT])):
        if n <= 1:
            break
        reorder(state, line, n, block[Preempt.STRICT_ORDER] > 0.0)
        n = _n_on(state, have, j, line, n, nodes)
    return line[: max(n, 0)]


@allocating_kernel
def _pinned(state, have, line, last, params, block, memory):
    """The cycle where reservations are of certain nodes. Returns how many start, and how many are to leave."""
    R, W, displacer = n_licences(params), len(have.words), last
    times, ahead, n = ahead_without(state, have, _none(), state.counts[0]["n_actions"], R, W)
    select = select_of(state, have, line, len(times))
    note_freed(select, (times, ahead, n), R)
    table = table_of(state, (times, ahead, n), line, R, select.atoms, params)
    i, n_started, n_told = 0, 0, 0
    last = max(last, last_who_may(state, have, table, line, len(line) - 1))
    while i <= last and not interrupted(state):
        j = line[i]
        i += 1
        if params[Sched.RESERVED] == 1.0 and not has_licenses(state, have, j, params):
            continue
        begin, starts, _ = find_nodes(state, have, select, table, (times, ahead, n), params, j)
        if starts:
            n = start_found(state, have, select, table, (times, ahead, n), params, j, 0)
            n_started += 1
            if n_started == params[Sched.BF_MAX_START]:
                break
            last = max(displacer, last_who_may(state, have, table, line, last))
            continue
        order = _asked(state, block, j, memory)
        if len(order) > 0:
            there = once_gone(state, have, order)
            profile = ahead_without(state, there, order, state.counts[0]["n_actions"], R, W)
            note_freed(select, profile, R)
            begin, starts, _ = find_nodes(state, there, select, table, profile, params, j)
            note_freed(select, (times, ahead, n), R)
            chosen = _few_on(state, have, j, order, select.nodes, block) if starts else _none()
            if len(chosen) > 0:
                tell(state, block, memory, j, chosen)
                n_told += len(chosen)
        if begin < np.inf:
            hold_nodes(state, select, table, params, j, begin)
    return n_started, n_told


class Laid(NamedTuple):
    """What a cycle has started and reserved so far, and what was there as it began."""

    have: Have
    n_actions: int
    n: np.ndarray  # int64[1]: how many of the following there are
    spans: np.ndarray  # float64[k, 2]: beginning and end
    amounts: np.ndarray  # int64[k, resource]


@kernel
def _take(times, ahead, n, laid, k):
    """Take start or reservation `k` away from a profile; returns its length."""
    first, n = split(times, ahead, n, 0, ahead.shape[1], max(laid.spans[k, 0], times[0]))
    return reserve(times, ahead, n, ahead.shape[1], laid.amounts[k], first, laid.spans[k, 1])


@allocating_kernel
def _profile(state, laid, gone, params):
    """What is left when, as Slurm sees it, if some jobs did not run: beside all that the cycle has laid so far."""
    there = once_gone(state, laid.have, gone)
    times, ahead, n = ahead_without(state, there, gone, laid.n_actions, int(params[Sched.RESERVED]), 0)
    n = round_down(times, ahead, coarsen(times, ahead, n, params[Sched.BF_LINEAR]), params[Sched.BF_RESOLUTION])
    for k in range(laid.n[0]):
        n = _take(times, ahead, n, laid, k)
    return times, ahead, n


@kernel
def _note(state, laid, leg, begin, end):
    """Note what leg `leg` takes from a time to another, with its share of each atom as worked out last."""
    k = laid.n[0]
    laid.spans[k, 0], laid.spans[k, 1] = begin, end
    for r in range(laid.amounts.shape[1]):
        laid.amounts[k, r] = state.demands[leg, r]
    correct(state, laid.amounts[k], leg, 1)
    laid.n[0] += 1


@kernel
def _begin(state, profile, params, leg):
    """The earliest time at which a profile has room for a reservation of leg `leg`; inf = none within bf_window."""
    (times, ahead, n), slot = profile, params[Sched.BF_RESOLUTION]
    n_begins, window_end = 0, math.floor((state.clock[0]["now"] + params[Sched.BF_WINDOW]) / slot) * slot
    while n_begins < n and times[n_begins] <= after(window_end):
        n_begins += 1
    seconds = state.legs[leg]["walltime"] + slot
    at = earliest_for(state, times, ahead, n, n_begins, 0, ahead.shape[1], leg, seconds)
    return times[at] if at >= 0 else np.inf


@allocating_kernel
def _starts_beside(state, have, j, gone, laid, params):
    """Whether job `j` can start now beside all that is laid, if some jobs did not run."""
    there = once_gone(state, have, gone)
    if not fits_now(state, there, j):
        return False
    times, ahead, n = _profile(state, laid, gone, params)
    return can_start(state, there, times, ahead, n, ahead.shape[1], j, state.jobs[j]["leg"])


@allocating_kernel
def _n_beside(state, have, j, line, n, laid, params):
    """How many of the first `n` in line must leave until job `j` can start; -1 = all are too few."""
    for i in range(1, n + 1):
        if interrupted(state):
            break
        if _starts_beside(state, have, j, line[:i], laid, params):
            return i
    return -1


@allocating_kernel
def _few(state, have, j, order, laid, params, block):
    """Those who give way to job `j` of some running jobs in order; nobody if all are too few."""
    line, strict = order.copy(), block[Preempt.STRICT_ORDER] > 0.0
    if not _starts_beside(state, have, j, order, laid, params):
        return line[:0]
    n = _n_beside(state, have, j, line, len(line), laid, params)
    for _ in range(int(block[Preempt.REORDER_COUNT])):
        if n <= 1:
            break
        reorder(state, line, n, strict)
        n = _n_beside(state, have, j, line, n, laid, params)
    return line[: max(n, 0)]


@allocating_kernel
def _counted(state, have, line, last, params, block, memory):
    """The cycle where reservations count nodes. Returns how many start, and how many are to leave."""
    now, slot = state.clock[0]["now"], params[Sched.BF_RESOLUTION]
    R, i, n_started, n_told, displacer = n_held(state, have, int(params[Sched.RESERVED])), 0, 0, 0, last
    spans, amounts = np.empty((len(line), 2)), np.empty((len(line), R), np.int64)
    laid = Laid(copy_of(have), state.counts[0]["n_actions"], np.zeros(1, np.int64), spans, amounts)
    times, ahead, n = _profile(state, laid, line[:0], params)
    last = max(last, last_who_fits(state, have, line, len(line) - 1))
    while i <= last and not interrupted(state):
        j = line[i]
        i += 1
        if params[Sched.RESERVED] == 1.0 and not has_licenses(state, have, j, params):
            continue
        leg, end = state.jobs[j]["leg"], end_if_now(state, j)
        if can_start(state, have, times, ahead, n, R, j, leg):
            _note(state, laid, leg, now, end)
            n = start_beside(state, have, times, ahead, n, R, 0, 0, j)
            n_started += 1
            if n_started == params[Sched.BF_MAX_START]:
                break
            last = max(displacer, last_who_fits(state, have, line, last))
            continue
        order, begin = _asked(state, block, j, memory), np.inf
        chosen = _few(state, have, j, order, laid, params, block)
        if len(chosen) > 0:
            tell(state, block, memory, j, chosen)
            begin, n_told = now, n_told + len(chosen)
        elif state.jobs[j]["submit"] <= now - params[Sched.BF_MIN_AGE]:
            profile = _profile(state, laid, order, params) if len(order) > 0 else (times, ahead, n)
            begin = _begin(state, profile, params, leg)
        if begin < np.inf:
            _note(state, laid, leg, begin, begin + end - now + slot)
            n = _take(times, ahead, n, laid, laid.n[0] - 1)
    return n_started, n_told


@allocating_kernel
def displacing_cycle(state, have, line, params, block, memory):
    """A cycle over the jobs that it tests. Returns how many start, and how many are to leave for others.

    Where nobody may displace anybody, NOBODY_MAY and 0: then the cycle is one as ever.
    """
    if state.machine[0]["placement"] >= 0 or state.machine[0]["chunked"] >= 0:
        return NOBODY_MAY, 0
    last = last_displacer(state, block, memory, line)
    if last < 0:
        return NOBODY_MAY, 0
    if params[Sched.PINNED] > 0.0:
        return _pinned(state, have, line, last, params, block, memory)
    return _counted(state, have, line, last, params, block, memory)
