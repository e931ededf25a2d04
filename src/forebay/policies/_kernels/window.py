"""The first jobs of the queue as a window: which of them start is chosen with all resources in view. Compiled.

BBSched (Fan et al. 2019): the choices that no other one betters in every resource (the Pareto front) are found exactly,
or by a genetic algorithm; a rule picks one of them. The methods that it was compared with are other rules, or none. The
jobs chosen move to the head of the queue; then it is served with backfilling (see `backfill.serve`).

Where nodes have local devices of two sizes, what the jobs chosen leave unused of their nodes' devices is one more
objective, the less the better; how many of the nodes are large is a mere limit.

A job that has been passed in the window too often moves to the very head, and holds a reservation of all resources.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.algorithms.search.genetic import evolve
from forebay.algorithms.search.pareto import front, front_with_waste
from forebay.core.tables import policy_kernel
from forebay.core.verbs import interrupted
from forebay.policies._families.backfill import Backfill
from forebay.policies._families.backfill import Param as BackfillParam
from forebay.policies._families.window import Param
from forebay.policies._kernels.availability.node_sets import charge, counts_no_atom, fits_atoms, share_free
from forebay.policies._kernels.availability.placement import Have, fits_now, what_is_there
from forebay.policies._kernels.availability.profile import availability
from forebay.policies._kernels.backfill.backfill import serve
from forebay.policies._kernels.backfill.lazy import nobody_put_off, reserve_for
from forebay.policies._kernels.backfill.reservations import can_start

_SETTINGS, _WEIGHTS = int(Param.GENERATIONS), len(Param)
_FCFS, _SJF, _WFP = range(3)
_EXACT, _GENETIC, _IN_ORDER, _PACKING = range(4)
_TRADE_OFF, _CODED, _BY_WEIGHTS = range(3)
_LATER, _CHOSEN, _FORCED = range(3)  # of a job of the window: when it is served
_MORE, _LOSS = 1.3, 0.1  # of the coded rule: how much more of the rest, for how much less use of nodes
_MOST_POINTS = 4096  # of a front; beyond, the genetic algorithm has to do
DECISIONS, FALLBACKS = range(2)
"""Of the second row of what is noted: how many choices were to be made exactly, and how many were not."""
_EASY = Backfill().params()


@allocating_kernel
def in_base_order(state, order):
    """The waiting jobs as the site ranks them: by arrival, shortest first, or by (wait / walltime)^3 x nodes."""
    now, counts = state.clock[0]["now"], state.counts[0]
    n = counts["n_queued"]
    keys, ties, items = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    n = 0
    for i in range(counts["queue_first"], counts["queue_last"]):
        j = state.queue[i]
        if j < 0:
            continue
        job = state.jobs[j]
        walltime = state.legs[job["leg"]]["walltime"]
        key = 0.0
        if order == _SJF:
            key = walltime
        elif order == _WFP:
            share = (now - job["submit"]) / walltime
            key = -share * share * share * max(state.demands[job["leg"], 0], 1)
        keys[n], ties[n], items[n] = key, n, j  # ties in order of arrival
        n += 1
    if order != _FCFS:
        sort_smallest(keys, ties, items, n, n)
    return items


@allocating_kernel
def _candidates(state, have, forced, window, first):
    """Places in the window of jobs that could start now, and what is free for them.

    Those that have waited for all too long go first: they start, or hold a reservation that nobody may delay.
    """
    R, S, n_found = len(have.free), len(have.room), 0
    found, left = np.empty(len(window), np.int64), have.free.copy()
    times, ahead, n = np.empty(0), np.empty((0, R), np.int64), 0
    if len(forced) > 0:
        times, ahead, n = availability(state, have, -1, R, S, 0)
        later = nobody_put_off(0, 0.0, 0.0, R + S, 0.0, np.inf)
        for j in forced:
            n = reserve_for(state, times, ahead, n, R, S, 0, j, later)
        for r in range(R):
            left[r] = ahead[0, r]
    rest = Have(left, have.words, have.room, have.inside)
    for k in range(len(window)):
        if first[k] == _FORCED:
            continue
        if n == 0:
            fits = fits_now(state, rest, window[k])
        else:
            fits = can_start(state, rest, times, ahead, n, R, window[k], state.jobs[window[k]]["leg"])
        if fits:
            found[n_found] = k
            n_found += 1
    return found[:n_found], left


@kernel
def _use(state, loads, point, r, left):
    """The share of a resource in use if the jobs of a point start, beside what is in use now.

    In the place of large nodes, minus the share of all devices that these jobs waste.
    """
    if r == state.machine[0]["large"]:
        return loads[point, r] / state.resources[state.machine[0]["local"]]["capacity"]
    capacity = state.resources[r]["capacity"]
    return (capacity - left[r] + loads[point, r]) / capacity if capacity > 0 else 0.0


@kernel
def _choose(state, params, loads, n, left):
    """The point that a rule prefers. Points come by their use of nodes, most first; of equals the first counts."""
    rule, best, best_gain = int(params[Param.RULE]), 0, 0.0
    R = loads.shape[1]
    first_nodes = _use(state, loads, 0, 0, left)
    first_rest, first_sum = 0.0, 0.0
    for r in range(R):
        weight = params[_WEIGHTS + r]
        first_sum += weight * _use(state, loads, 0, r, left)
        if r > 0 and weight > 0:
            first_rest += _use(state, loads, 0, r, left)
    for point in range(1, n):
        rest, total = 0.0, 0.0
        for r in range(R):
            weight = params[_WEIGHTS + r]
            total += weight * _use(state, loads, point, r, left)
            if r > 0 and weight > 0:
                rest += _use(state, loads, point, r, left)
        loss = first_nodes - _use(state, loads, point, 0, left)
        gain = rest - first_rest
        if rule == _BY_WEIGHTS:
            gain = total - first_sum
        elif rule == _CODED:
            gain = gain if rest > _MORE * first_rest and loss < _LOSS else 0.0
        else:
            gain = gain if gain > params[Param.FACTOR] * loss else 0.0
        if gain > best_gain + 1e-12:  # sums of shares: what is equal may differ in the last bits
            best, best_gain = point, gain
    return best


@allocating_kernel
def _packed(state, params, jobs, left):
    """Bin packing: again and again the job that fits and is best aligned with what is left, as bits."""
    R, chosen, free, columns = len(left), 0, left.copy(), counts_no_atom(state)
    while not interrupted(state):
        best, best_score = -1, -1.0
        for k in range(len(jobs)):
            score, leg = 0.0, state.jobs[jobs[k]]["leg"]
            for r in range(R):
                if state.demands[leg, r] > free[r] or (chosen >> k) & 1:
                    score = -1.0
                    break
                capacity = float(max(state.resources[r]["capacity"], 1))
                if r < columns:  # who needs special nodes has been weighed by what it does with them
                    score += params[_WEIGHTS + r] * (state.demands[leg, r] / capacity) * (free[r] / capacity)
            if score > best_score and fits_atoms(state, free, leg):
                best, best_score = k, score
        if best < 0:
            return chosen
        chosen |= 1 << best
        leg = state.jobs[jobs[best]]["leg"]
        share_free(state, free, leg)
        charge(state, free, leg)
    return chosen


@allocating_kernel
def _wasted(state, jobs):
    """What each job leaves unused of its nodes' devices, on the smallest it can have; how many may be small ones."""
    machine, waste, small = state.machine[0], np.zeros(len(jobs), np.int64), np.zeros(len(jobs), np.int64)
    for k in range(len(jobs)):
        needs = state.demands[state.jobs[jobs[k]]["leg"]]
        small[k] = needs[0] - needs[machine["large"]]
        device = machine["large_device"] if small[k] < needs[0] else machine["small_device"]
        waste[k] = max(needs[0] * device - needs[machine["local"]], 0)
    return waste, small


