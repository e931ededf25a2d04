"""What will be free when, place by place: many step functions of time, each in segments of its own.

Where jobs lie on particular nodes, a profile of the whole machine would have a segment for whatever happens anywhere,
with all nodes in it. Here a reservation touches the timelines of its own nodes alone.

Segments are rows that are chained by time. Row k begins timeline k; the last segment of each lasts for ever.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.core.tables import after, instant_width


class Timelines(NamedTuple):
    """Segments of all timelines; the first `used` rows."""

    times: np.ndarray  # float64[row]: when a segment begins
    free: np.ndarray  # int64[row, amount]
    following: np.ndarray  # int64[row]: the next segment; -1 = there is none
    used: np.ndarray  # int64[1]


@allocating_kernel
def new_timelines(n_lines, n_amounts, n_more, now):
    """Timelines with nothing free, and rows for so many more segments."""
    n = n_lines + n_more
    lines = Timelines(np.empty(n), np.empty((n, n_amounts), np.int64), np.empty(n, np.int64), np.empty(1, np.int64))
    lines.used[0] = n_lines
    for row in range(n_lines):
        lines.times[row] = now
        lines.following[row] = -1
        for d in range(n_amounts):
            lines.free[row, d] = 0
    return lines


@allocating_kernel
def with_room(lines, n_more):
    """The same timelines with rows for at least so many more segments."""
    used, n_amounts = lines.used[0], lines.free.shape[1]
    if used + n_more <= len(lines.times):
        return lines
    larger = new_timelines(used, n_amounts, used + n_more, 0.0)
    for row in range(used):
        larger.times[row] = lines.times[row]
        larger.following[row] = lines.following[row]
        for d in range(n_amounts):
            larger.free[row, d] = lines.free[row, d]
    return larger


@inlined_kernel
def _add_segment(lines, row, time):
    """A segment behind `row` that begins at `time`, with the same amounts; returns its row."""
    new = lines.used[0]
    lines.used[0] = new + 1
    lines.times[new] = time
    lines.following[new] = lines.following[row]
    lines.following[row] = new
    for d in range(lines.free.shape[1]):
        lines.free[new, d] = lines.free[row, d]
    return new


@inlined_kernel
def segment_at(lines, row, time):
    """The segment from `row` on that a time lies in; one that begins in the same instant is begun."""
    latest, times, following = time + instant_width(time), lines.times, lines.following
    ahead = following[row]
    while ahead >= 0 and times[ahead] <= latest:
        row, ahead = ahead, following[ahead]
    return row


@inlined_kernel
def _split(lines, row, time):
    """The segment from `row` on that begins at `time`, in its instant; made if there is none."""
    row = segment_at(lines, row, time)
    if time - lines.times[row] <= instant_width(time):
        return row
    return _add_segment(lines, row, time)


@inlined_kernel
def append(lines, last, time):
    """The segment that begins at `time`, which is not before the `last` one of its timeline."""
    if time - lines.times[last] <= instant_width(time):
        return last
    return _add_segment(lines, last, time)


@kernel
def give_from(lines, k, time, d, amount):
    """From a time on there is more of amount `d`."""
    row = _split(lines, k, time)
    while row >= 0:
        lines.free[row, d] += amount
        row = lines.following[row]


@inlined_kernel
def take_between(lines, k, begin, end, taken):
    """Take amounts from a timeline between two times, for an instant at least."""
    row, behind = _split(lines, k, begin), -1
    if end < np.inf:
        behind = _split(lines, row, max(end, after(lines.times[row])))
    while row != behind:
        for d in range(len(taken)):
            lines.free[row, d] -= taken[d]
        row = lines.following[row]


@inlined_kernel
def least_between(lines, k, begin, end, found):
    """Write the least of each amount between two times into `found`."""
    row, limit, free = segment_at(lines, k, begin), end - instant_width(end), lines.free
    for d in range(len(found)):
        found[d] = free[row, d]
    row = lines.following[row]
    while row >= 0 and lines.times[row] < limit:
        for d in range(len(found)):
            found[d] = min(found[d], free[row, d])
        row = lines.following[row]


@inlined_kernel
def _has(free, row, needs):
    for d in range(len(needs)):
        if free[row, d] < needs[d]:
            return False
    return True


@inlined_kernel
def first_window(lines, k, needs, duration, first, last):
    """The earliest time from `first` on, up to `last`, at which `needs` is free for a while; inf if there is none."""
    times, free, following = lines.times, lines.free, lines.following
    row, begin, limit = segment_at(lines, k, first), -np.inf, np.inf
    opens = first
    while True:
        ahead = following[row]
        if not _has(free, row, needs):
            begin = -np.inf
        else:
            if begin == -np.inf:
                begin = opens
                limit = begin + duration
                limit -= instant_width(limit)
            if ahead < 0 or times[ahead] >= limit:
                return begin
        if ahead < 0:
            return np.inf
        row, opens = ahead, times[ahead]
        if begin == -np.inf and opens > last:
            return np.inf


@inlined_kernel
def next_segment(lines, k, time):
    """When the segment behind the one of a time begins; inf if there is none."""
    ahead = lines.following[segment_at(lines, k, time)]
    return lines.times[ahead] if ahead >= 0 else np.inf


@inlined_kernel
def most_until(lines, k, last, found):
    """Write the most of each amount that a timeline has at some time up to `last` into `found`."""
    row, free = k, lines.free
    for d in range(len(found)):
        found[d] = free[row, d]
    row = lines.following[row]
    while row >= 0 and lines.times[row] <= last:
        for d in range(len(found)):
            found[d] = max(found[d], free[row, d])
        row = lines.following[row]
