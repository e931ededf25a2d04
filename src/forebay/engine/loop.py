"""The event loop: from instant to instant, one decision each."""

import numpy as np
from numba import types

from forebay._numba.bridge import call_address
from forebay._numba.jit import kernel
from forebay.algorithms.queues.heap import remove
from forebay.core.codes import JobState, Refusal, Status, Trigger
from forebay.core.tables import DECIDE, MEMORY, PARAMS, RNG, STATE, instant_width, policy_kernel
from forebay.core.verbs import interrupted
from forebay.engine.actions import apply
from forebay.engine.events import happen, let_in, next_event
from forebay.engine.hooks.instants import (
    after_actions,
    after_events,
    at_standstill,
    before_actions,
    before_decision,
    before_next,
    end_transfers,
    is_pending,
    must_decide_again,
    next_of_nodes,
    next_tick,
    next_time,
    on_decision,
    on_nodes,
    tick,
)
from forebay.engine.legs import end_phase, kill
from forebay.engine.refusal import refuse
from forebay.engine.truth import TRUTH

MOST_IDLE_WAKES = 100_000
"""After so many in a row, with jobs that wait, nothing that runs and nothing to come, a policy only spins, or there are
never enough nodes up."""


@kernel
def _next_time(truth):
    """When something happens next, whether a policy has asked to be woken or not; nodes may fail before."""
    time = min(next_event(truth), next_time(truth))
    return min(time, truth.timers[0]["time"]) if truth.cursor[0]["n_timers"] > 0 else time


@kernel
def _is_over(cursor, n_jobs, time, later):
    """Whether a run ends here, where nothing happens before `time` but wakes, and what is due `later`."""
    if cursor["n_ended"] == n_jobs:  # who cancels a job that has ended comes too late
        return True
    if time < np.inf:
        cursor["n_idle_wakes"] = 0
        return False
    cursor["n_idle_wakes"] += 1
    nothing = cursor["n_wakes"] == 0 and later == np.inf
    return nothing or cursor["n_idle_wakes"] > MOST_IDLE_WAKES


@kernel
def _ring(state, truth, until):
    """Handle every transfer and timer that ends by `until`; returns the latest time seen.

    Phases end before walltimes are enforced: a job that ends exactly at its walltime completes.
    """
    cursor = truth.cursor[0]
    latest = end_transfers(state, truth, until)
    n_due, n_ended = 0, 0
    while cursor["n_timers"] > 0 and truth.timers[0]["time"] <= until:
        time, slot = truth.timers[0]["time"], truth.timers[0]["slot"]
        cursor["n_timers"] = remove(truth.timers, truth.where, cursor["n_timers"], slot)
        latest = max(latest, time)
        if slot & 1:
            truth.due[n_due] = slot >> 1
            n_due += 1
        else:
            end_phase(state, truth, slot >> 1, time)
            n_ended += 1
            if n_ended & 63 == 0 and interrupted(state):  # phases that take no time follow one another in one instant
                break
    for i in range(n_due):
        j = truth.due[i]
        job = state.jobs[j]
        if job["state"] == JobState.RUNNING:
            time = job["leg_start"] + truth.scripts[job["leg"]]["walltime"]
            kill(state, truth, j, time, JobState.WALLTIME_REACHED)
    return latest


@kernel
def advance(state, truth):
    """Apply what was decided, then go on to the next instant that needs a decision."""
    clock, cursor = state.clock[0], truth.cursor[0]
    n_hidden = cursor["n_hidden"]
    state.counts[0]["n_started"] = 0
    state.counts[0]["n_ended"] = 0
    refused = before_actions(state, truth)
    if refused >= 0:
        return refuse(truth, Refusal.OVER_LIMIT, refused, -1)
    asked_for = clock["triggers"]
    clock["triggers"] = 0  # a leg without anything to do ends as it starts
    status = apply(state, truth)
    if status != Status.DECIDE:
        return status
    let_in(state, truth, clock["now"])
    if cursor["again"] or must_decide_again(state, truth, n_hidden):
        if interrupted(state):
            return Status.PAUSED.value
        cursor["again"] = 0
        clock["triggers"] |= asked_for
        cursor["n_decisions"] += 1
        before_decision(state, truth)
        return Status.DECIDE.value
    after_actions(state, truth)
    while clock["triggers"] == 0 or clock["now"] < cursor["begin"] or is_pending(truth, clock["now"]):
        if interrupted(state):
            return Status.PAUSED.value
        before_next(state, truth)
        first = _next_time(truth)
        later = min(next_of_nodes(state, truth, first), next_tick(truth))
        if _is_over(cursor, len(state.jobs), first, later):
            if at_standstill(state, truth):
                let_in(state, truth, clock["now"])
                continue
            return Status.STALLED.value if cursor["n_open"] > 0 else Status.DONE.value
        first = min(first, later)
        if cursor["n_wakes"] > 0:
            first = min(first, truth.wakes[0])
        until = first + instant_width(first)
        now = _ring(state, truth, until)
        now = max(now, on_nodes(state, truth, until))
        now = happen(state, truth, until, tick(truth, until, now))
        while cursor["n_wakes"] > 0 and truth.wakes[0] <= until:
            now = max(now, truth.wakes[0])
            cursor["n_wakes"] -= 1
            for i in range(cursor["n_wakes"]):
                truth.wakes[i] = truth.wakes[i + 1]
            clock["triggers"] |= Trigger.WAKE
        # The latest event gives the instant its time: nobody starts before its submit, nor on nodes not yet free.
        clock["now"] = now
        after_events(state, truth)
    cursor["n_decisions"] += 1
    before_decision(state, truth)
    return Status.DECIDE.value


@kernel(types.int64(STATE, TRUTH, types.FunctionType(DECIDE), PARAMS, MEMORY, RNG, types.int64))
def run_compiled(state, truth, decide, params, memory, rng, n_decisions):
    """Run with a compiled policy for at most `n_decisions`. One signature for every policy: compiled once, cached."""
    for _ in range(n_decisions):
        status = advance(state, truth)
        if status != Status.DECIDE:
            return status
        on_decision(state, truth)
        decide(state, params, memory, rng)
        if state.clock[0]["stop"]:
            break
    return Status.PAUSED.value


@policy_kernel
def call_python(state, params, memory, rng):
    """A policy that calls the Python function whose address stands in its memory."""
    call_address(memory[0][0, 0])
