"""Trees over a long line of jobs, to find the first one that can start without reading those before it.

The line is cut into stretches, each with a tree. A tree does not go by places but by what jobs ask for: half of its
jobs are parted from the others by seconds, or by one of the resources in turn (a k-d tree). So jobs that are alike
stand together, and few parts have somebody small in each respect but nobody who is small in all.

A row, of a job or of a part, has the first place in line, the fewest seconds, the atoms on which somebody may lie (as
bits), and the least that is asked of each resource; where jobs share nodes, also the least that is asked of one node. A
job then fits only if one of the *boxes* holds what it asks of a node: see `boxes`.

Jobs stand in rows first, eight to a leaf. Then the nodes of each tree: its root is node 1, the halves of node
i are 2i and 2i + 1, and row 0 tells how many leaves there are. Who leaves the line is taken out when next met.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import inlined_kernel, kernel
from forebay.algorithms.boxes import one_holds
from forebay.core.inside import DIMENSIONS

PLACES = 64  # of the shortest stretch
_LEAF = 8  # jobs
_NOBODY = 2**62
_LONGEST = 2.0**62
_HEAD = 1  # rows before the jobs, for whoever keeps the index
_FIRST, _SECONDS, _ATOMS = range(3)
N_COLUMNS = 3  # beside one for each resource, and for each dimension of a node
EVERYWHERE = -1  # atoms of a job that may lie on any


class Sought(NamedTuple):
    """Who fits: with a walltime of up to `longest` into what is free, with any into what is spare too."""

    longest: float
    free: np.ndarray  # int64[resource]
    spare: np.ndarray  # int64[resource], the first of them
    shared: bool  # whether a job needs a box beside
    now: np.ndarray  # boxes of what is free in nodes
    beside: np.ndarray  # the same of what is spare there too


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
    row[_ATOMS] = EVERYWHERE
    for r in range(len(demand)):
        row[N_COLUMNS + r] = demand[r]


@kernel
def put_inside(index, at, ask, atoms):
    """Write down beside it what the job asks of a node, of one of these atoms."""
    row, first = index[_HEAD + at], index.shape[1] - DIMENSIONS
    row[_ATOMS] = atoms
    row[first], row[first + 1], row[first + 2], row[first + 3] = ask["cores"], ask["memory"], ask["gpus"], ask["local"]


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
    row[_ATOMS] = 0


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
def _next_column(index, low, high, c, first):
    """The next column, in turn, in which the rows differ: of those for seconds, atoms, and from `first` on."""
    for _ in range(index.shape[1] - 1):
        c = _SECONDS if c + 1 >= index.shape[1] else first if c == _ATOMS else c + 1
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
            least = least | index[row, c] if c == _ATOMS else min(least, index[row, c])
        if index[node, c] != least:
            index[node, c] = least
            changed = True
    return changed


@kernel
def grow(index, begin, n_jobs, first):
    """Make the tree over a stretch, whose jobs are the `n_jobs` rows from `begin` on.

    Columns from `first` on part jobs: where nodes are shared, what is asked of one tells more than sums.
    """
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
                node[_FIRST] = _next_column(index, low, high, above, first)
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
def _possible(row, sought):
    """Whether someone may be there who fits."""
    for r in range(len(sought.free)):
        if row[N_COLUMNS + r] > sought.free[r]:
            return False
    if sought.shared and not one_holds(sought.now, row, _ATOMS):
        return False
    if row[_SECONDS] <= sought.longest:
        return True
    for r in range(len(sought.spare)):
        if row[N_COLUMNS + r] > sought.spare[r]:
            return False
    return not sought.shared or one_holds(sought.beside, row, _ATOMS)


@kernel
def find(index, begin, line, place, sought):
    """The first from `place` on, of a stretch, who may fit; beyond all places if nobody does.

    The half that begins earlier in line is looked at first. `pending` has a bit a level, the last one for where we are:
    whether the other half is still to be looked at.
    """
    nodes, best = _nodes(index, begin), _NOBODY
    n_leaves, at, pending = index[nodes, _FIRST], 1, 0
    while True:
        row = index[nodes + at]
        if row[_FIRST] < best and _possible(row, sought):
            if at < n_leaves:
                at = 2 * at + (index[nodes + 2 * at + 1, _FIRST] < index[nodes + 2 * at, _FIRST])
                pending = 2 * pending + 1
                continue
            first, left = _HEAD + begin + (at - n_leaves) * _LEAF, False
            for k in range(first, first + _LEAF):
                there = index[k, _FIRST]
                if place <= there < best and _possible(index[k], sought):
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


@kernel
def find_all(index, begin, line, place, sought, found, n):
    """Add the places from `place` on, of a stretch, of all who may fit to the `n` that are found; how many these are.

    They come in no order: it would take more to go from one to the next as `find` does, where there are many.
    """
    nodes, at = _nodes(index, begin), 1
    n_leaves = index[nodes, _FIRST]
    while True:
        if _possible(index[nodes + at], sought):
            if at < n_leaves:
                at *= 2
                continue
            first, left = _HEAD + begin + (at - n_leaves) * _LEAF, False
            for k in range(first, first + _LEAF):
                there = index[k, _FIRST]
                if place <= there < _NOBODY and _possible(index[k], sought):
                    left = left or line[there] == -1
                    if line[there] >= 0:
                        found[n] = there
                        n += 1
            if left:
                _clean(index, begin, at, line)
        while at > 1 and at & 1:  # both halves are done
            at >>= 1
        if at == 1:
            return n
        at += 1
