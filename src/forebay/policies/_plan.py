"""Plan-based scheduling, compiled: lay all waiting jobs out ahead, in the best order that a search finds.

Kopański & Rządca (2021), Algorithm 2: of few jobs every order is tried; of more, the best of some orders by a single
column is annealed. An order's score is the sum of its jobs' waits to the power alpha. Jobs whose turn is now then
start; the plan is made anew at the next decision.

What saves work changes no outcome: a plan goes on from the part it shares with the one before (snapshots of the profile
along the way), stops when it is sure to be refused, and ends where it meets the one before again.
"""

import math
from typing import NamedTuple

import numpy as np

from forebay._jit import allocating_kernel, kernel
from forebay._move import copy_rows
from forebay._pointer import keep, on_stack
from forebay.algorithms.anneal import accepts, cooled, insert, next_order, refused_above, swap
from forebay.algorithms.order import sort_smallest
from forebay.algorithms.plan import lay
from forebay.algorithms.profile import earliest
from forebay.core.tables import policy_kernel
from forebay.policies._backfill import availability, deep, fits_now
from forebay.policies._family import Backfill
from forebay.policies._orders import ALL
from forebay.policies._places import chunks_of, free_now

PARAMS = ("alpha", "exhaustive", "rate", "steps", "moves", "floor", "heat", "insertions", "keep", "pinned", "shortcuts")
"""What the kernel reads, in this order."""
_ALPHA, _EXHAUSTIVE, _RATE, _STEPS, _MOVES, _FLOOR, _HEAT, _INSERTIONS, _KEEP, _PINNED, _SHORTCUTS = range(len(PARAMS))
_TINY = 1e-300  # the least cost of a job that can start: 0 stands for one that cannot
_SNAPSHOTS = 8  # more of them repeat fewer placements, and copy more
_CANDIDATES = 9
_NEVER = 3.2e8  # s, ten years: the wait of a job that others without a walltime, planned before it, keep out for ever
_EVERYTHING = Backfill(depth=ALL).params()


class Board(NamedTuple):
    """The jobs to plan, by their places in the queue, and the profiles of plans."""

    demand: np.ndarray  # int64[job, R]
    duration: np.ndarray
    waited: np.ndarray  # until now
    size: np.ndarray  # of its chunks
    chunks: np.ndarray  # how many
    least: np.ndarray  # the cost if it had the machine to itself, but for running jobs; 0 if it cannot start even then
    cost: np.ndarray  # in the last order that was accepted
    new_cost: np.ndarray  # in the order tried
    kept_times: np.ndarray  # [side, b]: the profile before place b x stride; of the order accepted on `side[b]`
    kept_free: np.ndarray
    kept_n: np.ndarray
    side: np.ndarray
    fresh: np.ndarray  # (from b, to b): profiles of the order tried, on the other side
    times: np.ndarray  # scratch
    free: np.ndarray
    least_free: np.ndarray
    taken: np.ndarray
    seats: np.ndarray
    near: np.ndarray


@kernel
def _cost(wait, alpha):
    """A wait to the power alpha; whole powers without `pow`, which is slow."""
    wait = max(wait, 0.0)
    if alpha == 2.0:
        return wait * wait
    if alpha == 1.0:
        return wait
    if alpha == 3.0:
        return wait * wait * wait
    return wait**alpha


@kernel
def _copy(times, free, n, to_times, to_free):
    for i in range(n):
        to_times[i] = times[i]
    copy_rows(free, to_free, n)


@kernel
def _equal(times, free, n, other_times, other_free, other_n):
    """Whether two profiles are the same to the last bit."""
    if n != other_n:
        return False
    for i in range(n):  # where they differ, times nearly always do
        if times[i] != other_times[i]:
            return False
    for i in range(n):
        for r in range(free.shape[1]):
            if free[i, r] != other_free[i, r]:
                return False
    return True


