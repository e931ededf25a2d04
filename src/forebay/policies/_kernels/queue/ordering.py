"""Waiting jobs by a key: the order of a queue, and that in which jobs may pass its head.

Where partitions have priority tiers, those of a higher one go first in every order.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.policies._families.backfill import Param
from forebay.policies._kernels.availability.placement import fits_now
from forebay.policies._kernels.queue.keys import AS_IS, key_by, value_of


@kernel
def is_ranked(state, items):
    """Whether partitions let some of these jobs go before others, whatever their keys."""
    for j in items:
        if state.jobs[j]["rank"] > 0:
            return True
    return False


@allocating_kernel
def by_rank(state, items):
    """The same jobs, those of the highest rank first, otherwise in the order in which they are."""
    ordered, n, rank = np.empty(len(items), np.int64), 0, np.int64(1 << 62)
    while n < len(items):
        below = np.int64(-1)
        for j in items:
            if state.jobs[j]["rank"] < rank:
                below = max(below, state.jobs[j]["rank"])
        rank = below
        for j in items:
            if state.jobs[j]["rank"] == rank:
                ordered[n] = j
                n += 1
    return ordered


@allocating_kernel
def in_order(state, have, line, fitting, key, count):
    """Jobs of `line` by rank, key and id, at least the first `count` in order; all, or only those `fitting` now.

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
            keys[n] = value_of(state, j, key)
            ties[n] = state.jobs[j]["id"]
            items[n] = j
            n += 1
    if key.order != AS_IS and is_ranked(state, items):  # the queue itself goes by ranks
        sort_smallest(keys, ties, items, n, n)
        return by_rank(state, items)
    sort_smallest(keys, ties, items, n, count)
    return items


@allocating_kernel
def queue_by(state, have, order, sign):
    """The queue by key. Jobs that have begun stay first: what they hold while they wait, the head may need for ever."""
    counts = state.counts[0]
    begun = state.queue[counts["queue_first"] : counts["queue_begun"]]
    rest = state.queue[counts["queue_begun"] : counts["queue_last"]]
    ordered = in_order(state, have, rest, False, key_by(order, sign), len(rest))
    line = np.empty(len(begun) + len(ordered), np.int64)
    # Element by element: a copy of a slice would have compiled code load the compiler's part for arrays.
    for i in range(len(begun)):
        line[i] = begun[i]
    for i in range(len(ordered)):
        line[len(begun) + i] = ordered[i]
    return line


@kernel
def none_has_begun(state):
    """Whether all who wait do so for their first leg."""
    for q in range(state.counts[0]["queue_first"], state.counts[0]["queue_begun"]):
        if state.queue[q] != -1:
            return False
    return True


@allocating_kernel
def behind(state, have, rest, params, limit):
    """The jobs behind the reservations in backfill order; the first `limit` of them may be tried."""
    order = int(params[Param.BACKFILL_ORDER])
    if order == AS_IS:
        return rest
    key = key_by(order, 1.0)
    if limit < len(rest):  # every job tried counts, fitting or not
        return in_order(state, have, rest, False, key, limit)[:limit]
    return in_order(state, have, rest, True, key, len(rest))
