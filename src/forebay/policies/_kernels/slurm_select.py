"""Which nodes, and when: what Slurm's select plug-in answers; for how it picks among them see `slurm_pick`.

Nodes are sets of bits, in words of 32. Where jobs have nodes to themselves, a node is free or not; where they share
them, what is free inside nodes tells. A reservation is of whole nodes all the same, as a real Slurm showed.

Of running jobs that have some of the nodes in question, those are taken to end together, as the last of them does, that
end within a window from the first end on, rounded up to half a minute: 30 s, then 60 s, and so on. Jobs that have none
of the nodes do not close a window, however late they end. Times are whole seconds here, as in Slurm.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.atoms import FIRST
from forebay.algorithms.bits import count_bits, fill
from forebay.algorithms.inside import BLOCK, all_of, give_amounts, held_in, holds, taken_by
from forebay.core.inside import DIMENSIONS
from forebay.core.tables import PICK, after, instant_width, nodes_in
from forebay.policies._kernels.ahead import end_if_now, started_by_end

_PRECISION = 30.0  # s


class Select(NamedTuple):
    """The nodes of atoms, scratch for a question; where nodes are shared, who gives something back when."""

    atoms: NDArray[np.int64]  # [atom, word]: its nodes
    weights: NDArray[np.int64]  # all that there are, ascending
    nodes: NDArray[np.int64]  # words: the nodes in question
    free: NDArray[np.int64]  # words: those that are free by then
    picked: NDArray[np.int64]  # words: those that the job gets
    some: NDArray[np.int64]  # words: scratch
    room: NDArray[np.int64]  # what is free by then inside shared nodes; empty where nodes are not shared
    picks: np.ndarray  # PICK: where the parts of the job go there
    times: NDArray[np.float64]  # when something is given back there, ascending
    given: NDArray[np.int64]  # [k, 5]: on which node, and how much of what is inside
    n: NDArray[np.int64]  # one number: how many of these there are


@allocating_kernel
def _atoms(state):
    """The nodes of each atom, as words; all of them are one where they are alike."""
    shared = len(state.inside.full) > 0
    n_nodes = len(state.inside.full) if shared else len(state.nodes.site)
    n_atoms = len(state.inside.atoms) - 1 if shared else max(len(state.nodes.atoms), 1)
    words = np.zeros((n_atoms, (n_nodes + 31) >> 5), np.int64)
    for a in range(n_atoms):
        if shared:
            fill(words[a], state.inside.atoms[a], state.inside.atoms[a + 1] - state.inside.atoms[a])
        elif len(state.nodes.atoms) > 0:
            fill(words[a], state.nodes.atoms[a, FIRST], nodes_in(state, a))
        else:
            fill(words[a], 0, n_nodes)
    return words


@allocating_kernel
def _weights(state):
    """All weights of nodes, ascending."""
    weights = state.nodes.weights
    found, n, last = np.ones(max(len(weights), 1), np.int64), 1, np.int64(-1)
    for i in range(len(weights)):
        least = np.int64(1) << 62
        for a in range(len(weights)):
            if last < weights[a] < least:
                least = weights[a]
        if least == np.int64(1) << 62:
            break
        found[i], n, last = least, i + 1, least
    return found[:n]


@kernel
def _write(times, given, n, time, node, amounts):
    """Write down that amounts are given back on a node; returns how many rows there are then."""
    times[n], given[n, 0] = time, node
    for d in range(DIMENSIONS):
        given[n, 1 + d] = amounts[d]
    return n + 1


@kernel
def _write_running(state, times, given, n, time, j):
    """The same of all that a running job has."""
    row = state.inside.head[j]
    while row >= 0:
        share = state.inside.shares[row]
        n = _write(times, given, n, time, share["node"], held_in(share))
        row = share["next"]
    return n


@kernel
def _write_started(state, times, given, n, time, action):
    """The same of what a start of this decision takes."""
    ask = state.inside.asks[state.jobs[action["job"]]["leg"]]
    for i in range(action["first_pick"], action["first_pick"] + action["n_picks"]):
        node = state.picks[i]["low"]
        n = _write(times, given, n, time, node, taken_by(state.inside.full, node, ask, state.picks[i]["count"]))
    return n


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


@allocating_kernel
def _given_back(state, line):
    """What is given back on shared nodes, and when; with room for what jobs in line would, if they all started now."""
    counts, running, now, n_nodes = state.counts[0], state.running, state.clock[0]["now"], len(state.inside.full)
    started, soon, n_running, full = started_by_end(state), after(now), counts["n_running"], state.inside.full
    room, n_late, s, d, n = _n_shares(state) + counts["n_picks"] + counts["n_down"], 0, 0, 0, 0
    for j in line:
        room += min(state.inside.asks[state.jobs[j]["leg"]]["parts"], n_nodes)
    while n_late < n_running and running[n_late]["end"] < soon:
        n_late += 1
    times, given, i, late = np.empty(room), np.empty((room, 1 + DIMENSIONS), np.int64), n_late, 0
    while True:
        ends = running[i]["end"] if i < n_running else np.inf
        begun = max(end_if_now(state, state.actions[started[s]]["job"]), soon) if s < len(started) else np.inf
        back = max(state.down[d]["until"], soon) if d < counts["n_down"] else np.inf
        over = now + 1.0 if late < n_late else np.inf  # a job past its limit
        time = min(ends, begun, back, over)
        if time == np.inf:
            return times, given, n
        if time == over:
            n = _write_running(state, times, given, n, time, running[late]["job"])
            late += 1
        elif time == ends:
            n = _write_running(state, times, given, n, time, running[i]["job"])
            i += 1
        elif time == begun:
            n = _write_started(state, times, given, n, time, state.actions[started[s]])
            s += 1
        else:
            n = _write(times, given, n, time, state.down[d]["node"], all_of(full, state.down[d]["node"]))
            d += 1


@allocating_kernel
def select_of(state, line, ahead):
    """Scratch for a cycle over some jobs; unless it is to look ahead, for questions about now alone."""
    atoms, shared = _atoms(state), len(state.inside.full)
    words, n = np.zeros((4, atoms.shape[1]), np.int64), 0
    times, given = np.empty(0), np.empty((0, 1 + DIMENSIONS), np.int64)
    if shared > 0 and ahead:
        times, given, n = _given_back(state, line)
    return Select(
        atoms, _weights(state), words[0], words[1], words[2], words[3], np.empty_like(state.inside.room),
        np.empty(shared, PICK), times, given, np.full(1, n),
    )  # fmt: skip


@kernel
def bits_of(state, leg):
    """The atoms on which leg `leg` may run, as bits."""
    return state.inside.asks[leg]["allowed"] if len(state.inside.asks) > 0 else state.legs[leg]["allowed"]


@kernel
def least_nodes(state, leg):
    """How many nodes leg `leg` has at least."""
    if len(state.inside.asks) == 0:
        return state.demands[leg, 0]
    ask = state.inside.asks[leg]
    return ask["parts"] if ask["spread"] else min(ask["parts"], 1)


@kernel
def _wider(window, linear, needed):
    """The next window: twice as wide, or wider by a step, and at least as wide as needed."""
    if linear > 0.0:
        return window + linear * max(1.0, math.ceil((needed - window) / linear))
    window *= 2.0
    while window < needed:
        window *= 2.0
    return window


@kernel
def _barrier(time):
    """Where windows begin: a job's end, rounded up to half a minute."""
    return (math.floor(time / _PRECISION) + 1.0) * _PRECISION


