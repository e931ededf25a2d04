"""The table of a backfill cycle: what the reservations laid so far leave, span by span.

Each span of time has the nodes, and with bf_licenses the licences, that are free of reservations during all of it.
Spans are kept in order by their numbers, so that a new one moves none of the others' sets. Two things are kept beside
the sets, as most times are ruled out by them: how many nodes a span has, and whether it has some that the one before it
has not: only there is a job worth another try.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.bits import count_bits, count_word, lowest
from forebay.core.tables import after, instant_width
from forebay.policies._families.slurm_scheduler import Sched


class Table(NamedTuple):
    """Spans in order of time; `left` has licences in its first columns, the first of them unused, then words of nodes.

    The last span ends with the window of backfilling.
    """

    begins: NDArray[np.float64]
    rows: NDArray[np.int64]  # where each span's row is
    left: NDArray[np.int64]
    counts: NDArray[np.int64]  # nodes of a span
    frees: NDArray[np.bool_]  # whether it has nodes that the span before has not
    n: NDArray[np.int64]  # how many spans there are, and reservations of single nodes; the least of `counts`
    until: NDArray[np.float64]  # [node]: when a reservation first needs it
    heads: NDArray[np.int64]  # [node]: its first reservation, where nodes are shared; -1 = none
    held: NDArray[np.float64]  # [reservation of a node, 2]: from when to when
    links: NDArray[np.int64]  # the one of the same node behind it


@inlined_kernel
def window_end(state, params):
    """When the window ends within which jobs hold reservations."""
    return state.clock[0]["now"] + params[Sched.BF_WINDOW]


@allocating_kernel
def table_of(state, profile, line, R, atoms, params):
    """Nothing reserved yet, but for what sites have reserved; licences as running jobs give them back.

    There is room for reservations of all in line. `atoms` has the nodes of each atom, as words of bits.
    """
    (times, ahead, n), slot, W = profile, params[Sched.BF_RESOLUTION], atoms.shape[1]
    room, end = n + 2 * (len(line) + len(state.planned)) + 2, window_end(state, params)
    begins, left, all_nodes = np.empty(room), np.empty((room, R + W), np.int64), np.zeros(W, np.int64)
    for a in range(len(atoms)):
        for w in range(W):
            all_nodes[w] |= atoms[a, w]
    begins[0], m = times[0], 1
    for i in range(1, n if R > 1 else 0):
        begin = max(math.floor(times[i] / slot) * slot, after(times[0]))
        if begin >= end:
            break
        m -= 1 if m > 1 and begin <= begins[m - 1] else 0
        begins[m] = begin
        for r in range(R):
            left[m, r] = ahead[i, r]
        m += 1
    rows, counts = np.empty(room, np.int64), np.full(room, count_bits(all_nodes))
    for r in range(R):
        left[0, r] = ahead[0, r]
    for i in range(room):
        rows[i] = i
    for i in range(m):  # each further one begins as a copy of the one before
        for w in range(W):
            left[i, R + w] = all_nodes[w]
    n_links, numbers = n_places(state, line) + len(state.inside.full) * len(state.planned), np.zeros(3, np.int64)
    numbers[0], numbers[2] = m, counts[0]
    table = Table(
        begins, rows, left, counts, np.zeros(room, np.bool_), numbers, np.full(32 * W, np.inf),
        np.full(32 * W, -1), np.empty((n_links, 2)), np.empty(n_links, np.int64),
    )  # fmt: skip
    nothing, nodes = np.zeros(R, np.int64), np.empty(W, np.int64)
    for p in range(len(state.planned)):
        plan = state.planned[p]
        if plan["start"] > after(times[0]):
            nodes_of(atoms, plan["atoms"], nodes)
            hold(table, R, plan["start"], plan["end"], end, nothing, nodes)
    return table


@kernel
def nodes_of(atoms, bits, nodes):
    """The nodes of some atoms, into `nodes`."""
    for w in range(len(nodes)):
        nodes[w] = 0
    for a in range(len(atoms)):
        if (bits >> a) & 1:
            for w in range(len(nodes)):
                nodes[w] |= atoms[a, w]


@inlined_kernel
def span_at(table, time):
    """The last span that begins by a time; the first if none does."""
    low, high = 0, table.n[0]
    while high - low > 1:
        middle = (low + high) >> 1
        if table.begins[middle] <= time:
            low = middle
        else:
            high = middle
    return low


@inlined_kernel
def _span_from(table, time):
    """Let a span begin at a time, behind the first one's beginning; returns its place."""
    begins, rows, n = table.begins, table.rows, table.n[0]
    i = span_at(table, time)
    if begins[i] == time:
        return i
    i += 1
    blank = rows[n]
    for k in range(n, i, -1):
        begins[k], rows[k], table.counts[k], table.frees[k] = (
            begins[k - 1],
            rows[k - 1],
            table.counts[k - 1],
            table.frees[k - 1],
        )
    begins[i], rows[i], table.counts[i], table.frees[i] = time, blank, table.counts[i - 1], False
    for r in range(table.left.shape[1]):
        table.left[blank, r] = table.left[rows[i - 1], r]
    table.n[0] = n + 1
    return i


