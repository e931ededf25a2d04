"""Slow twins of laying jobs into what will be free, and of annealing. Rows as in plan.py: counts, servers, nodes."""

import math
from itertools import permutations

from twins.kernels import count_chunks, pick_server


class Shape:
    """How many columns of a row are counts (R) and servers (S); nodes follow if they are pinned."""

    def __init__(self, R, S, n_nodes, near):
        self.R, self.S, self.n_nodes, self.near = R, S, n_nodes, near

    def ids(self, row):
        """The nodes that are free in a row."""
        return [node for node in range(self.n_nodes) if row[self.R + self.S + node] > 0]


def enough(shape, row, demand, size, n_chunks):
    """Whether counts, servers and nodes suffice, each looked at by itself."""
    counts = all(have >= need for have, need in zip(row[: shape.R], demand, strict=True))
    chunks = not (shape.S and n_chunks) or count_chunks(row[shape.R : shape.R + shape.S], size, n_chunks) >= n_chunks
    return counts and chunks and (not shape.n_nodes or len(shape.ids(row)) >= demand[0])


def prefer_idle(shape, row, before, n_nodes):
    """The row with those nodes only that were free before as well, if they are enough; else None."""
    first = shape.R + shape.S
    idle = row[:first] + [min(pair) for pair in zip(row[first:], before[first:], strict=True)]
    return idle if len(shape.ids(idle)) >= n_nodes else None


def charge(shape, row, demand, size, n_chunks):
    """What is taken: pinned, the lowest nodes and near servers; counted, the emptiest servers, filled one by one."""
    room, servers = list(row[shape.R : shape.R + shape.S]), [0] * shape.S
    chosen = shape.ids(row)[: demand[0]]
    for k in range(n_chunks if shape.S and size else 0):
        if shape.n_nodes:
            server = pick_server(shape.near(chosen[k] if k < len(chosen) else 0), room, size)
        else:
            full = {s for s in range(shape.S) if servers[s] and room[s] >= size}  # begun, and not yet full
            server = min(full) if full else min(range(shape.S), key=lambda s: (-room[s] if not servers[s] else 0, s))
            room[server] -= size
        servers[server] += size
    return [*demand, *servers, *(int(node in chosen) for node in range(shape.n_nodes))]


def lay(shape, plan, demand, duration, size, n_chunks):
    """Put a job at the earliest time at which all it needs is free; returns that time."""
    for time in sorted({plan.now, *(t for t in plan.changes() if plan.now < t < math.inf)}):
        row = plan.least(time, duration)
        if enough(shape, row, demand, size, n_chunks):
            idle = None
            if shape.n_nodes and time > plan.now:
                idle = prefer_idle(shape, row, plan.just_before(time), demand[0])
            taken = charge(shape, idle or row, demand, size, n_chunks)
            closed = [0] * (shape.R + shape.S) + taken[shape.R + shape.S :] if idle else None
            plan.take(taken, time, duration, closed)
            return time
    return math.inf


def accepts(score, new, temperature, u):
    """As the books have it."""
    return new <= score or (temperature > 0 and u < math.exp((score - new) / temperature))


def refused_above(score, temperature, u):
    """Where exp((score - new) / temperature) equals u."""
    return score - temperature * math.log(u) if u > 0 else math.inf


def cooled(temperature, rate, floor):
    """A share of it, or the floor."""
    return rate * temperature if rate * temperature > floor else floor


def swap(order, i, j):
    """A new list with two places changed."""
    return [order[j] if k == i else order[i] if k == j else item for k, item in enumerate(order)]


def insert(order, i, j):
    """A new list with one item elsewhere."""
    rest = order[:i] + order[i + 1 :]
    return [*rest[:j], order[i], *rest[j:]]


def last_order(order, first):
    """The last one that begins with the same `first` items."""
    return [*order[:first], *sorted(order[first:], reverse=True)]


def next_order(order):
    """The one after it among all permutations, in order; None after the last."""
    everything = sorted(set(permutations(order)))
    place = everything.index(tuple(order)) + 1
    return list(everything[place]) if place < len(everything) else None
