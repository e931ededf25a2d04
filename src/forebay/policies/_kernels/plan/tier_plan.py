"""A plan of all waiting jobs, each on the tier of storage that ends it soonest; the best order that a search finds.

Plan-based scheduling (Kopański & Rządca 2021) with SAS's choice (Lackner et al. 2019) inside: jobs are laid out ahead
one after the other, each where and when its turnaround is shortest beside those before it. An order's score is the sum
of all turnarounds to the power alpha. The search puts jobs forward, or back, wherever that helps; nothing is drawn.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel
from forebay.algorithms.search.annealing import insert
from forebay.core.codes import LogReason
from forebay.core.tables import policy_kernel
from forebay.core.verbs import interrupted
from forebay.policies._families import tiers
from forebay.policies._families.backfill import Backfill
from forebay.policies._families.tier_plan import Param
from forebay.policies._kernels.availability.placement import what_is_there
from forebay.policies._kernels.backfill.backfill import serve
from forebay.policies._kernels.tiers import (
    ahead_of,
    all_links,
    choose,
    count_users,
    fits_somehow,
    lay_out,
    shortest_first,
    start,
    turnaround,
)
from forebay.policies._orders import ALL

_EVERYTHING = Backfill(depth=ALL).params()


@allocating_kernel
def _score(state, line, order, profile, params, memory, links, limit):
    """The sum of turnarounds to the power alpha if jobs are laid out in this order; beyond `limit` it stops early."""
    times, ahead, n = profile
    later, room, total = times.copy(), ahead.copy(), 0.0
    for q in order:
        if interrupted(state):
            return np.inf
        j = line[q]
        leg, at, runs = choose(state, j, later, room, n, params, memory, links)
        if at < 0:
            continue
        waited = times[0] - state.jobs[j]["submit"]
        total += max(waited + turnaround(state, leg, later, at, runs, links.left), 0.0) ** params[Param.ALPHA]
        if total > limit:
            return total
        n = lay_out(state, leg, later, room, n, at, runs, params, links.whole)
    return total


@allocating_kernel
def _search(state, line, profile, params, memory, links):
    """The best order found: by arrival or shortest first, then jobs put elsewhere by halves, as long as moves last."""
    n_jobs, moves = len(line), int(params[Param.MOVES])
    order, tried = np.arange(n_jobs), np.arange(n_jobs)
    best = _score(state, line, order, profile, params, memory, links, np.inf)
    by_length = _by_walltime(state, line)
    score = _score(state, line, by_length, profile, params, memory, links, best)
    if score < best:
        best = score
        order[:] = by_length
    ahead_by = n_jobs // 2
    while ahead_by > 0:
        for p in range(n_jobs - ahead_by):
            for forward in range(2):
                if moves == 0 or interrupted(state):
                    return order
                moves -= 1
                tried[:] = order
                if forward == 0:
                    insert(tried, p + ahead_by, p)
                else:
                    insert(tried, p, p + ahead_by)
                score = _score(state, line, tried, profile, params, memory, links, best)
                if score < best:
                    best = score
                    order[:] = tried
        ahead_by //= 2
    return order


@allocating_kernel
def _by_walltime(state, line):
    """Places in `line`, shortest walltime first."""
    place, free = np.empty(len(state.jobs), np.int64), np.full(len(state.resources), 2**62, np.int64)
    for q in range(len(line)):
        place[line[q]] = q
    order = shortest_first(state, line, free)
    for q in range(len(order)):
        order[q] = place[order[q]]
    return order


@policy_kernel
def plan_tiers(state, params, memory, rng):
    """The decision of one instant."""
    counts = state.counts[0]
    if counts["n_queued"] == 0:
        return
    have = what_is_there(state, False)
    free, queue = have.free, state.queue[counts["queue_first"] : counts["queue_last"]]
    if len(state.tiers.rates) == 0:  # nothing to choose
        serve(state, have, queue, _EVERYTHING.copy())
        return
    line, n_line, possible = np.empty(counts["n_queued"], np.int64), 0, False
    for j in queue:
        if j >= 0:
            line[n_line] = j
            n_line += 1
            possible = possible or fits_somehow(state, j, free)
    if not possible:
        return
    links = all_links(state)
    if params[tiers.Param.LEFT] > 0:
        count_users(state, line[:0], 0, links)
    times, ahead, n = ahead_of(state, free, params, links.whole)
    planned = min(n_line, int(params[Param.PLANNED]))
    first = line[:planned].copy()
    order = _search(state, first, (times, ahead, n), params, memory, links)
    for q in range(planned):
        line[q] = first[order[q]]
    for q in range(n_line):
        if interrupted(state):
            return
        j = line[q]
        leg, at, runs = choose(state, j, times, ahead, n, params, memory, links)
        if at >= 0:
            n = lay_out(state, leg, times, ahead, n, at, runs, params, links.whole)
        if at == 0:
            start(state, j, leg, LogReason.IN_ORDER if q == 0 else LogReason.BACKFILLED, free)
