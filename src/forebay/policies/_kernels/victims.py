"""Which running jobs give way to a waiting one: the fewest in an order such that it can start now.

The order is for the caller to choose; see `slurm.preemption` for Slurm's. Whom to ask is taken one after the other
until the job fits. Of these some may not be needed any more: so they are put in another order, those with the most
nodes first or the last one first, and asked again. This is how Slurm keeps victims few (`preempt_reorder_count`).
"""

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.nodes.shared_nodes import give_amounts, held_in
from forebay.core.codes import JobState, Resume
from forebay.core.tables import STATE
from forebay.core.verbs import act_interrupt, act_kill
from forebay.policies._kernels.availability.node_sets import counts_no_atom
from forebay.policies._kernels.availability.placement import Have, fits_now
from forebay.policies._kernels.availability.remaining import what_is_left

_i8 = types.int64


@kernel
def can_give_way(state, j):
    """Whether job `j` runs and can be interrupted now: not one that starts in this instant, nor one that keeps some of
    what it gives back when it ends, as it carried that into its leg."""
    job = state.jobs[j]
    if job["state"] != JobState.RUNNING or job["leg_start"] >= state.clock[0]["now"]:
        return False
    leg = job["leg"]
    if state.legs[leg]["number"] > 0:
        for r in range(counts_no_atom(state)):
            if state.demands[leg, r] != state.releases[leg, r]:
                return False
    return True


@allocating_kernel
def copy_of(have):
    """What is there, to try something on."""
    return Have(have.free.copy(), have.words, have.room.copy(), have.inside.copy())


@kernel
def without(state, have, j):
    """Job `j`, which runs, leaves. Which nodes were its is for the engine to see: it picks them for who starts."""
    leg, chunked = state.jobs[j]["leg"], state.machine[0]["chunked"]
    for r in range(len(have.free)):
        have.free[r] += state.releases[leg, r]
    if len(have.room) > 0 and chunked >= 0 and state.releases[leg, chunked] > 0:
        i = state.jobs[j]["chunk"]
        while i >= 0:
            chunk = state.servers.chunks[i]
            have.room[chunk["server"]] += chunk["size"] * chunk["count"]
            i = chunk["next"]
    if len(state.inside.full) > 0:
        row = state.inside.head[j]
        while row >= 0:
            share = state.inside.shares[row]
            give_amounts(have.inside, state.inside.full, share["node"], held_in(share))
            row = share["next"]


@allocating_kernel
def _n_needed(state, have, j, line, n):
    """How many of the first `n` in line must leave, one after the other, until job `j` fits; -1 = all are too few."""
    there = copy_of(have)
    for i in range(n):
        without(state, there, line[i])
        if fits_now(state, there, j):
            return i + 1
    return -1


@kernel
def _last_first(line, n):
    """Who made it fit goes first; the others stay as they are."""
    last = line[n - 1]
    for i in range(n - 1, 0, -1):
        line[i] = line[i - 1]
    line[0] = last


@kernel
def _largest_first(state, line, n):
    """By nodes, the most first; those alike stay in order."""
    for i in range(1, n):
        j, k = line[i], i
        while k > 0 and state.jobs[line[k - 1]]["held"] < state.jobs[j]["held"]:
            line[k] = line[k - 1]
            k -= 1
        line[k] = j


@kernel
def reorder(state, line, n, strict_order):
    """Put the first `n` of those who would give way in another order, so that fewer may do."""
    if strict_order:
        _last_first(line, n)
    else:
        _largest_first(state, line, n)


@allocating_kernel
def choose_victims(state, have, j, candidates, reorder_count, strict_order):
    """Of running jobs in an order, those that give way to job `j`, which does not fit; none if all are too few."""
    line = candidates.copy()
    n = _n_needed(state, have, j, line, len(line))
    for _ in range(reorder_count):
        if n <= 1:
            break
        reorder(state, line, n, strict_order)
        n = _n_needed(state, have, j, line, n)
    return line[: max(n, 0)]


@kernel
def displace(state, j, cancels):
    """Stop job `j` now: it waits to start again, or is over. What it has is free in both cases before the next action:
    a job that is killed as it runs holds its nodes until what it drains is written."""
    act_interrupt(state, j, Resume.LAST.value)
    if cancels:
        act_kill(state, j)


@allocating_kernel(_i8[::1](STATE, _i8, _i8[::1], _i8, types.boolean))
def victims(state, j, candidates, reorder_count, strict_order):
    """The same for Python, beside what the decision has started; whoever cannot be interrupted now is passed over."""
    have, n = what_is_left(state), 0
    line = np.empty(len(candidates), np.int64)
    for one in candidates:
        if can_give_way(state, one):
            line[n] = one
            n += 1
    if fits_now(state, have, j):
        return line[:0]
    return choose_victims(state, have, j, line[:n], reorder_count, strict_order)
