"""Reservations on shared nodes that a decision keeps for the next one, and what has changed since.

A job that ends early frees a place or two. Of the reservations that the next decision lays, most then stand where
they stood: what a job sees, the running ones and the reservations before it in line, is what it saw but for some nodes.
So each decision notes *changes*, for each timeline the least stretch of time that holds all of them, and from when on
there is more than before. First come those of the *base*, what running jobs leave free, compared with the base that the
last decision knew, and what those hold who started since; then, along the line, both places of whoever moves.
Outside changes a job sees the same as before, so no job is laid anywhere else than if nothing were kept:
`moved_reservations` tells who may have moved, and only these look for room.

A decision looks at as many of the line as it needs, from the first on. Promises to the others are *stale*: changes are
gathered for them until somebody looks. The order of promises is that of the line. Where it is not, as somebody has
come in between or left without a start, those behind are forgotten; and all of them where windows of the site change
who may run where.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.core.tables import after, instant_width

N_KEPT, N_FRESH, AT, N_NEW, MERGED, CLOSED, N_CHANGED, BLANK, N_ROWS, BASED, OPENED = range(11)
N_FACTS = 11
"""Facts: how many promises there are, of which so many are not stale; how many of them this decision has come to, and
how many jobs it has laid; whether stale changes are among its own; whether it keeps no more; how many timelines have
changed; the first unused row of places, and one more, 0 = none; rows that were ever used; whether the base is known;
how often where jobs may run had changed."""
# Of marks: the leg and one more, 0 = no promise; its first place and one more; whether it has started; takes of
# pools; cores that its only node had free for all its time.
_LEG, _FIRST, _STARTED, _POOLS, KEY = range(5)
_NODE, _PARTS, _NEXT = range(3)  # of places
_MOST = 1 << 18


class Promises(NamedTuple):
    """What is kept in the policy's memory, and the changes that this decision knows of."""

    facts: np.ndarray  # int64
    order: np.ndarray  # int64[job]: who has a promise, in line; empty where nothing is kept
    marks: np.ndarray  # int64[job, 5]
    times: np.ndarray  # float64[job, 2]: from when, until when
    places: np.ndarray  # int64[row, 3], chained
    stale: np.ndarray  # float64[timeline, 3]: the same as `spans` since stale promises were made
    first: np.ndarray  # int64[timeline + 1]: rows of the base, which is what running jobs leave free
    base_times: np.ndarray  # float64[row]
    begun: np.ndarray  # float64[timeline, 2]: between which times it is taken by who started behind the base
    base_free: np.ndarray  # int64[row, amount]
    changed: np.ndarray  # int64[timeline], the first N_CHANGED
    spans: np.ndarray  # float64[timeline, 3]: between which times they have; from when on some have more


_i8, _f8 = types.int64, types.float64
PROMISES = types.NamedTuple(
    (
        *(_i8[::1], _i8[::1], _i8[:, ::1], _f8[:, ::1], _i8[:, ::1], _f8[:, ::1]),
        *(_i8[::1], _f8[::1], _f8[:, ::1], _i8[:, ::1], _i8[::1], _f8[:, ::1]),
    ),
    Promises,
)
"""Promises, to the compiler."""


def n_cells(n_jobs: int, n_resources: int, n_nodes: int) -> tuple[int, int, int]:
    """How many whole numbers, how many others, and how many places promises are; who has more keeps the first."""
    rows, lines, width = min(4 * n_jobs, _MOST) + 64, n_nodes + 1, max(4, n_resources)
    whole = N_FACTS + 6 * n_jobs + 3 * rows + lines + 1 + width * (rows + 2 * lines)
    return whole, 2 * n_jobs + rows + 7 * lines, rows


_n_cells = kernel(n_cells)


@kernel
def promise_rows(state, memory):
    """How many rows of a policy's first table come before promises, which are there if its second one has a row."""
    integers = memory[0]
    if len(memory[1]) == 0:
        return len(integers)
    n, _, _ = _n_cells(len(state.jobs), len(state.resources), len(state.inside.full))
    return len(integers) - (n + integers.shape[1] - 1) // integers.shape[1]


