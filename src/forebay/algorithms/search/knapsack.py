"""The 0/1 knapsack in one or two dimensions: which jobs to take, each whole or not at all, for the most value.

By table, as in Cerberus ("A Parallelism Oriented Three Phase Based Burst Buffering Aware Scheduler", eqs. 5 to 7):
dp(i, c, w) is the most value of the first i items in c and w units of room. Or by list, which needs no units: all that
can be had of the first i items and is not dominated (Nemhauser & Ullmann 1969), less what a bound rules out.

Ties, as in the authors' program: items count in the order given, and the set is read off from the last item to the
first. One that fits is taken if dp(i - 1, c - c_i, w - w_i) + v_i >= dp(i - 1, c, w). So of all best sets it is the one
with the last item, if any has it; of those the one with the last but one; and so on. Table and list choose the same
set, to the last bit of the values' sums: both add in the order of items, and rounding keeps order.

Demands and capacities are int64, a row an item and one or two columns; values are float64, finite and not negative;
`chosen` is int8, 1 for an item that is taken.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.queues.sorting import sort_smallest

_SLACK = 1.0 - 1e-9  # bounds are sums in another order: what they rule out must be worse by more than rounding
_MIXES = 8  # how the two dimensions may be weighed in the bound, in eighths
_STATE, _PAIR = 128.0, 6.0  # cells of a table that take the time of a list's state, and of the bounds for two items


@kernel
def in_units(demand, unit):
    """A demand in whole units, rounded up; room is rounded down: what fits in units then really fits.

    The authors' program rounds demands down as well, and may so take too much: to follow it, divide beforehand.
    """
    return -(-demand // unit)


@allocating_kernel
def _reduced(demand, capacity, units):
    """Which items can be taken at all, what they need in units, and the room; 0 in dimensions that hold them all."""
    n, R = demand.shape
    items, need, room = np.empty(n, np.int64), np.zeros((n, 2), np.int64), np.zeros(2, np.int64)
    m = 0
    for r in range(R):
        room[r] = capacity[r] // units[r]
    for i in range(n):
        fits = True
        for r in range(R):
            need[m, r] = in_units(demand[i, r], units[r])
            fits = fits and need[m, r] <= room[r]
        if fits:
            items[m] = i
            m += 1
    for r in range(2):
        left = room[r]
        for k in range(m):
            if left >= 0:  # no further: a sum of bytes could overflow
                left -= need[k, r]
        if left >= 0:
            room[r] = 0
            for k in range(m):
                need[k, r] = 0
    return items[:m], need[:m], room


@kernel
def _total(value, chosen):
    total = 0.0
    for i in range(len(value)):
        if chosen[i] == 1:
            total += value[i]
    return total


@kernel
def _settled(items, room, chosen):
    """Take all items there are if there is room for all; whether there is."""
    everything = room[0] == 0 and room[1] == 0
    for i in range(len(chosen)):
        chosen[i] = 0
    for k in range(len(items)):
        chosen[items[k]] = 1 if everything else 0
    return everything


@kernel
def _count_cells(need, room):
    """How many cells `_by_table` looks at."""
    cells, later0, later1 = 0.0, 0.0, 0.0
    for k in range(len(need) - 1, -1, -1):
        low0, low1 = max(room[0] - later0, float(need[k, 0])), max(room[1] - later1, float(need[k, 1]))
        cells += (room[0] - low0 + 1.0) * (room[1] - low1 + 1.0)
        later0 += need[k, 0]
        later1 += need[k, 1]
    return cells


@inlined_kernel
def _offer(row, without, value, bits, bit):
    """Let each cell of a row take an item if that is no worse."""
    for w in range(len(row)):
        taking = without[w] + value
        takes = taking >= row[w]
        row[w] = taking if takes else row[w]
        bits[w] |= bit if takes else 0


@allocating_kernel
def _by_table(items, need, room, value, chosen):
    """Choose by dynamic programming, in place, with a bit for each item and cell to read the set off."""
    n = len(items)
    a, b = (0, 1) if room[1] > 0 else (1, 0)  # one dimension lies along the rows
    n_columns = room[b] + 1
    best, copy = np.zeros((room[a] + 1, n_columns)), np.empty(n_columns)
    taken = np.zeros(((n + 7) // 8, room[a] + 1, n_columns), np.uint8)
    # Of what is left for the items so far, only what all later ones together could leave is ever asked for.
    low_a, low_b = room[a], room[b]
    for k in range(n):
        low_a -= need[k, a]
        low_b -= need[k, b]
    for k in range(n):
        low_a += need[k, a]
        low_b += need[k, b]
        left = max(low_b, need[k, b])
        for c in range(room[a], max(low_a, need[k, a]) - 1, -1):
            without = best[c - need[k, a], left - need[k, b] : n_columns - need[k, b]]
            if need[k, a] == 0:  # the row itself: what it was before
                for w in range(len(without)):
                    copy[w] = without[w]
                without = copy[: len(without)]
            _offer(best[c, left:], without, value[items[k]], taken[k >> 3, c, left:], 1 << (k & 7))
    c, w = room[a], room[b]
    for k in range(n - 1, -1, -1):
        if (taken[k >> 3, c, w] >> (k & 7)) & 1:
            chosen[items[k]] = 1
            c -= need[k, a]
            w -= need[k, b]


@kernel
def _rank(items, need, value, scale0, scale1, weight, keys, ties, order):
    """Items by value for weight, best first; a weight is the share of the room an item needs."""
    for k in range(len(items)):
        weight[k] = scale0 * need[k, 0] + scale1 * need[k, 1]
        worth = value[items[k]]
        keys[k] = -worth / weight[k] if weight[k] > 0.0 else -np.inf
        ties[k] = order[k] = k
    sort_smallest(keys, ties, order, len(items), len(items))


@kernel
def _set_breaks(items, order, value, weight, first, sum_weight, sum_value):
    """What the best of the items from `first` on weigh and are worth together; how many items that are."""
    m = 0
    sum_weight[0] = sum_value[0] = 0.0
    for j in range(len(order)):
        k = order[j]
        if k >= first:
            sum_weight[m + 1] = sum_weight[m] + weight[k]
            sum_value[m + 1] = sum_value[m] + value[items[k]]
            m += 1
    return m


@inlined_kernel
def _bound(sum_weight, sum_value, m, share):
    """The most value that fits in a share of the room if one item may be taken in part (Dantzig 1957)."""
    low, high = 0, m
    while low < high:
        middle = (low + high + 1) >> 1
        if sum_weight[middle] <= share:
            low = middle
        else:
            high = middle - 1
    if low == m:
        return sum_value[m]
    part = (share - sum_weight[low]) / (sum_weight[low + 1] - sum_weight[low])
    return sum_value[low] + part * (sum_value[low + 1] - sum_value[low])


@kernel
def _greedy(items, order, need, value, first, room0, room1):
    """The value of the items from `first` on that fit, taken in order."""
    total = 0.0
    for j in range(len(order)):
        k = order[j]
        if k >= first and need[k, 0] <= room0 and need[k, 1] <= room1:
            room0 -= need[k, 0]
            room1 -= need[k, 1]
            total += value[items[k]]
    return total


@inlined_kernel
def _step(stair_used, stair_worth, n, used, worth):
    """Enter a state into a front of two dimensions; its new length, or -1 if one at least as good is there.

    States come by what they use of the other dimension, so only this front can dominate them.
    """
    low, high = 0, n  # the first step that uses more
    while low < high:
        middle = (low + high) >> 1
        if stair_used[middle] <= used:
            low = middle + 1
        else:
            high = middle
    if low > 0 and stair_worth[low - 1] >= worth:
        return -1
    if low > 0 and stair_used[low - 1] == used:
        low -= 1
    gone = low  # the steps that are now dominated
    while gone < n and stair_worth[gone] <= worth:
        gone += 1
    if gone == low:
        for k in range(n, low, -1):
            stair_used[k], stair_worth[k] = stair_used[k - 1], stair_worth[k - 1]
    elif gone > low + 1:
        for k in range(gone, n):
            stair_used[k - gone + low + 1], stair_worth[k - gone + low + 1] = stair_used[k], stair_worth[k]
    stair_used[low], stair_worth[low] = used, worth
    return n - (gone - low) + 1


@kernel
def _extend(used, worth, begin, end, need, k, v, room, scale0, scale1, sums, m, floor, stair_used, stair_worth):
    """The list after item `k` behind the one before it, which is from `begin` to `end`; its end, the hopeful state.

    Both are sorted by what is used of the first dimension, then of the second.
    """
    need0, need1 = need[k, 0], need[k, 1]
    without, taking, at, n_stairs = begin, begin, end, 0
    hope, hopeful = -1.0, end
    while True:
        while taking < end and (used[taking, 0] > room[0] - need0 or used[taking, 1] > room[1] - need1):
            taking += 1
        if without == end and taking == end:
            return at, hopeful
        takes = without == end
        if not takes and taking < end:
            ahead = used[taking, 0] + need0 - used[without, 0]
            if ahead == 0:
                ahead = used[taking, 1] + need1 - used[without, 1]
            takes = ahead < 0 or (ahead == 0 and worth[taking] + v > worth[without])
        if takes:
            used0, used1, new = used[taking, 0] + need0, used[taking, 1] + need1, worth[taking] + v
            taking += 1
        else:
            used0, used1, new = used[without, 0], used[without, 1], worth[without]
            without += 1
        limit = new + _bound(sums[0], sums[1], m, scale0 * (room[0] - used0) + scale1 * (room[1] - used1))
        if limit < floor:
            continue
        length = _step(stair_used, stair_worth, n_stairs, used1, new)
        if length < 0:
            continue
        n_stairs = length
        used[at, 0], used[at, 1], worth[at] = used0, used1, new
        if limit > hope:
            hope, hopeful = limit, at
        at += 1


@kernel
def _best_within(used, worth, begin, end, room0, room1):
    """The most value of a list's states that use no more than this; -1 if there is none."""
    best = -1.0
    for s in range(begin, end):
        if used[s, 0] > room0:
            break
        if used[s, 1] <= room1 and worth[s] > best:
            best = worth[s]
    return best


