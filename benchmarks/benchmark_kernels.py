"""Loops that benchmarks need compiled."""

import math

import numpy as np

from forebay._numba.jit import kernel
from forebay._numba.pointer import keep, on_stack
from forebay.core.tables import policy_kernel
from forebay.engine.contention.kernels import finish, join, settle
from forebay.engine.steering.kernels import steer
from forebay.policies._kernels.availability.placement import what_is_there
from forebay.policies._kernels.availability.profile import availability
from forebay.policies._kernels.backfill.backfill import backfill
from forebay.policies._kernels.plan.evaluation import blank_board, evaluate, set_up


@kernel
def _draw(x):
    """The next number of a small generator: no state, no compile time."""
    return (x * 1103515245 + 12345) % 2147483648


@kernel
def _join(net, f, x, weights, now):
    """A transfer joins route 0; it is given its weight as in a run, once it has joined."""
    join(net, f, 0, 1 + x % 8, 1e6 * (1 + x % 1000), now)
    if len(weights) > 0:
        steer(net, f, weights[x % len(weights)], math.inf, now)


@kernel
def churn(net, total, at_a_time, ended, weights):
    """Keep `at_a_time` transfers under way until `total` have ended, each with one of the weights, if there are any.

    Returns how many did.
    """
    x, now, started, done = 1, 0.0, 0, 0
    for f in range(at_a_time):
        x = _draw(x)
        _join(net, f, x, weights, now)
        started += 1
    settle(net, now)
    while net.state[0]["n_timers"] > 0:
        now = net.timers[0]["time"]
        n = finish(net, now, ended)
        for i in range(n):
            done += 1
            if started < total:
                x = _draw(x)
                _join(net, ended[i], x, weights, now)
                started += 1
        settle(net, now)
    return done


@policy_kernel
def lay_out(state, params, memory, rng):
    """The first time params[0] jobs wait, plans of them in order of arrival are made params[1] times over.

    params[2] says whether nodes and servers are pinned; the rest is of backfilling, which decides. Memory keeps that
    it is done.
    """
    counts = state.counts[0]
    if memory[0][0, 0] == 0 and counts["n_queued"] >= params[0]:
        memory[0][0, 0] = 1
        have = what_is_there(state, params[2] > 0)
        line, n_jobs = np.empty(counts["n_queued"], np.int64), 0
        for i in range(counts["queue_first"], counts["queue_last"]):
            if state.queue[i] >= 0:
                line[n_jobs] = state.queue[i]
                n_jobs += 1
        R, S, W = len(have.free), len(have.room), len(have.words)
        times, ahead, n = availability(state, have, -1, R, S, W)
        tables, stride = blank_board(state, n_jobs, n, R, S, W)
        board = on_stack(tables)
        set_up(board, state, line, times, ahead, n, R, 2.0)
        order = np.arange(n_jobs)
        for _ in range(int(params[1])):
            evaluate(board, order, 0, n_jobs, math.inf, 2.0, stride, (R, S, W))
        keep(tables)
    backfill(state, params[3:], memory, rng)