@kernel
def _evaluate(board, order, first, meets, limit, alpha, stride, R, S, W):
    """The score of `order`, whose places below `first` are as in the order accepted last.

    From place `meets` on both orders are the same again: if their profiles are too, so is the rest. Infinity once the
    score is sure to pass `limit`.
    """
    n_jobs, b = len(order), first // stride
    times, free, side = board.times, board.free, board.side
    score, left = 0.0, 0.0
    for p in range(n_jobs):
        q = order[p]
        if p < b * stride:
            score += board.cost[q]
            board.new_cost[q] = board.cost[q]
        else:
            left += board.least[q]
    n = board.kept_n[side[b], b]
    _copy(board.kept_times[side[b], b], board.kept_free[side[b], b], n, times, free)
    now = times[0]
    board.fresh[0] = board.fresh[1] = b + 1
    for p in range(b * stride, n_jobs):
        if p > b * stride and p % stride == 0:
            k = p // stride
            s = side[k]
            if p >= meets and _equal(times, free, n, board.kept_times[s, k], board.kept_free[s, k], board.kept_n[s, k]):
                for rest in range(p, n_jobs):
                    q = order[rest]
                    board.new_cost[q] = board.cost[q]
                    score += board.cost[q]
                return np.rint(score)
            board.kept_n[1 - s, k] = n
            _copy(times, free, n, board.kept_times[1 - s, k], board.kept_free[1 - s, k])
            board.fresh[1] = k + 1
        q = order[p]
        at, n = lay(
            times, free, n, board.demand[q], board.duration[q], board.size[q], board.chunks[q], R, S, W,
            board.seats, board.near, board.least_free, board.taken,
        )  # fmt: skip
        board.new_cost[q] = 0.0
        if at >= 0:
            board.new_cost[q] = _cost(times[at] - now + board.waited[q], alpha)
        elif board.least[q] > 0.0:
            board.new_cost[q] = _cost(_NEVER + board.waited[q], alpha)
        score += board.new_cost[q]
        left -= board.least[q]
        if score + left > limit:
            return math.inf
    return np.rint(score)


@kernel
def _accept(board, order, tried):
    """The order tried takes the place of the one accepted last."""
    for p in range(len(order)):
        order[p] = tried[p]
        board.cost[p] = board.new_cost[p]
    for b in range(board.fresh[0], board.fresh[1]):
        board.side[b] = 1 - board.side[b]


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
    chunked = state.clock[0]["chunked"]
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
def _set_up(board, state, line, times, free, n, R, alpha):
    """Fill the board in before any plan."""
    n_jobs = len(line)
    _copy(times, free, n, board.kept_times[0, 0], board.kept_free[0, 0])
    board.kept_n[0, 0] = n
    for q in range(n_jobs):
        leg = state.jobs[line[q]]["leg"]
        for r in range(R):
            board.demand[q, r] = state.demands[leg, r]
        board.duration[q] = state.legs[leg]["walltime"]
        board.waited[q] = times[0] - state.jobs[line[q]]["submit"]
        board.size[q] = state.legs[leg]["chunk"]
        board.chunks[q] = chunks_of(state, line[q])
        at = earliest(times, free, n, 0, R, board.demand[q], board.duration[q])
        board.least[q] = max(_cost(times[at] - times[0] + board.waited[q], alpha), _TINY) if at >= 0 else 0.0


@allocating_kernel
def _try_all(board, alpha, stride, R, S, W, shortcuts):
    """The best of all orders; of equal ones the first, in lexicographic order."""
    n_jobs = len(board.duration)
    order, tried, best = np.arange(n_jobs), np.arange(n_jobs), np.arange(n_jobs)
    best_score, first = math.inf, 0
    while first >= 0:
        limit = best_score + 1.0 if shortcuts else math.inf
        score = _evaluate(board, tried, first if shortcuts else 0, n_jobs, limit, alpha, stride, R, S, W)
        if score < best_score:
            best_score = score
            best[:] = tried
        kept_to = (board.fresh[1] - 1) * stride  # where it stopped early, profiles beyond were not made
        _accept(board, order, tried)
        first = min(next_order(tried), kept_to)
    return best


