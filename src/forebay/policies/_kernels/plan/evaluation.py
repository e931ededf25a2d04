"""The board on which plans are tried: jobs to lay out, the profiles along the way, and the score of an order.

What saves work changes no outcome: a plan goes on from the part it shares with the one before (snapshots of the profile
along the way), stops when it is sure to be refused, and ends where it meets the one before again.
"""

import math
from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay._numba.move import copy_rows
from forebay.algorithms.availability.layout import lay
from forebay.algorithms.availability.profile import earliest
from forebay.core.stopping import stopped
from forebay.policies._kernels.availability.node_sets import n_counted
from forebay.policies._kernels.availability.placement import chunks_of
from forebay.policies._kernels.plan.objectives import weigh

TINY = 1e-300  # the least cost of a job that can start: 0 stands for one that cannot
_SNAPSHOTS = 8  # more of them repeat fewer placements, and copy more
_NEVER = 3.2e8  # s, ten years: the wait of a job that others without a walltime, planned before it, keep out for ever


class Board(NamedTuple):
    """The jobs to plan, by their places in the queue, and the profiles of plans."""

    demand: np.ndarray  # int64[job, R]
    duration: np.ndarray
    waited: np.ndarray  # until now
    weight: np.ndarray  # of its wait: see `objectives`
    area: np.ndarray  # walltime x its largest share of a resource
    size: np.ndarray  # of its chunks
    chunks: np.ndarray  # how many
    least: np.ndarray  # the cost if it had the machine to itself, but for running jobs; 0 if it cannot start even then
    cost: np.ndarray  # in the last order that was accepted
    new_cost: np.ndarray  # in the order tried
    kept_times: np.ndarray  # [side, b]: the profile before place b x stride; of the order accepted on `side[b]`
    kept_free: np.ndarray
    kept_n: np.ndarray
    side: np.ndarray
    fresh: np.ndarray  # (from b, to b): profiles of the order tried, on the other side; the place where it was given up
    times: np.ndarray  # scratch
    free: np.ndarray
    least_free: np.ndarray
    taken: np.ndarray
    seats: np.ndarray
    near: np.ndarray
    allowed: np.ndarray  # atoms that it may run on
    atoms: np.ndarray
    clock: np.ndarray  # of the run, which may be stopped while plans are tried


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
def evaluate(board, order, first, meets, limit, alpha, stride, columns):
    """The score of `order`, whose places below `first` are as in the order accepted last.

    From place `meets` on both orders are the same again: if their profiles are too, so is the rest. Infinity once the
    score is sure to pass `limit`.
    """
    (R, S, W), n_jobs, b = columns, len(order), first // stride
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
    board.fresh[2] = n_jobs
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
        if p & 15 == 15 and stopped(board.clock):
            return math.inf
        q = order[p]
        at, n = lay(
            times, free, n, board.demand[q], board.duration[q], board.size[q], board.chunks[q], R, S, W,
            board.seats, board.near, board.least_free, board.taken, board.atoms, board.allowed[q],
        )  # fmt: skip
        board.new_cost[q] = 0.0
        if at >= 0:
            board.new_cost[q] = _cost(times[at] - now + board.waited[q], alpha) * board.weight[q]
        elif board.least[q] > 0.0:
            board.new_cost[q] = _cost(_NEVER + board.waited[q], alpha) * board.weight[q]
        score += board.new_cost[q]
        left -= board.least[q]
        if score + left > limit:
            board.fresh[2] = p
            return math.inf
    return np.rint(score)


@kernel
def accept(board, order, tried):
    """The order tried takes the place of the one accepted last."""
    for p in range(len(order)):
        order[p] = tried[p]
        board.cost[p] = board.new_cost[p]
    for b in range(board.fresh[0], board.fresh[1]):
        board.side[b] = 1 - board.side[b]


@kernel
def set_up(board, state, line, times, free, n, R, alpha, objective):
    """Fill the board in before any plan."""
    n_jobs = len(line)
    _copy(times, free, n, board.kept_times[0, 0], board.kept_free[0, 0])
    board.kept_n[0, 0] = n
    for q in range(n_jobs):
        leg = state.jobs[line[q]]["leg"]
        share = 0.0
        for r in range(R):
            board.demand[q, r] = state.demands[leg, r]
            if board.demand[q, r] > 0:
                share = max(share, board.demand[q, r] / state.resources[r]["capacity"])
        board.duration[q] = state.legs[leg]["walltime"]
        board.area[q] = board.duration[q] * share if share > 0.0 else 0.0
        board.waited[q] = times[0] - state.jobs[line[q]]["submit"]
        board.size[q] = state.legs[leg]["chunk"]
        board.chunks[q] = chunks_of(state, line[q])
        board.allowed[q] = state.legs[leg]["allowed"]
    weigh(board, objective, alpha)
    for q in range(n_jobs):
        if stopped(board.clock):
            return
        at = earliest(times, free, n, 0, R, board.demand[q], board.duration[q])
        cost = _cost(times[at] - times[0] + board.waited[q], alpha) * board.weight[q] if at >= 0 else 0.0
        board.least[q] = max(cost, TINY) if at >= 0 else 0.0


@allocating_kernel
def blank_board(state, n_jobs, n, R, S, W):
    """The tables for plans of `n_jobs` jobs on a profile of `n` segments, and how many places a snapshot covers."""
    columns, stride = R + S + W, (n_jobs - 1) // _SNAPSHOTS + 1
    n_kept, length = (n_jobs - 1) // stride + 1, n + 2 * n_jobs + 1  # each job adds two segments at most
    tables = Board(
        np.empty((n_jobs, R), np.int64), np.empty(n_jobs), np.empty(n_jobs), np.ones(n_jobs), np.empty(n_jobs),
        np.empty(n_jobs, np.int64), np.empty(n_jobs, np.int64), np.zeros(n_jobs), np.zeros(n_jobs), np.zeros(n_jobs),
        np.empty((2, n_kept, length)), np.empty((2, n_kept, length, columns + W), np.int64),
        np.zeros((2, n_kept), np.int64), np.zeros(n_kept, np.int64), np.zeros(3, np.int64),
        np.empty(length), np.empty((length, columns + W), np.int64),
        np.empty(columns, np.int64), np.empty(columns, np.int64), state.nodes.seats, state.servers.near,
        np.empty(n_jobs, np.int64), state.nodes.atoms[: n_counted(state, R)], state.clock,
    )  # fmt: skip
    return tables, stride
