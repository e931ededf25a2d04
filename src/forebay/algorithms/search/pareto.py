"""The exact Pareto front of a window of jobs: every use of the resources that no other use beats in all of them.

Jobs ask for amounts of R resources. A set of them fits if its load is within the room everywhere; its load is on the
front if no other set that fits has at least as much of everything and more of something. The last resources may be mere
limits, of which more is no gain. The way is to meet in the middle: jobs are dealt into two lists of partial sets
(`subsets`), and pairs of sets, one from each list, are searched with a k-d tree for each (Bentley 1975). A pair of
branches is cut off if nothing in it fits, or if the most it can give is no better than a point that is known. Good
points beforehand would not help: with the whole front given, the search was as long.

Of sets with equal loads the one with job 0 counts, if any has it; of those the one with job 1; and so on. Points come
by load, the first resource first, largest first. So the result does not depend on the way.

Amounts are int64 and not negative; sets are masks, bit i for job i, of at most 62 jobs. Inside, a set is its key, with
job 0 in the highest bit: of two keys the larger counts. Work is in units of about 10 ns, but counted, not timed.
"""

from math import prod
from operator import ge

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.search.subsets import NUMBER, ROW, ROWS, deal, tighten
from forebay.core.stopping import CLOCK_ROWS, stopped

_LEAF = 8  # sets in a leaf: with 4 the search was 5 to 30 % slower


@kernel
def dominates(a, b):
    """Whether row `a` is at least `b` everywhere, and more somewhere."""
    more = False
    for c in range(len(a)):
        if a[c] < b[c]:
            return False
        more = more or a[c] > b[c]
    return more


@inlined_kernel
def _swap(rows, keys, i, j):
    for c in range(rows.shape[1]):
        rows[i, c], rows[j, c] = rows[j, c], rows[i, c]
    keys[i], keys[j] = keys[j], keys[i]


@inlined_kernel
def _apart(a, i, b, j, room):
    """Whether two loads do not fit together."""
    for r in range(len(room)):
        if a[i, r] > room[r] - b[j, r]:
            return True
    return False


@kernel((ROWS, ROW, NUMBER, NUMBER, NUMBER))
def _halve(rows, keys, begin, end, c):
    """Part the sets of a branch by one column, the larger half first (Hoare's selection); where the second begins."""
    middle, low, high = (begin + end) >> 1, begin, end - 1
    while low < high:
        pivot = rows[(low + high) >> 1, c]
        i, j = low, high
        while i <= j:
            while rows[i, c] > pivot:
                i += 1
            while rows[j, c] < pivot:
                j -= 1
            if i <= j:
                _swap(rows, keys, i, j)
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            break
    return middle


