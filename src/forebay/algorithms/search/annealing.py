"""Simulated annealing, the parts that know nothing of what is annealed: moves, acceptance, cooling.

The acceptance number of a move is drawn before its outcome is known. So an evaluation may stop as soon as it is sure to
be refused, and what is provably equal need not be evaluated at all: the random stream stays the same.
"""

import math

from forebay._numba.jit import kernel


@kernel
def accepts(score, new, temperature, u):
    """Whether to go from `score` to `new`: always if it is no worse, else with the chance exp(-worse / temperature)."""
    return new <= score or (temperature > 0.0 and u < math.exp((score - new) / temperature))


@kernel
def refused_above(score, temperature, u):
    """A score above which a move with the number `u` is surely refused, with some room for rounding."""
    if u <= 0.0:
        return math.inf
    limit = score - temperature * math.log(u)
    return limit + 1e-9 * abs(limit) + 1.0


@kernel
def cooled(temperature, rate, floor):
    """The next temperature; it never falls below `floor`."""
    return max(rate * temperature, floor)


@kernel
def swap(order, i, j):
    """Let two places change what they hold."""
    order[i], order[j] = order[j], order[i]


@kernel
def insert(order, i, j):
    """Take what place `i` holds and put it to place `j`; those between move by one."""
    item = order[i]
    step = 1 if j > i else -1
    for k in range(i, j, step):
        order[k] = order[k + step]
    order[j] = item


@kernel
def last_order(order, first):
    """The last permutation in lexicographic order of those that are the same up to before place `first`."""
    for a in range(first, len(order)):
        item, b = order[a], a
        while b > first and order[b - 1] < item:
            order[b] = order[b - 1]
            b -= 1
        order[b] = item


@kernel
def next_order(order):
    """The next permutation in lexicographic order, in place; returns the first place changed, -1 after the last."""
    i = len(order) - 2
    while i >= 0 and order[i] >= order[i + 1]:
        i -= 1
    if i < 0:
        return -1
    j = len(order) - 1
    while order[j] <= order[i]:
        j -= 1
    order[i], order[j] = order[j], order[i]
    a, b = i + 1, len(order) - 1
    while a < b:
        order[a], order[b] = order[b], order[a]
        a += 1
        b -= 1
    return i
