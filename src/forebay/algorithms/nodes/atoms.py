"""Nodes that are not all alike: how many of each atom a job takes.

An *atom* is a run of nodes that are the same to every job: of one class, in the same partitions. `atoms` has a row for
each, in the order of the machine: its first node, and the column that counts it. Amounts have all nodes first. One
atom, the first, may have no column (-1): what others leave of all nodes is its own. `allowed` has a bit an atom: where
a job may run.

A job takes, atom by atom in order, what is free for its whole time, and the rest from the next one. So the last atoms,
which are to be the special ones, stay for those who need them. It is greedy: where sets of atoms overlap without one
being part of the other, no other split is tried.
"""

from forebay._numba.jit import inlined_kernel, kernel

FIRST, COLUMN = range(2)


@inlined_kernel
def may_choose(allowed):
    """Whether a job may have nodes of several atoms; otherwise its demand names the one."""
    return allowed & (allowed - 1) != 0


@inlined_kernel
def atom_of(atoms, node):
    """The atom that a node belongs to."""
    a = len(atoms) - 1
    while atoms[a, FIRST] > node:
        a -= 1
    return a


@inlined_kernel
def free_in(row, atoms, a):
    """How many nodes of an atom are free."""
    column = atoms[a, COLUMN]
    if column >= 0:
        return row[column]
    free = row[0]
    for b in range(len(atoms)):
        if b != a:
            free -= row[atoms[b, COLUMN]]
    return free


@kernel
def has_room(row, atoms, allowed, n_nodes):
    """Whether so many nodes are free where a job may run."""
    room = 0
    for a in range(len(atoms)):
        if (allowed >> a) & 1:
            room += max(free_in(row, atoms, a), 0)
    return room >= n_nodes


@kernel
def share_now(row, other, atoms, allowed, n_nodes, share):
    """Into `share`, how many nodes of each atom a job takes of what both rows have; whether these are enough."""
    left = n_nodes
    for a in range(len(atoms)):
        some = 0
        if (allowed >> a) & 1:
            some = min(max(min(free_in(row, atoms, a), free_in(other, atoms, a)), 0), left)
        share[a] = some
        left -= some
    return left == 0


@kernel
def share_for(free, first, last, atoms, allowed, n_nodes, share):
    """The same of what is free from segment `first` to before `last`: it must have the same nodes all the time."""
    left = n_nodes
    for a in range(len(atoms)):
        some = 0
        if left > 0 and (allowed >> a) & 1:
            least = free_in(free[first], atoms, a)
            for i in range(first + 1, last):
                least = min(least, free_in(free[i], atoms, a))
            some = min(max(least, 0), left)
        share[a] = some
        left -= some
    return left == 0
