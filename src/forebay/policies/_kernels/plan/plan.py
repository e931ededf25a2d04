"""Plan-based scheduling, compiled: lay all waiting jobs out ahead, in the best order that a search finds.

Kopański & Rządca (2021), Algorithm 2: of few jobs every order is tried; of more, the best of some orders by a single
column is annealed, or descends. An order's score is the sum of its jobs' waits to the power alpha. Jobs whose turn is
now then start; the plan is recomputed at the next decision.
"""

import math

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay._numba.pointer import keep, on_stack
from forebay.algorithms.pairs import place_of, room_for
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.algorithms.search.annealing import accepts, cooled, insert, last_order, next_order, refused_above, swap
from forebay.core.tables import policy_kernel
from forebay.core.verbs import interrupted
from forebay.policies._families.backfill import Backfill
from forebay.policies._families.backfill import Param as BackfillParam
from forebay.policies._families.plan import Param
from forebay.policies._kernels.availability.placement import fits_now, what_is_there
from forebay.policies._kernels.availability.profile import availability
from forebay.policies._kernels.backfill.deep_shared import deep_inside
from forebay.policies._kernels.backfill.kept_reservations import no_promises
from forebay.policies._kernels.backfill.reservations import deep
from forebay.policies._kernels.backfill.shared_memo import new_notes
from forebay.policies._kernels.plan.evaluation import TINY, accept, blank_board, evaluate, set_up
from forebay.policies._orders import ALL

_CANDIDATES = 9
_FEW = 3  # jobs whose orders are all tried at once: looking at others first takes longer
_EVERYTHING = Backfill(depth=ALL).params()


@allocating_kernel
def _sorted(keys, descending):
    """Places 0, 1, ... by key, those with equal keys as they are."""
    n = len(keys)
    items, ties, ascending = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    for q in range(n):
        items[q] = ties[q] = q
        ascending[q] = -keys[q] if descending else keys[q]
    sort_smallest(ascending, ties, items, n, n)
    return items


@allocating_kernel
def _candidates(state, line, board, memory, keep):
    """Orders to begin with: arrival; nodes, buffer a node, that over nodes, walltime, each both ways; the last one."""
    n = len(line)
    orders, keys = np.empty((_CANDIDATES + keep, n), np.int64), np.zeros((4, n))
    chunked = state.machine[0]["chunked"]
    buffer = chunked if chunked >= 0 else min(1, board.demand.shape[1] - 1)
    for q in range(n):
        nodes = max(board.demand[q, 0], 1)
        keys[0, q] = board.demand[q, 0]
        keys[1, q] = board.demand[q, buffer] / nodes if buffer > 0 else 0.0
        keys[2, q] = keys[1, q] / nodes
        keys[3, q] = board.duration[q]
        orders[0, q] = q
    for k in range(4):
        # Downwards first, but for walltimes, as the authors do: of equal scores the first one counts.
        orders[1 + 2 * k] = _sorted(keys[k], k < 3)
        orders[2 + 2 * k] = _sorted(keys[k], k == 3)
    if keep > 0:
        for q in range(n):
            rank = memory[0][0, line[q]]
            keys[0, q] = rank if rank > 0 else math.inf
        orders[_CANDIDATES] = _sorted(keys[0], False)
    return orders


@kernel
def _no_better(score):
    """A sum above which the score, rounded, is surely no less than `score`."""
    return score - 0.25 + 1e-12 * score


@allocating_kernel
def _try_all(state, board, alpha, stride, columns, shortcuts):
    """The best of all orders; of equal ones the first, in lexicographic order."""
    n_jobs = len(board.duration)
    order, tried, best = np.arange(n_jobs), np.arange(n_jobs), np.arange(n_jobs)
    best_score, first, known = math.inf, 0, math.inf
    if shortcuts and n_jobs > _FEW:  # the best is at least as good as these: so much is known before it is met
        for keys in (board.duration, board.area):
            known = min(known, evaluate(board, _sorted(keys, False), 0, n_jobs, known, alpha, stride, columns))
    while first >= 0 and not interrupted(state):
        limit = min(_no_better(best_score), known + 1e-9 * known + 1.0) if shortcuts else math.inf
        score = evaluate(board, tried, first if shortcuts else 0, n_jobs, limit, alpha, stride, columns)
        if score < best_score:
            best_score = score
            best[:] = tried
            if shortcuts and score <= np.rint(board.least.sum()):
                return best
        kept_to = (board.fresh[1] - 1) * stride  # where it stopped early, profiles beyond were not made
        accept(board, order, tried)
        if shortcuts:
            last_order(tried, board.fresh[2] + 1)  # all that begin like this one cost too much
        first = min(next_order(tried), kept_to)
    return best