@allocating_kernel
def kept_promises(state, memory, first_row):
    """The promises in a policy's memory, from a row on; nothing is kept if there is none."""
    n_jobs, lines, width = len(state.jobs), len(state.inside.full) + 1, max(4, len(state.resources))
    rows = memory[0][first_row:]
    if len(rows) == 0:
        return no_promises(state)
    cells, floats = rows.reshape(len(rows) * rows.shape[1]), memory[1][0]
    _, _, n = _n_cells(n_jobs, len(state.resources), lines - 1)
    a = N_FACTS + n_jobs
    b = a + 5 * n_jobs
    c = b + 3 * n
    d = c + lines + 1
    e, f = d + width * (n + 2 * lines), 2 * n_jobs + 3 * lines
    found = Promises(
        cells[:N_FACTS], cells[N_FACTS:a], cells[a:b].reshape((n_jobs, 5)), floats[: 2 * n_jobs].reshape((n_jobs, 2)),
        cells[b:c].reshape((n, 3)), floats[2 * n_jobs : f].reshape((lines, 3)), cells[c:d],
        floats[f : f + n + 2 * lines], floats[f + n + 2 * lines : f + n + 4 * lines].reshape((lines, 2)),
        cells[d:e].reshape((n + 2 * lines, width)),
        np.empty(lines, np.int64), np.empty((lines, 3)),
    )  # fmt: skip
    _begin(state, found)
    return found


@allocating_kernel
def no_promises(state):
    """What stands for promises where nothing is kept."""
    whole, table, times = np.empty(0, np.int64), np.empty((0, 3), np.int64), np.empty((0, 2))
    facts = np.zeros(N_FACTS, np.int64)
    facts[CLOSED] = 1
    return Promises(facts, whole, table, times, table, times, whole, np.empty(0), times, table, whole, times)


@kernel
def _begin(state, kept):
    """A decision begins. Where windows of the site come and go, nothing is kept."""
    facts = kept.facts
    facts[AT] = facts[N_NEW] = facts[MERGED] = facts[CLOSED] = facts[N_CHANGED] = 0
    for k in range(len(kept.spans)):
        kept.spans[k, 0], kept.spans[k, 1], kept.spans[k, 2] = np.inf, -np.inf, np.inf
    if len(state.planned) > 0 or facts[OPENED] != state.counts[0]["opened"]:
        facts[OPENED] = state.counts[0]["opened"]
        _forget_rest(kept)
        facts[CLOSED] = len(state.planned) > 0


@inlined_kernel
def _change(kept, k, begin, end, gains):
    """A timeline has changed between two times; it has more from `gains` on, inf if there is less alone."""
    spans, facts = kept.spans, kept.facts
    if spans[k, 1] == -np.inf:
        kept.changed[facts[N_CHANGED]] = k
        facts[N_CHANGED] += 1
    spans[k, 0], spans[k, 1], spans[k, 2] = min(spans[k, 0], begin), max(spans[k, 1], end), min(spans[k, 2], gains)


@kernel
def _drop(kept, j):
    """Job `j` has no promise any more; its rows of places are unused."""
    row = kept.marks[j, _FIRST] - 1
    while row >= 0:
        behind = kept.places[row, _NEXT] - 1
        kept.places[row, _NEXT] = kept.facts[BLANK]
        kept.facts[BLANK] = row + 1
        row = behind
    kept.marks[j, _LEG] = kept.marks[j, _FIRST] = kept.marks[j, _STARTED] = 0


@kernel
def _forget_rest(kept):
    """Forget all promises that this decision has not come to."""
    for i in range(kept.facts[AT], kept.facts[N_KEPT]):
        _drop(kept, kept.order[i])
    kept.facts[N_KEPT] = kept.facts[AT]
    kept.facts[N_FRESH] = min(kept.facts[N_FRESH], kept.facts[N_KEPT])


