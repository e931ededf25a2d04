"""Waiting jobs by how evenly the machine would be used with each of them: see balance.

The share in use of each resource is known; with a job on top the *gap* is that between the largest and the smallest
share. A job that narrows the gap goes first, weighed against its place in the queue.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.core.codes import LogReason
from forebay.core.tables import policy_kernel
from forebay.core.verbs import interrupted
from forebay.policies._families.backfill import Param as Backfilling
from forebay.policies._families.balance import Param
from forebay.policies._kernels.availability.placement import fits_now, what_is_there
from forebay.policies._kernels.backfill.backfill import serve, start_now
from forebay.policies._kernels.queue.ordering import by_rank, is_ranked

_N_BACKFILL = len(Backfilling)


@kernel
def gap_with(state, have, j, n_pools):
    """Between the largest and the smallest share in use of a resource, if job `j` ran besides."""
    leg = state.jobs[j]["leg"]
    least, most = np.inf, -np.inf
    for r in range(n_pools):
        capacity = state.resources[r]["capacity"]
        if capacity > 0:
            share = 1.0 + (state.demands[leg, r] - have.free[r]) / capacity
            least, most = min(least, share), max(most, share)
    return most - least


@allocating_kernel
def by_balance(state, have, jobs, n_begun, weights):
    """The jobs by a mix of place and gap, each from 0 to 1; the first `n_begun`, which have begun, stay first."""
    n, n_pools, alpha = len(jobs), int(weights[Param.POOLS]), weights[Param.ALPHA]
    keys, ties, ordered = np.empty(n), np.arange(n), np.empty(n, np.int64)
    least, most = np.inf, -np.inf
    for i in range(n):
        ordered[i], keys[i] = jobs[i], gap_with(state, have, jobs[i], n_pools)
        least, most = min(least, keys[i]), max(most, keys[i])
    for i in range(n):
        gap = (keys[i] - least) / (most - least) if most > least else 0.0
        keys[i] = (1.0 - alpha) * i / max(n - 1, 1) + alpha * gap if i >= n_begun else -1.0
    sort_smallest(keys, ties, ordered, n, n)
    return by_rank(state, ordered) if is_ranked(state, ordered) else ordered


@allocating_kernel
def _waiting(state):
    """The jobs that wait, in order of arrival, and how many of them have begun."""
    counts, n, n_begun = state.counts[0], 0, 0
    jobs = np.empty(counts["queue_last"] - counts["queue_first"], np.int64)
    for q in range(counts["queue_first"], counts["queue_last"]):
        if state.queue[q] >= 0:
            jobs[n] = state.queue[q]
            n += 1
            n_begun += q < counts["queue_begun"]
    return jobs[:n], n_begun


@policy_kernel
def balance(state, params, memory, rng):
    """Start the job that ranks first again and again; once it does not fit, reserve for it and backfill by rank."""
    jobs, n_begun = _waiting(state)
    weights = params[_N_BACKFILL:]
    have = what_is_there(state, params[Backfilling.PINNED] > 0 and params[Backfilling.DEPTH] > 0)
    while len(jobs) > 0 and not interrupted(state):
        line = by_balance(state, have, jobs, n_begun, weights)
        best = line[0]
        if not fits_now(state, have, best):
            serve(state, have, line, params[:_N_BACKFILL])
            return
        start_now(state, have, best, LogReason.IN_ORDER if best == jobs[0] else LogReason.BACKFILLED)
        at = 0
        while jobs[at] != best:
            at += 1
        n_begun -= at < n_begun
        for i in range(at, len(jobs) - 1):
            jobs[i] = jobs[i + 1]
        jobs = jobs[:-1]
