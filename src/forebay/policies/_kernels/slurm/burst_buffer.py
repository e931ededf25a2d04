"""Slurm's way with burst buffers: see slurm-bb."""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.core.codes import LogReason
from forebay.core.tables import policy_kernel
from forebay.core.verbs import interrupted
from forebay.policies._families.slurm import Param
from forebay.policies._kernels.availability.node_sets import (
    counts_no_atom,
    earliest_for,
    n_counted,
    reserve_shared,
    share_free,
)
from forebay.policies._kernels.availability.placement import fits_now, start_fitting, what_is_there
from forebay.policies._kernels.availability.profile import ahead_of, n_held
from forebay.policies._kernels.backfill.backfill import start_now


@kernel
def _takes(state, leg, first):
    """Whether a leg takes anything, from resource `first` on."""
    for r in range(first, counts_no_atom(state)):
        if state.demands[leg, r] > 0:
            return True
    return False


@kernel
def _expected(state, times, ahead, n, R, j):
    """When the nodes of the leg after the waiting one of job `j` are expected to be free."""
    leg = state.jobs[j]["leg"]
    if leg == state.jobs[j]["last_leg"]:
        return times[0]
    at = earliest_for(state, times, ahead, n, n, 0, R, leg + 1, state.legs[leg + 1]["walltime"])
    return times[at] if at >= 0 else np.inf


@allocating_kernel
def decide(state, most):
    """Start what can run, then grant buffers, as estimated starts order them."""
    counts = state.counts[0]
    have = what_is_there(state, False)
    R = n_held(state, have, 1)
    times, ahead, n = ahead_of(state, have, -1, 1, 0, 0)
    taken = np.empty(R, np.int64)
    n_wanting, place, head, room = 0, 0, -1, min(counts["n_queued"], most)
    expected, places, wanting = np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64)
    for q in range(counts["queue_first"], counts["queue_last"]):
        j = state.queue[q]
        if j < 0:
            continue
        if place == room or interrupted(state):
            break
        if place == 0:
            head = j
        leg = state.jobs[j]["leg"]
        if state.demands[leg, 0] == 0 and not _takes(state, leg, 1):
            start_now(state, have, j, LogReason.IN_ORDER)  # it holds all it needs: staging out, or nodes that it kept
        elif state.demands[leg, 0] == 0:
            expected[n_wanting] = _expected(state, times, ahead, n, R, j)
            places[n_wanting] = place
            wanting[n_wanting] = j
            n_wanting += 1
        else:
            walltime = state.legs[leg]["walltime"]
            at = earliest_for(state, times, ahead, n, n, 0, R, leg, walltime)
            begins = at == 0 and fits_now(state, have, j)
            # Nothing is held for who has not been granted its buffer.
            if at >= 0 and (begins or not _takes(state, leg, 1)):
                n = reserve_shared(state, times, ahead, n, R, leg, at, times[at] + walltime, taken)
            if begins:
                if n_counted(state, R) == 0:  # else its share was worked out beside what is reserved
                    share_free(state, have.free, leg)
                start_fitting(state, have, j, LogReason.IN_ORDER if j == head else LogReason.BACKFILLED)
        place += 1
    sort_smallest(expected, places, wanting, n_wanting, n_wanting)
    for j in wanting[:n_wanting]:
        if fits_now(state, have, j):
            start_now(state, have, j, LogReason.IN_ORDER if j == head else LogReason.BACKFILLED)


@policy_kernel
def slurm_bb(state, params, memory, rng):
    """The decision of one instant."""
    if state.counts[0]["n_queued"] > 0:
        decide(state, int(params[Param.MAX_PLANNED]))
