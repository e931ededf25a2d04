"""Three queues, for stage-in, run and stage-out, each served in order or by a knapsack: Cerberus (2016), compiled.

A leg that takes nodes waits in the run queue; one before it, if it is its job's first, in the queue for stage-in; one
after it in that for stage-out. In order means that the first leg that does not fit holds back its queue, but no other.
By knapsack, the set of legs starts that is worth most of those that fit, among the first of the queue.
"""

import math

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.search.knapsack import choose, choose_by_table, common_unit
from forebay.core.codes import LogReason
from forebay.core.tables import policy_kernel
from forebay.core.verbs import interrupted
from forebay.policies._families.cerberus import CHOICES, COARSER, Param, RunValue
from forebay.policies._kernels.availability.placement import fits_now, what_is_there
from forebay.policies._kernels.backfill.backfill import start_now
from forebay.policies._kernels.bankers import guard_of, is_at_rest, is_safe, note_start

_IN, _RUN, _OUT = range(3)
_MOST_CELLS = 1e7
"""Of a table that takes about 10 ms: where no exact way is quicker, units are made coarser."""
_MOST_ROOM = 1e8
"""The same where a table was asked for: one of 1 GB or less."""


@kernel
def _queue_of(state, j):
    leg = state.jobs[j]["leg"]
    if state.demands[leg, 0] > 0:
        return _RUN
    return _IN if state.legs[leg]["number"] == 0 else _OUT


@allocating_kernel
def _queues(state):
    """Waiting jobs by queue, in the order in which they joined it, and how many they are."""
    counts = state.counts[0]
    lines, lengths = np.empty((3, counts["n_queued"]), np.int64), np.zeros(3, np.int64)
    for i in range(counts["queue_first"], counts["queue_last"]):
        j = state.queue[i]
        if j >= 0:
            q = _queue_of(state, j)
            lines[q, lengths[q]] = j
            lengths[q] += 1
    return lines, lengths


@kernel
def _may_start(state, have, guard, j):
    """Whether job `j` fits, and all that have begun can end if it starts."""
    return fits_now(state, have, j) and is_safe(state, have, guard, j)


@kernel
def _start(state, have, guard, j, reason):
    start_now(state, have, j, reason)
    note_start(state, guard, j)


@kernel
def _in_order(state, have, guard, line):
    for j in line:
        if interrupted(state) or not _may_start(state, have, guard, j):
            return
        _start(state, have, guard, j, LogReason.IN_ORDER)


@kernel
def _out_of_turn(state, have, guard):
    """Nothing runs, and those in front may not go on: one of the jobs that have begun can, whatever its place."""
    for q in range(state.counts[0]["queue_first"], state.counts[0]["queue_begun"]):
        j = state.queue[q]
        if j >= 0 and _may_start(state, have, guard, j):
            _start(state, have, guard, j, LogReason.BACKFILLED)
            return


@kernel
def _count_considered(params, n):
    """How many of a queue of n are looked at."""
    return int(min(params[Param.CONSIDERED], math.ceil(n / params[Param.ALPHA])))


@kernel
def _set_values(state, params, queue, line, expected, demand, capacity, value):
    """What each leg is worth: nodes x buffer, perhaps by its time squared, or one; to stage, its volume or one.

    Its time is its walltime, or what is expected of its job, if anything is.

    Amounts count in their common unit, so that sums of products are exact and ties are ties.
    """
    columns = demand.shape[1]
    unit0, unit1 = common_unit(demand, capacity, 0), common_unit(demand, capacity, columns - 1)
    buffered = False
    for k in range(len(line)):
        buffered = buffered or (columns > 1 and demand[k, 1] > 0)
    for k in range(len(line)):
        value[k] = demand[k, 0] // unit0
        if queue != _RUN:
            value[k] = 1.0 if params[Param.COUNTS_JOBS] > 0 else value[k]
            continue
        if params[Param.RUN_VALUE] == RunValue.ONE.value:
            value[k] = 1.0
            continue
        if buffered:  # where no job asks for any, nodes alone count
            value[k] *= demand[k, 1] // unit1
        if params[Param.RUN_VALUE] >= RunValue.BY_TIME.value:
            seconds = state.legs[state.jobs[line[k]]["leg"]]["walltime"]
            if len(expected) > 0:
                seconds = expected[line[k]]
            value[k] /= seconds * seconds


