"""Where the parts of a job lie on nodes that jobs share: the ONE rule, which the engine and every policy follow.

Atoms come in the order of the machine. Within one, nodes come by free cores (fewest first: best fit; most first: worst
fit) or by id, ties lowest id first. Parts that are spread have a node each; others lie together, as many as a node
holds. Exclusive parts lie on nodes that were wholly idle, and their job takes all that is in these.

`room` has a row a node and behind them one for each block of nodes: no node of the block has more. On a busy machine
most blocks have too little for most jobs, and are passed over as one: 1,000 nodes looked at one by one, for each of a
hundred jobs that wait, were two thirds of a run's time.
"""

from forebay._numba.jit import inlined_kernel, kernel
from forebay.core.inside import DIMENSIONS

FROM_ZERO = True
BLOCK = 32
BEST, LOWEST = 0, 1  # places in core.inside.PLACEMENTS


def n_rows(n_nodes: int) -> int:
    """Rows of a table of room: nodes, and blocks of them."""
    return n_nodes + -(-n_nodes // BLOCK)


@inlined_kernel
def may_hold(room, row, ask):
    """Whether a row has as much as a part asks for."""
    if room[row, 0] < ask["cores"] or room[row, 1] < ask["memory"]:
        return False
    return room[row, 2] >= ask["gpus"] and room[row, 3] >= ask["local"]


@inlined_kernel
def next_open(room, n_nodes, node, high, ask):
    """The first node from `node` on whose block may have room for a part; `high` or more if there is none before."""
    while node < high and not may_hold(room, n_nodes + node // BLOCK, ask):
        node = (node // BLOCK + 1) * BLOCK
    return node


@inlined_kernel
def holds_in(room, row, full, node, ask):
    """How many parts a node holds where a row has what is free in it."""
    if not may_hold(room, row, ask):
        return 0
    if ask["exclusive"]:
        for d in range(DIMENSIONS):
            if room[row, d] < full[node, d]:
                return 0
    if ask["spread"]:
        return 1
    count = room[row, 0] // ask["cores"]
    if ask["memory"] > 0:
        count = min(count, room[row, 1] // ask["memory"])
    if ask["gpus"] > 0:
        count = min(count, room[row, 2] // ask["gpus"])
    if ask["local"] > 0:
        count = min(count, room[row, 3] // ask["local"])
    return count


@inlined_kernel
def holds(room, full, node, ask):
    """How many parts a node holds beside what is there."""
    return holds_in(room, node, full, node, ask)


@kernel
def count_parts(room, full, atoms, ask):
    """How many of the parts find room; counting stops when all do."""
    count = 0
    for a in range(len(atoms) - 1):
        if not (ask["allowed"] >> a) & 1:
            continue
        node, high = next_open(room, len(full), atoms[a], atoms[a + 1], ask), atoms[a + 1]
        while node < high:
            count += holds(room, full, node, ask)
            if count >= ask["parts"]:
                return ask["parts"]
            node += 1
            if node % BLOCK == 0:
                node = next_open(room, len(full), node, high, ask)
    return count


@kernel
def _last_key(room, full, low, high, ask, sign, wanted):
    """Go through keys, sign x free cores, from the smallest on, until nodes of them hold all that is wanted.

    Returns the last key, and how many parts are left for its nodes. Each step looks at all nodes once: jobs of many
    parts are few, and so are the numbers of cores that are free.
    """
    before, left = -(1 << 62), wanted
    while True:
        key, some = 1 << 62, 0
        node = next_open(room, len(full), low, high, ask)
        while node < high:
            this = sign * room[node, 0]
            if before < this <= key:
                count = holds(room, full, node, ask)
                if count > 0 and this < key:
                    key, some = this, count
                elif count > 0:
                    some += count
            node += 1
            if node % BLOCK == 0:
                node = next_open(room, len(full), node, high, ask)
        if some == 0 or some >= left:
            return key, left
        before = key
        left -= some


@kernel
def _add(picks, n, node, parts):
    pick = picks[n]
    pick["low"] = node
    pick["count"] = parts
    pick["server"] = -1
    return n + 1


@kernel
def _place_one(room, full, low, high, ask, sign):
    """The node of an atom that comes first; -1 if none has room."""
    found, least = -1, 1 << 62
    node = next_open(room, len(full), low, high, ask)
    while node < high:
        if sign * room[node, 0] < least and holds(room, full, node, ask) > 0:
            found, least = node, sign * room[node, 0]
        node += 1
        if node % BLOCK == 0:
            node = next_open(room, len(full), node, high, ask)
    return found


@kernel
def place_parts(room, full, atoms, ask, placement, picks, first):
    """Pick nodes for all parts; `room` stays as it is.

    Rows (node, parts) go to `picks` from `first` on, nodes ascending; returns the next row, or -1 if not all find room.
    """
    n, wanted = first, ask["parts"]
    sign = 1 if placement == BEST else 0 if placement == LOWEST else -1
    for a in range(len(atoms) - 1):
        low, high = atoms[a], atoms[a + 1]
        if wanted == 0 or not (ask["allowed"] >> a) & 1:
            continue
        if wanted == 1:
            node = _place_one(room, full, low, high, ask, sign)
            if node >= 0:
                n = _add(picks, n, node, 1)
                wanted = 0
            continue
        last, left = _last_key(room, full, low, high, ask, sign, wanted)
        node = next_open(room, len(full), low, high, ask)
        while node < high:
            key = sign * room[node, 0]
            count = holds(room, full, node, ask) if key <= last else 0
            if key == last:
                count = min(count, left)
                left -= count
            if count > 0:
                n = _add(picks, n, node, count)
                wanted -= count
            node += 1
            if node % BLOCK == 0:
                node = next_open(room, len(full), node, high, ask)
    return n if wanted == 0 else -1


@inlined_kernel
def bound_block(room, n_nodes, block):
    """Work out the most that any node of a block has."""
    row, high = n_nodes + block, min((block + 1) * BLOCK, n_nodes)
    for d in range(DIMENSIONS):
        most = room[block * BLOCK, d]
        for node in range(block * BLOCK + 1, high):
            most = max(most, room[node, d])
        room[row, d] = most


@inlined_kernel
def all_of(full, node):
    """All that a node has."""
    return full[node, 0], full[node, 1], full[node, 2], full[node, 3]


@inlined_kernel
def taken_by(full, node, ask, parts):
    """What so many parts take of a node, exclusive ones all: cores, memory, GPUs, local storage."""
    if ask["exclusive"]:
        return all_of(full, node)
    return parts * ask["cores"], parts * ask["memory"], parts * ask["gpus"], parts * ask["local"]


@inlined_kernel
def take_amounts(room, full, node, taken):
    """They leave the node's room."""
    row, bounds = len(full) + node // BLOCK, False
    for d in range(DIMENSIONS):
        bounds = bounds or (taken[d] > 0 and room[node, d] >= room[row, d])
        room[node, d] -= taken[d]
    if bounds:  # otherwise another node of the block has as much as before
        bound_block(room, len(full), node // BLOCK)


@kernel
def take_parts(room, full, node, ask, parts):
    """So many parts take what they ask for from a node's room; returns cores, memory, GPUs, local storage."""
    taken = taken_by(full, node, ask, parts)
    take_amounts(room, full, node, taken)
    return taken


@inlined_kernel
def give_amounts(room, full, node, given):
    """They are back in the node's room."""
    row = len(full) + node // BLOCK
    for d in range(DIMENSIONS):
        room[node, d] += given[d]
        room[row, d] = max(room[row, d], room[node, d])


@inlined_kernel
def held_in(share):
    """What a job has of a node."""
    return share["cores"], share["memory"], share["gpus"], share["local"]