@allocating_kernel
def _best_of(state, board, orders, alpha, stride, columns, limited):
    """The best of some orders and its score; the worst score too, unless those that are no better may be given up."""
    best, lowest, highest = 0, math.inf, -math.inf
    for k in range(orders.shape[0]):
        if interrupted(state):
            break
        limit = _no_better(lowest) if limited else math.inf
        score = evaluate(board, orders[k], 0, orders.shape[1], limit, alpha, stride, columns)
        if score < lowest:
            best, lowest = k, score
        highest = max(highest, score)
    return orders[best].copy(), lowest, highest


@allocating_kernel
def _anneal(state, board, orders, params, stride, columns, rng):
    """The best order found by annealing, from the best of some `orders` on."""
    n_jobs, alpha, shortcuts = orders.shape[1], params[Param.ALPHA], params[Param.SHORTCUTS] > 0
    best, best_score, worst_score = _best_of(state, board, orders, alpha, stride, columns, False)
    if best_score == worst_score:
        return best
    order, tried = best.copy(), best.copy()
    score = evaluate(board, tried, 0, n_jobs, math.inf, alpha, stride, columns)
    accept(board, order, tried)
    temperature, bound = params[Param.HEAT] * (worst_score - best_score), np.rint(board.least.sum())
    for _ in range(int(params[Param.STEPS])):
        for _ in range(int(params[Param.MOVES])):
            if interrupted(state):
                return best
            i, j = int(rng.random() * n_jobs), int(rng.random() * n_jobs)
            inserts = params[Param.INSERTIONS] > 0 and rng.random() < params[Param.INSERTIONS]
            u = rng.random()
            if shortcuts and (i == j or best_score <= bound):
                continue
            if inserts:
                insert(tried, i, j)
            else:
                swap(tried, i, j)
            first, meets, limit = 0, n_jobs, math.inf
            if shortcuts:
                first, meets, limit = min(i, j), max(i, j) + 1, refused_above(score, temperature, u)
            new = evaluate(board, tried, first, meets, limit, alpha, stride, columns)
            if accepts(score, new, temperature, u):
                score = new
                accept(board, order, tried)
                if score < best_score:
                    best_score = score
                    best[:] = order
            else:
                tried[:] = order
        temperature = cooled(temperature, params[Param.RATE], params[Param.FLOOR])
    return best


@allocating_kernel
def _by_smith(board, alpha):
    """Jobs by what a second's delay costs over what they occupy, in the plan tried last; Smith's rule (1956)."""
    keys = np.empty(len(board.area))
    for q in range(len(keys)):
        cost = board.new_cost[q] if alpha >= 1.0 else max(board.new_cost[q], TINY)
        slope = cost ** ((alpha - 1.0) / alpha) * board.weight[q] ** (1.0 / alpha)
        keys[q] = slope / max(board.area[q], TINY)
    return _sorted(keys, True)


