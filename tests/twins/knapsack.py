"""Slow twins of the knapsack: every set that fits, and the paper's recursion as it stands. Rows are tuples."""

import math
from fractions import Fraction


def in_units(demand, unit):
    return math.ceil(Fraction(demand, unit))


def common_unit(demands, capacity, r):
    return math.gcd(*(row[r] for row in demands if row[r] <= capacity[r])) or 1


def room_after(room, row):
    """What is left of the room, or None if a row does not fit."""
    left = tuple(have - need for have, need in zip(room, row, strict=True))
    return left if min(left) >= 0 else None


def by_enumeration(demands, values, capacity):
    """(value, set) of the best of all sets that fit; on a tie the one with the last item, then the last but one, ..."""
    sets = [(0.0, (), tuple(capacity))]  # value, who is in, the room that is left
    for row, value in zip(demands, values, strict=True):
        skipping = [(total, (*chosen, 0), room) for total, chosen, room in sets]
        taking = [(total + value, (*chosen, 1), room_after(room, row)) for total, chosen, room in sets]
        sets = skipping + [one for one in taking if one[2] is not None]
    total, chosen, _ = max(sets, key=lambda one: (one[0], one[1][::-1]))
    return total, list(chosen)


def by_recursion(demands, values, capacity, units):
    """(value, set) by eq. (7), demands rounded up and capacity down; read off from the last item to the first."""
    rows = [tuple(in_units(need, unit) for need, unit in zip(row, units, strict=True)) for row in demands]
    room = tuple(math.floor(Fraction(have, unit)) for have, unit in zip(capacity, units, strict=True))
    memo = {}

    def dp(i, room):
        if i == 0:
            return 0.0
        if (i, room) not in memo:
            left = room_after(room, rows[i - 1])
            best = dp(i - 1, room)
            memo[i, room] = best if left is None else max(best, dp(i - 1, left) + values[i - 1])
        return memo[i, room]

    best, chosen = dp(len(rows), room), [0] * len(rows)
    for i in range(len(rows), 0, -1):
        left = room_after(room, rows[i - 1])
        if left is not None and dp(i - 1, left) + values[i - 1] >= dp(i - 1, room):
            chosen[i - 1], room = 1, left
    return best, chosen
