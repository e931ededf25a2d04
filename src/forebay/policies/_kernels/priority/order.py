"""The queue by multifactor priority.

Priorities of old change once a period. In between, jobs leave the line and new ones join it: so its last order is kept
and the new ones are put in their places.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.policies._families.multifactor import Clock, Column, Number, Row
from forebay.policies._kernels.queue.ordering import by_rank, is_ranked

_FEW = 32  # new jobs, up to which these are put in their places one by one


@kernel
def goes_before(state, numbers, j, other):
    """The higher priority goes first, then the lower id."""
    ours, theirs = numbers[j, Number.PRIORITY], numbers[other, Number.PRIORITY]
    return ours > theirs or (ours == theirs and state.jobs[j]["id"] < state.jobs[other]["id"])


@allocating_kernel
def _sort(state, memory, line):
    """The line anew."""
    numbers, n = memory[1], len(line)
    keys, ties = np.empty(n), np.empty(n, np.int64)
    for i in range(n):
        keys[i], ties[i] = -numbers[line[i], Number.PRIORITY], state.jobs[line[i]]["id"]
    sort_smallest(keys, ties, line, n, n)


@kernel
def _merge(state, memory, fresh, n_fresh, turn, line):
    """The last line without those who have left, and the few who are new."""
    integers, numbers = memory
    for i in range(1, n_fresh):
        j, k = fresh[i], i
        while k > 0 and goes_before(state, numbers, j, fresh[k - 1]):
            fresh[k] = fresh[k - 1]
            k -= 1
        fresh[k] = j
    at, k = 0, 0
    for i in range(integers[Row.IN_LINE, Column.COUNT]):
        j = integers[i, Column.LINE]
        if integers[j, Column.SEEN] != turn:
            continue
        while k < n_fresh and goes_before(state, numbers, fresh[k], j):
            line[at] = fresh[k]
            at, k = at + 1, k + 1
        line[at] = j
        at += 1
    for i in range(k, n_fresh):
        line[at] = fresh[i]
        at += 1


@allocating_kernel
def by_priority(state, memory):
    """The queue by rank, priority (the highest first) and id. Jobs that have begun stay first: see `ordering`."""
    counts, (integers, numbers) = state.counts[0], memory
    whole, n = np.empty(counts["n_queued"], np.int64), 0
    for q in range(counts["queue_first"], counts["queue_begun"]):
        if state.queue[q] >= 0:
            whole[n] = state.queue[q]
            n += 1
    line, fresh, n_fresh, k = whole[n:], np.empty(_FEW, np.int64), 0, 0
    last = integers[Row.TURN, Column.COUNT]
    for q in range(counts["queue_begun"], counts["queue_last"]):
        j = state.queue[q]
        if j < 0:
            continue
        if integers[j, Column.SEEN] != last:
            if n_fresh < _FEW:
                fresh[n_fresh] = j
            n_fresh += 1
        integers[j, Column.SEEN] = last + 1
        line[k] = j
        k += 1
    if last == 0 or n_fresh > _FEW or numbers[Clock.COMPUTED, Number.CLOCK] > 0.0:
        _sort(state, memory, line)
    else:
        _merge(state, memory, fresh, n_fresh, last + 1, line)
    for i in range(len(line)):
        integers[i, Column.LINE] = line[i]
    integers[Row.TURN, Column.COUNT], integers[Row.IN_LINE, Column.COUNT] = last + 1, len(line)
    numbers[Clock.COMPUTED, Number.CLOCK] = 0.0
    if is_ranked(state, line):
        ranked = by_rank(state, line)
        for i in range(len(line)):
            line[i] = ranked[i]
    return whole