@kernel
def withdraw(kept, j):
    """What job `j` was promised is free for those behind it."""
    row, begin, end = kept.marks[j, _FIRST] - 1, kept.times[j, 0], kept.times[j, 1]
    while row >= 0:
        _change(kept, kept.places[row, _NODE], begin, end, begin)
        row = kept.places[row, _NEXT] - 1
    if kept.marks[j, _POOLS] > 0:
        _change(kept, len(kept.spans) - 1, begin, end, begin)
    _drop(kept, j)


@kernel
def has_started(kept, j):
    """Job `j` starts: what it was promised is withdrawn when the line has come to it."""
    if len(kept.order) > 0 and kept.marks[j, _LEG] > 0:
        kept.marks[j, _STARTED] = 1


@kernel
def is_promised(kept, j, leg, now):
    """Whether job `j`, the next of the line, has a promise that is still to come."""
    facts, order = kept.facts, kept.order
    while facts[AT] < facts[N_KEPT] and kept.marks[order[facts[AT]], _STARTED] > 0:
        withdraw(kept, order[facts[AT]])
        facts[AT] += 1
    if facts[AT] == facts[N_KEPT]:
        return False
    if facts[AT] >= facts[N_FRESH] and facts[MERGED] == 0:
        facts[MERGED] = 1
        for k in range(len(kept.spans)):
            if kept.stale[k, 1] > -np.inf:
                _change(kept, k, kept.stale[k, 0], kept.stale[k, 1], kept.stale[k, 2])
    if order[facts[AT]] != j:
        _forget_rest(kept)
        return False
    facts[AT] += 1
    if kept.marks[j, _LEG] == leg + 1 and kept.times[j, 0] > after(now):
        return True
    withdraw(kept, j)
    return False


@kernel
def stand(kept, j):
    """Job `j` keeps what it was promised."""
    kept.order[kept.facts[N_NEW]] = j
    kept.facts[N_NEW] += 1


@kernel
def hold(kept, picks, begin, end, pooled):
    """Somebody takes places that it did not have before."""
    if len(kept.order) > 0:
        for i in range(len(picks)):
            _change(kept, picks[i]["low"], begin, end, np.inf)
        if pooled:
            _change(kept, len(kept.spans) - 1, begin, end, np.inf)


@inlined_kernel
def _begin_on(kept, k, begin, end):
    held = kept.begun[k, 1] > kept.begun[k, 0]
    kept.begun[k, 0] = min(kept.begun[k, 0], begin) if held else begin
    kept.begun[k, 1] = max(kept.begun[k, 1], end) if held else end


@kernel
def hold_now(kept, picks, begin, end, pooled):
    """Somebody starts. Those behind it see what it takes, and no base will, if it ends before the next decision."""
    hold(kept, picks, begin, end, pooled)
    if len(kept.order) > 0:
        for i in range(len(picks)):
            _begin_on(kept, picks[i]["low"], begin, end)
        if pooled:
            _begin_on(kept, len(kept.spans) - 1, begin, end)


@kernel
def promise(kept, j, leg, picks, begin, end, pooled, key):
    """Job `j`, the next of the line, is promised these places."""
    facts, places = kept.facts, kept.places
    hold(kept, picks, begin, end, pooled)
    if facts[CLOSED] > 0:
        return
    kept.marks[j, _LEG], kept.marks[j, _POOLS], kept.marks[j, KEY] = leg + 1, pooled, key
    kept.times[j, 0], kept.times[j, 1] = begin, end
    for i in range(len(picks)):
        row = facts[BLANK] - 1
        if row >= 0:
            facts[BLANK] = places[row, _NEXT]
        elif facts[N_ROWS] < len(places):
            row = facts[N_ROWS]
            facts[N_ROWS] += 1
        else:
            _drop(kept, j)
            _forget_rest(kept)
            facts[CLOSED] = 1
            return
        places[row, _NODE], places[row, _PARTS] = picks[i]["low"], picks[i]["count"]
        places[row, _NEXT] = kept.marks[j, _FIRST]
        kept.marks[j, _FIRST] = row + 1
    stand(kept, j)


