"""Waiting jobs by a key: the order of a queue, and that in which jobs may pass its head.

Where partitions have priority tiers, those of a higher one go first in every order.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.order import sort_smallest
from forebay.policies._families.backfill import Param
from forebay.policies._families.multifactor import Number
from forebay.policies._kernels.long_line import all_of
from forebay.policies._kernels.places import fits_now
from forebay.policies._orders import ORDERS

AS_IS, _WALLTIME, PRIORITY, _NODES, _AREA, _USER, _GROUP, _QUEUE = range(len(ORDERS))
BY_NUMBER = len(ORDERS)  # of the policy's own


class Key(NamedTuple):
    """What jobs are ordered by: the smallest of sign x value goes first."""

    order: int
    sign: float
    numbers: np.ndarray  # float64[job, multifactor.Number], if by number


class Line(NamedTuple):
    """A queue in its order, and how those behind its head are found.

    Without an index all jobs are in it. With one, and as they have come, it is the queue from place `first` on. With
    one and in another order, it ends with the first job that does not fit: those who may pass it are then asked for.
    """

    jobs: np.ndarray
    lookup: np.ndarray  # the index, or empty
    first: int
    key: Key


@kernel
def _key(state, j, key):
    job = state.jobs[j]
    leg, order = job["leg"], key.order
    if order == AS_IS:
        return float(job["at"])
    if order == BY_NUMBER:
        return key.sign * key.numbers[j, Number.PRIORITY]
    if order == _WALLTIME:
        return key.sign * state.legs[leg]["walltime"]
    if order == PRIORITY:
        return key.sign * job["priority"]
    if order == _NODES:
        return key.sign * state.demands[leg, 0]
    if order == _AREA and state.demands[leg, 0] > 0:  # no walltime is long enough for 0 x inf
        return key.sign * (state.demands[leg, 0] * state.legs[leg]["walltime"])
    if order == _AREA:
        return key.sign * 0.0
    if order == _USER:
        return key.sign * job["user"]
    if order == _GROUP:
        return key.sign * job["group"]
    return key.sign * job["queue"]


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
            keys[n] = _key(state, j, key)
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
    ordered = in_order(state, have, rest, False, Key(order, sign, np.empty((0, 0))), len(rest))
    line = np.empty(len(begun) + len(ordered), np.int64)
    # Element by element: a copy of a slice would have compiled code load the compiler's part for arrays.
    for i in range(len(begun)):
        line[i] = begun[i]
    for i in range(len(ordered)):
        line[len(begun) + i] = ordered[i]
    return line


@kernel
def goes_before(state, j, other, key):
    """The higher rank goes first, then the smaller key, then the lower id."""
    if key.order == BY_NUMBER:
        own, its = key.numbers[j], key.numbers[other]
        if own[Number.RANK] != its[Number.RANK]:
            return own[Number.RANK] > its[Number.RANK]
        if own[Number.PRIORITY] != its[Number.PRIORITY]:
            return own[Number.PRIORITY] > its[Number.PRIORITY]
        return own[Number.ID] < its[Number.ID]
    ours, theirs = state.jobs[j], state.jobs[other]
    if ours["rank"] != theirs["rank"]:
        return ours["rank"] > theirs["rank"]
    first, second = _key(state, j, key), _key(state, other, key)
    return first < second or (first == second and ours["id"] < theirs["id"])


@allocating_kernel
def front(state, have, key):
    """The jobs of the queue, in order, up to the first that does not fit now. None may have begun."""
    counts, blocked, n, n_before = state.counts[0], -1, 0, 0
    some = np.empty(counts["n_queued"] + 1, np.int64)
    for q in range(counts["queue_first"], counts["queue_last"]):
        j = state.queue[q]
        if j >= 0 and (blocked < 0 or goes_before(state, j, blocked, key)):
            if fits_now(state, have, j):
                some[n] = j
                n += 1
            else:
                blocked = j
    for i in range(n):
        if blocked < 0 or goes_before(state, some[i], blocked, key):
            some[n_before] = some[i]
            n_before += 1
    if blocked >= 0:
        some[n_before] = blocked
        n_before += 1
    return in_order(state, have, some[:n_before], False, key, n_before)


@kernel
def none_has_begun(state):
    """Whether all who wait do so for their first leg."""
    for q in range(state.counts[0]["queue_first"], state.counts[0]["queue_begun"]):
        if state.queue[q] != -1:
            return False
    return True


@inlined_kernel
def has_to_ask(line, params):
    """Whether those behind the head are to be asked for: with an index, and in another order than they have come."""
    return (params[Param.ORDER] != AS_IS or params[Param.BACKFILL_ORDER] != AS_IS) and len(line.lookup) > 0


@allocating_kernel
def asked_behind(state, line, i, params, sought):
    """Jobs that are sought behind the i-th of the line, in no order, and the key of that in which they may pass it."""
    order, key, place = int(params[Param.BACKFILL_ORDER]), line.key, state.counts[0]["queue_begun"]
    if key.order == AS_IS:
        place = line.first + i + 1
    found = all_of(state, line.lookup, place, sought)
    if key.order != AS_IS:
        for k in range(len(found)):
            if goes_before(state, found[k], line.jobs[i], key):  # it has been started
                found[k] = -1
    if order != AS_IS:
        key = Key(order, 1.0, key.numbers)
    return found, key


@allocating_kernel
def who_may_pass(state, have, line, i, params, sought):
    """The same jobs in that order."""
    found, key = asked_behind(state, line, i, params, sought)
    return in_order(state, have, found, False, key, len(found))


@allocating_kernel
def behind(state, have, rest, params, limit):
    """The jobs behind the reservations in backfill order; the first `limit` of them may be tried."""
    order = int(params[Param.BACKFILL_ORDER])
    if order == AS_IS:
        return rest
    key = Key(order, 1.0, np.empty((0, 0)))
    if limit < len(rest):  # every job tried counts, fitting or not
        return in_order(state, have, rest, False, key, limit)[:limit]
    return in_order(state, have, rest, True, key, len(rest))


@allocating_kernel
def headed(head, rest):
    """One job, and the others behind it."""
    line = np.empty(len(rest) + 1, np.int64)
    line[0] = head
    for i in range(len(rest)):
        line[i + 1] = rest[i]
    return line