@kernel
def _read_off(items, need, room, value, used, worth, begins, chosen):
    """Go back through the lists by the rule for ties.

    The bound rules nothing out that leads to a best set, so the better of the two sides is always there, with its true
    value; the other is there or is missed, which decides alike.
    """
    room0, room1 = room[0], room[1]
    for k in range(len(items) - 1, -1, -1):
        begin, end = begins[k], begins[k + 1]
        taking = _best_within(used, worth, begin, end, room0 - need[k, 0], room1 - need[k, 1])
        if taking >= 0.0 and taking + value[items[k]] >= _best_within(used, worth, begin, end, room0, room1):
            chosen[items[k]] = 1
            room0 -= need[k, 0]
            room1 -= need[k, 1]


@allocating_kernel
def _weigh(items, need, room, value, weight, keys, ties, order, sums):
    """How to weigh the dimensions for the least bound on the whole, and the value of the best greedy set.

    Items are left ranked by the weights returned.
    """
    floor, least, best = 0.0, np.inf, 0
    scale = np.zeros((_MIXES + 1, 2))
    for mix in range(_MIXES + 2):
        at = mix if mix <= _MIXES else best  # once more, to leave things as the best has them
        if (room[0] == 0 and at > 0) or (room[1] == 0 and at < _MIXES):
            continue
        scale[at, 0] = at / _MIXES / room[0] if at > 0 else 0.0
        scale[at, 1] = (_MIXES - at) / _MIXES / room[1] if at < _MIXES else 0.0
        _rank(items, need, value, scale[at, 0], scale[at, 1], weight, keys, ties, order)
        m = _set_breaks(items, order, value, weight, 0, sums[0], sums[1])
        floor = max(floor, _greedy(items, order, need, value, 0, room[0], room[1]))
        bound = _bound(sums[0], sums[1], m, 1.0)
        if bound < least:
            least, best = bound, at
    return scale[best, 0], scale[best, 1], floor


