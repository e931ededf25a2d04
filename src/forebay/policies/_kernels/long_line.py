"""The queue as backfilling goes through it: where it is long, from one who can start to the next.

Thousands of jobs wait where a machine is asked for more than it has, and each decision would look at each of them. The
trees over them (see algorithms.forest) are the policy's own memory, brought up to date when a decision begins. They
hold jobs that have not begun: the others are few, and change their places. Who is held back by a limit (-2 - its row
stands in its place) is in them too, and passed over until it is back.

Stretches are as long as the digits of a binary number tell: with 11 times 64 places there is one of 8, one of 2 and one
of 1 times 64. So a job that comes is seldom put into another tree, and there are few of them.
"""

from forebay._numba.jit import inlined_kernel, kernel
from forebay.algorithms.forest import PLACES, asked_within, find, grow, put
from forebay.core.tables import after

SHORT = 512  # jobs that are read through as quickly
MANY = 64  # jobs that are read in vain before the trees are asked again: they do not know all that keeps a job waiting
_LAYOUT, _BASE, _COUNTED = range(3)  # what the first row tells: as the queue was laid out when, and which places it has


@kernel
def _longest_within(n):
    """The largest power of two up to `n`."""
    length = 1
    while 2 * length <= n:
        length *= 2
    return length


@kernel
def _take_in(state, index, base, begin, end):
    """Make a tree over the places from `begin` on, counted from `base`."""
    n_jobs = 0
    for place in range(base + begin, base + end):
        j = state.queue[place]
        if j != -1:
            leg = state.jobs[j if j >= 0 else -2 - j]["leg"]
            put(index, begin + n_jobs, place, state.legs[leg]["walltime"], state.demands[leg])
            n_jobs += 1
    grow(index, begin, n_jobs)


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
            put(index, at, leg, state.legs[leg]["walltime"], state.demands[leg])
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
def next_place(state, index, place, free, spare, latest):
    """The first place from `place` on where someone may stand who can start; the queue's end or beyond if nowhere.

    That is, who fits into what is free, and ends by `latest` or fits into what is spare; without an index, anybody.
    """
    counts = state.counts[0]
    if len(index) == 0 or place < counts["queue_begun"]:
        return place
    base, n, now = index[0, _BASE], index[0, _COUNTED] // PLACES, state.clock[0]["now"]
    longest, begin = after(latest) - now, 0  # rather too long than too short by a rounding
    while begin < n:
        length = _longest_within(n - begin)
        if base + (begin + length) * PLACES > place:
            found = find(index, begin * PLACES, state.queue, place, longest, free, spare)
            if found < counts["queue_last"]:
                return found
        begin += length
    return max(place, base + n * PLACES)
