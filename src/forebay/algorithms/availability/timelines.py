"""What will be free when, place by place: many step functions of time, each in segments of its own.

Where jobs lie on particular nodes, a profile of the whole machine would have a segment for whatever happens anywhere,
with all nodes in it. Here a reservation touches the timelines of its own nodes alone.

Segments are rows that are chained by time. Row k begins timeline k; the last segment of each lasts for ever.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.core.tables import after, instant_width

SEGMENT = np.dtype([("time", "f8"), ("next", "i8")], align=True)
"""When a segment begins, and the row of the one behind it; -1 = it is the last. Both at once, as chains are walked."""


class Timelines(NamedTuple):
    """Segments of all timelines; the first `used` rows."""

    rows: np.ndarray  # SEGMENT
    free: np.ndarray  # int64[row, amount]
    used: np.ndarray  # int64[1]


@allocating_kernel
def new_timelines(n_lines, n_amounts, n_more, now):
    """Timelines with nothing free, and rows for so many more segments."""
    n = n_lines + n_more
    lines = Timelines(np.empty(n, SEGMENT), np.empty((n, n_amounts), np.int64), np.empty(1, np.int64))
    lines.used[0] = n_lines
    for row in range(n_lines):
        lines.rows[row]["time"], lines.rows[row]["next"] = now, -1
        for d in range(n_amounts):
            lines.free[row, d] = 0
    return lines


@inlined_kernel
def has_rows(lines, n_more):
    """Whether there are rows for so many more segments."""
    return lines.used[0] + n_more <= len(lines.rows)


@allocating_kernel
def with_room(lines, n_more):
    """The same timelines with rows for at least so many more segments."""
    used, n_amounts = lines.used[0], lines.free.shape[1]
    if has_rows(lines, n_more):
        return lines
    larger = new_timelines(used, n_amounts, used + n_more, 0.0)
    for row in range(used):
        larger.rows[row]["time"], larger.rows[row]["next"] = lines.rows[row]["time"], lines.rows[row]["next"]
        for d in range(n_amounts):
            larger.free[row, d] = lines.free[row, d]
    return larger


@inlined_kernel
def _put_segment(lines, new, row, time):
    """Let row `new` be a segment behind `row` that begins at `time`, with the same amounts."""
    lines.rows[new]["time"], lines.rows[new]["next"] = time, lines.rows[row]["next"]
    lines.rows[row]["next"] = new
    for d in range(lines.free.shape[1]):
        lines.free[new, d] = lines.free[row, d]


@inlined_kernel
def segment_at(lines, row, time):
    """The segment from `row` on that a time lies in; one that begins in the same instant is begun."""
    latest, rows = time + instant_width(time), lines.rows
    ahead = rows[row]["next"]
    while ahead >= 0 and rows[ahead]["time"] <= latest:
        row, ahead = ahead, rows[ahead]["next"]
    return row


@inlined_kernel
def _split(lines, row, time):
    """The segment from `row` on that begins at `time`, in its instant; made if there is none."""
    row = segment_at(lines, row, time)
    if time - lines.rows[row]["time"] <= instant_width(time):
        return row
    new = lines.used[0]
    lines.used[0] = new + 1
    _put_segment(lines, new, row, time)
    return new


@inlined_kernel
def append(lines, last, time, blank):
    """The segment that begins at `time`, which is not before the `last` one of its timeline; perhaps row `blank`.

    Rows that lie side by side in memory are walked in a fraction of the time.
    """
    if time - lines.rows[last]["time"] <= instant_width(time):
        return last
    _put_segment(lines, blank, last, time)
    return blank


@kernel
def give_from(lines, k, time, d, amount):
    """From a time on there is more of amount `d`."""
    row = _split(lines, k, time)
    while row >= 0:
        lines.free[row, d] += amount
        row = lines.rows[row]["next"]


@inlined_kernel
def take_between(lines, k, begin, end, taken):
    """Take amounts from a timeline between two times, for an instant at least."""
    row, behind = _split(lines, k, begin), -1
    if end < np.inf:
        behind = _split(lines, row, max(end, after(lines.rows[row]["time"])))
    while row != behind:
        for d in range(len(taken)):
            lines.free[row, d] -= taken[d]
        row = lines.rows[row]["next"]


@inlined_kernel
def least_between(lines, k, begin, end, found):
    """Write the least of each amount between two times into `found`."""
    row, limit, free = segment_at(lines, k, begin), end - instant_width(end), lines.free
    for d in range(len(found)):
        found[d] = free[row, d]
    row = lines.rows[row]["next"]
    while row >= 0 and lines.rows[row]["time"] < limit:
        for d in range(len(found)):
            found[d] = min(found[d], free[row, d])
        row = lines.rows[row]["next"]


@inlined_kernel
def _has(free, row, needs):
    for d in range(len(needs)):
        if free[row, d] < needs[d]:
            return False
    return True


@inlined_kernel
def least_if(lines, k, begin, end, needs, found):
    """Whether `needs` is free between two times; if so, write the least of each amount into `found`."""
    row, limit, free = segment_at(lines, k, begin), end - instant_width(end), lines.free
    if not _has(free, row, needs):
        return False
    for d in range(len(found)):
        found[d] = free[row, d]
    row = lines.rows[row]["next"]
    while row >= 0 and lines.rows[row]["time"] < limit:
        if not _has(free, row, needs):
            return False
        for d in range(len(found)):
            found[d] = min(found[d], free[row, d])
        row = lines.rows[row]["next"]
    return True


@inlined_kernel
def first_window(lines, k, needs, duration, first, last):
    """The earliest time from `first` on, up to `last`, at which `needs` is free for a while; inf if there is none."""
    rows, free = lines.rows, lines.free
    row, begin, limit = segment_at(lines, k, first), -np.inf, np.inf
    opens = first
    while True:
        ahead = rows[row]["next"]
        if not _has(free, row, needs):
            begin = -np.inf
        else:
            if begin == -np.inf:
                begin = opens
                limit = begin + duration
                limit -= instant_width(limit)
            if ahead < 0 or rows[ahead]["time"] >= limit:
                return begin
        if ahead < 0:
            return np.inf
        row, opens = ahead, rows[ahead]["time"]
        if begin == -np.inf and opens > last:
            return np.inf


@inlined_kernel
def next_segment(lines, k, time):
    """When the segment behind the one of a time begins; inf if there is none."""
    ahead = lines.rows[segment_at(lines, k, time)]["next"]
    return lines.rows[ahead]["time"] if ahead >= 0 else np.inf


@inlined_kernel
def write_runs(lines, k, tails, longest):
    """For 1, 2, 4, ... of the first amount: since when there will always be as much; how long the longest time before.

    The first is inf if there will not.
    """
    rows, row, n = lines.rows, k, len(tails)
    for i in range(n):
        tails[i], longest[i] = np.inf, 0.0
    while row >= 0:
        time, some = rows[row]["time"], lines.free[row, 0]
        for i in range(n):
            if some >= 1 << i:
                tails[i] = min(tails[i], time)
            elif tails[i] < np.inf:
                longest[i] = max(longest[i], time - tails[i])
                tails[i] = np.inf
        row = rows[row]["next"]