@inlined_kernel
def _frees(table, R, i):
    """Whether span `i` has nodes that the one before has not."""
    here, before = table.left[table.rows[i], R:], table.left[table.rows[i - 1], R:]
    for w in range(len(here)):
        if here[w] & ~before[w]:
            return True
    return False


@kernel
def n_places(state, line):
    """On how many shared nodes the jobs in line lie, at most."""
    n, n_nodes = 0, len(state.inside.full)
    if n_nodes > 0:
        for j in line:
            n += min(state.inside.asks[state.jobs[j]["leg"]]["parts"], n_nodes)
    return n


@inlined_kernel
def _link(table, node, begin, end):
    """A reservation needs a node from a time to another."""
    new, before, k = table.n[1], -1, table.heads[node]
    while k >= 0 and table.held[k, 0] < begin:
        before, k = k, table.links[k]
    table.held[new, 0], table.held[new, 1], table.links[new] = begin, end, k
    if before < 0:
        table.heads[node] = new
    else:
        table.links[before] = new
    table.n[1] = new + 1


@inlined_kernel
def is_needed(table, node, begin, end):
    """Whether a reservation needs a shared node at some time from `begin` to `end`."""
    k = table.heads[node]
    while k >= 0 and table.held[k, 0] <= end:
        if table.held[k, 1] > begin:
            return True
        k = table.links[k]
    return False


@kernel
def hold(table, R, begin, end, last, demand, nodes):
    """Take licences and nodes from the table while a reservation lasts, up to the window's end, `last`."""
    begin = max(begin, table.begins[0])
    if begin >= last:
        return
    first, until = _span_from(table, begin), -1
    if end < last:
        until = _span_from(table, end)
    behind = until if until >= 0 else table.n[0]
    low, high = 0, len(nodes)
    while low < high and nodes[low] == 0:
        low += 1
    while low < high and nodes[high - 1] == 0:
        high -= 1
    for i in range(first, behind):
        row = table.left[table.rows[i]]
        for r in range(1, R):
            row[r] -= demand[r]
        row = row[R:]
        for w in range(low, high):
            if nodes[w] & row[w]:
                table.counts[i] -= count_word(nodes[w] & row[w])
                row[w] &= ~nodes[w]
        table.n[2] = min(table.n[2], table.counts[i])
    # Whoever loses nodes has none more than before that the span before it has not.
    for i in range(max(first, 1), min(behind + 1, table.n[0])):
        if table.frees[i] or i == behind:
            table.frees[i] = _frees(table, R, i)
    for w in range(len(nodes)):
        word = nodes[w]
        while word != 0:
            node = 32 * w + lowest(word)
            word &= word - 1
            table.until[node] = min(table.until[node], begin)
            if len(table.links) > 0:
                _link(table, node, begin, end if end < last else np.inf)


@inlined_kernel
def _next_release(table, i):
    """The first span behind `i` that has nodes which the one before it has not; how many there are if none has."""
    i += 1
    while i < table.n[0] and not table.frees[i]:
        i += 1
    return i


@inlined_kernel
def _worth_it(table, i, start, walltime):
    """The first span behind `i` that is worth another try from `start` on: one that frees nodes before the job is over,
    or next to that. As many as there are if none is."""
    found, end = _next_release(table, i), start + walltime
    if found < table.n[0] and table.begins[found] <= end:
        return found
    beyond = span_at(table, end + instant_width(end)) + 1  # the first that begins behind the job's end
    return found if found <= beyond + 1 else table.n[0]