@allocating_kernel
def _descend(state, board, orders, params, stride, columns):
    """Orders by Smith's rule, each for the plan of the one before; then jobs are put forward wherever that helps.

    Nothing is drawn. It ends when nothing helps, or as many plans were tried as annealing would have, or when no order
    can be better: each job costs what it would if it had the machine to itself.
    """
    n_jobs, alpha, shortcuts = orders.shape[1], params[Param.ALPHA], params[Param.SHORTCUTS] > 0
    order, score, _ = _best_of(state, board, orders, alpha, stride, columns, shortcuts)
    tried, left, bound = order.copy(), int(params[Param.STEPS]) * int(params[Param.MOVES]), np.rint(board.least.sum())
    evaluate(board, tried, 0, n_jobs, math.inf, alpha, stride, columns)
    rounds = int(params[Param.ROUNDS])
    for k in range(rounds):
        if left == 0 or score <= bound or interrupted(state):
            break
        left -= 1
        by_smith = _by_smith(board, alpha)
        if shortcuts and np.array_equal(by_smith, tried):  # and so will be all that follow
            left = max(left - (rounds - 1 - k), 0)
            break
        tried[:] = by_smith
        new = evaluate(board, tried, 0, n_jobs, math.inf, alpha, stride, columns)
        if new < score:
            score = new
            order[:] = tried
    tried[:] = order
    evaluate(board, tried, 0, n_jobs, math.inf, alpha, stride, columns)
    accept(board, order, tried)
    # By halves first, forward only: that is what long queues have time for. Then every distance, both ways.
    ahead, halves, helped = n_jobs // 2, True, False
    (known, refused), accepted = room_for(min(left, n_jobs * n_jobs)), 1  # from, to: after which order accepted, if any
    while True:
        for k in range((n_jobs - ahead) * (1 if halves else 2)):
            if left == 0 or score <= bound or interrupted(state):
                return order
            left -= 1
            p = k % (n_jobs - ahead)
            i, j = (p + ahead, p) if k == p or ahead == 1 else (p, p + ahead)  # neighbours change places either way
            at = place_of(known, i * n_jobs + j + 1)
            if shortcuts and refused[at] == accepted:
                continue
            insert(tried, i, j)
            first, meets, limit = (p, p + ahead + 1, _no_better(score)) if shortcuts else (0, n_jobs, math.inf)
            new = evaluate(board, tried, first, meets, limit, alpha, stride, columns)
            if new < score:
                score, helped, accepted = new, True, accepted + 1
                accept(board, order, tried)
            else:
                known[at], refused[at] = i * n_jobs + j + 1, accepted
                tried[:] = order
        ahead = ahead // 2 if halves else ahead + 1
        if halves and ahead == 0:
            ahead, halves, helped = (n_jobs // 2, True, False) if helped else (1, False, False)
        elif ahead == n_jobs:
            if not helped:
                return order
            ahead, halves, helped = n_jobs // 2, True, False


@allocating_kernel
def _search(state, have, line, R, S, W, params, memory, rng):
    """The best order of the jobs in `line` that the search finds, as places in it."""
    times, ahead, n = availability(state, have, -1, R, S, W)
    tables, stride = blank_board(state, len(line), n, R, S, W)
    columns = R, S, W
    board = on_stack(tables)
    set_up(board, state, line, times, ahead, n, R, params[Param.ALPHA], int(params[Param.OBJECTIVE]))
    if len(line) <= params[Param.EXHAUSTIVE]:
        order = _try_all(state, board, params[Param.ALPHA], stride, columns, params[Param.SHORTCUTS] > 0)
    else:
        orders = _candidates(state, line, board, memory, int(params[Param.KEEP]))
        if params[Param.DESCENDS] > 0:
            order = _descend(state, board, orders, params, stride, columns)
        else:
            order = _anneal(state, board, orders, params, stride, columns, rng)
    keep(tables)
    return order


@policy_kernel
def plan(state, params, memory, rng):
    """The decision of one instant."""
    counts, pinned = state.counts[0], params[Param.PINNED] > 0
    have = what_is_there(state, pinned)
    line, n_jobs, possible = np.empty(counts["n_queued"], np.int64), 0, False
    for i in range(counts["queue_first"], counts["queue_last"]):
        if state.queue[i] >= 0:
            line[n_jobs] = state.queue[i]
            possible = possible or fits_now(state, have, line[n_jobs])
            n_jobs += 1
    if not possible:
        return
    R, S, W = len(have.free), len(have.room), len(have.words) if pinned else 0
    planned, rules = min(n_jobs, int(params[Param.PLANNED])), _EVERYTHING.copy()
    if n_jobs > planned:
        rules[BackfillParam.DEPTH] = planned
    if planned > 1:
        waiting = line[:planned].copy()
        order = _search(state, have, waiting, R, S, W, params, memory, rng)
        for p in range(planned):
            line[p] = waiting[order[p]]
            if params[Param.KEEP] > 0:
                memory[0][0, line[p]] = p + 1
    if len(state.inside.full) > 0:
        notes = new_notes(state, have.inside)
        deep_inside(state, have, line, rules, np.empty((0, 0), np.int64), 0, notes, no_promises(state))
    else:
        deep(state, have, line, rules, (R, S, W), np.empty((0, 0), np.int64), 0)
