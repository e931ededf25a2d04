"""Slurm's questions about nodes that jobs share: when a job finds room on nodes that no reservation needs, and which.

A try asks from a time on, and is of use only if the job begins by the next one. Most are not, so most are answered by
few nodes: the *hits* of a job are the nodes that come to hold a part of it, in that order, whatever is reserved. They
are looked for once, and no further than they are needed.
"""

import math
from typing import NamedTuple

import numpy as np

from forebay._numba.jit import inlined_kernel, kernel
from forebay.algorithms.nodes.bits import is_in, lowest
from forebay.algorithms.nodes.shared_nodes import BLOCK, holds, may_hold
from forebay.core.inside import DIMENSIONS
from forebay.policies._kernels.slurm.returns import (
    NOW,
    TOO_LATE,
    behind,
    instant_end,
    next_row,
    row_of_last_part,
)
from forebay.policies._kernels.slurm.select import HITS, KILLER, PRECISION, ROWS, barrier_of, wider
from forebay.policies._kernels.slurm.table import too_few_unreserved, unreserved

FROM_ZERO = True
_FEW = 32  # hits that are looked for at a time


class Try(NamedTuple):
    """A job is tried from a time on."""

    leg: int
    n_nodes: int  # that it has at least
    span: int  # of the table, in which it begins
    end: float
    later: float  # when it is tried next


@kernel
def count_now(full, room, nodes, ask):
    """How many parts find room now on some nodes, up to as many as there are."""
    count, n_nodes = 0, len(full)
    for w in range(len(nodes)):  # a word is a block of nodes
        word = nodes[w] if may_hold(room, n_nodes + w, ask) else 0
        while word != 0:
            count += holds(room, full, 32 * w + lowest(word), ask)
            word &= word - 1
            if count >= ask["parts"]:
                return count
    return count


@kernel
def _add_holders(full, room, nodes, ask, found):
    """Add those of some nodes to `found` that hold a part now."""
    n_nodes = len(full)
    for w in range(len(nodes)):
        word = nodes[w] if may_hold(room, n_nodes + w, ask) else 0
        while word != 0:
            bit = word & -word
            if holds(room, full, 32 * w + lowest(word), ask) > 0:
                found[w] |= bit
            word ^= bit


@inlined_kernel
def _hit(select, node, row):
    """A node holds a part by a row; note it if it does for the first time."""
    if not is_in(select.soon, node):
        select.soon[node >> 5] |= 1 << (node & 31)
        k, hits = select.seen[HITS], select.hits
        hits.nodes[k], hits.rows[k] = node, row
        hits.times[k] = select.returns.times[select.returns.firsts[row]] if row >= 0 else -np.inf
        select.seen[HITS] = k + 1


@inlined_kernel
def ask_inside(state, have, select, leg):
    """Begin with the nodes that hold a part of leg `leg` now, of those where it may run."""
    select.seen[ROWS], select.seen[HITS], select.seen[KILLER] = 0, 0, -1
    for w in range(len(select.soon)):
        select.soon[w] = select.some[w] = 0
    _add_holders(state.inside.full, have.inside, select.allowed, state.inside.asks[leg], select.some)
    for w in range(len(select.some)):
        word = select.some[w]
        while word != 0:
            _hit(select, 32 * w + lowest(word), NOW)
            word &= word - 1


@inlined_kernel
def _look_on(state, select, leg):
    """Look for the next node that holds a part, among rows that were not looked at yet."""
    returns = select.returns
    full, ask = state.inside.full, state.inside.asks[leg]
    row = next_row(returns, full, select.allowed, ask, select.seen[ROWS], returns.n[0])
    select.seen[ROWS] = row + 1
    if row < returns.n[0]:
        _hit(select, returns.nodes[row], row)


@inlined_kernel
def _enter_hits(state, select, leg, latest, n):
    """Look for further hits by the time `latest`, `n` at most; whether there are any."""
    returns, seen, n = select.returns, select.seen, n + select.seen[HITS]
    known = seen[HITS]
    while seen[HITS] < n and seen[ROWS] < returns.n[0] and returns.times[returns.firsts[seen[ROWS]]] <= latest:
        _look_on(state, select, leg)
    return seen[HITS] > known


@inlined_kernel
def too_few(select, table, R, span, end, count):
    """Whether reservations leave fewer than `count` nodes of `soon` from a span on until `end`; those left: `some`."""
    found = too_few_unreserved(table, R, span, end, select.soon, count, select.some, select.seen[KILLER])
    if found >= 0:
        select.seen[KILLER] = found
    return found >= 0


