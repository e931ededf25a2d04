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
from forebay.algorithms.nodes.bits import count_bits, count_word, lowest
from forebay.core.tables import after, instant_width
from forebay.policies._families.slurm_scheduler import Sched

FROM_ZERO = True


class Table(NamedTuple):
    """Spans in order of time; `left` has licences in its first columns, the first of them unused, then words of nodes.

    The last span ends with the window of backfilling.
    """

    begins: NDArray[np.float64]
    rows: NDArray[np.int64]  # where each span's row is
    left: NDArray[np.int64]
    counts: NDArray[np.int64]  # nodes of a span
    frees: NDArray[np.bool_]  # whether it has nodes that the span before has not
    n: NDArray[np.int64]  # see N_SPANS and those behind it
    until: NDArray[np.float64]  # [node]: when a reservation first needs it


N_SPANS, LEAST, READ, SHORT = range(4)
"""How many spans there are; the least of `counts`; for the job that is tried: up to which span these were read, and the
last that was too small."""


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
    numbers = np.zeros(4, np.int64)
    numbers[N_SPANS], numbers[LEAST] = m, counts[0]
    table = Table(begins, rows, left, counts, np.zeros(room, np.bool_), numbers, np.full(32 * W, np.inf))
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
    low, high = 0, table.n[N_SPANS]
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
    begins, rows, n = table.begins, table.rows, table.n[N_SPANS]
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
    table.n[N_SPANS] = n + 1
    return i


@inlined_kernel
def _frees(table, R, i):
    """Whether span `i` has nodes that the one before has not."""
    here, before = table.left[table.rows[i], R:], table.left[table.rows[i - 1], R:]
    for w in range(len(here)):
        if here[w] & ~before[w]:
            return True
    return False


@inlined_kernel
def _words_of(nodes):
    """The first word that has some of the nodes, and the one behind the last."""
    low, high = 0, len(nodes)
    while low < high and nodes[low] == 0:
        low += 1
    while low < high and nodes[high - 1] == 0:
        high -= 1
    return low, high


@kernel
def hold(table, R, begin, end, last, demand, nodes):
    """Take licences and nodes from the table while a reservation lasts, up to the window's end, `last`."""
    begin = max(begin, table.begins[0])
    if begin >= last:
        return
    first, until = _span_from(table, begin), -1
    if end < last:
        until = _span_from(table, end)
    behind = until if until >= 0 else table.n[N_SPANS]
    low, high = _words_of(nodes)
    for i in range(first, behind):
        row = table.left[table.rows[i]]
        for r in range(1, R):
            row[r] -= demand[r]
        row = row[R:]
        for w in range(low, high):
            if nodes[w] & row[w]:
                table.counts[i] -= count_word(nodes[w] & row[w])
                row[w] &= ~nodes[w]
        table.n[LEAST] = min(table.n[LEAST], table.counts[i])
    # A span that loses nodes has none that the span before it has not.
    for i in range(max(first, 1), min(behind + 1, table.n[N_SPANS])):
        if table.frees[i] or i == behind:
            table.frees[i] = _frees(table, R, i)
    for w in range(low, high):
        word = nodes[w]
        while word != 0:
            node = 32 * w + lowest(word)
            word &= word - 1
            table.until[node] = min(table.until[node], begin)


@inlined_kernel
def _next_release(table, i):
    """The first span behind `i` that has nodes which the one before it has not; how many there are if none has."""
    i += 1
    while i < table.n[N_SPANS] and not table.frees[i]:
        i += 1
    return i


@inlined_kernel
def _worth_it(table, i, start, walltime):
    """The first span behind `i` that is worth another try from `start` on: one that frees nodes before the job is over,
    or next to that. As many as there are if none is."""
    found, end = _next_release(table, i), start + walltime
    if found < table.n[N_SPANS] and table.begins[found] <= end:
        return found
    beyond = span_at(table, end + instant_width(end)) + 1  # the first that begins behind the job's end
    return found if found <= beyond + 1 else table.n[N_SPANS]


@inlined_kernel
def begin_tries(table):
    """A job is tried from now on: its tries come one behind the other."""
    table.n[READ], table.n[SHORT] = 0, -1


@inlined_kernel
def _too_few(table, i, end, count):
    """The last span from `i` to a job's end, its last moment counted, with too few nodes; -1 if none has.

    Tries go on in time: no span is read again.
    """
    if count <= table.n[LEAST]:
        return -1
    k = max(table.n[READ], i)
    while k < table.n[N_SPANS] and table.begins[k] <= end:
        if table.counts[k] < count:
            table.n[SHORT] = k
        k += 1
    table.n[READ] = k
    return table.n[SHORT] if table.n[SHORT] >= i else -1


@inlined_kernel
def _unlicensed(table, i, end, R, demand):
    """The same of licences."""
    found = -1
    while i < table.n[N_SPANS] and table.begins[i] <= end and R > 1:
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
    while i + 1 < table.n[N_SPANS] and table.begins[i + 1] <= start:
        i += 1
    while i < table.n[N_SPANS]:
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
            return i, start, table.begins[following] if following < table.n[N_SPANS] else np.inf
        start = table.begins[i] if i < table.n[N_SPANS] else np.inf
    return i, np.inf, np.inf


@inlined_kernel
def _pair(table, i, end):
    """The span behind `i` if it begins by `end`, else `i`: two at a time are read, as that is quicker."""
    return i + 1 if i + 1 < table.n[N_SPANS] and table.begins[i + 1] <= end else i


@inlined_kernel
def unreserved(table, R, i, end, nodes):
    """Which of `nodes` no reservation needs from span `i` on until `end`; only these stay."""
    while i < table.n[N_SPANS] and table.begins[i] <= end:
        row, other = table.left[table.rows[i], R:], table.left[table.rows[_pair(table, i, end)], R:]
        for w in range(len(nodes)):
            nodes[w] &= row[w] & other[w]
        i += 2


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
    n_read, count_at, found = 0, 1, i
    while i < table.n[N_SPANS] and table.begins[i] <= end:
        found = _pair(table, i, end)
        row, other, any_left = table.left[table.rows[i], R:], table.left[table.rows[found], R:], np.int64(0)
        for w in range(len(nodes)):
            left[w] &= row[w] & other[w]
            any_left |= left[w]
        n_read += 1
        if any_left == 0 and count > 0:
            return found
        if n_read == count_at:
            if count_bits(left) < count:
                return found
            count_at *= 4
        i += 2
    return found if count_bits(left) < count else -1


@inlined_kernel
def is_reserved(table, R, last, begin, end, demand, nodes):
    """Whether a reservation needs some of the nodes, or the licences, between two times."""
    i, (low, high) = span_at(table, begin), _words_of(nodes)
    while i < table.n[N_SPANS] and table.begins[i] < end:
        if (table.begins[i + 1] if i + 1 < table.n[N_SPANS] else last) > begin:
            row = table.left[table.rows[i]]
            for w in range(low, high):
                if nodes[w] & ~row[R + w]:
                    return True
            for r in range(1, R):
                if demand[r] > row[r]:
                    return True
        i += 1
    return False
