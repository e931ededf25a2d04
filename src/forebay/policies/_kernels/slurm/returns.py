"""What running jobs give back on shared nodes, and what their nodes then have free: rows in the order of time.

A row has all that is free on its node from then on, so a question is answered by the first rows that suffice, and
nothing is added up on the way. Rows come in chunks; a chunk in which no node has enough for a part is left out at once.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.nodes.bits import is_in
from forebay.algorithms.nodes.shared_nodes import all_of, held_in, holds, holds_in, may_hold, taken_by
from forebay.core.inside import DIMENSIONS
from forebay.core.tables import after, instant_width
from forebay.policies._kernels.availability.profile import end_if_now, started_by_end

FROM_ZERO = True
NOW, TOO_LATE = -1, -2
"""Stand for rows."""
_CHUNK = 16


class Returns(NamedTuple):
    """A row for each share of a node that is given back."""

    times: NDArray[np.float64]  # ascending
    nodes: NDArray[np.int64]
    room: NDArray[np.int64]  # [row, dimension]: what is free on the node from then on
    before: NDArray[np.int64]  # the row of the same node before it; -1 = none
    following: NDArray[np.int64]  # and the one behind it
    heads: NDArray[np.int64]  # [node]: its first row
    firsts: NDArray[np.int64]  # the first row of its instant
    peaks: NDArray[np.int64]  # [chunk, dimension]: no row of it has more
    latest: NDArray[np.int64]  # [node]: scratch
    n: NDArray[np.int64]  # one number: how many rows there are


@kernel
def _n_places(state, line):
    """On how many shared nodes the jobs in line lie, at most."""
    n, n_nodes = 0, len(state.inside.full)
    if n_nodes > 0:
        for j in line:
            n += min(state.inside.asks[state.jobs[j]["leg"]]["parts"], n_nodes)
    return n


@kernel
def _write(returns, time, node, amounts):
    """Write a row with what is given back."""
    n = returns.n[0]
    returns.times[n], returns.nodes[n] = time, node
    for d in range(DIMENSIONS):
        returns.room[n, d] = amounts[d]
    returns.n[0] = n + 1


@kernel
def _write_running(state, returns, time, j):
    """The same of all that a running job has."""
    row = state.inside.head[j]
    while row >= 0:
        share = state.inside.shares[row]
        _write(returns, time, share["node"], held_in(share))
        row = share["next"]


@kernel
def _write_started(state, returns, time, action):
    """The same of what a start of this decision takes."""
    ask = state.inside.asks[state.jobs[action["job"]]["leg"]]
    for i in range(action["first_pick"], action["first_pick"] + action["n_picks"]):
        node = state.picks[i]["low"]
        _write(returns, time, node, taken_by(state.inside.full, node, ask, state.picks[i]["count"]))


@kernel
def _n_shares(state):
    """How many shares of nodes running jobs have."""
    n = 0
    for i in range(state.counts[0]["n_running"]):
        row = state.inside.head[state.running[i]["job"]]
        while row >= 0:
            n += 1
            row = state.inside.shares[row]["next"]
    return n


@kernel
def _write_all(state, returns, started):
    """Write what running jobs, starts of this decision and nodes under repair give back, in the order of time."""
    counts, running, now = state.counts[0], state.running, state.clock[0]["now"]
    soon, n_running, n_late, s, d, late = after(now), counts["n_running"], 0, 0, 0, 0
    while n_late < n_running and running[n_late]["end"] < soon:
        n_late += 1
    i = n_late
    while True:
        ends = running[i]["end"] if i < n_running else np.inf
        begun = max(end_if_now(state, state.actions[started[s]]["job"]), soon) if s < len(started) else np.inf
        back = max(state.down[d]["until"], soon) if d < counts["n_down"] else np.inf
        over = now + 1.0 if late < n_late else np.inf  # a job past its limit
        time = min(ends, begun, back, over)
        if time == np.inf:
            return
        if time == over:
            _write_running(state, returns, time, running[late]["job"])
            late += 1
        elif time == ends:
            _write_running(state, returns, time, running[i]["job"])
            i += 1
        elif time == begun:
            _write_started(state, returns, time, state.actions[started[s]])
            s += 1
        else:
            _write(returns, time, state.down[d]["node"], all_of(state.inside.full, state.down[d]["node"]))
            d += 1


@kernel
def _add_up(returns, room):
    """Let rows that have what is given back have what is then free; nodes have this room now."""
    latest = returns.latest
    for node in range(len(latest)):
        latest[node] = -1
    for row in range(returns.n[0]):
        node = returns.nodes[row]
        for d in range(DIMENSIONS):
            returns.room[row, d] += room[node, d] if latest[node] < 0 else returns.room[latest[node], d]
        latest[node] = row


@kernel
def _index(returns, start):
    """Work out, of each row from `start` on, which one of its node comes before it and which begins its instant.

    And chunks' peaks. Those of rows before it are known; peaks may be more than there is now.
    """
    times, latest, first = returns.times, returns.latest, 0
    for node in range(len(latest)):
        latest[node] = -1
        if start == 0:
            returns.heads[node] = -1
    for row in range(start):
        latest[returns.nodes[row]] = row
    if start > 0:
        first = returns.firsts[start - 1]
    for row in range(start, returns.n[0]):
        node, chunk = returns.nodes[row], row // _CHUNK
        returns.before[row], returns.following[row] = latest[node], -1
        if latest[node] < 0:
            returns.heads[node] = row
        else:
            returns.following[latest[node]] = row
        latest[node] = row
        if times[row] > times[first] + instant_width(times[first]):
            first = row
        returns.firsts[row] = first
        for d in range(DIMENSIONS):
            here = returns.room[row, d]
            returns.peaks[chunk, d] = here if row % _CHUNK == 0 else max(returns.peaks[chunk, d], here)


@allocating_kernel
def returns_of(state, room, line):
    """What is given back where nodes have this room now; with rows for what jobs in line would, if all started."""
    n_rows, n_nodes = _n_shares(state) + _n_places(state, line), len(state.inside.full)
    n_rows += state.counts[0]["n_picks"] + state.counts[0]["n_down"]
    returns = Returns(
        np.empty(n_rows), np.empty(n_rows, np.int64), np.empty((n_rows, DIMENSIONS), np.int64),
        np.empty(n_rows, np.int64), np.empty(n_rows, np.int64), np.empty(n_nodes, np.int64), np.empty(n_rows, np.int64),
        np.empty((n_rows // _CHUNK + 1, DIMENSIONS), np.int64), np.empty(n_nodes, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip
    _write_all(state, returns, started_by_end(state))
    _add_up(returns, room)
    _index(returns, 0)
    return returns


@allocating_kernel
def no_returns():
    """What stands for them where no question is about later."""
    times, whole, room = np.empty(0), np.empty(0, np.int64), np.empty((0, DIMENSIONS), np.int64)
    return Returns(times, whole, room, whole, whole, whole, whole, room, whole, np.zeros(1, np.int64))


@kernel
def _insert(returns, k, time, node):
    """Write a row at place `k` by which all is as before on a node that has less until then."""
    for row in range(returns.n[0], k, -1):
        returns.times[row], returns.nodes[row] = returns.times[row - 1], returns.nodes[row - 1]
        for d in range(DIMENSIONS):
            returns.room[row, d] = returns.room[row - 1, d]
    returns.times[k], returns.nodes[k] = time, node
    returns.n[0] += 1


@kernel
def note_start(state, returns, room, j, action):
    """Job `j` has started: its nodes, of which `room` has what is left, have less until it ends."""
    end, full = max(end_if_now(state, j), after(state.clock[0]["now"])), state.inside.full
    ask, k = state.inside.asks[state.jobs[j]["leg"]], returns.n[0]
    while k > 0 and returns.times[k - 1] > end:
        k -= 1
    first = k
    for i in range(action["first_pick"], action["first_pick"] + action["n_picks"]):
        node, last = state.picks[i]["low"], -1
        taken = taken_by(full, node, ask, state.picks[i]["count"])
        for row in range(k):
            if returns.nodes[row] == node:
                last = row
                for d in range(DIMENSIONS):
                    returns.room[row, d] -= taken[d]
        _insert(returns, k, end, node)
        for d in range(DIMENSIONS):
            returns.room[k, d] = taken[d] + (returns.room[last, d] if last >= 0 else room[node, d])
        k += 1
    _index(returns, first)


@inlined_kernel
def _holds_one(room, row, full, node, ask):
    """Whether a node holds a part where a row has what is free in it."""
    if not may_hold(room, row, ask):
        return False
    if ask["exclusive"]:
        for d in range(DIMENSIONS):
            if room[row, d] < full[node, d]:
                return False
    return True


@inlined_kernel
def next_row(returns, full, nodes, ask, row, end):
    """The first row from `row` on, before `end`, by which one of some nodes holds a part; else `end` or more."""
    while row < end:
        if row % _CHUNK == 0 and not may_hold(returns.peaks, row // _CHUNK, ask):
            row += _CHUNK
            continue
        if is_in(nodes, returns.nodes[row]) and _holds_one(returns.room, row, full, returns.nodes[row], ask):
            return row
        row += 1
    return row


@kernel
def row_of_last_part(returns, full, room, nodes, ask, count):
    """The row by which all parts find room on some nodes, where `count` of them do now; TOO_LATE if never."""
    n = returns.n[0]
    row = next_row(returns, full, nodes, ask, 0, n)
    while row < n:
        node, before = returns.nodes[row], returns.before[row]
        count += holds_in(returns.room, row, full, node, ask)
        count -= holds(room, full, node, ask) if before < 0 else holds_in(returns.room, before, full, node, ask)
        if count >= ask["parts"]:
            return row
        row = next_row(returns, full, nodes, ask, row + 1, n)
    return TOO_LATE


@inlined_kernel
def behind(returns, time):
    """The first row of an instant behind a time in whole seconds."""
    low, high = 0, returns.n[0]
    while low < high:
        middle = (low + high) >> 1
        if np.floor(returns.times[returns.firsts[middle]]) > time:
            high = middle
        else:
            low = middle + 1
    return low


@inlined_kernel
def instant_end(returns, row):
    """The row behind the instant of a row."""
    first = returns.firsts[row]
    while row < returns.n[0] and returns.firsts[row] == first:
        row += 1
    return row
