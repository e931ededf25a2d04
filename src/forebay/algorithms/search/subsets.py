"""Sets of jobs as two lists of partial sets, whose pairs are all that matter (Horowitz & Sahni 1974).

A row is a set's sums: its load on each resource, which must be within the room, then amounts of which more is better
too. A partial set may not replace one with less load, as it leaves less room. Two may become one if their sums are
equal, and one may go if another has as much of everything, and more only where all jobs outside the list fit beside it:
then that one is better in any company. More of a column that does not count, by the bits of `counted`, is no gain.

Jobs are rows too; each has a bit of its own, and a set's key is the sum of its bits. Of equal sums the larger key
counts. Work is in units of about 10 ns, but counted, not timed.
"""

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.core.stopping import CLOCK_ROWS, stopped

# Explicit signatures below: Numba compiles a function anew for each mix of literals and variables.
NUMBER, ROW, ROWS = types.int64, types.int64[::1], types.int64[:, ::1]

_WINDOW = 4  # sets before it that a set is compared with: more take longer and shorten lists little
_FIRST = 1 << 10  # the work that a way to deal the jobs is given at first


@inlined_kernel((ROWS, ROW, NUMBER, NUMBER, ROW, ROW, NUMBER))
def _covered(rows, keys, n, counted, slack, row, key):
    """Whether one of the last sets of a list is better in any company; with more of what does not count it may tie."""
    for q in range(n - 1, max(n - 1 - _WINDOW, -1), -1):
        covers, more = True, False
        for c in range(rows.shape[1]):
            if rows[q, c] != row[c]:
                if rows[q, c] < row[c] or (c < len(slack) and rows[q, c] > slack[c]):
                    covers = False
                    break
                more = more or (counted >> c) & 1 == 1
        if covers and (more or keys[q] >= key):
            return True
    return False


@kernel((ROWS, ROW, ROW, NUMBER, NUMBER, ROW, ROW, ROWS, ROW))
def _extend(rows, keys, job, key, counted, room, slack, new, new_keys):
    """The list with one more job: the sets with it and those without it, merged; its length.

    Lists are sorted, largest first, so what covers a set comes before it.
    """
    n, C = rows.shape
    R, without, taking, at = len(room), 0, 0, 0
    row = new[len(new) - 1]
    while True:
        while taking < n:
            fits = True
            for r in range(R):
                fits = fits and rows[taking, r] <= room[r] - job[r]
            if fits:
                break
            taking += 1
        if without == n and taking == n:
            return at
        ahead = 1 if without == n else -1
        if without < n and taking < n:
            for c in range(C):
                ahead = rows[taking, c] + job[c] - rows[without, c]
                if ahead != 0:
                    break
        own = -1
        if ahead <= 0:
            own = keys[without]
            for c in range(C):
                row[c] = rows[without, c]
            without += 1
        if ahead >= 0:
            own = max(own, keys[taking] + key)
            for c in range(C):
                row[c] = rows[taking, c] + job[c]
            taking += 1
        if not _covered(new, new_keys, at, counted, slack, row, own):
            for c in range(C):
                new[at, c] = row[c]
            new_keys[at] = own
            at += 1


@allocating_kernel((ROWS, ROW, NUMBER, ROW, NUMBER, CLOCK_ROWS))
def _deal(jobs, bits, counted, room, limit, clock):
    """A list of the first jobs' sets and one of the last jobs'; and the work, more than `limit` if they are not whole.

    The shorter list gets the next job.
    """
    n, C = jobs.shape
    left, left_keys = np.zeros((1, C), np.int64), np.zeros(1, np.int64)
    right, right_keys = np.zeros((1, C), np.int64), np.zeros(1, np.int64)
    slack = np.empty(len(room), np.int64)
    first, last, work = 0, n - 1, 0
    while first <= last:
        at_left = len(left) <= len(right)
        k = first if at_left else last
        rows, keys = (left, left_keys) if at_left else (right, right_keys)
        work += 4 * len(rows) + n
        if work > limit or stopped(clock):
            break
        for r in range(len(room)):  # up to this load, all jobs outside the list fit beside it
            slack[r] = room[r]
            for i in range(first + 1 if at_left else 0, n if at_left else last):
                if slack[r] >= 0:  # no further: a sum of bytes could overflow
                    slack[r] -= jobs[i, r]
        new, new_keys = np.empty((2 * len(rows) + 1, C), np.int64), np.empty(2 * len(rows), np.int64)
        m = _extend(rows, keys, jobs[k], bits[k], counted, room, slack, new, new_keys)
        if at_left:
            left, left_keys = new[:m], new_keys[:m]
            first += 1
        else:
            right, right_keys = new[:m], new_keys[:m]
            last -= 1
    return left, left_keys, right, right_keys, work


@kernel
def _sort_by(jobs, bits, r):
    for i in range(1, len(jobs)):
        j = i
        while j > 0 and jobs[j - 1, r] > jobs[j, r]:
            for c in range(jobs.shape[1]):
                jobs[j - 1, c], jobs[j, c] = jobs[j, c], jobs[j - 1, c]
            bits[j - 1], bits[j] = bits[j], bits[j - 1]
            j -= 1


@allocating_kernel
def deal(jobs, bits, counted, room, limit, clock):
    """The shortest lists, with the jobs dealt by what they ask of one resource, of whichever is best.

    With those that ask for little in one list, its sets often leave room for all others, and few need to be kept: of 50
    jobs like Theta's 700 sets in order of bytes, 20,000 in order of nodes. No order is best for all windows, so all are
    tried, with ever more work.
    """
    most, work = _FIRST, 0
    while True:
        best = _deal(jobs, bits, counted, room, 0, clock)
        found = len(jobs) == 0
        for r in range(len(room)):
            _sort_by(jobs, bits, r)
            dealt = _deal(jobs, bits, counted, room, most, clock)
            work += dealt[4]
            if dealt[4] <= most and (not found or len(dealt[0]) + len(dealt[2]) < len(best[0]) + len(best[2])):
                best, found = dealt, True
        if found or 4 * most > limit - work:
            return best[0], best[1], best[2], best[3], work if found else limit + 1
        most *= 4


@allocating_kernel
def tighten(jobs, bits, room, limit, clock):
    """Lower the room to the largest loads that single resources can have, if that is little work; returns the work.

    A search for the front then knows when nothing can be better: it visited 19 times fewer branches for 62 jobs like
    Theta's, 1.4 times fewer for 28 jobs of odd sizes.
    """
    column, have, work = np.empty((len(jobs), 1), np.int64), np.empty(1, np.int64), 0
    for r in range(len(room)):
        for i in range(len(jobs)):
            column[i, 0] = jobs[i, r]
        have[0] = room[r]
        left, _, right, _, more = _deal(column, bits, 1, have, limit, clock)
        work += more
        if more <= limit:
            highest, j = 0, len(right) - 1
            for i in range(len(left)):
                while j > 0 and right[j - 1, 0] <= room[r] - left[i, 0]:
                    j -= 1
                if right[j, 0] <= room[r] - left[i, 0]:
                    highest = max(highest, left[i, 0] + right[j, 0])
            room[r] = highest
    return work