@allocating_kernel
def _points(state, params, notes, rng, jobs, left):
    """Loads and jobs, as bits, of the points of the front, and how many there are; 0 if it was interrupted."""
    w, R = len(jobs), len(left)
    demand = np.empty((w, R), np.int64)
    for k in range(w):
        for r in range(R):
            demand[k, r] = state.demands[state.jobs[jobs[k]]["leg"], r]
    machine, waste, small, step, free_small, n = state.machine[0], left[:0], left[:0], 0, 0, -1
    columns = counts_no_atom(state)  # nodes of atoms are the last resources, and mere limits
    if machine["large"] >= 0 and params[_WEIGHTS + machine["large"]] > 0:
        columns = R  # waste has their column
        waste, small = _wasted(state, jobs)
        step, free_small = machine["large_device"] - machine["small_device"], left[0] - left[machine["large"]]
    loads, sets = np.empty((_MOST_POINTS, columns), np.int64), np.empty(_MOST_POINTS, np.int64)
    if params[Param.METHOD] == _EXACT or w <= params[Param.EXHAUSTIVE]:
        notes[1, DECISIONS] += 1
        if len(waste) > 0:
            wasted = (waste, small, free_small, step)
            n = front_with_waste(demand, left, wasted, int(params[Param.LIMIT]), loads, sets, state.clock)
        else:
            n = front(demand, left, int(params[Param.LIMIT]), loads, sets, state.clock)
        notes[1, FALLBACKS] += n < 0
    if n < 0:
        settings, clock = params[_SETTINGS:_WEIGHTS], state.clock
        n = evolve(demand, left, waste, small, free_small, step, settings, rng, loads, sets, clock)
        if interrupted(state):
            n = 0
    return loads, sets, n


