"""Trees over a long line of jobs, to find the first one that can start without reading those before it.

The line is cut into stretches, each with a tree. A tree does not go by places but by what jobs ask for: half of its
jobs are parted from the others by seconds, or by one of the resources in turn (a k-d tree). So jobs that are alike
stand together, and few parts have somebody small in each respect but nobody who is small in all.

A row, of a job or of a part, has the first place in line, the fewest seconds, and the least that is asked of each
resource. Jobs stand in rows first, eight to a leaf. Then the nodes of each tree: its root is node 1, the halves of node
i are 2i and 2i + 1, and row 0 tells how many leaves there are. Who leaves the line is taken out when next met.
"""

from forebay._numba.jit import inlined_kernel, kernel

PLACES = 64  # of the shortest stretch
_LEAF = 8  # jobs
_NOBODY = 2**62
_LONGEST = 2.0**62
_HEAD = 1  # rows before the jobs, for whoever keeps the index
_FIRST, _SECONDS = range(2)
N_COLUMNS = 2  # beside one for each resource


def n_rows(n_places):
    """How many rows an index over so many places has: a head, the jobs, and the nodes of their trees."""
    n_places += -n_places % PLACES
    return _HEAD + n_places + 2 * n_places // _LEAF


@kernel
def _nodes(index, begin):
    """The row of node 0 of the tree over the stretch that begins at `begin`."""
    n_places = (len(index) - _HEAD) * _LEAF // (_LEAF + 2)
    return _HEAD + n_places + 2 * begin // _LEAF


@kernel
def put(index, at, place, seconds, demand):
    """Write down, in row `at` of the jobs, who stands at a place."""
    row = index[_HEAD + at]
    row[_FIRST] = place
    row[_SECONDS] = int(min(seconds, _LONGEST))
    for r in range(len(demand)):
        row[N_COLUMNS + r] = demand[r]


@inlined_kernel
def asked_within(index, at, free):
    """Of what `put` has written into row `at`: the place, and whether the demand is no more than is free."""
    row = index[_HEAD + at]
    for r in range(len(free)):
        if row[N_COLUMNS + r] > free[r]:
            return row[_FIRST], False
    return row[_FIRST], True


@kernel
def _blank(row):
    for c in range(len(row)):
        row[c] = _NOBODY


@kernel
def _swap(index, a, b):
    for c in range(index.shape[1]):
        index[a, c], index[b, c] = index[b, c], index[a, c]


@kernel
def _part(index, low, high, middle, c):
    """Put the rows in order as far as column `c` goes that those before `middle` are no larger than those behind."""
    while high - low > 1:
        pivot = index[(low + high) >> 1, c]
        i, k = low, high - 1
        while i <= k:
            while index[i, c] < pivot:
                i += 1
            while index[k, c] > pivot:
                k -= 1
            if i <= k:
                _swap(index, i, k)
                i += 1
                k -= 1
        if middle <= k:
            high = k + 1
        elif middle >= i:
            low = i
        else:
            return


@kernel
def _next_column(index, low, high, c):
    """The next column, in turn, in which the rows differ."""
    for _ in range(index.shape[1] - 1):
        c = c + 1 if c + 1 < index.shape[1] else _SECONDS
        for row in range(low + 1, high):
            if index[row, c] != index[low, c]:
                return c
    return c


@kernel
def _sum_up(index, node, first, n):
    """Make a node's row the least of `n` rows; whether it has changed."""
    changed = False
    for c in range(index.shape[1]):
        least = index[first, c]
        for row in range(first + 1, first + n):
            least = min(least, index[row, c])
        if index[node, c] != least:
            index[node, c] = least
            changed = True
    return changed


@kernel
def grow(index, begin, n_jobs):
    """Make the tree over a stretch, whose jobs are the `n_jobs` rows from `begin` on."""
    nodes, n_leaves = _nodes(index, begin), PLACES // _LEAF
    while n_leaves * _LEAF < n_jobs:
        n_leaves *= 2
    jobs = _HEAD + begin
    end = jobs + n_jobs
    for row in range(end, jobs + n_leaves * _LEAF):
        _blank(index[row])
    width, n_parts = n_leaves * _LEAF, 1
    while n_parts < n_leaves:
        for part in range(n_parts):
            low = jobs + part * width
            middle, high = low + (width >> 1), min(low + width, end)
            node = index[nodes + n_parts + part]
            above = index[nodes + ((n_parts + part) >> 1), _FIRST] if n_parts > 1 else 0
            node[_FIRST] = above  # the column that parts it, until it is summed up
            if middle < high:
                node[_FIRST] = _next_column(index, low, high, above)
                _part(index, low, high, middle, node[_FIRST])
        width >>= 1
        n_parts *= 2
    index[nodes, _FIRST] = n_leaves
    for leaf in range(n_leaves):
        _sum_up(index, nodes + n_leaves + leaf, jobs + leaf * _LEAF, _LEAF)
    for node in range(n_leaves - 1, 0, -1):
        _sum_up(index, nodes + node, nodes + 2 * node, 2)


@kernel
def _clean(index, begin, leaf, line):
    """Take out of a leaf who has left the line."""
    nodes = _nodes(index, begin)
    first = _HEAD + begin + (leaf - index[nodes, _FIRST]) * _LEAF
    for row in range(first, first + _LEAF):
        if index[row, _FIRST] != _NOBODY and line[index[row, _FIRST]] == -1:
            _blank(index[row])
    changed = _sum_up(index, nodes + leaf, first, _LEAF)
    while changed and leaf > 1:
        leaf >>= 1
        changed = _sum_up(index, nodes + leaf, nodes + 2 * leaf, 2)


@kernel
def _possible(row, longest, free, spare):
    """Whether someone may be there who fits: with a walltime of up to `longest`, or into what is spare."""
    for r in range(len(free)):
        if row[N_COLUMNS + r] > free[r]:
            return False
    if row[_SECONDS] <= longest:
        return True
    for r in range(len(spare)):
        if row[N_COLUMNS + r] > spare[r]:
            return False
    return True


@kernel
def find(index, begin, line, place, longest, free, spare):
    """The first from `place` on, of a stretch, who may fit; beyond all places if nobody does.

    The half that begins earlier in line is looked at first. `pending` has a bit a level, the last one for where we are:
    whether the other half is still to be looked at.
    """
    nodes, best = _nodes(index, begin), _NOBODY
    n_leaves, at, pending = index[nodes, _FIRST], 1, 0
    while True:
        row = index[nodes + at]
        if row[_FIRST] < best and _possible(row, longest, free, spare):
            if at < n_leaves:
                at = 2 * at + (index[nodes + 2 * at + 1, _FIRST] < index[nodes + 2 * at, _FIRST])
                pending = 2 * pending + 1
                continue
            first, left = _HEAD + begin + (at - n_leaves) * _LEAF, False
            for k in range(first, first + _LEAF):
                there = index[k, _FIRST]
                if place <= there < best and _possible(index[k], longest, free, spare):
                    left = left or line[there] == -1
                    if line[there] >= 0:
                        best = there
            if left:
                _clean(index, begin, at, line)
        while at > 1 and not pending & 1:
            at >>= 1
            pending >>= 1
        if at == 1:
            return best
        at ^= 1
        pending ^= 1
