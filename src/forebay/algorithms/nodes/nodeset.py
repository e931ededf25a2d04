"""Sets of node ids as intervals: the cost of taking or giving back nodes depends on the pieces, not on the nodes.

The idle set is an array of intervals in *descending* order, so that the lowest ids are at its end and taking them is a
pop. What a job holds is a chain of rows of `pieces`; unused rows form a chain of their own that starts at `blank`.
"""

import numpy as np

from forebay._numba.jit import kernel


def clear(idle: np.ndarray, pieces: np.ndarray, n_nodes: int) -> int:
    """All nodes idle, no chain in use; returns the number of idle intervals. Once a run, and so not compiled."""
    idle[0]["low"], idle[0]["high"] = 0, n_nodes - 1
    pieces["next"] = np.arange(1, len(pieces) + 1)
    return 1 if n_nodes > 0 else 0


@kernel
def take_lowest(idle, n_idle, pieces, blank, head, count):
    """Move the `count` lowest idle ids to the chain at `head`; returns (n_idle, blank, head).

    New intervals go in front of the chain, so its lowest part comes last among those taken together.
    """
    while count > 0:
        lowest = idle[n_idle - 1]
        size = lowest["high"] - lowest["low"] + 1
        taken = min(size, count)
        row = blank
        piece = pieces[row]
        blank = piece["next"]
        piece["low"] = lowest["low"]
        piece["high"] = lowest["low"] + taken - 1
        piece["next"] = head
        head = row
        count -= taken
        if taken == size:
            n_idle -= 1
        else:
            lowest["low"] += taken
    return n_idle, blank, head


@kernel
def find(idle, n_idle, node):
    """The idle interval that holds `node`; -1 if it is not idle."""
    a, b = 0, n_idle  # the first interval that begins at or below `node` is at `a` when the search ends
    while a < b:
        middle = (a + b) >> 1
        if idle[middle]["low"] > node:
            a = middle + 1
        else:
            b = middle
    return a if a < n_idle and idle[a]["high"] >= node else -1


@kernel
def first_from(idle, n_idle, node):
    """The lowest idle interval that has an id from `node` on; -1 if there is none."""
    a, b = 0, n_idle  # the first interval that ends below `node` is at `a` when the search ends
    while a < b:
        middle = (a + b) >> 1
        if idle[middle]["high"] >= node:
            a = middle + 1
        else:
            b = middle
    return a - 1


@kernel
def take_these(idle, n_idle, pieces, blank, head, low, count):
    """Move the idle ids low, low + 1, ... to the chain at `head`; returns (n_idle, blank, head).

    The caller has checked that one idle interval holds them all. A neighbour above the chain's front joins it.
    """
    high = low + count - 1
    i = find(idle, n_idle, low)
    above = idle[i]["high"]
    if idle[i]["low"] < low and above > high:
        for k in range(n_idle, i, -1):
            idle[k]["low"] = idle[k - 1]["low"]
            idle[k]["high"] = idle[k - 1]["high"]
        idle[i]["low"] = high + 1
        idle[i + 1]["high"] = low - 1
        n_idle += 1
    elif idle[i]["low"] < low:
        idle[i]["high"] = low - 1
    elif above > high:
        idle[i]["low"] = high + 1
    else:
        n_idle -= 1
        for k in range(i, n_idle):
            idle[k]["low"] = idle[k + 1]["low"]
            idle[k]["high"] = idle[k + 1]["high"]
    if head >= 0 and pieces[head]["high"] == low - 1:
        pieces[head]["high"] = high
        return n_idle, blank, head
    row = blank
    piece = pieces[row]
    blank = piece["next"]
    piece["low"] = low
    piece["high"] = high
    piece["next"] = head
    return n_idle, blank, row


@kernel
def take_from(idle, n_idle, pieces, blank, head, first, count):
    """Move the `count` lowest idle ids from `first` on to the chain at `head`; returns (n_idle, blank, head)."""
    while count > 0:
        i = n_idle - 1
        while idle[i]["high"] < first:
            i -= 1
        low = max(idle[i]["low"], first)
        some = min(idle[i]["high"] - low + 1, count)
        n_idle, blank, head = take_these(idle, n_idle, pieces, blank, head, low, some)
        count -= some
    return n_idle, blank, head


@kernel
def put_back(idle, n_idle, low, high):
    """Add the interval low..high to the idle set, merging with its neighbours; returns n_idle."""
    a, b = 0, n_idle  # the first interval below `low` is at `a` when the search ends
    while a < b:
        middle = (a + b) >> 1
        if idle[middle]["low"] > high:
            a = middle + 1
        else:
            b = middle
    joins_above = a > 0 and idle[a - 1]["low"] == high + 1
    joins_below = a < n_idle and idle[a]["high"] == low - 1
    if joins_above and joins_below:
        idle[a - 1]["low"] = idle[a]["low"]
        for i in range(a, n_idle - 1):
            idle[i]["low"] = idle[i + 1]["low"]
            idle[i]["high"] = idle[i + 1]["high"]
        return n_idle - 1
    if joins_above:
        idle[a - 1]["low"] = low
        return n_idle
    if joins_below:
        idle[a]["high"] = high
        return n_idle
    for i in range(n_idle, a, -1):
        idle[i]["low"] = idle[i - 1]["low"]
        idle[i]["high"] = idle[i - 1]["high"]
    idle[a]["low"] = low
    idle[a]["high"] = high
    return n_idle + 1


@kernel
def give_these(idle, n_idle, pieces, blank, head, low, count):
    """Return the ids low, low + 1, ... of one interval of the chain at `head` to the idle set.

    Returns (n_idle, blank, head). The caller has checked that the chain has them all in one interval.
    """
    high, before, row = low + count - 1, -1, head
    while pieces[row]["low"] > low or pieces[row]["high"] < high:
        before, row = row, pieces[row]["next"]
    piece = pieces[row]
    if piece["low"] == low and piece["high"] == high:
        if before < 0:
            head = piece["next"]
        else:
            pieces[before]["next"] = piece["next"]
        piece["next"] = blank
        blank = row
    elif piece["low"] == low:
        piece["low"] = high + 1
    elif piece["high"] == high:
        piece["high"] = low - 1
    else:
        lower = blank
        blank = pieces[lower]["next"]
        pieces[lower]["low"] = piece["low"]
        pieces[lower]["high"] = low - 1
        pieces[lower]["next"] = piece["next"]
        piece["low"] = high + 1
        piece["next"] = lower
    return put_back(idle, n_idle, low, high), blank, head


@kernel
def holder(pieces, head, node):
    """The interval of the chain at `head` that has `node`; -1 if none has."""
    row = head
    while row >= 0 and not (pieces[row]["low"] <= node <= pieces[row]["high"]):
        row = pieces[row]["next"]
    return row


@kernel
def give_back(idle, n_idle, pieces, blank, head, count):
    """Return `count` ids from the front of the chain at `head` to the idle set; returns (n_idle, blank, head)."""
    while count > 0:
        piece = pieces[head]
        size = piece["high"] - piece["low"] + 1
        given = min(size, count)
        n_idle = put_back(idle, n_idle, piece["high"] - given + 1, piece["high"])
        count -= given
        if given == size:
            row = head
            head = piece["next"]
            piece["next"] = blank
            blank = row
        else:
            piece["high"] -= given
    return n_idle, blank, head