@allocating_kernel
def _passed_too_often(params, notes, window):
    """Who goes to the very head, in line; and of each job of the window whether it does."""
    forced, first, n = np.empty(len(window), np.int64), np.full(len(window), _LATER, np.int64), 0
    for k in range(len(window)):
        if notes[0, window[k]] >= params[Param.BOUND]:
            forced[n] = window[k]
            first[k] = _FORCED
            n += 1
    return forced[:n], first


@allocating_kernel
def _chosen(state, params, notes, rng, jobs, left):
    """The jobs to start, as bits."""
    if len(jobs) == 0:
        return 0
    if params[Param.METHOD] == _PACKING:
        return _packed(state, params, jobs, left)
    loads, sets, n = _points(state, params, notes, rng, jobs, left)
    return sets[_choose(state, params, loads, n, left)] if n > 0 else 0


@allocating_kernel
def _serve(state, params, have, line, forced, first):
    """Serve who is forced, then those of the window that go first, then all others as they were."""
    new, n = np.empty(len(line), np.int64), len(forced)
    new[:n] = forced
    for turn in range(2):
        for k in range(len(line)):
            rank = first[k] if k < len(first) else _LATER
            if (rank == _CHOSEN) if turn == 0 else (rank == _LATER):
                new[n] = line[k]
                n += 1
    queue = _EASY.copy()
    queue[BackfillParam.DEPTH] = params[Param.DEPTH] + len(forced)
    serve(state, have, new, queue)


@kernel
def _grow_older(notes, window):
    """Count the decision; those that start now are not asked for again."""
    for j in window:
        notes[0, j] += 1


@allocating_kernel
def choose(state, params, notes, rng, line):
    """Decide on a line of waiting jobs."""
    have = what_is_there(state, False)
    window = line[: min(len(line), int(params[Param.SIZE]))]
    forced, first = _passed_too_often(params, notes, window)
    if params[Param.METHOD] != _IN_ORDER:
        places, left = _candidates(state, have, forced, window, first)
        chosen = _chosen(state, params, notes, rng, window[places], left)
        for k in range(len(places)):
            if (chosen >> k) & 1:
                first[places[k]] = _CHOSEN
    _serve(state, params, have, line, forced, first)
    _grow_older(notes, window)


@policy_kernel
def choose_window(state, params, memory, rng):
    """The decision of one instant."""
    if state.counts[0]["n_queued"] > 0:
        choose(state, params, memory[0], rng, in_base_order(state, int(params[Param.ORDER])))


@allocating_kernel
def points_in(state, params, notes, rng, line):
    """For a site's own rule: the jobs to choose among, the points as bits, and the shares that each would use."""
    window = line[: min(len(line), int(params[Param.SIZE]))]
    forced, first = _passed_too_often(params, notes, window)
    places, left = _candidates(state, what_is_there(state, False), forced, window, first)
    jobs = window[places]
    if len(jobs) == 0:
        return jobs, np.empty(0, np.int64), np.empty((0, 0))
    loads, sets, n = _points(state, params, notes, rng, jobs, left)
    uses = np.empty((n, loads.shape[1]))
    for point in range(n):
        for r in range(loads.shape[1]):
            uses[point, r] = _use(state, loads, point, r, left)
    return jobs, sets[:n].copy(), uses


@allocating_kernel
def start_in(state, params, notes, line, chosen):
    """Serve the line with these jobs of the window first."""
    window = line[: min(len(line), int(params[Param.SIZE]))]
    forced, first = _passed_too_often(params, notes, window)
    for k in range(len(window)):
        if first[k] == _LATER:
            for j in chosen:
                if window[k] == j:
                    first[k] = _CHOSEN
    _serve(state, params, what_is_there(state, False), line, forced, first)
    _grow_older(notes, window)