@allocating_kernel
def _grow(rows, keys, scale):
    """A k-d tree over a list, which it reorders: branches as (begin, end, first child), least, most, best key; work."""
    n, C = rows.shape
    size, work = 2 * (n // (_LEAF // 2)) + 2, 0
    spans = np.empty((size, 3), np.int64)
    least, most, best = np.empty((size, C), np.int64), np.empty((size, C), np.int64), np.empty(size, np.int64)
    spans[0, 0], spans[0, 1] = 0, n
    at, n_branches = 0, 1
    while at < n_branches:
        begin, end = spans[at, 0], spans[at, 1]
        widest, split = 0.0, -1
        for c in range(C):
            low = high = rows[begin, c]
            for s in range(begin + 1, end):
                low, high = min(low, rows[s, c]), max(high, rows[s, c])
            least[at, c], most[at, c] = low, high
            if (high - low) * scale[c] > widest:
                widest, split = (high - low) * scale[c], c
        best[at] = keys[begin]
        for s in range(begin + 1, end):
            best[at] = max(best[at], keys[s])
        spans[at, 2] = -1
        if end - begin > _LEAF:
            spans[at, 2] = n_branches
            spans[n_branches, 0], spans[n_branches + 1, 1] = begin, end
            spans[n_branches, 1] = spans[n_branches + 1, 0] = _halve(rows, keys, begin, end, split)
            n_branches += 2
        work += ((end - begin) * (C + 2)) >> 1
        at += 1
    return spans, least, most, best, work


@inlined_kernel
def _join(a, i, b, j, room, spare, step, value):
    """What two rows of sums give together; for the most of two branches, the most they can give."""
    R, wastes = len(room), a.shape[1] - len(room)
    K = len(value) - (wastes >> 1)
    for r in range(K):
        value[r] = a[i, r] + min(b[j, r], room[r] - a[i, r])
    if wastes > 0:
        value[K] = a[i, R] + b[j, R] + step * min(0, spare + a[i, R + 1] + b[j, R + 1])


@inlined_kernel((ROWS, ROW, NUMBER, ROW, NUMBER))
def _beaten(points, keys, n, value, key):
    """The point that dominates a value, or equals it with a key as good, and moves up for that; `n` if none does."""
    for q in range(n):
        beats, more = True, False
        for c in range(len(value)):
            if points[q, c] < value[c]:
                beats = False
                break
            more = more or points[q, c] > value[c]
        if beats and (more or keys[q] >= key):
            _swap(points, keys, q, q >> 1)
            return q
    return n


@allocating_kernel((ROWS, ROW, NUMBER, ROW, NUMBER))
def _enter(points, keys, n, value, key):
    """Add a point that is not beaten, and take out those that it beats; the points, their keys, how many there are."""
    kept = 0
    for q in range(n):
        beats = True
        for c in range(len(value)):
            beats = beats and value[c] >= points[q, c]
        if not beats:
            _swap(points, keys, kept, q)
            kept += 1
    if kept == len(points):
        old, old_keys = points, keys
        points, keys = np.empty((2 * kept, len(value)), np.int64), np.empty(2 * kept, np.int64)
        for q in range(kept):
            keys[q] = old_keys[q]
            for c in range(len(value)):
                points[q, c] = old[q, c]
    for c in range(len(value)):
        points[kept, c] = value[c]
    keys[kept] = key
    return points, keys, kept + 1


@allocating_kernel
def _pair(left, left_keys, right, right_keys, V, room, spare, step, scale, limit, clock):
    """All points of the front, in any order, and their keys; and the work, more than `limit` if it was given up."""
    spans_a, least_a, most_a, best_a, work = _grow(left, left_keys, scale)
    spans_b, least_b, most_b, best_b, more = _grow(right, right_keys, scale)
    work += more
    points, keys, n = np.empty((64, V), np.int64), np.empty(64, np.int64), 0
    value, stack, depth = np.empty(V, np.int64), np.zeros((128, 2), np.int64), 1
    while depth > 0 and work <= limit and not stopped(clock):
        depth -= 1
        a, b = stack[depth, 0], stack[depth, 1]
        _join(most_a, a, most_b, b, room, spare, step, value)
        q = _beaten(points, keys, n, value, best_a[a] + best_b[b])
        work += 6 + (q >> 1)
        if q < n:
            continue
        size_a, size_b = spans_a[a, 1] - spans_a[a, 0], spans_b[b, 1] - spans_b[b, 0]
        if size_a > _LEAF or size_b > _LEAF:
            for side in range(1, -1, -1):  # the half with more load is looked into first
                child_a = spans_a[a, 2] + side if size_a >= size_b else a
                child_b = spans_b[b, 2] + side if size_a < size_b else b
                if not _apart(least_a, child_a, least_b, child_b, room):
                    stack[depth, 0], stack[depth, 1] = child_a, child_b
                    depth += 1
            continue
        for i in range(spans_a[a, 0], spans_a[a, 1]):
            work += 4
            if _apart(left, i, least_b, b, room):
                continue
            _join(left, i, most_b, b, room, spare, step, value)
            q = _beaten(points, keys, n, value, left_keys[i] + best_b[b])
            work += q >> 1
            if q < n:
                continue
            for j in range(spans_b[b, 0], spans_b[b, 1]):
                work += 2
                if _apart(left, i, right, j, room):
                    continue
                _join(left, i, right, j, room, spare, step, value)
                key = left_keys[i] + right_keys[j]
                q = _beaten(points, keys, n, value, key)
                work += 2 + (q >> 1)
                if q == n:
                    points, keys, n = _enter(points, keys, n, value, key)
                    work += n
    return points[:n], keys[:n], work


@kernel
def _before(points, i, j):
    for c in range(points.shape[1]):
        if points[i, c] != points[j, c]:
            return points[i, c] > points[j, c]
    return False


@kernel((ROWS, ROW, NUMBER, NUMBER))
def _sink(points, keys, i, n):
    child = 2 * i + 1
    while child < n:
        if child + 1 < n and _before(points, child, child + 1):
            child += 1
        if not _before(points, i, child):
            return
        _swap(points, keys, i, child)
        i, child = child, 2 * child + 1


@kernel
def _write(points, keys, w, loads, sets):
    """The points into the rows given, largest first, and keys as sets."""
    n = len(points)
    for i in range(n // 2 - 1, -1, -1):
        _sink(points, keys, i, n)
    for end in range(n - 1, 0, -1):
        _swap(points, keys, 0, end)
        _sink(points, keys, 0, end)
    for q in range(n):
        for c in range(points.shape[1]):
            loads[q, c] = points[q, c]
        sets[q] = 0
        for i in range(w):
            sets[q] |= ((keys[q] >> (w - 1 - i)) & 1) << i


@kernel
def _settled(jobs, bits, room, points, keys):
    """Make the set of all jobs the only point if they fit together; whether they do."""
    for r in range(len(room)):
        load = 0
        for i in range(len(jobs)):
            if jobs[i, r] > room[r] - load:
                return False
            load += jobs[i, r]
        if r < points.shape[1]:
            points[0, r] = load
    keys[0] = 0
    for i in range(len(jobs)):
        keys[0] += bits[i]
    return True


@allocating_kernel((ROWS, NUMBER, ROW, NUMBER, NUMBER, NUMBER, ROWS, ROW, CLOCK_ROWS))
def _search(asked, V, room, spare, step, limit, loads, sets, clock):
    """The front of jobs that ask for resources and perhaps, in two columns more, carry minus waste and small nodes.

    Points have `V` columns: the resources that count, and minus the waste.
    """
    w, C = asked.shape
    R, n, nothing = len(room), 0, np.zeros((1, C), np.int64)
    jobs, bits, left, scale = np.empty((w, C), np.int64), np.empty(w, np.int64), room.copy(), np.ones(C)
    for i in range(w):
        if not _apart(asked, i, nothing, 0, room):
            for c in range(C):
                jobs[n, c] = asked[i, c]
                scale[c] += abs(asked[i, c])
            bits[n] = 1 << (w - 1 - i)
            n += 1
    jobs, bits = jobs[:n], bits[:n]
    points, keys = np.empty((1, V), np.int64), np.empty(1, np.int64)
    if C > R or not _settled(jobs, bits, room, points, keys):
        # Trees take more than three times the work of lists: lists that need over a quarter are not worth making.
        work = tighten(jobs, bits, left, limit >> 4, clock)
        counted = (1 << V) - 1 if C == R else (1 << (V - 1)) - 1 + (1 << R)
        a, a_keys, b, b_keys, more = deal(jobs, bits, counted, left, limit >> 2, clock)
        work += more
        if more > limit >> 2:
            return -1
        for c in range(C):
            scale[c] = 1.0 / min(scale[c], left[c] + 1.0) if c < R else 1.0 / scale[c]
        points, keys, more = _pair(a, a_keys, b, b_keys, V, left, spare, step, scale, limit - work, clock)
        if work + more > limit:
            return -1
    if len(points) > min(len(loads), len(sets)):
        return -1
    _write(points, keys, w, loads, sets)
    return len(points)


@allocating_kernel
def front(demand, room, limit, loads, sets, clock):
    """The front's loads, a row each, and its sets; how many, or -1 if that is too many or more work than `limit`.

    Resources beyond the columns of `loads` are mere limits. The search ends where the run that it is for is stopped, by
    its `clock`.
    """
    return _search(demand, loads.shape[1], room, 0, 0, limit, loads, sets, clock)


@allocating_kernel
def front_with_waste(demand, room, wasted, limit, loads, sets, clock):
    """The front of loads and, in the last column, minus the waste.

    `wasted` is the waste of each job, how many small nodes each wants, how many are free, and what is added for each
    that they want beyond those.
    It grows with every job: sets with room for more, even the empty one, may be on the front.
    """
    waste, small, free_small, step = wasted
    w, R = demand.shape
    asked = np.empty((w, R + 2), np.int64)
    for i in range(w):
        for r in range(R):
            asked[i, r] = demand[i, r]
        asked[i, R], asked[i, R + 1] = -waste[i], -small[i]
    return _search(asked, loads.shape[1], room, free_small, step, limit, loads, sets, clock)


def hypervolume(points: np.ndarray, reference: np.ndarray) -> float:
    """The volume of what some point dominates and the reference does not exceed; exact for integers of any size.

    Each point adds its box less what later ones have of it (While, Bradstreet & Barone 2012). For studies: 200 points
    in 5 dimensions take half a second.
    """
    rows = {tuple(x - low for x, low in zip(row, reference, strict=True)) for row in np.asarray(points).tolist()}
    return _volume([row for row in rows if min(row) > 0])


def _volume(rows: list[tuple[float, ...]]) -> float:
    volume: float = 0  # an exact one of integers
    rows = sorted(rows)
    for k, row in enumerate(rows):
        shared: list[tuple[float, ...]] = []
        for part in sorted({tuple(map(min, row, other)) for other in rows[k + 1 :]}, reverse=True):
            if not any(all(map(ge, other, part)) for other in shared):
                shared.append(part)
        volume += prod(row) - _volume(shared)
    return volume
