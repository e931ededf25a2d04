"""Sets of node ids as intervals: the cost of taking or giving back nodes depends on the pieces, not on the nodes.

The free set is an array of intervals in *descending* order, so that the lowest ids are at its end and taking them is a
pop. What a job holds is a chain of rows in `held`; unused rows form a chain of their own that starts at `blank`.
"""

from forebay._numba.jit import kernel


@kernel
def clear(free, held, n_nodes):
    """All nodes free, no chain in use; returns the number of free intervals."""
    free[0]["low"] = 0
    free[0]["high"] = n_nodes - 1
    for i in range(len(held)):
        held[i]["next"] = i + 1
    return 1 if n_nodes > 0 else 0


@kernel
def take_lowest(free, n_free, held, blank, head, count):
    """Move the `count` lowest free ids to the chain at `head`; returns (n_free, blank, head).

    New intervals go in front of the chain, so its lowest part comes last among those taken together.
    """
    while count > 0:
        lowest = free[n_free - 1]
        size = lowest["high"] - lowest["low"] + 1
        taken = min(size, count)
        row = blank
        piece = held[row]
        blank = piece["next"]
        piece["low"] = lowest["low"]
        piece["high"] = lowest["low"] + taken - 1
        piece["next"] = head
        head = row
        count -= taken
        if taken == size:
            n_free -= 1
        else:
            lowest["low"] += taken
    return n_free, blank, head


@kernel
def find(free, n_free, node):
    """The free interval that holds `node`; -1 if it is not free."""
    a, b = 0, n_free  # the first interval that begins at or below `node` is at `a` when the search ends
    while a < b:
        middle = (a + b) >> 1
        if free[middle]["low"] > node:
            a = middle + 1
        else:
            b = middle
    return a if a < n_free and free[a]["high"] >= node else -1


@kernel
def take_these(free, n_free, held, blank, head, low, count):
    """Move the free ids low, low + 1, ... to the chain at `head`; returns (n_free, blank, head).

    The caller has checked that one free interval holds them all. A neighbour above the chain's front joins it.
    """
    high = low + count - 1
    i = find(free, n_free, low)
    above = free[i]["high"]
    if free[i]["low"] < low and above > high:
        for k in range(n_free, i, -1):
            free[k]["low"] = free[k - 1]["low"]
            free[k]["high"] = free[k - 1]["high"]
        free[i]["low"] = high + 1
        free[i + 1]["high"] = low - 1
        n_free += 1
    elif free[i]["low"] < low:
        free[i]["high"] = low - 1
    elif above > high:
        free[i]["low"] = high + 1
    else:
        n_free -= 1
        for k in range(i, n_free):
            free[k]["low"] = free[k + 1]["low"]
            free[k]["high"] = free[k + 1]["high"]
    if head >= 0 and held[head]["high"] == low - 1:
        held[head]["high"] = high
        return n_free, blank, head
    row = blank
    piece = held[row]
    blank = piece["next"]
    piece["low"] = low
    piece["high"] = high
    piece["next"] = head
    return n_free, blank, row


@kernel
def take_from(free, n_free, held, blank, head, first, count):
    """Move the `count` lowest free ids from `first` on to the chain at `head`; returns (n_free, blank, head)."""
    while count > 0:
        i = n_free - 1
        while free[i]["high"] < first:
            i -= 1
        low = max(free[i]["low"], first)
        some = min(free[i]["high"] - low + 1, count)
        n_free, blank, head = take_these(free, n_free, held, blank, head, low, some)
        count -= some
    return n_free, blank, head


@kernel
def put_back(free, n_free, low, high):
    """Add the interval low..high to the free set, merging with its neighbours; returns n_free."""
    a, b = 0, n_free  # the first interval below `low` is at `a` when the search ends
    while a < b:
        middle = (a + b) >> 1
        if free[middle]["low"] > high:
            a = middle + 1
        else:
            b = middle
    joins_above = a > 0 and free[a - 1]["low"] == high + 1
    joins_below = a < n_free and free[a]["high"] == low - 1
    if joins_above and joins_below:
        free[a - 1]["low"] = free[a]["low"]
        for i in range(a, n_free - 1):
            free[i]["low"] = free[i + 1]["low"]
            free[i]["high"] = free[i + 1]["high"]
        return n_free - 1
    if joins_above:
        free[a - 1]["low"] = low
        return n_free
    if joins_below:
        free[a]["high"] = high
        return n_free
    for i in range(n_free, a, -1):
        free[i]["low"] = free[i - 1]["low"]
        free[i]["high"] = free[i - 1]["high"]
    free[a]["low"] = low
    free[a]["high"] = high
    return n_free + 1


@kernel
def give_back(free, n_free, held, blank, head, count):
    """Return `count` ids from the front of the chain at `head` to the free set; returns (n_free, blank, head)."""
    while count > 0:
        piece = held[head]
        size = piece["high"] - piece["low"] + 1
        given = min(size, count)
        n_free = put_back(free, n_free, piece["high"] - given + 1, piece["high"])
        count -= given
        if given == size:
            row = head
            head = piece["next"]
            piece["next"] = blank
            blank = row
        else:
            piece["high"] -= given
    return n_free, blank, head
