"""Trees over a long line of jobs, to find the first one that can start without reading those before it.

The line is cut into stretches, each with a tree. A tree does not go by places but by what jobs ask for: half of its
jobs are parted from the others by seconds, or by one of the resources in turn (a k-d tree). So jobs that are alike
stand together, and few parts have somebody small in each respect but nobody who is small in all.

A row, of a job or of a part, has the first place in line, the fewest seconds, the atoms on which somebody may lie (as
bits), and the least that is asked of each resource; where jobs share nodes, also the least that is asked of one node. A
job then fits only if one of the *boxes* holds what it asks of a node, and there are nodes for all its parts: see
`boxes`. Columns behind these are the caller's: those of a part of the line have the least of each.

Jobs stand in rows first, eight to a leaf. Then the nodes of each tree: its root is node 1, the halves of node
i are 2i and 2i + 1, and row 0 tells how many leaves there are. Who leaves the line is taken out when next met.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import inlined_kernel, kernel
from forebay.algorithms.nodes.boxes import enough_nodes, one_holds
from forebay.core.inside import DIMENSIONS

PLACES = 64  # of the shortest stretch
LEAF = 8  # jobs
NO_JOB = 2**63 - 1  # in a row without a job
_LONGEST = 2.0**62
HEAD = 1  # rows before the jobs, for the caller
FIRST, SECONDS, _ATOMS = range(3)
N_COLUMNS = 3  # beside one for each resource, and those inside nodes
N_INSIDE = DIMENSIONS + 1  # for each dimension of a node, and the number of parts
EVERYWHERE = -1  # atoms of a job that may lie on any


class Sought(NamedTuple):
    """Who fits: with a walltime of up to `longest` into what is free, with any into what is spare too."""

    longest: float
    free: np.ndarray  # int64[resource]
    spare: np.ndarray  # int64[resource], the first of them
    inside: int  # the column from which on a row has what is asked of a node; 0 = no job needs a box
    now: np.ndarray  # boxes of what is free in nodes
    beside: np.ndarray  # the same of what is spare there too
    now_counts: np.ndarray  # and tallies
    beside_counts: np.ndarray


class Parting(NamedTuple):
    """What parts the jobs of a tree beside their seconds and atoms."""

    first: int  # columns from here on; where nodes are shared, what is asked of one tells more than sums
    last: int  # and before this one
    classes: int  # before all others, that of the class of a job; 0 = there are none


def n_rows(n_places):
    """How many rows an index over so many places has: a head, the jobs, and the nodes of their trees."""
    n_places += -n_places % PLACES
    return HEAD + n_places + 2 * n_places // LEAF


@kernel
def tree_at(index, begin):
    """The row of node 0 of the tree over the stretch that begins at `begin`."""
    n_places = (len(index) - HEAD) * LEAF // (LEAF + 2)
    return HEAD + n_places + 2 * begin // LEAF


@kernel
def put(index, at, place, seconds, demand):
    """Write down, in row `at` of the jobs, who stands at a place."""
    row = index[HEAD + at]
    row[FIRST] = place
    row[SECONDS] = int(min(seconds, _LONGEST))
    row[_ATOMS] = EVERYWHERE
    for r in range(len(demand)):
        row[N_COLUMNS + r] = demand[r]


@kernel
def put_inside(index, at, ask, atoms, first):
    """Write down beside it, from a column on, what the job asks of a node, of one of these atoms."""
    row = index[HEAD + at]
    row[_ATOMS] = atoms
    row[first], row[first + 1], row[first + 2], row[first + 3] = ask["cores"], ask["memory"], ask["gpus"], ask["local"]
    row[first + DIMENSIONS] = ask["parts"]


@inlined_kernel
def asked_within(index, at, free):
    """Of what `put` has written into row `at`: the place, and whether the demand is no more than is free."""
    row = index[HEAD + at]
    for r in range(len(free)):
        if row[N_COLUMNS + r] > free[r]:
            return row[FIRST], False
    return row[FIRST], True


@kernel
def blank(row):
    """Leave a row without a job."""
    for c in range(len(row)):
        row[c] = NO_JOB
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
def _differ(index, low, high, c):
    """Whether rows do in a column."""
    for row in range(low + 1, high):
        if index[row, c] != index[low, c]:
            return True
    return False


@kernel
def _next_column(index, low, high, c, parting):
    """The column that parts rows: that of classes where they are of several, else the next one, in turn, of the others.

    Those are seconds, atoms, and from `parting.first` on.
    """
    if parting.classes > 0 and _differ(index, low, high, parting.classes):
        return parting.classes
    c = 0 if c == parting.classes else c
    for _ in range(parting.last):
        c = SECONDS if c + 1 >= parting.last else parting.first if c == _ATOMS else c + 1
        if _differ(index, low, high, c):
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
def grow(index, begin, n_jobs, parting):
    """Make the tree over a stretch, whose jobs are the `n_jobs` rows from `begin` on."""
    nodes, n_leaves = tree_at(index, begin), PLACES // LEAF
    while n_leaves * LEAF < n_jobs:
        n_leaves *= 2
    jobs = HEAD + begin
    end = jobs + n_jobs
    for row in range(end, jobs + n_leaves * LEAF):
        blank(index[row])
    width, n_parts = n_leaves * LEAF, 1
    while n_parts < n_leaves:
        for part in range(n_parts):
            low = jobs + part * width
            middle, high = low + (width >> 1), min(low + width, end)
            node = index[nodes + n_parts + part]
            above = index[nodes + ((n_parts + part) >> 1), FIRST] if n_parts > 1 else 0
            node[FIRST] = above  # the column that parts it, until it is summed up
            if middle < high:
                node[FIRST] = _next_column(index, low, high, above, parting)
                _part(index, low, high, middle, node[FIRST])
        width >>= 1
        n_parts *= 2
    index[nodes, FIRST] = n_leaves
    for leaf in range(n_leaves):
        _sum_up(index, nodes + n_leaves + leaf, jobs + leaf * LEAF, LEAF)
    for node in range(n_leaves - 1, 0, -1):
        _sum_up(index, nodes + node, nodes + 2 * node, 2)


@kernel
def clean(index, begin, leaf, line):
    """Take out of a leaf who has left the line."""
    nodes = tree_at(index, begin)
    first = HEAD + begin + (leaf - index[nodes, FIRST]) * LEAF
    for row in range(first, first + LEAF):
        if index[row, FIRST] != NO_JOB and line[index[row, FIRST]] == -1:
            blank(index[row])
    changed = _sum_up(index, nodes + leaf, first, LEAF)
    while changed and leaf > 1:
        leaf >>= 1
        changed = _sum_up(index, nodes + leaf, nodes + 2 * leaf, 2)


@kernel
def _has_nodes(row, first, boxes, counts):
    """Whether nodes may have what is asked of them in a row, from column `first` on."""
    if not one_holds(boxes, row, _ATOMS, first):
        return False
    parts = row[first + DIMENSIONS]
    return parts <= 1 or enough_nodes(counts, row[_ATOMS], row[first], parts)


@kernel
def possible(row, sought):
    """Whether someone may be there who fits."""
    for r in range(len(sought.free)):
        if row[N_COLUMNS + r] > sought.free[r]:
            return False
    if sought.inside > 0 and not _has_nodes(row, sought.inside, sought.now, sought.now_counts):
        return False
    if row[SECONDS] <= sought.longest:
        return True
    for r in range(len(sought.spare)):
        if row[N_COLUMNS + r] > sought.spare[r]:
            return False
    return sought.inside == 0 or _has_nodes(row, sought.inside, sought.beside, sought.beside_counts)


@kernel
def find(index, begin, line, place, sought):
    """The first from `place` on, of a stretch, who may fit; beyond all places if nobody does.

    The half that begins earlier in line is looked at first. `pending` has a bit a level, the last one for where we are:
    whether the other half is still to be looked at.
    """
    nodes, best = tree_at(index, begin), NO_JOB
    n_leaves, at, pending = index[nodes, FIRST], 1, 0
    while True:
        row = index[nodes + at]
        if row[FIRST] < best and possible(row, sought):
            if at < n_leaves:
                at = 2 * at + (index[nodes + 2 * at + 1, FIRST] < index[nodes + 2 * at, FIRST])
                pending = 2 * pending + 1
                continue
            first, left = HEAD + begin + (at - n_leaves) * LEAF, False
            for k in range(first, first + LEAF):
                there = index[k, FIRST]
                if place <= there < best and possible(index[k], sought):
                    left = left or line[there] == -1
                    if line[there] >= 0:
                        best = there
            if left:
                clean(index, begin, at, line)
        while at > 1 and not pending & 1:
            at >>= 1
            pending >>= 1
        if at == 1:
            return best
        at ^= 1
        pending ^= 1
