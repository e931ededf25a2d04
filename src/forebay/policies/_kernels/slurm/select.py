"""Which nodes, and when: what Slurm's select plug-in answers; for how it picks among them see `pick`.

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

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.nodes.atoms import FIRST
from forebay.algorithms.nodes.bits import count_bits, fill
from forebay.core.tables import PICK, nodes_in
from forebay.policies._kernels.slurm.returns import Returns, no_returns, returns_of

FROM_ZERO = True
PRECISION = 30.0  # s


class Hits(NamedTuple):
    """Shared nodes that hold a part of a job, by when they first do."""

    nodes: NDArray[np.int64]
    rows: NDArray[np.int64]  # of what is given back; NOW = they do already
    times: NDArray[np.float64]  # when


class Freed(NamedTuple):
    """The nodes that jobs have to themselves, by when they first are free in a profile: a word of bits at a time.

    A job that ends frees few words of many.
    """

    firsts: NDArray[np.int64]  # [segment]: the first of its words, and behind them all the number of these
    words: NDArray[np.int64]  # which
    bits: NDArray[np.int64]  # the nodes of it
    by: NDArray[np.int64]  # [segment, word]: all nodes that are free by then


class Select(NamedTuple):
    """The nodes of atoms, scratch for a question; where nodes are shared, what is given back when."""

    atoms: NDArray[np.int64]  # [atom, word]: its nodes
    weights: NDArray[np.int64]  # all that there are, ascending
    allowed: NDArray[np.int64]  # words: the nodes where a job may run
    soon: NDArray[np.int64]  # words: those of them that are free soon
    nodes: NDArray[np.int64]  # words: the nodes in question
    free: NDArray[np.int64]  # words: those that are free by then; where nodes are shared, for a part at least
    picked: NDArray[np.int64]  # words: those that the job gets
    some: NDArray[np.int64]  # words: scratch
    room: NDArray[np.int64]  # what is free by then inside shared nodes, 0 in all that are not `free`
    picks: np.ndarray  # PICK: where the parts of the job go there
    returns: Returns  # what is given back there
    end: NDArray[np.int64]  # one number: how many rows of these are over by then
    seen: NDArray[np.int64]  # how many rows, there or in a profile, were looked at; how many hits there are; see KILLER
    hits: Hits  # the nodes of `soon`, where they are shared
    freed: Freed  # the same of a profile, where they are not


ROWS, HITS, KILLER = range(3)
"""Of `seen`. The killer is a span that left a job too few nodes: the next try mostly fails there too."""


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


@allocating_kernel
def _hits(n):
    """Room for hits of so many nodes."""
    return Hits(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n))


@allocating_kernel
def select_of(state, have, line, n_ahead):
    """Scratch for a cycle over some jobs, with a profile of up to so many segments; 0: for questions about now."""
    atoms, shared = _atoms(state), len(state.inside.full)
    words = np.zeros((6, atoms.shape[1]), np.int64)
    returns = returns_of(state, have.inside, line) if shared > 0 and n_ahead > 0 else no_returns()
    n_nodes = 32 * atoms.shape[1] if shared == 0 and n_ahead > 0 else 0
    by = np.empty((n_ahead if n_nodes > 0 else 0, atoms.shape[1]), np.int64)
    freed = Freed(np.empty(n_ahead + 1, np.int64), np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64), by)
    return Select(
        atoms, _weights(state), words[0], words[1], words[2], words[3], words[4], words[5],
        np.zeros_like(state.inside.room), np.empty(shared, PICK), returns, np.zeros(1, np.int64), np.zeros(3, np.int64),
        _hits(shared), freed,
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
def wider(window, linear, needed):
    """The next window: twice as wide, or wider by a step, and at least as wide as needed."""
    if linear > 0.0:
        return window + linear * max(1.0, math.ceil((needed - window) / linear))
    window *= 2.0
    while window < needed:
        window *= 2.0
    return window


@kernel
def barrier_of(time):
    """Where windows begin: a job's end, rounded up to half a minute."""
    return (math.floor(time / PRECISION) + 1.0) * PRECISION


@kernel
def note_freed(select, profile, R):
    """Work out which nodes first are free in which segment of a profile; again when it has changed."""
    (_, ahead, n), freed, k = profile, select.freed, 0
    if ahead.shape[1] == R or len(freed.words) == 0:
        return
    for w in range(freed.by.shape[1]):
        freed.by[0, w] = ahead[0, R + w]
    for i in range(1, n):
        freed.firsts[i] = k
        for w in range(freed.by.shape[1]):
            before = freed.by[i - 1, w]
            freed.by[i, w] = before | ahead[i, R + w]
            if freed.by[i, w] != before:
                freed.words[k], freed.bits[k] = w, freed.by[i, w] ^ before
                k += 1
    freed.firsts[n] = k


@inlined_kernel
def _concerns(freed, i, nodes):
    """Whether some of the nodes first are free in segment `i`."""
    for k in range(freed.firsts[i], freed.firsts[i + 1]):
        if freed.bits[k] & nodes[freed.words[k]] != 0:
            return True
    return False


@inlined_kernel
def _free_in(freed, i, nodes, free):
    """Those of the nodes that are free by segment `i`, into `free`; returns how many."""
    for w in range(len(nodes)):
        free[w] = freed.by[i, w] & nodes[w]
    return count_bits(free)


@kernel
def when_free(select, profile, count, linear):
    """When `count` of the nodes are free as running jobs end, inf if never; which are then, into `free`."""
    (times, _, n), nodes, free, freed = profile, select.nodes, select.free, select.freed
    if _free_in(freed, 0, nodes, free) >= count:
        return times[0]
    window, barrier, i = PRECISION, np.inf, 1
    while i < n:
        last = -1
        while i < n and (last < 0 or last < i - 1 or math.floor(times[i]) <= barrier + window):
            if _concerns(freed, i, nodes):
                last = i
                if barrier == np.inf:
                    barrier = barrier_of(times[i])
            i += 1
        if last >= 0 and _free_in(freed, last, nodes, free) >= count:
            return times[last]
        if i < n:
            window = wider(window, linear, math.floor(times[i]) - barrier)
    return np.inf


@kernel
def free_by(select, profile, time):
    """Let `soon` be the nodes that are free by a time; some may be free later."""
    times, _, n = profile
    i = select.seen[ROWS]
    while i + 1 < n and times[i + 1] <= time:
        i += 1
    if i > select.seen[ROWS]:
        select.seen[ROWS] = i
        for w in range(len(select.soon)):
            select.soon[w] = select.freed.by[i, w] & select.allowed[w]


@kernel
def ask_whole(select, profile, R):
    """Begin with the nodes that are free now of those where a job may run."""
    select.seen[ROWS], select.seen[KILLER] = 0, -1
    for w in range(len(select.soon)):
        select.soon[w] = profile[1][0, R + w] & select.allowed[w]
