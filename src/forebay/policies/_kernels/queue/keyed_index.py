"""A long queue in another order than that in which jobs have come: from one that can start to the next.

The trees of `index` have the keys of jobs in their last columns. The half in which somebody may go first is looked
at first, and a part is left out if no job there goes before the best found.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.queues.forest import FIRST, HEAD, LEAF, NO_JOB, blank, clean, possible, tree_at
from forebay.policies._families.backfill import Param
from forebay.policies._kernels.queue.index import length_at, n_indexed, of_amounts
from forebay.policies._kernels.queue.keys import (
    AS_IS,
    KEYED,
    LIFT,
    Key,
    Lift,
    bound_of,
    is_known,
    key_columns,
    put_key,
    stand_of,
)

_LAST = NO_JOB, NO_JOB, NO_JOB
_NOWHERE = -1, -1, -1, -1


class Line(NamedTuple):
    """A queue in its order, and how those behind its head are found.

    Without an index all jobs are in it. With one that is as they have come, it is the queue from place `first` on. With
    one in another order, jobs are asked for one by one, of those from place `first` on; `jobs` is the queue, or empty
    if its head is asked for, too.
    """

    jobs: np.ndarray
    lookup: np.ndarray  # the index, or empty
    first: int
    key: Key  # of the index
    lift: Lift


LINE = types.NamedTuple((types.int64[::1], types.int64[:, ::1], types.int64, KEYED, LIFT), Line)
"""A Line, to the compiler."""


@inlined_kernel
def has_to_ask(line, params):
    """Whether jobs behind the head are to be asked for one by one: with an index in another order."""
    return (params[Param.ORDER] != AS_IS or params[Param.BACKFILL_ORDER] != AS_IS) and len(line.lookup) > 0


@allocating_kernel
def behind_place(line, i):
    """The same line for those behind the i-th of the queue, whose head is not asked for."""
    return Line(line.jobs, line.lookup, line.first + i + 1, line.key, line.lift)


@kernel
def last_before(line, head):
    """The job behind which those that pass the head are asked for; -1 if it has another order than they."""
    return head if len(line.jobs) == 0 else -1


@kernel
def _search_leaf(state, line, begin, at, limits, sought):
    """The best job of a leaf between `limits`: its stand, and where it is found; the last limit if there is none."""
    index, key, (after, best), found, stale = line.lookup, line.key, limits, _NOWHERE, False
    column = index.shape[1] - key_columns(key.order)
    first = HEAD + begin + (at - index[tree_at(index, begin), FIRST]) * LEAF
    for k in range(first, first + LEAF):
        if index[k, FIRST] == NO_JOB or index[k, FIRST] < line.first:
            continue
        j = state.queue[index[k, FIRST]]
        if j < 0:
            stale = stale or j == -1
            continue
        if not is_known(index[k], column, key):
            put_key(state, index[k], column, j, key)
            stale = True
        if possible(index[k], sought):
            stand = stand_of(state, j, key)
            if after < stand < best:
                best, found = stand, (j, k, begin, at)
    if stale:
        clean(index, begin, at, state.queue)
    return best, found


@kernel
def _search(state, line, begin, limits, sought):
    """The same of a stretch: see forest.find."""
    index, (after, best), found = line.lookup, limits, _NOWHERE
    nodes, column = tree_at(index, begin), index.shape[1] - key_columns(line.key.order)
    n_leaves, at, pending = index[nodes, FIRST], 1, 0
    while True:
        row = index[nodes + at]
        if possible(row, sought) and bound_of(row, column, line.lift) < best:
            if at < n_leaves:
                left, right = index[nodes + 2 * at], index[nodes + 2 * at + 1]
                at = 2 * at + (bound_of(right, column, line.lift) < bound_of(left, column, line.lift))
                pending = 2 * pending + 1
                continue
            best, one = _search_leaf(state, line, begin, at, (after, best), sought)
            found = one if one[0] >= 0 else found
        while at > 1 and not pending & 1:
            at >>= 1
            pending >>= 1
        if at == 1:
            return best, found
        at ^= 1
        pending ^= 1


@kernel
def next_by_key(state, line, last, sought):
    """The first job in the order of an index, behind job `last` unless that is -1, that may fit; -1 if none does.

    And behind it its row, stretch and leaf: see take_out.
    """
    counts, best, found, begin = state.counts[0], _LAST, _NOWHERE, 0
    after = stand_of(state, last, line.key) if last >= 0 else (-NO_JOB, -NO_JOB, -NO_JOB)
    base, n = n_indexed(line.lookup)
    while begin < n:
        best, one = _search(state, line, begin, (after, best), sought)
        found = one if one[0] >= 0 else found
        begin += length_at(begin, n)
    for q in range(max(base + n, line.first), counts["queue_last"]):
        j, row = state.queue[q], HEAD + q - base
        if j >= 0 and possible(line.lookup[row], sought):
            stand = stand_of(state, j, line.key)
            if after < stand < best:
                best, found = stand, (j, row, -1, -1)
    return found


@kernel
def take_out(state, line, found):
    """Take a job that starts now out of the index: it stays in the queue until the decision is over."""
    _, row, begin, leaf = found
    blank(line.lookup[row])
    if leaf >= 0:
        clean(line.lookup, begin, leaf, state.queue)


@allocating_kernel
def everybody(state, line):
    """Who is sought if anybody is."""
    plenty = np.full(state.demands.shape[1], NO_JOB - 1)
    return of_amounts(np.inf, plenty, plenty, line.lookup)


@allocating_kernel
def all_by_key(state, head, line, last, sought):
    """A job, and behind it all that may fit, in the order of an index, that stand behind job `last`."""
    found, n = np.empty(state.counts[0]["n_queued"] + 1, np.int64), 1
    found[0] = head
    j = next_by_key(state, line, last, sought)[0]
    while j >= 0:
        if j != head:
            found[n] = j
            n += 1
        j = next_by_key(state, line, j, sought)[0]
    return found[:n]
