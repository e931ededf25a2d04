"""A binary heap of timed slots that can be emptied from the middle: cancelling an event costs O(log n).

Order: time, then sequence number. `where[slot]` is the slot's place in the heap, -1 when absent.
"""

import numpy as np

from forebay._numba.jit import kernel

TIMER = np.dtype([("time", "f8"), ("seq", "i8"), ("slot", "i8")], align=True)


@kernel
def _before(a, b):
    return a["time"] < b["time"] or (a["time"] == b["time"] and a["seq"] < b["seq"])


@kernel
def _rise(heap, where, i):
    while i > 0:
        parent = (i - 1) >> 1
        if not _before(heap[i], heap[parent]):
            break
        _swap(heap, where, i, parent)
        i = parent


@kernel
def _sink(heap, where, n, i):
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and _before(heap[child + 1], heap[child]):
            child += 1
        if not _before(heap[child], heap[i]):
            break
        _swap(heap, where, i, child)
        i = child


@kernel
def _swap(heap, where, i, k):
    a, b = heap[i], heap[k]
    time, seq, slot = a["time"], a["seq"], a["slot"]
    a["time"], a["seq"], a["slot"] = b["time"], b["seq"], b["slot"]
    b["time"], b["seq"], b["slot"] = time, seq, slot
    where[a["slot"]] = i
    where[slot] = k


@kernel
def push(heap, where, n, time, seq, slot):
    """Add a slot; returns the new size."""
    timer = heap[n]
    timer["time"] = time
    timer["seq"] = seq
    timer["slot"] = slot
    where[slot] = n
    _rise(heap, where, n)
    return n + 1


@kernel
def remove(heap, where, n, slot):
    """Take a slot out, wherever it is; returns the new size."""
    i = where[slot]
    last = n - 1
    if i != last:
        _swap(heap, where, i, last)
        _rise(heap, where, i)
        _sink(heap, where, last, i)
    where[slot] = -1
    return last
