"""The queue as backfilling goes through it: where it is long, past the stretches in which nobody can start.

Thousands of jobs wait where a machine is asked for more than it has, and each decision would look at each of them. The
index over them (see algorithms.blocks) is the policy's own memory. It is brought up to date when a decision begins, and
put right where a decision reads a block through in vain. It holds for jobs that have not begun: the others are few, and
change their places.
"""

from forebay._numba.jit import kernel
from forebay.algorithms.blocks import (
    PLACES,
    add,
    begin_block,
    begin_group,
    following,
    n_counted,
    sum_up,
    walltime_class,
)

SHORT = 512  # jobs that are read through as quickly
_LAYOUT, _COUNTED = range(2)  # what the first row tells: as the queue was laid out when, and up to where it is counted


@kernel
def _count_in(state, index, first, last):
    for place in range(first, last):
        if place % PLACES == 0:
            begin_block(index, place)
        j = state.queue[place]
        if j >= 0:
            leg = state.jobs[j]["leg"]
            add(index, place, state.legs[leg]["walltime"], state.demands[leg])


@kernel
def bring_up_to_date(state, index):
    """Count in who has come since the last decision; everybody, if the queue was laid out again."""
    counts, head = state.counts[0], index[0]
    first, layout = counts["queue_begun"], counts["layout"] + 1  # 0 is an index that was never used
    if head[_LAYOUT] != layout or head[_COUNTED] < first:
        head[_LAYOUT], head[_COUNTED] = layout, first
        begin_group(index, first)
    _count_in(state, index, head[_COUNTED], counts["queue_last"])
    head[_COUNTED] = counts["queue_last"]


@kernel
def _put_right(state, index, place):
    """Count the block of a place again if anybody has left it."""
    counts, there = state.counts[0], 0
    for other in range(place, place + PLACES):
        there += state.queue[other] >= 0
    if there < n_counted(index, place):
        _count_in(state, index, place, place + PLACES)
        sum_up(index, place, counts["queue_begun"], counts["queue_last"])


@kernel
def next_place(state, index, place, first, free, spare, longest):
    """The first place from `place` on where someone may stand who can start; the queue's end or beyond if nowhere.

    That is, who fits into what is free, and has a walltime of up to `longest` or fits into what is spare. The decision
    has read the queue from `first` on. Without an index, everybody may.
    """
    counts = state.counts[0]
    begun = counts["queue_begun"]
    if len(index) == 0 or place % PLACES != 0 or place < begun:
        return place
    if place - PLACES >= max(first, begun):
        _put_right(state, index, place - PLACES)
    return following(index, place, counts["queue_last"], walltime_class(longest), free, spare)