@kernel
def _when_free(select, profile, R, count, linear):
    """When `count` of the nodes are free as running jobs end, inf if never; which are then, into `free`."""
    (times, ahead, n), nodes, free = profile, select.nodes, select.free
    for w in range(len(nodes)):
        free[w] = ahead[0, R + w] & nodes[w]
    if count_bits(free) >= count:
        return times[0]
    window, barrier, i = _PRECISION, np.inf, 1
    while i < n:
        last = -1
        while i < n and (last < 0 or last < i - 1 or math.floor(times[i]) <= barrier + window):
            concerned = False
            for w in range(len(nodes)):
                more = ahead[i, R + w] & nodes[w] & ~free[w]
                concerned = concerned or more != 0
                free[w] |= more
            if concerned:
                last = i
                if barrier == np.inf:
                    barrier = _barrier(times[i])
            i += 1
        if last >= 0 and count_bits(free) >= count:
            return times[last]
        if i < n:
            window = _wider(window, linear, math.floor(times[i]) - barrier)
    return np.inf


@kernel
def is_in(nodes, node):
    """Whether a node is in a set."""
    return (nodes[node >> 5] >> (node & 31)) & 1 != 0


@kernel
def room_on(state, room, nodes, ask, out):
    """What is free inside some of the nodes, nothing in all others; returns how many parts find room there."""
    inside, n_nodes, count = state.inside, len(state.inside.full), 0
    for row in range(n_nodes, len(out)):
        for d in range(DIMENSIONS):
            out[row, d] = 0
    for node in range(n_nodes):
        if not is_in(nodes, node):
            for d in range(DIMENSIONS):
                out[node, d] = 0
            continue
        block = n_nodes + node // BLOCK
        for d in range(DIMENSIONS):
            out[node, d] = room[node, d]
            out[block, d] = max(out[block, d], room[node, d])
        count += holds(out, inside.full, node, ask)
    return count


