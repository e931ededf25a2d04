"""Slow twins of small kernels: lists that are searched anew, sets of nodes one by one, servers one after the other."""


class Timers:
    """The heap as a list that is searched anew each time."""

    def __init__(self):
        self.rows = []  # (time, seq, slot)

    def push(self, time, seq, slot):
        self.rows.append((time, seq, slot))

    def remove(self, slot):
        self.rows = [row for row in self.rows if row[2] != slot]

    def first(self):
        return min(self.rows)


class Nodes:
    """Free and held node ids, one by one. What was taken last is given back first."""

    def __init__(self, n_nodes):
        self.free = set(range(n_nodes))

    def take_lowest(self, held, count):
        taken = sorted(self.free)[:count]
        self.free -= set(taken)
        held += taken

    def put_back(self, low, high):
        self.free |= set(range(low, high + 1))

    def give_back(self, held, count):
        for _ in range(count):
            self.free.add(held.pop())

    def take_from(self, held, first, count):
        taken = sorted(node for node in self.free if node >= first)[:count]
        self.free -= set(taken)
        held += taken

    def find(self, node):
        return node in self.free

    def first_from(self, node):
        return min((free for free in self.free if free >= node), default=None)

    def give_these(self, held, low, count):
        for node in range(low, low + count):
            held.remove(node)
            self.free.add(node)

    def holder(self, held, node):
        return node in held

    def take_these(self, held, low, count):
        taken = range(low, low + count)
        self.free -= set(taken)
        held += taken


def may_choose(allowed):
    """Whether several bits are set."""
    return bin(allowed & 2**62 - 1).count("1") > 1


class Park:
    """Nodes one by one, each with the atom that it is of."""

    def __init__(self, sizes):
        self.atom = [a for a, size in enumerate(sizes) for _ in range(size)]
        self.n_atoms = len(sizes)

    def atom_of(self, node):
        """The atom of a node."""
        return self.atom[node]

    def free_in(self, free, a):
        """How many of some free nodes are of an atom."""
        return sum(self.atom[node] == a for node in free)

    def share(self, moments, allowed, n_nodes):
        """Of each atom, the nodes that a job gets, one by one, of as many as are free at every moment; None if too few.

        Which nodes these are does not matter: of an atom, any.
        """
        usable = []
        for a in range(self.n_atoms):
            if allowed >> a & 1:
                usable += [a] * min(self.free_in(free, a) for free in moments)
        got = usable[:n_nodes]
        return [got.count(a) for a in range(self.n_atoms)] if len(got) == n_nodes else None


def sort_smallest(keys, ties, items, count):
    """The `count` items with the smallest (key, tie)."""
    return [item for _, _, item in sorted(zip(keys, ties, items, strict=True))][:count]


def group_intervals(intervals, n_owners):
    """Each owner's (low, high), lowest first."""
    return [sorted((low, high) for owner, low, high in intervals if owner == o) for o in range(n_owners)]


def write_sets(groups):
    """Node sets as text, node by node."""
    lines = []
    for intervals in groups:
        nodes = {node for low, high in intervals for node in range(low, high + 1)}
        firsts = sorted(node for node in nodes if node - 1 not in nodes)
        lasts = sorted(node for node in nodes if node + 1 not in nodes)
        lines.append(" ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in zip(firsts, lasts, strict=True)))
    return lines


def mask(word, low, count):
    """The number that has bit b for each of the nodes low, low + 1, ... that is node 32 x word + b."""
    return sum(1 << node % 32 for node in range(low, low + count) if node // 32 == word)


def fill(nodes, low, count):
    """Add nodes to a set, in place."""
    nodes.update(range(low, low + count))


def wipe(nodes, low, count):
    """Take nodes out of a set, in place."""
    nodes.difference_update(range(low, low + count))


def count_word(x):
    """The ones of a number written in base 2."""
    return f"{x:b}".count("1")


def count_bits(nodes):
    """The size of a set."""
    return len(nodes)


def lowest(x):
    """The zeros at the end of a number written in base 2."""
    return len(f"{x:b}") - len(f"{x:b}".rstrip("0"))


def is_in(nodes, node):
    """Whether a set has a node."""
    return node in nodes


def next_run(nodes, node):
    """The first node from `node` on, and the first behind it that is missing."""
    first = min((other for other in nodes if other >= node), default=-1)
    behind = first
    while behind in nodes:
        behind += 1
    return first, behind


def to_words(nodes, n_words):
    """A set as words of 32 bits."""
    return [sum(1 << node - 32 * word for node in nodes if node // 32 == word) for word in range(n_words)]


def count_chunks(room, size, enough):
    """How many chunks fit, put there one by one; `enough` at most."""
    room, n = list(room), 0
    while n < enough and pick_server(range(len(room)), room, size) >= 0:
        n += 1
    return n


def pick_server(near, room, size):
    """The first server of `near` with room, which is taken, in place; -1 if there is none."""
    for server in near:
        if room[server] >= size:
            room[server] -= size
            return server
    return -1


def pick_node(picks, node, near, room, size):
    """Add (node, server of its chunk, -1 without one) to a list; whether there was a server."""
    server = pick_server(near, room, size) if size else -1
    picks.append((node, server))
    return server >= 0 or not size


def place(free, near_of, room, n_nodes, n_chunks, size):
    """The (node, server) of the lowest free nodes; None if no server has room. `near_of` is a function of the node.

    Without nodes, chunks lie as seen from node 0.
    """
    picks = []
    for node in sorted(free)[:n_nodes] if n_nodes else [-1] * n_chunks:
        if not pick_node(picks, node, near_of(max(node, 0)), room, size):
            return None
    return picks
