"""Pairing heaps in one pool of rows (Fredman et al. 1986): any number of heaps that grow, shrink and lose any member.

A heap is the row of its root, -1 when empty. Order: key, then sequence number. `prev` is the parent of a first child,
else the sibling to the left; that is what lets a member leave from the middle, as a transfer of a killed job does.
"""

import numpy as np

from forebay._numba.jit import kernel

MEMBER = np.dtype([("key", "f8"), ("seq", "i8"), ("child", "i8"), ("next", "i8"), ("prev", "i8")], align=True)
"""A row of a pool. Pools may have more columns; these are the heap's."""


@kernel
def _merge(pool, a, b):
    """One heap of two: the later root becomes the first child of the earlier."""
    if a < 0:
        return b
    if b < 0:
        return a
    if pool[b]["key"] < pool[a]["key"] or (pool[b]["key"] == pool[a]["key"] and pool[b]["seq"] < pool[a]["seq"]):
        a, b = b, a
    child = pool[a]["child"]
    pool[b]["next"] = child
    pool[b]["prev"] = a
    if child >= 0:
        pool[child]["prev"] = b
    pool[a]["child"] = b
    return a


@kernel
def _merge_children(pool, first):
    """One heap of a row of siblings: merged in pairs from the left, the pairs from the right."""
    pairs = -1  # chained through `next`, last pair first
    while first >= 0:
        a, b = first, pool[first]["next"]
        first = pool[b]["next"] if b >= 0 else -1
        pool[a]["next"] = -1
        pool[a]["prev"] = -1
        if b >= 0:
            pool[b]["next"] = -1
            pool[b]["prev"] = -1
            a = _merge(pool, a, b)
        pool[a]["next"] = pairs
        pairs = a
    root = -1
    while pairs >= 0:
        following = pool[pairs]["next"]
        pool[pairs]["next"] = -1
        root = _merge(pool, root, pairs)
        pairs = following
    return root


@kernel
def push_member(pool, root, i):
    """Add row `i`, whose key and sequence number are set; returns the root."""
    pool[i]["child"] = -1
    pool[i]["next"] = -1
    pool[i]["prev"] = -1
    return _merge(pool, root, i)


@kernel
def remove_member(pool, root, i):
    """Take row `i` out, the root or any other; returns the root."""
    rest = _merge_children(pool, pool[i]["child"])
    if i == root:
        return rest
    left, right = pool[i]["prev"], pool[i]["next"]
    if pool[left]["child"] == i:
        pool[left]["child"] = right
    else:
        pool[left]["next"] = right
    if right >= 0:
        pool[right]["prev"] = left
    return _merge(pool, root, rest)