@kernel
def _when_room(state, have, select, ask, linear):
    """When all parts find room inside the nodes as running jobs end, inf if never; what is free there, into `room`.

    Nodes in question are those where they may lie.
    """
    full, room, times, given, n = state.inside.full, select.room, select.times, select.given, select.n[0]
    count = room_on(state, have.inside, select.nodes, ask, room)
    if count >= ask["parts"]:
        return state.clock[0]["now"]
    window, barrier, i = _PRECISION, np.inf, 0
    while i < n:
        last, concerned = -np.inf, True
        while i < n and (last == -np.inf or not concerned or math.floor(times[i]) <= barrier + window):
            time, concerned = times[i], False
            until = time + instant_width(time)
            while i < n and times[i] <= until:
                node = given[i, 0]
                if is_in(select.nodes, node):
                    count -= holds(room, full, node, ask)
                    give_amounts(room, full, node, (given[i, 1], given[i, 2], given[i, 3], given[i, 4]))
                    count += holds(room, full, node, ask)
                    concerned = True
                i += 1
            if concerned:
                last = time
                if barrier == np.inf:
                    barrier = _barrier(time)
        if last > -np.inf and count >= ask["parts"]:
            return last
        if i < n:
            window = _wider(window, linear, math.floor(times[i]) - barrier)
    return np.inf


@kernel
def when_free(state, have, select, profile, R, leg, linear):
    """When enough of the nodes in question are free of running jobs for leg `leg`; inf if never."""
    if len(have.inside) > 0:
        return _when_room(state, have, select, state.inside.asks[leg], linear)
    return _when_free(select, profile, R, state.demands[leg, 0], linear)


@kernel
def note_start(state, select, j):
    """Job `j` has started, the last of this decision: it will give back what it has."""
    if len(state.inside.full) == 0:
        return
    end, action, n = max(end_if_now(state, j), after(state.clock[0]["now"])), _last_action(state), select.n[0]
    k, more = n, action["n_picks"]
    while k > 0 and select.times[k - 1] > end:
        k -= 1
        select.times[k + more] = select.times[k]
        for d in range(1 + DIMENSIONS):
            select.given[k + more, d] = select.given[k, d]
    _write_started(state, select.times, select.given, k, end, action)
    select.n[0] = n + more


@kernel
def _last_action(state):
    return state.actions[state.counts[0]["n_actions"] - 1]