@inlined_kernel
def _too_few(table, i, end, count):
    """The last span from `i` to a job's end, its last moment counted, with too few nodes; -1 if none has."""
    found = -1
    if count <= table.n[2]:
        return found
    while i < table.n[0] and table.begins[i] <= end:
        if table.counts[i] < count:
            found = i
        i += 1
    return found


@inlined_kernel
def _unlicensed(table, i, end, R, demand):
    """The same of licences."""
    found = -1
    while i < table.n[0] and table.begins[i] <= end and R > 1:
        for r in range(1, R):
            if demand[r] > table.left[table.rows[i], r]:
                found = i
        i += 1
    return found


@inlined_kernel
def _behind(table, i, few, start, walltime):
    """The next span to try from, where one has too few nodes: all tries before that one is over would be in vain."""
    q = few
    while q > i and not table.frees[q]:
        q -= 1
    return _worth_it(table, few, table.begins[q] if q > i else start, walltime)


@inlined_kernel
def next_try(table, R, i, start, walltime, demand, count):
    """From when on a job is tried next: not before `start`, later where licences or nodes are short at first.

    No span before `i` lasts so long. Returns the span and the time (inf: never), and from when on it is worth another
    try, inf if never.
    """
    while i + 1 < table.n[0] and table.begins[i + 1] <= start:
        i += 1
    while i < table.n[0]:
        end = start + walltime
        end += instant_width(end)
        short = _unlicensed(table, i, end, R, demand)
        few = _too_few(table, i, end, count) if short < 0 else -1
        if short >= 0:
            i = short + 1
        elif few >= 0:
            # Where licences count, they may be short on the way: then step by step.
            i = _behind(table, i, few, start, walltime) if R == 1 else _worth_it(table, i, start, walltime)
        else:
            following = _worth_it(table, i, start, walltime)
            return i, start, table.begins[following] if following < table.n[0] else np.inf
        start = table.begins[i] if i < table.n[0] else np.inf
    return i, np.inf, np.inf


@inlined_kernel
def unreserved(table, R, i, end, nodes):
    """Which of `nodes` no reservation needs from span `i` on until `end`; only these stay."""
    while i < table.n[0] and table.begins[i] <= end:
        row = table.left[table.rows[i], R:]
        for w in range(len(nodes)):
            nodes[w] &= row[w]
        i += 1


@inlined_kernel
def too_few_unreserved(table, R, i, end, nodes, count, left, killer):
    """A span by which reservations leave fewer than `count` of `nodes`, from span `i` on until `end`; -1 if they leave
    enough: these are then `left`.

    Few nodes are soon none, so few spans are read. What is left is counted now and then; `killer` is a span that may
    well leave too few by itself, -1 if none is known.
    """
    for w in range(len(nodes)):
        left[w] = nodes[w]
    if killer >= i and table.begins[killer] <= end:
        row = table.left[table.rows[killer], R:]
        for w in range(len(nodes)):
            left[w] &= row[w]
        if count_bits(left) < count:
            return killer
    n_read, count_at = 0, 1
    while i < table.n[0] and table.begins[i] <= end:
        row, any_left = table.left[table.rows[i], R:], np.int64(0)
        for w in range(len(nodes)):
            left[w] &= row[w]
            any_left |= left[w]
        n_read += 1
        if any_left == 0 and count > 0:
            return i
        if n_read == count_at:
            if count_bits(left) < count:
                return i
            count_at *= 4
        i += 1
    return i - 1 if count_bits(left) < count else -1


@inlined_kernel
def is_reserved(table, R, last, begin, end, demand, nodes):
    """Whether a reservation needs some of the nodes, or the licences, between two times."""
    i = span_at(table, begin)
    while i < table.n[0] and table.begins[i] < end:
        if (table.begins[i + 1] if i + 1 < table.n[0] else last) > begin:
            row = table.left[table.rows[i]]
            for w in range(len(nodes)):
                if nodes[w] & ~row[R + w]:
                    return True
            for r in range(1, R):
                if demand[r] > row[r]:
                    return True
        i += 1
    return False