@kernel
def promised_places(kept, j, picks):
    """Write down the places that job `j` was promised; returns how many."""
    row, n = kept.marks[j, _FIRST] - 1, 0
    while row >= 0:
        picks[n]["low"], picks[n]["count"] = kept.places[row, _NODE], kept.places[row, _PARTS]
        n += 1
        row = kept.places[row, _NEXT] - 1
    return n


@kernel
def is_place_of(kept, j, picks, n):
    """Whether job `j` was promised these places, which ascend."""
    row = kept.marks[j, _FIRST] - 1
    while row >= 0 and n > 0 and picks[n - 1]["low"] == kept.places[row, _NODE]:
        n -= 1
        if picks[n]["count"] != kept.places[row, _PARTS]:
            return False
        row = kept.places[row, _NEXT] - 1
    return row < 0 and n == 0


@kernel
def keep_promises(kept):
    """A decision is over: the promises that it has not come to are stale."""
    facts = kept.facts
    if len(kept.order) == 0 or facts[BASED] == 0:
        return
    n_stale = facts[N_KEPT] - facts[AT]
    if n_stale > 0:
        for k in range(len(kept.spans)):
            low, high, more = kept.spans[k, 0], kept.spans[k, 1], kept.spans[k, 2]
            # Those that were fresh were made after the changes that are gathered: for them these are too many.
            if facts[MERGED] == 0 and facts[N_FRESH] < facts[N_KEPT]:
                low, high = min(low, kept.stale[k, 0]), max(high, kept.stale[k, 1])
                more = min(more, kept.stale[k, 2])
            kept.stale[k, 0], kept.stale[k, 1], kept.stale[k, 2] = low, high, more
    for i in range(n_stale):
        kept.order[facts[N_NEW] + i] = kept.order[facts[AT] + i]
    facts[N_FRESH] = facts[N_NEW]
    facts[N_KEPT] = facts[N_NEW] + n_stale


@inlined_kernel
def _differ(lines, row, kept, old):
    """Whether a segment is not what it was in the base; whether there is more of something."""
    differs, more = False, False
    for d in range(lines.free.shape[1]):
        differs = differs or lines.free[row, d] != kept.base_free[old, d]
        more = more or lines.free[row, d] > kept.base_free[old, d]
    return differs, more


@kernel
def _compare(lines, kept, k, now):
    """Note between which times a timeline is not what it was in the base, from now on."""
    rows, time = lines.rows, now
    row, old, end = k, kept.first[k], kept.first[k + 1]
    while old + 1 < end and kept.base_times[old + 1] <= now + instant_width(now):
        old += 1
    while True:
        ahead = rows[row]["next"]
        new_time = rows[ahead]["time"] if ahead >= 0 else np.inf
        old_time = kept.base_times[old + 1] if old + 1 < end else np.inf
        until = min(new_time, old_time)
        differs, more = _differ(lines, row, kept, old)
        if differs:
            _change(kept, k, time, until, time if more else np.inf)
        if until == np.inf:
            return
        time = until
        if new_time == until:
            row = ahead
        if old_time == until:
            old += 1


@kernel
def note_base(lines, kept, now):
    """Note what running jobs leave free, before any reservation, and where that has changed."""
    facts = kept.facts
    if len(kept.order) == 0:
        return
    if facts[BASED] == 0:
        _forget_rest(kept)
    if facts[N_KEPT] > 0:
        for k in range(len(kept.spans)):
            _compare(lines, kept, k, now)
            if kept.begun[k, 1] > max(now, kept.begun[k, 0]):
                _change(kept, k, now, kept.begun[k, 1], now)
    n, facts[BASED] = 0, 1
    for k in range(len(kept.spans)):
        row, kept.first[k], kept.begun[k, 1] = k, n, kept.begun[k, 0]
        while row >= 0:
            if n == len(kept.base_times):  # too many run to keep all that they leave
                _forget_rest(kept)
                facts[CLOSED], facts[BASED] = 1, 0
                return
            kept.base_times[n] = lines.rows[row]["time"]
            for d in range(lines.free.shape[1]):
                kept.base_free[n, d] = lines.free[row, d]
            n += 1
            row = lines.rows[row]["next"]
    kept.first[len(kept.spans)] = n
