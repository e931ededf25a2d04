"""Sorting by a key without np.argsort, whose compilation alone takes two seconds: a heap, smallest first."""

from numba import types

from forebay._numba.jit import kernel


@kernel
def _sink(keys, ties, items, n, i):
    key, tie, item = keys[i], ties[i], items[i]
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        k = child + 1
        if k < n and (keys[k] < keys[child] or (keys[k] == keys[child] and ties[k] < ties[child])):
            child = k
        if key < keys[child] or (key == keys[child] and tie <= ties[child]):
            break
        keys[i], ties[i], items[i] = keys[child], ties[child], items[child]
        i = child
    keys[i], ties[i], items[i] = key, tie, item


# Explicit signatures here and in `profile`: Numba compiles a function anew for each mix of literals and variables.
@kernel(types.void(types.float64[::1], types.int64[::1], types.int64[::1], types.int64, types.int64))
def sort_smallest(keys, ties, items, n, count):
    """Bring the `count` items with the smallest (key, tie) to the front of `items`, in order; the rest follow."""
    for i in range(n // 2 - 1, -1, -1):
        _sink(keys, ties, items, n, i)
    left = n
    while left > n - count and left > 0:
        left -= 1
        keys[0], keys[left] = keys[left], keys[0]
        ties[0], ties[left] = ties[left], ties[0]
        items[0], items[left] = items[left], items[0]
        _sink(keys, ties, items, left, 0)
    for i in range(n // 2):
        items[i], items[n - 1 - i] = items[n - 1 - i], items[i]