@allocating_kernel
def _by_list(items, need, room, value, limit, chosen):
    """Choose by lists of states; False, and nothing chosen, if they would have more than `limit` states in all."""
    n = len(items)
    size = min(limit, 1 << min(n + 1, 40))
    used, worth, begins = np.empty((size, 2), np.int64), np.empty(size), np.zeros(n + 2, np.int64)
    weight, keys, sums = np.empty(n), np.empty(n), np.empty((2, n + 1))
    ties, order = np.empty(n, np.int64), np.empty(n, np.int64)
    stair_used, stair_worth = np.empty(size, np.int64), np.empty(size)
    scale0, scale1, floor = _weigh(items, need, room, value, weight, keys, ties, order, sums)
    if size < 1:
        return False
    used[0, 0] = used[0, 1] = 0
    worth[0], begins[1] = 0.0, 1
    for k in range(n):
        begin, end = begins[k], begins[k + 1]
        if end + 2 * (end - begin) > size:
            return False
        m = _set_breaks(items, order, value, weight, k + 1, sums[0], sums[1])
        v = value[items[k]]
        end, s = _extend(
            used, worth, begin, end, need, k, v, room, scale0, scale1, sums, m, floor * _SLACK, stair_used, stair_worth
        )
        begins[k + 2] = end
        rest = _greedy(items, order, need, value, k + 1, room[0] - used[s, 0], room[1] - used[s, 1])
        floor = max(floor, worth[s] + rest)
    _read_off(items, need, room, value, used, worth, begins, chosen)
    return True