@inlined_kernel
def _row_of_node(state, select, table, R, this):
    """The row by which enough nodes hold a part each that no reservation needs during a try.

    NOW if they do already, TOO_LATE if they do not by the next one.
    """
    hits, free = select.hits, select.some
    while too_few(select, table, R, this.span, this.end, this.n_nodes):
        if not _enter_hits(state, select, this.leg, this.later, max(select.seen[HITS], this.n_nodes, _FEW)):
            return TOO_LATE
    k, n = -1, 0
    while n < this.n_nodes:
        k += 1
        n += is_in(free, hits.nodes[k])
    if k < 0:
        return NOW
    return hits.rows[k] if hits.times[k] <= this.later else TOO_LATE


@inlined_kernel
def ask_nodes(select, table, R, span, end):
    """Ask about the nodes where a job may run that no reservation needs from a span on until `end`."""
    for w in range(len(select.nodes)):
        select.nodes[w] = select.allowed[w]
    unreserved(table, R, span, end, select.nodes)


@inlined_kernel
def _is_asked(select, row):
    """Whether a row is of a node in question: one where the job may run, and that no reservation needs."""
    return is_in(select.nodes, select.returns.nodes[row])


@inlined_kernel
def _next_asked(select, row):
    """The first row from `row` on of a node in question; how many there are if none is."""
    while row < select.returns.n[0] and not _is_asked(select, row):
        row += 1
    return row


@inlined_kernel
def _last_asked(select, row):
    """The last row up to `row` of a node in question; -1 if none is."""
    while row >= 0 and not _is_asked(select, row):
        row -= 1
    return row


@inlined_kernel
def _window_end(select, row, linear):
    """The last row of nodes in question in the window of a row of theirs: see `select`.

    A window of which the last instant is of others ends with the next instant of these nodes, if there is one.
    """
    returns, times, firsts = select.returns, select.returns.times, select.returns.firsts
    barrier = barrier_of(times[firsts[_next_asked(select, 0)]])
    since, window = math.floor(times[firsts[row]]) - barrier, PRECISION
    if since > window:
        window = wider(window, linear, since)
        begun = behind(returns, barrier + (window - linear if linear > 0.0 else 0.5 * window))
        if firsts[_last_asked(select, begun - 1)] != firsts[begun - 1]:
            first = _next_asked(select, begun)
            if firsts[first] == firsts[row]:
                return first  # it ended the window before
    over = behind(returns, barrier + window)
    found = _last_asked(select, over - 1)
    if firsts[found] == firsts[over - 1]:
        return found
    following = _next_asked(select, over)
    return following if following < returns.n[0] else found


@inlined_kernel
def when_inside(state, have, select, table, R, this, linear):
    """When a leg finds room on nodes that no reservation needs during a try; inf if never, or perhaps if too late.

    Otherwise these are the nodes in question.
    """
    returns, ask = select.returns, state.inside.asks[this.leg]
    select.end[0] = 0
    row = _row_of_node(state, select, table, R, this)
    if row == TOO_LATE:
        return np.inf
    ask_nodes(select, table, R, this.span, this.end)
    if ask["parts"] > 1 and not ask["spread"]:
        parts = count_now(state.inside.full, have.inside, select.nodes, ask)
        row = NOW
        if parts < ask["parts"]:
            row = row_of_last_part(returns, state.inside.full, have.inside, select.nodes, ask, parts)
    if row < 0:
        return state.clock[0]["now"] if row == NOW else np.inf
    row = _window_end(select, row, linear)
    select.end[0] = instant_end(returns, row)
    return returns.times[returns.firsts[row]]


@inlined_kernel
def _put_room(state, have, select, node):
    """Write down what a node has free by then."""
    block, returns, found = len(state.inside.full) + node // BLOCK, select.returns, -1
    row = returns.heads[node] if select.end[0] > 0 else -1
    while 0 <= row < select.end[0]:
        found, row = row, returns.following[row]
    for d in range(DIMENSIONS):
        select.room[node, d] = free = returns.room[found, d] if found >= 0 else have.inside[node, d]
        select.room[block, d] = max(select.room[block, d], free)


@inlined_kernel
def gather(state, have, select, leg):
    """Write the nodes in question that hold a part by then into `free`, and what is free inside them into `room`.

    The hits among these are known from `ask_inside` on.
    """
    nodes, n_nodes, hits = select.nodes, len(state.inside.full), select.hits
    for w in range(len(nodes)):
        while select.free[w] != 0:  # of the question before
            node = 32 * w + lowest(select.free[w])
            select.free[w] &= select.free[w] - 1
            for d in range(DIMENSIONS):
                select.room[node, d] = select.room[n_nodes + w, d] = 0
    while select.seen[ROWS] < select.end[0]:
        _look_on(state, select, leg)
    for k in range(select.seen[HITS]):
        if hits.rows[k] < select.end[0] and is_in(nodes, hits.nodes[k]):
            select.free[hits.nodes[k] >> 5] |= 1 << (hits.nodes[k] & 31)
    for w in range(len(nodes)):
        word = select.free[w]
        while word != 0:
            _put_room(state, have, select, 32 * w + lowest(word))
            word &= word - 1
