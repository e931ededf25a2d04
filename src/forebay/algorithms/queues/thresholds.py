"""Which jobs of a long line ask for much: for some bounds of each amount, the set of places whose jobs ask for as much.

Of all that ask for as much of each amount as some job, the sets of the next bounds have most, a word of places at a
time, and no others. The bounds are those that cut a sample of the line into equal parts.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.nodes.bits import lowest
from forebay.algorithms.queues.sorting import sort_smallest

WORD = 62  # places: words are never negative
BOUNDS = 20  # of an amount
MOST = 4  # amounts
NOWHERE = 2**62
_SAMPLE = 128


class Thresholds(NamedTuple):
    """Sets of places, words of bits; without any word where they are not known."""

    bounds: np.ndarray  # int64[amount, bound], ascending
    rows: np.ndarray  # int64[set, word]: where jobs stand, or have stood; then where they ask for as much as a bound


@allocating_kernel
def thresholds_in(cells, n_places, n_amounts):
    """The sets in a table's cells, for up to so many places; none if they have no room."""
    n = min(n_amounts, MOST)
    words, a = n_places // WORD + 1, n * BOUNDS
    b = a + words * (1 + a)
    if b > len(cells):
        n = words = a = b = 0
    return Thresholds(cells[:a].reshape((n, BOUNDS)), cells[a:b].reshape((1 + n * BOUNDS, words)))


@allocating_kernel
def choose_bounds(sets, rows, columns):
    """Blank the sets, with bounds from some of the rows; `columns` has each amount's."""
    for k in range(len(sets.rows)):
        for w in range(sets.rows.shape[1]):
            sets.rows[k, w] = 0
    n = min(len(rows), _SAMPLE)
    keys, ties, values = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    for c in range(len(sets.bounds)):
        for i in range(n):
            values[i] = rows[i * len(rows) // n, columns[c]]
            keys[i], ties[i] = values[i], i
        sort_smallest(keys, ties, values, n, n)
        for k in range(BOUNDS):
            sets.bounds[c, k] = values[k * (n - 1) // (BOUNDS - 1)]


@kernel
def enter(sets, at, row, columns):
    """A job stands at a place."""
    word, bit = at // WORD, 1 << (at % WORD)
    sets.rows[0, word] |= bit
    for c in range(len(sets.bounds)):
        k = 0
        while k < BOUNDS and row[columns[c]] >= sets.bounds[c, k]:
            sets.rows[1 + c * BOUNDS + k, word] |= bit
            k += 1


@inlined_kernel
def leave(sets, at):
    """No job stands there any more."""
    drop(sets.rows[0], at)


@inlined_kernel
def drop(words, at):
    """Take a place out of a set."""
    words[at // WORD] &= ~(1 << (at % WORD))


@inlined_kernel
def next_in(words, at):
    """The first place from `at` on that is in a set; NOWHERE if none is."""
    w = at // WORD
    if w >= len(words):
        return NOWHERE
    word = words[w] >> (at % WORD) << (at % WORD)
    while word == 0:
        w += 1
        if w == len(words):
            return NOWHERE
        word = words[w]
    return WORD * w + lowest(word)


@inlined_kernel
def _bound_from(sets, c, least):
    """The first bound of an amount that is no less; BOUNDS if there is none."""
    k = 0
    while k < BOUNDS and sets.bounds[c, k] < least:
        k += 1
    return k


@inlined_kernel
def _set_of(sets, c, least):
    """The set of those who ask for as much of an amount, as far as bounds tell; of all if it is nothing."""
    return 1 + c * BOUNDS + _bound_from(sets, c, least) if c < len(sets.bounds) and least > 0 else 0


@kernel
def strike_out(sets, words, first, least):
    """Take out of a set, from about place `first` on, who asks for as much of each of MOST amounts, as bounds tell."""
    rows = sets.rows
    for c in range(len(sets.bounds)):
        if _bound_from(sets, c, least[c]) == BOUNDS:
            return
    some, others = rows[_set_of(sets, 0, least[0])], rows[_set_of(sets, 1, least[1])]
    third, last = rows[_set_of(sets, 2, least[2])], rows[_set_of(sets, 3, least[3])]
    for w in range(first // WORD, len(words)):
        words[w] &= ~(some[w] & others[w] & third[w] & last[w])


@kernel
def put_within(sets, words, first, free):
    """Fill a set with the places of those who may ask for no more than is free, of the amounts from `first` on."""
    rows = sets.rows
    for w in range(len(words)):
        words[w] = rows[0, w]
    for c in range(first, min(len(sets.bounds), first + len(free))):
        k = _bound_from(sets, c, free[c - first] + 1)
        if k < BOUNDS:
            above = rows[1 + c * BOUNDS + k]
            for w in range(len(words)):
                words[w] &= ~above[w]