@allocating_kernel
def choose_by_table(demand, value, capacity, units, chosen):
    """The best set of demands rounded up to units, in a capacity rounded down, by table; returns its value."""
    items, need, room = _reduced(demand, capacity, units)
    if not _settled(items, room, chosen):
        _by_table(items, need, room, value, chosen)
    return _total(value, chosen)


@allocating_kernel
def choose_by_list(demand, value, capacity, limit, chosen):
    """The best set, by lists of at most `limit` states in all; returns its value, -1 if they do not suffice."""
    items, need, room = _reduced(demand, capacity, np.ones(len(capacity), np.int64))
    if not _settled(items, room, chosen) and not _by_list(items, need, room, value, limit, chosen):
        return -1.0
    return _total(value, chosen)


@kernel
def common_unit(demand, capacity, r):
    """The largest unit of which all demands are multiples, in dimension `r` (too large ones aside): none is rounded."""
    unit = 0
    for i in range(len(demand)):
        other = demand[i, r] if demand[i, r] <= capacity[r] else 0
        while other > 0:
            unit, other = other, unit % other
    return max(unit, 1)


@allocating_kernel
def choose(demand, value, capacity, units, limit, chosen):
    """The best set by whichever way is quicker; returns its value, and whether demands were taken as they are.

    Lists are tried for as long as a table in the demands' common units would take, then that table is made; both choose
    the same. Over 204 random cases that took 1.02 times the better way's time (median; 1.6 times in nine of ten, 4 at
    most). What would take longer than `limit` cells of a table, about a nanosecond each, is solved by table in `units`.
    """
    exact = np.empty(len(capacity), np.int64)
    for r in range(len(capacity)):
        exact[r] = common_unit(demand, capacity, r)
    items, need, room = _reduced(demand, capacity, exact)
    if _settled(items, room, chosen):
        return _total(value, chosen), True
    # All cells of a table are laid out, however few of them are looked at.
    cells = max(_count_cells(need, room), (room[0] + 1.0) * (room[1] + 1.0))
    n_states = int((min(cells, limit) - _PAIR * len(items) ** 2) / _STATE)
    if n_states > 0 and _by_list(items, need, room, value, n_states, chosen):
        return _total(value, chosen), True
    if cells <= limit:
        _by_table(items, need, room, value, chosen)
        return _total(value, chosen), True
    return choose_by_table(demand, value, capacity, units, chosen), False
