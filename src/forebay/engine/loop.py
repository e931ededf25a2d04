"""The event loop: from instant to instant, one decision each."""

import numpy as np
from numba import types

from forebay._jit import kernel
from forebay.algorithms.heap import remove
from forebay.core.codes import JobState, LogKind, Reason, Status, Why
from forebay.core.tables import DECIDE, MEMORY, PARAMS, RNG, STATE, instant_width
from forebay.engine.apply import apply
from forebay.engine.flows import finish, settle
from forebay.engine.phases import end_phase, end_transfer, kill, write_log
from forebay.engine.queue import enqueue
from forebay.engine.truth import TRUTH


@kernel
def _next_time(truth):
    cursor = truth.cursor[0]
    time = np.inf
    if cursor["next_submit"] < len(truth.jobs):
        time = truth.jobs[cursor["next_submit"]]["submit"]
    if cursor["n_timers"] > 0:
        time = min(time, truth.timers[0]["time"])
    if truth.network.state[0]["n_timers"] > 0:
        time = min(time, truth.network.timers[0]["time"])
    if cursor["n_wakes"] > 0:
        time = min(time, truth.wakes[0])
    return time


@kernel
def _ring(state, truth, until):
    """Handle every transfer and timer that ends by `until`; returns the latest time seen.

    Phases end before walltimes are enforced: a job that ends exactly at its walltime completes.
    """
    cursor = truth.cursor[0]
    latest = -np.inf
    for i in range(finish(truth.network, until, truth.ended)):
        latest = max(latest, truth.network.transfers[truth.ended[i]]["end"])
        end_transfer(state, truth, truth.ended[i])
    n_due = 0
    while cursor["n_timers"] > 0 and truth.timers[0]["time"] <= until:
        time, slot = truth.timers[0]["time"], truth.timers[0]["slot"]
        cursor["n_timers"] = remove(truth.timers, truth.where, cursor["n_timers"], slot)
        latest = max(latest, time)
        if slot & 1:
            truth.due[n_due] = slot >> 1
            n_due += 1
        else:
            end_phase(state, truth, slot >> 1, time)
    for i in range(n_due):
        j = truth.due[i]
        job = state.jobs[j]
        if job["state"] == JobState.RUNNING:
            time = job["leg_start"] + truth.steps[job["leg"]]["walltime"]
            kill(state, truth, j, time)
    return latest


@kernel
def _arrive(state, truth, j):
    """Show job `j` to the policy, or turn it away if the machine could never run it."""
    state.jobs[j] = truth.jobs[j]
    job = state.jobs[j]
    time = job["submit"]
    for leg in range(job["leg"], job["last_leg"] + 1):
        state.legs[leg]["walltime"] = truth.steps[leg]["walltime"]
        state.legs[leg]["number"] = truth.steps[leg]["number"]
        state.legs[leg]["chunk"] = truth.steps[leg]["chunk"]
        for r in range(len(state.resources)):
            state.demands[leg, r] = truth.demands[leg, r]
            state.releases[leg, r] = truth.releases[leg, r]
    write_log(state, truth, time, j, LogKind.SUBMIT, 0, job["nodes"], 0)
    if job["state"] == JobState.REJECTED:
        write_log(state, truth, time, j, LogKind.REJECT, -1, 0, Why.TOO_LARGE)
        truth.cursor[0]["n_ended"] += 1
        return
    job["state"] = JobState.QUEUED
    job["queued_since"] = time
    truth.cursor[0]["n_open"] += 1
    enqueue(state, j)
    state.clock[0]["reason"] |= Reason.SUBMIT


@kernel
def advance(state, truth):
    """Apply what was decided, then go on to the next instant that needs a decision."""
    status = apply(state, truth)
    if status != Status.DECIDE:
        return status
    clock, cursor = state.clock[0], truth.cursor[0]
    clock["reason"] = 0
    while clock["reason"] == 0:
        # Links are shared out once an instant, after all that it started and ended.
        settle(truth.network, clock["now"])
        first = _next_time(truth)
        if first == np.inf:
            return Status.STALLED.value if cursor["n_open"] > 0 else Status.DONE.value
        until = first + instant_width(first)
        now = _ring(state, truth, until)
        while cursor["next_submit"] < len(truth.jobs) and truth.jobs[cursor["next_submit"]]["submit"] <= until:
            now = max(now, truth.jobs[cursor["next_submit"]]["submit"])
            _arrive(state, truth, cursor["next_submit"])
            cursor["next_submit"] += 1
        while cursor["n_wakes"] > 0 and truth.wakes[0] <= until:
            now = max(now, truth.wakes[0])
            cursor["n_wakes"] -= 1
            for i in range(cursor["n_wakes"]):
                truth.wakes[i] = truth.wakes[i + 1]
            clock["reason"] |= Reason.WAKE
        # The latest event gives the instant its time: nobody starts before its submit, nor on nodes not yet free.
        clock["now"] = now
    cursor["n_decisions"] += 1
    return Status.DECIDE.value


@kernel(types.int64(STATE, TRUTH, types.FunctionType(DECIDE), PARAMS, MEMORY, RNG, types.int64))
def run_compiled(state, truth, decide, params, memory, rng, n_decisions):
    """Run with a compiled policy for at most `n_decisions`. One signature for every policy: compiled once, cached."""
    for _ in range(n_decisions):
        status = advance(state, truth)
        if status != Status.DECIDE:
            return status
        decide(state, params, memory, rng)
    return Status.PAUSED.value
