"""What the nodes of each atom have free, as a few boxes: a part finds room on a node only if it fits into a box.

A node is left out if a box has as much of everything; of most machines a handful of boxes is left. Where there would be
more than a few of an atom, its last one grows to hold the others too: boxes may promise too much, never too little.

How many parts find room is bounded by a *tally*: for each atom, how many nodes have so many cores free, or more.
"""

from forebay._numba.jit import kernel
from forebay.algorithms.nodes.shared_nodes import BLOCK
from forebay.core.inside import DIMENSIONS

MOST = 8  # of an atom
N_COLUMNS = 1 + DIMENSIONS  # the atom, as a bit, and what the box has


@kernel
def _is_within(room, row, boxes, first, n):
    """Whether one of the boxes from `first` on has as much of everything as a row of room."""
    for b in range(first, n):
        within = True
        for d in range(DIMENSIONS):
            within = within and room[row, d] <= boxes[b, 1 + d]
        if within:
            return True
    return False


@kernel
def _add(room, node, boxes, first, n, atom):
    """A box for a node that fits into none; those that it holds go. Returns how many there are."""
    kept = first
    for b in range(first, n):
        held = True
        for d in range(DIMENSIONS):
            held = held and boxes[b, 1 + d] <= room[node, d]
        if not held:
            for c in range(N_COLUMNS):
                boxes[kept, c] = boxes[b, c]
            kept += 1
    if kept - first == MOST:
        for d in range(DIMENSIONS):
            boxes[kept - 1, 1 + d] = max(boxes[kept - 1, 1 + d], room[node, d])
        return kept
    boxes[kept, 0] = 1 << atom
    for d in range(DIMENSIONS):
        boxes[kept, 1 + d] = room[node, d]
    return kept + 1


@kernel
def outline(room, n_nodes, atoms, boxes):
    """Fill `boxes`, MOST rows for each atom, for what nodes have; returns how many there are."""
    n = 0
    for a in range(len(atoms) - 1):
        first, node, high = n, atoms[a], atoms[a + 1]
        while node < high:
            end = min((node // BLOCK + 1) * BLOCK, high)
            if not _is_within(room, n_nodes + node // BLOCK, boxes, first, n):
                for k in range(node, end):
                    if room[k, 0] > 0 and not _is_within(room, k, boxes, first, n):
                        n = _add(room, k, boxes, first, n, a)
            node = end
    return n


@kernel
def one_holds(boxes, row, where, first):
    """Whether a box of an atom that is among the bits in column `where` holds what the row asks for from `first` on."""
    for b in range(len(boxes)):
        if boxes[b, 0] & row[where] != 0:
            holds = True
            for d in range(DIMENSIONS):
                holds = holds and row[first + d] <= boxes[b, 1 + d]
            if holds:
                return True
    return False


@kernel
def tally(room, atoms, counts):
    """Fill `counts`, a row for each atom: how many of its nodes have as many cores free as a column says, or more."""
    last = counts.shape[1] - 1
    for a in range(len(counts)):
        for cores in range(last + 1):
            counts[a, cores] = 0
        for node in range(atoms[a], atoms[a + 1]):
            counts[a, max(room[node, 0], 0)] += 1
        for cores in range(last - 1, -1, -1):
            counts[a, cores] += counts[a, cores + 1]


@kernel
def enough_nodes(counts, where, cores, parts):
    """Whether so many parts of so many cores may find room on nodes of the atoms that are the bits of `where`."""
    n = 0
    for a in range(len(counts)):
        if (where >> a) & 1 != 0:
            many = cores  # a node with room for k parts counts k times
            while many < counts.shape[1] and n < parts:
                n += counts[a, many]
                many += cores
    return n >= parts
