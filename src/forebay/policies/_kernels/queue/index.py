"""The queue as backfilling goes through it: where it is long, from one who can start to the next.

Thousands of jobs wait where a machine is asked for more than it has, and each decision would look at each of them. The
trees over them (see algorithms.queues.forest) are the policy's own memory, brought up to date when a decision begins.
They hold jobs that have not begun: the others are few, and change their places. Who is held back by a limit (-2 - its
row stands in its place) is in them too, and passed over until it is back. Where jobs go in another order than that in
which they have come, see `keyed_index`.

Stretches are as long as the digits of a binary number tell: with 11 times 64 places there is one of 8, one of 2 and one
of 1 times 64. So a job that comes is seldom put into another tree, and there are few of them. The places behind them,
fewer than 64, have rows, but no tree.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.queues.forest import (
    EVERYWHERE,
    HEAD,
    N_COLUMNS,
    N_INSIDE,
    PLACES,
    SECONDS,
    Parting,
    Sought,
    asked_within,
    blank,
    find,
    grow,
    n_rows,
    possible,
    put,
    put_inside,
    tree_at,
)
from forebay.algorithms.queues.thresholds import MOST, choose_bounds, enter, thresholds_in
from forebay.core.tables import after
from forebay.policies._kernels.queue.keys import AS_IS, CLASS, goes_by_class, key_columns, put_key

SHORT = 512  # jobs that are read through as quickly
MANY = 64  # jobs that are read in vain before the trees are asked again: they do not know all that keeps a job waiting
_LAYOUT, _BASE, _COUNTED, _WRITTEN = range(4)  # what the first row says: of which layout of the queue it is, and which
# places have trees, and rows


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


@kernel
def is_long(state):
    """Whether the queue is worth an index."""
    return state.counts[0]["n_queued"] > SHORT


@allocating_kernel
def index_behind(state, integers, order):
    """The index of an order in the last rows of a table that has other things too."""
    n_columns, n_rows = _first_key(state) + key_columns(order), _n_rows(2 * len(state.jobs) + 16)
    last = integers[len(integers) - table_rows(n_rows, n_columns, integers.shape[1]) :]
    return last.reshape(last.size)[: n_rows * n_columns].reshape((n_rows, n_columns))


@inlined_kernel
def inside_at(state):
    """The column from which on an index has what jobs ask of one node, beside sums; 0 = it has not."""
    return N_COLUMNS + state.demands.shape[1] if len(state.inside.full) > 0 else 0


@inlined_kernel
def _first_key(state):
    """The column from which on it has what they are ordered by."""
    return N_COLUMNS + state.demands.shape[1] + (N_INSIDE if len(state.inside.full) > 0 else 0)


@inlined_kernel
def n_indexed(index):
    """The first place of which an index knows, and how many it does."""
    return index[0, _BASE], index[0, _COUNTED]


@kernel
def first_unknown(state, index):
    """The first place that is not in an index yet."""
    counts = state.counts[0]
    return index[0, _BASE] + index[0, _COUNTED] if index[0, _LAYOUT] == counts["layout"] + 1 else counts["queue_begun"]


@inlined_kernel
def length_at(begin, n):
    """How many places the stretch has that begins at one of them."""
    return _longest_within((n - begin) // PLACES) * PLACES


@kernel
def _put(state, index, at, place, leg):
    """Write down in row `at` what a leg asks for."""
    put(index, at, place, state.legs[leg]["walltime"], state.demands[leg])
    if inside_at(state) > 0:
        ask = state.inside.asks[leg]
        # Where the site reserves nodes, where a job may lie changes while it waits.
        put_inside(index, at, ask, ask["allowed"] if len(state.planned) == 0 else EVERYWHERE, inside_at(state))


@kernel
def _put_job(state, index, at, place, key):
    """Write down in row `at` who stands at a place, and by what it is ordered; whether there is somebody."""
    j = state.queue[place]
    if j == -1:
        return False
    j = j if j >= 0 else -2 - j
    _put(state, index, at, place, state.jobs[j]["leg"])
    if key.order != AS_IS:
        put_key(state, index[HEAD + at], _first_key(state), j, key)
    return True


@kernel
def _take_in(state, index, begin, end, key):
    """Make a tree over the places from `begin` on, counted from the first one."""
    n_jobs, base, column = 0, index[0, _BASE], _first_key(state)
    for place in range(base + begin, base + end):
        n_jobs += _put_job(state, index, begin + n_jobs, place, key)
    first = inside_at(state) if inside_at(state) > 0 else N_COLUMNS
    grow(index, begin, n_jobs, Parting(first, column, column + CLASS if goes_by_class(key) else 0))


@kernel
def take_in_new(state, index, key):
    """Take in who has come since the last decision; everybody, if the queue was laid out again."""
    counts, head = state.counts[0], index[0]
    layout = counts["layout"] + 1  # 0 is an index that was never used
    if head[_LAYOUT] != layout:
        head[_LAYOUT], head[_BASE], head[_COUNTED], head[_WRITTEN] = layout, counts["queue_begun"], 0, 0
    n_places = counts["queue_last"] - head[_BASE]
    known, n = head[_COUNTED], n_places // PLACES * PLACES
    begin = 0
    while begin < n and known < n:
        length = length_at(begin, n)
        if begin + length > known:
            _take_in(state, index, begin, begin + length, key)
        begin += length
    for at in range(max(n, head[_WRITTEN]), n_places):
        if not _put_job(state, index, at, head[_BASE] + at, key):
            blank(index[HEAD + at])
    head[_COUNTED], head[_WRITTEN] = n, n_places


@allocating_kernel
def sets_in(state, index):
    """Which places ask for how much, in the rows of an index that trees would have; none where nodes are shared."""
    cells = index[tree_at(index, 0) :] if len(index) > 0 else index
    amounts = 0 if len(state.inside.full) > 0 else 1 + state.demands.shape[1]
    return thresholds_in(cells.reshape(cells.size), tree_at(index, 0) - HEAD if len(index) > 0 else 0, amounts)


@allocating_kernel
def write_down(state, index):
    """The same where trees are of no use, as many are looked at: what is asked at each place, row by row, and sets."""
    counts, head, sets = state.counts[0], index[0], sets_in(state, index)
    layout = counts["layout"] + 1
    blank_sets = head[_LAYOUT] != layout
    if blank_sets:
        head[_LAYOUT], head[_BASE], head[_COUNTED] = layout, counts["queue_begun"], 0
    base, n = head[_BASE], counts["queue_last"] - head[_BASE]
    columns = np.empty(MOST, np.int64)
    for c in range(MOST):
        columns[c] = N_COLUMNS + c - 1 if c > 0 else SECONDS
    for at in range(head[_COUNTED], n):
        j = state.queue[base + at]
        if j != -1:
            leg = state.jobs[j if j >= 0 else -2 - j]["leg"]
            _put(state, index, at, leg, leg)
    if sets.rows.shape[1] > 0:
        if blank_sets:
            choose_bounds(sets, index[HEAD : HEAD + n], columns)
        for at in range(head[_COUNTED], n):
            if state.queue[base + at] != -1:
                enter(sets, at, index[HEAD + at], columns)
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


@allocating_kernel
def of_amounts(longest, free, spare, index):
    """Who is sought where nodes are not shared: see forest.Sought."""
    nothing = index[:0]
    return Sought(longest, free, spare, 0, nothing, nothing, nothing, nothing)


@kernel
def next_place(state, index, place, free, spare, latest):
    """The first place from `place` on where someone may stand who can start; the queue's end or beyond if nowhere.

    That is, who fits into what is free, and ends by `latest` or fits into what is spare; without an index, anybody.
    """
    return next_of(state, index, place, of_amounts(longest_until(state, latest), free, spare, index))


@kernel
def next_of(state, index, place, sought):
    """The same of those who are sought."""
    counts = state.counts[0]
    if len(index) == 0 or place < counts["queue_begun"]:
        return place
    (base, n), begin = n_indexed(index), 0
    while begin < n:
        length = length_at(begin, n)
        if base + begin + length > place:
            found = find(index, begin, state.queue, place, sought)
            if found < counts["queue_last"]:
                return found
        begin += length
    place = max(place, base + n)
    while place < counts["queue_last"] and not possible(index[HEAD + place - base], sought):
        place += 1
    return place
