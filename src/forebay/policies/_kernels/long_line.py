"""The queue as backfilling goes through it: where it is long, from one who can start to the next.

Thousands of jobs wait where a machine is asked for more than it has, and each decision would look at each of them. The
trees over them (see algorithms.forest) are the policy's own memory, brought up to date when a decision begins. They
hold jobs that have not begun: the others are few, and change their places. Who is held back by a limit (-2 - its row
stands in its place) is in them too, and passed over until it is back.

Stretches are as long as the digits of a binary number tell: with 11 times 64 places there is one of 8, one of 2 and one
of 1 times 64. So a job that comes is seldom put into another tree, and there are few of them.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.forest import (
    EVERYWHERE,
    N_COLUMNS,
    PLACES,
    Sought,
    asked_within,
    find,
    find_all,
    grow,
    n_rows,
    put,
    put_inside,
)
from forebay.core.inside import DIMENSIONS
from forebay.core.tables import after

SHORT = 512  # jobs that are read through as quickly
MANY = 64  # jobs that are read in vain before the trees are asked again: they do not know all that keeps a job waiting
_LAYOUT, _BASE, _COUNTED = range(3)  # what the first row tells: as the queue was laid out when, and which places it has


def rows_of(n_rows, n_columns, width):
    """How many rows of another width hold a table."""
    return -(-n_rows * n_columns // width)


table_rows, _n_rows = kernel(rows_of), kernel(n_rows)


@kernel
def _longest_within(n):
    """The largest power of two up to `n`."""
    length = 1
    while 2 * length <= n:
        length *= 2
    return length


@allocating_kernel
def index_behind(state, integers):
    """The index in the last rows of a table that has other things too, up to date; empty if the queue is short."""
    n_columns = N_COLUMNS + state.demands.shape[1] + (DIMENSIONS if len(state.inside.full) > 0 else 0)
    n_rows = _n_rows(2 * len(state.jobs) + 16)
    last = integers[len(integers) - table_rows(n_rows, n_columns, integers.shape[1]) :]
    index = last.reshape(last.size)[: n_rows * n_columns].reshape((n_rows, n_columns))
    if state.counts[0]["n_queued"] <= SHORT:
        return index[:0]
    bring_up_to_date(state, index)
    return index


@inlined_kernel
def knows_inside(state, index):
    """Whether an index has what jobs ask of one node, beside sums."""
    return index.shape[1] > N_COLUMNS + state.demands.shape[1]


@kernel
def _put(state, index, at, place, leg):
    """Write down in row `at` what a leg asks for."""
    put(index, at, place, state.legs[leg]["walltime"], state.demands[leg])
    if knows_inside(state, index):
        ask = state.inside.asks[leg]
        # Where the site reserves nodes, where a job may lie changes while it waits.
        put_inside(index, at, ask, ask["allowed"] if len(state.planned) == 0 else EVERYWHERE)


@kernel
def _take_in(state, index, base, begin, end):
    """Make a tree over the places from `begin` on, counted from `base`."""
    n_jobs = 0
    for place in range(base + begin, base + end):
        j = state.queue[place]
        if j != -1:
            leg = state.jobs[j if j >= 0 else -2 - j]["leg"]
            _put(state, index, begin + n_jobs, place, leg)
            n_jobs += 1
    grow(index, begin, n_jobs, index.shape[1] - DIMENSIONS if knows_inside(state, index) else N_COLUMNS)


@kernel
def bring_up_to_date(state, index):
    """Take in who has come since the last decision; everybody, if the queue was laid out again."""
    counts, head = state.counts[0], index[0]
    layout = counts["layout"] + 1  # 0 is an index that was never used
    if head[_LAYOUT] != layout:
        head[_LAYOUT], head[_BASE], head[_COUNTED] = layout, counts["queue_begun"], 0
    known, n = head[_COUNTED] // PLACES, (counts["queue_last"] - head[_BASE]) // PLACES
    begin = 0
    while begin < n and known < n:
        length = _longest_within(n - begin)
        if begin + length > known:
            _take_in(state, index, head[_BASE], begin * PLACES, (begin + length) * PLACES)
        begin += length
    head[_COUNTED] = n * PLACES


@kernel
def write_down(state, index):
    """The same where trees are of no use, as everybody is looked at: what is asked at each place, row by row."""
    counts, head = state.counts[0], index[0]
    layout = counts["layout"] + 1
    if head[_LAYOUT] != layout:
        head[_LAYOUT], head[_BASE], head[_COUNTED] = layout, counts["queue_begun"], 0
    base, n = head[_BASE], counts["queue_last"] - head[_BASE]
    for at in range(head[_COUNTED], n):
        j = state.queue[base + at]
        if j != -1:
            leg = state.jobs[j if j >= 0 else -2 - j]["leg"]
            _put(state, index, at, leg, leg)
    head[_COUNTED] = n


@inlined_kernel
def asks_within(state, index, place, j, free):
    """The leg that job `j` at a place waits for, and whether it asks for no more than is free.

    Rows of jobs lie far apart in memory, those that were written down side by side.
    """
    if len(index) > 0 and place >= index[0, _BASE]:
        return asked_within(index, place - index[0, _BASE], free)
    leg = state.jobs[j]["leg"]
    for r in range(len(free)):
        if state.demands[leg, r] > free[r]:
            return leg, False
    return leg, True


@kernel
def longest_until(state, latest):
    """The walltime with which a job ends by then, rather too long than too short by a rounding."""
    return after(latest) - state.clock[0]["now"]


@kernel
def next_place(state, index, place, free, spare, latest):
    """The first place from `place` on where someone may stand who can start; the queue's end or beyond if nowhere.

    That is, who fits into what is free, and ends by `latest` or fits into what is spare; without an index, anybody.
    """
    nothing = index[:0]
    return next_of(state, index, place, Sought(longest_until(state, latest), free, spare, False, nothing, nothing))


@kernel
def next_of(state, index, place, sought):
    """The same of those who are sought."""
    counts = state.counts[0]
    if len(index) == 0 or place < counts["queue_begun"]:
        return place
    base, n, begin = index[0, _BASE], index[0, _COUNTED] // PLACES, 0
    while begin < n:
        length = _longest_within(n - begin)
        if base + (begin + length) * PLACES > place:
            found = find(index, begin * PLACES, state.queue, place, sought)
            if found < counts["queue_last"]:
                return found
        begin += length
    return max(place, base + n * PLACES)


@allocating_kernel
def all_of(state, index, place, sought):
    """Jobs of the queue from `place` on that are among those sought, or may be, in no order."""
    counts, n = state.counts[0], 0
    found = np.empty(counts["n_queued"] + 1, np.int64)
    base, n_known, begin = index[0, _BASE], index[0, _COUNTED] // PLACES, 0
    while begin < n_known:
        length = _longest_within(n_known - begin)
        if base + (begin + length) * PLACES > place:
            n = find_all(index, begin * PLACES, state.queue, place, sought, found, n)
        begin += length
    for i in range(n):
        found[i] = state.queue[found[i]]
    for q in range(max(place, base + n_known * PLACES), counts["queue_last"]):
        if state.queue[q] >= 0:
            found[n] = state.queue[q]
            n += 1
    return found[:n]
