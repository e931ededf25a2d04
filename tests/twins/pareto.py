"""Slow twins of the Pareto front: all sets of jobs, and all that can be dominated taken away. Rows are tuples."""

from itertools import product

import numpy as np


def dominates(a, b):
    return tuple(a) != tuple(b) and all(x >= y for x, y in zip(a, b, strict=True))


def undominated(values, members):
    """(value, set) of the rows that no other dominates, largest first; of equal ones that with the earliest jobs."""
    order = np.lexsort(np.hstack([values, members]).T[::-1])[::-1]
    values, members, points = values[order], members[order], []
    while len(values):  # nothing after the first can dominate it
        points.append((tuple(values[0].tolist()), sum(1 << i for i in np.flatnonzero(members[0]).tolist())))
        left = (values > values[0]).any(axis=1)
        values, members = values[left], members[left]
    return points


def front(demands, room, waste=None, small=None, free_small=0, step=0, limits=0):
    """(load, set) of each point, in order, from all sets; with `waste`, loads have one more number, its negative.

    The last `limits` resources are kept, and do not count.
    """
    w = len(demands)
    members = np.arange(1 << w)[:, None] >> np.arange(w) & 1
    loads = members @ np.array(demands, np.int64).reshape(w, len(room))
    fits = (loads <= np.array(room)).all(axis=1)
    members, loads = members[fits], loads[fits, : len(room) - limits]
    if waste is not None:
        extra = np.maximum(0, members @ np.array(small, np.int64) - free_small)
        loads = np.column_stack([loads, -(members @ np.array(waste, np.int64)) - step * extra])
    return undominated(loads, members)


def sums(jobs, bits, room):
    """The best key of each row of sums within the room, of all sets of the jobs."""
    best = {(0,) * len(jobs[0]): 0} if jobs else {(): 0}
    for job, bit in zip(jobs, bits, strict=True):
        for row, key in list(best.items()):
            new = tuple(x + y for x, y in zip(row, job, strict=True))
            if all(x <= have for x, have in zip(new, room, strict=False)):
                best[new] = max(best.get(new, 0), key + bit)
    return best


def highest(jobs, room):
    """The largest load of each resource alone."""
    columns = zip(*jobs, strict=True)
    return [
        max(sums([(x,) for x in column], [0] * len(jobs), [have]))[0]
        for column, have in zip(columns, room, strict=True)
    ]


def hypervolume(points, reference):
    """Unit cubes counted, for whole numbers."""
    highs = [max([low, *column]) for low, *column in zip(reference, *points, strict=True)]
    cubes = product(*(range(low, high) for low, high in zip(reference, highs, strict=True)))
    return sum(any(all(x < y for x, y in zip(cube, point, strict=True)) for point in points) for cube in cubes)