@allocating_kernel
def _anneal(board, orders, params, stride, R, S, W, rng):
    """The best order found by annealing, from the best of some `orders` on."""
    n_jobs, alpha, shortcuts = orders.shape[1], params[_ALPHA], params[_SHORTCUTS] > 0
    best_score, worst_score, score, start = math.inf, -math.inf, 0.0, 0
    for k in range(orders.shape[0]):
        score = _evaluate(board, orders[k], 0, n_jobs, math.inf, alpha, stride, R, S, W)
        if score < best_score:
            best_score = score
            start = k
        worst_score = max(worst_score, score)
    best = orders[start].copy()
    if best_score == worst_score:
        return best
    order, tried = best.copy(), best.copy()
    score = _evaluate(board, tried, 0, n_jobs, math.inf, alpha, stride, R, S, W)
    _accept(board, order, tried)
    temperature = params[_HEAT] * (worst_score - best_score)
    for _ in range(int(params[_STEPS])):
        for _ in range(int(params[_MOVES])):
            i, j = int(rng.random() * n_jobs), int(rng.random() * n_jobs)
            inserts = params[_INSERTIONS] > 0 and rng.random() < params[_INSERTIONS]
            u = rng.random()
            if i == j and shortcuts:
                continue
            if inserts:
                insert(tried, i, j)
            else:
                swap(tried, i, j)
            first, meets, limit = 0, n_jobs, math.inf
            if shortcuts:
                first, meets, limit = min(i, j), max(i, j) + 1, refused_above(score, temperature, u)
            new = _evaluate(board, tried, first, meets, limit, alpha, stride, R, S, W)
            if accepts(score, new, temperature, u):
                score = new
                _accept(board, order, tried)
                if score < best_score:
                    best_score = score
                    best[:] = order
            else:
                tried[:] = order
        temperature = cooled(temperature, params[_RATE], params[_FLOOR])
    return best


@allocating_kernel
def _search(state, line, free, words, room, R, S, W, params, memory, rng):
    """The best order of the jobs in `line` that the search finds, as places in it."""
    times, ahead, n = availability(state, free, words, room, -1, R, S, W)
    n_jobs, columns = len(line), R + S + W
    stride = (n_jobs - 1) // _SNAPSHOTS + 1
    n_kept, length = (n_jobs - 1) // stride + 1, n + 2 * n_jobs + 1  # each job adds two segments at most
    tables = Board(
        np.empty((n_jobs, R), np.int64), np.empty(n_jobs), np.empty(n_jobs), np.empty(n_jobs, np.int64),
        np.empty(n_jobs, np.int64), np.zeros(n_jobs), np.zeros(n_jobs), np.zeros(n_jobs),
        np.empty((2, n_kept, length)), np.empty((2, n_kept, length, columns + W), np.int64),
        np.zeros((2, n_kept), np.int64), np.zeros(n_kept, np.int64), np.zeros(2, np.int64),
        np.empty(length), np.empty((length, columns + W), np.int64),
        np.empty(columns, np.int64), np.empty(columns, np.int64), state.seats, state.near,
    )  # fmt: skip
    board = on_stack(tables)
    _set_up(board, state, line, times, ahead, n, R, params[_ALPHA])
    if n_jobs <= params[_EXHAUSTIVE]:
        order = _try_all(board, params[_ALPHA], stride, R, S, W, params[_SHORTCUTS] > 0)
    else:
        order = _anneal(
            board, _candidates(state, line, board, memory, int(params[_KEEP])), params, stride, R, S, W, rng
        )
    keep(tables)
    return order


@policy_kernel
def plan(state, params, memory, rng):
    """The decision of one instant."""
    clock = state.clock[0]
    free = np.empty(len(state.resources), np.int64)
    for r in range(len(free)):
        free[r] = state.resources[r]["free"]
    words, room = free[:0], free[:0]
    if params[_PINNED] > 0 or clock["chunked"] >= 0:
        words, room = free_now(state)
    line, n_jobs, possible = np.empty(clock["n_queued"], np.int64), 0, False
    for i in range(clock["queue_first"], clock["queue_last"]):
        if state.queue[i] >= 0:
            line[n_jobs] = state.queue[i]
            possible = possible or fits_now(state, free, room, line[n_jobs])
            n_jobs += 1
    if not possible:
        return
    R, S, W = len(free), len(room), len(words) if params[_PINNED] > 0 else 0
    if n_jobs > 1:
        order = _search(state, line, free, words, room, R, S, W, params, memory, rng)
        waiting = line.copy()
        for p in range(n_jobs):
            line[p] = waiting[order[p]]
            if params[_KEEP] > 0:
                memory[0][0, line[p]] = p + 1
    deep(state, free, words, room, line, _EVERYTHING, R, S, W)