@kernel
def _coarsen(demand, capacity, units, most):
    """Make units larger until a table of them has at most so many cells; whether that was so from the beginning."""
    as_asked = True
    while True:
        cells, largest = float(len(demand)), 0
        for r in range(len(capacity)):
            cells *= capacity[r] // units[r] + 1.0
            if capacity[r] // units[r] > capacity[largest] // units[largest]:
                largest = r
        if cells <= most:
            return as_asked
        units[largest] *= 2
        as_asked = False


@kernel
def _round_down(demand, capacity, units):
    """Put demands and room into units, rounded down: more may be chosen than fits."""
    for r in range(len(capacity)):
        capacity[r] //= units[r]
        for k in range(len(demand)):
            demand[k, r] //= units[r]
        units[r] = 1


@allocating_kernel
def _by_knapsack(state, params, have, guard, queue, line, expected, memory):
    """Start the set that is worth most, of those of the first legs that fit."""
    R = len(have.free)
    buffer = state.machine[0]["chunked"] if state.machine[0]["chunked"] >= 0 else min(1, R - 1)
    m = 0
    candidates = np.empty(_count_considered(params, len(line)), np.int64)
    for k in range(len(candidates)):
        if _may_start(state, have, guard, line[k]):  # by itself, and in resources that the knapsack does not weigh
            candidates[m] = line[k]
            m += 1
    candidates = candidates[:m]
    columns = 2 if queue == _RUN and buffer > 0 else 1
    demand, capacity, units = np.empty((m, columns), np.int64), np.empty(columns, np.int64), np.empty(columns, np.int64)
    for column in range(columns):
        r = buffer if queue != _RUN or column == 1 else 0
        capacity[column] = have.free[r]
        units[column] = int(params[Param.UNIT_NODES if r == 0 else Param.UNIT_BYTES])
        for k in range(m):
            demand[k, column] = state.demands[state.jobs[candidates[k]]["leg"], r]
    value, chosen = np.empty(m), np.zeros(m, np.int8)
    _set_values(state, params, queue, candidates, expected, demand, capacity, value)
    if params[Param.IN_UNITS] > 0:
        as_asked = _coarsen(demand, capacity, units, _MOST_ROOM)
        if params[Param.ROUNDS_DOWN] > 0:
            _round_down(demand, capacity, units)
        choose_by_table(demand, value, capacity, units, chosen)
    else:
        _coarsen(demand, capacity, units, _MOST_CELLS)
        _, as_asked = choose(demand, value, capacity, units, _MOST_CELLS, chosen)
    memory[0][0, CHOICES] += 1
    memory[0][0, COARSER] += not as_asked
    _start_chosen(state, have, guard, line, candidates, chosen)


@kernel
def _start_chosen(state, have, guard, line, candidates, chosen):
    """Start them in the order of the queue. Units may be too coarse for any: then the first that fits starts."""
    n_started, at = 0, 0
    for k in range(len(candidates)):
        if chosen[k] == 1 and _may_start(state, have, guard, candidates[k]):  # chunks may not fit together
            while line[at] != candidates[k]:
                at += 1
            _start(state, have, guard, candidates[k], LogReason.IN_ORDER if at == n_started else LogReason.BACKFILLED)
            n_started += 1
    if n_started == 0 and len(candidates) > 0:
        reason = LogReason.IN_ORDER if line[0] == candidates[0] else LogReason.BACKFILLED
        _start(state, have, guard, candidates[0], reason)


@allocating_kernel
def serve_queues(state, params, memory, expected):
    """Serve the three queues in turn. `expected` has how long the run of each job is expected to take, or nothing."""
    have, guard = what_is_there(state, False), guard_of(state, params[Param.BANKER] > 0)
    lines, lengths = _queues(state)
    for turn in range(3):
        queue = int(params[turn])
        line = lines[queue, : lengths[queue]]
        if len(line) > 0 and params[Param.BY_KNAPSACK_IN + queue] > 0:
            _by_knapsack(state, params, have, guard, queue, line, expected, memory)
        elif len(line) > 0:
            _in_order(state, have, guard, line)
    if is_at_rest(state, guard):
        _out_of_turn(state, have, guard)


@policy_kernel
def cerberus(state, params, memory, rng):
    """The decision of one instant."""
    if state.counts[0]["n_queued"] > 0:
        serve_queues(state, params, memory, memory[1][0, :0])
