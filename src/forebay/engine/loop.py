"""The event loop: from instant to instant, one decision each."""

import numpy as np
from numba import types

from forebay._numba.bridge import call_address
from forebay._numba.jit import kernel
from forebay.algorithms.heap import remove
from forebay.core.codes import JobState, LogKind, Reason, Refusal, Status, Why
from forebay.core.tables import DECIDE, MEMORY, PARAMS, RNG, STATE, instant_width, policy_kernel
from forebay.engine.apply import apply, refuse
from forebay.engine.flows import finish, settle
from forebay.engine.limits import admit, count_begun, hide, over_limit
from forebay.engine.phases import cancel, end_phase, end_transfer, kill, write_log
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
    if cursor["next_cancel"] < len(truth.cancels):
        time = min(time, truth.cancels[cursor["next_cancel"]]["time"])
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
            kill(state, truth, j, time, JobState.WALLTIME_REACHED)
    return latest


@kernel
def _passes_limit(state, truth, j):
    """Whether the site's limits turn job `j` away when it is submitted."""
    limits, job = truth.limits[0], state.jobs[j]
    if job["walltime"] > limits["run_time"]:
        return True
    if truth.person[j] < 0:
        return False
    if limits["user_jobs"] < 1 or job["nodes"] > limits["user_nodes"]:
        return True
    if not limits["rejects"]:
        return False
    count_begun(state, truth)
    return over_limit(state, truth, j)


@kernel
def _arrive(state, truth, j):
    """Show job `j` to the policy, or turn it away if the machine could never run it or a limit forbids it."""
    state.jobs[j] = truth.jobs[j]
    job = state.jobs[j]
    time = job["submit"]
    first = job["leg"]
    while first >= 0:
        for leg in range(first, truth.legs[first]["last"] + 1):
            state.legs[leg] = truth.legs[leg]
            for r in range(len(state.resources)):
                state.demands[leg, r] = truth.demands[leg, r]
                state.releases[leg, r] = truth.releases[leg, r]
        first = truth.legs[first]["other"]
    write_log(state, truth, time, j, LogKind.SUBMIT, 0, job["nodes"], 0)
    too_large = job["state"] == JobState.REJECTED
    if too_large or (truth.limits[0]["active"] and _passes_limit(state, truth, j)):
        job["state"] = JobState.REJECTED
        write_log(state, truth, time, j, LogKind.REJECT, -1, 0, Why.TOO_LARGE if too_large else Why.OVER_LIMIT)
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
    clock, cursor, limited = state.clock[0], truth.cursor[0], truth.limits[0]["active"]
    if limited:
        refused = admit(state, truth)
        if refused >= 0:
            return refuse(truth, Refusal.OVER_LIMIT, refused, -1)
    status = apply(state, truth)
    if status != Status.DECIDE:
        return status
    if cursor["again"]:
        cursor["again"] = 0
        cursor["n_decisions"] += 1
        hide(state, truth)
        return Status.DECIDE.value
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
        while cursor["next_cancel"] < len(truth.cancels) and truth.cancels[cursor["next_cancel"]]["time"] <= until:
            due = truth.cancels[cursor["next_cancel"]]
            now = max(now, due["time"])
            cancel(state, truth, due["job"], due["time"])
            cursor["next_cancel"] += 1
        while cursor["n_wakes"] > 0 and truth.wakes[0] <= until:
            now = max(now, truth.wakes[0])
            cursor["n_wakes"] -= 1
            for i in range(cursor["n_wakes"]):
                truth.wakes[i] = truth.wakes[i + 1]
            clock["reason"] |= Reason.WAKE
        # The latest event gives the instant its time: nobody starts before its submit, nor on nodes not yet free.
        clock["now"] = now
    cursor["n_decisions"] += 1
    if limited:
        hide(state, truth)
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


@policy_kernel
def call_python(state, params, memory, rng):
    """A policy that calls the Python function whose address stands in its memory."""
    call_address(memory[0][0, 0])
