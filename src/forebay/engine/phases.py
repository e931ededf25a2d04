"""The life of a leg: it takes what it needs, goes through its phases, gives back what its job does not carry on."""

from numba import types

from forebay._jit import kernel
from forebay.algorithms.heap import push, remove
from forebay.algorithms.nodeset import give_back, take_lowest
from forebay.core.codes import JobState, LogKind, Reason, Why
from forebay.core.tables import STATE
from forebay.engine.queue import add_running, dequeue, drop_running, enqueue_begun
from forebay.engine.truth import TRUTH

_f8, _i8 = types.float64, types.int64

# Explicit signatures where callers pass codes, literals and columns alike: without, each mix is compiled anew.


@kernel(types.void(STATE, TRUTH, _f8, _i8, _i8, _i8, _i8, _i8))
def write_log(state, truth, time, j, kind, resource, amount, reason):
    """Append a row to the log."""
    cursor = truth.cursor[0]
    row = truth.log[cursor["n_log"]]
    row["time"] = time
    row["job"] = j
    row["kind"] = kind
    row["leg"] = truth.steps[state.jobs[j]["leg"]]["number"]
    row["resource"] = resource
    row["amount"] = amount
    row["reason"] = reason
    cursor["n_log"] += 1


@kernel
def _set_timer(truth, slot, time):
    cursor = truth.cursor[0]
    cursor["n_timers"] = push(truth.timers, truth.where, cursor["n_timers"], time, cursor["seq"], slot)
    cursor["seq"] += 1


@kernel
def cancel_timer(truth, slot):
    """Forget a timer, if it is set."""
    if truth.where[slot] >= 0:
        cursor = truth.cursor[0]
        cursor["n_timers"] = remove(truth.timers, truth.where, cursor["n_timers"], slot)


@kernel
def _take_nodes(state, truth, j, count):
    clock, cursor, job = state.clock[0], truth.cursor[0], state.jobs[j]
    before = job["held"]
    n_free, blank, head = take_lowest(state.free, clock["n_free"], state.held, clock["held_blank"], before, count)
    clock["n_free"] = n_free
    clock["held_blank"] = blank
    job["held"] = head
    while head != before:
        placement = truth.placements[cursor["n_placed"]]
        placement["job"] = j
        placement["low"] = state.held[head]["low"]
        placement["high"] = state.held[head]["high"]
        cursor["n_placed"] += 1
        head = state.held[head]["next"]


@kernel(types.void(STATE, _i8, _i8, _i8))
def _give_back(state, j, resource, amount):
    state.resources[resource]["free"] += amount
    if resource == 0:
        clock, job = state.clock[0], state.jobs[j]
        n_free, blank, head = give_back(
            state.free, clock["n_free"], state.held, clock["held_blank"], job["held"], amount
        )
        clock["n_free"] = n_free
        clock["held_blank"] = blank
        job["held"] = head


@kernel
def start_leg(state, truth, j, why):
    """Start the waiting leg of job `j` now. The caller has checked that everything it asks for is free."""
    job, now = state.jobs[j], state.clock[0]["now"]
    leg = job["leg"]
    step = truth.steps[leg]
    dequeue(state, j)
    if step["number"] == 0:
        job["start"] = now
    job["waited"] += now - job["queued_since"]
    job["leg_start"] = now
    job["state"] = JobState.RUNNING
    for r in range(len(state.resources)):
        amount = state.demands[leg, r]
        state.resources[r]["free"] -= amount
        if r == 0:
            write_log(state, truth, now, j, LogKind.START, 0, amount, why)
            if amount > 0:
                _take_nodes(state, truth, j, amount)
        elif amount > 0:
            write_log(state, truth, now, j, LogKind.ACQUIRE, r, amount, why)
    add_running(state, j, leg, now + step["walltime"])
    _set_timer(truth, 2 * j, now + truth.phases[step["phase"]]["seconds"])
    # A leg that is sure to end a second before its walltime needs no second timer.
    if step["kills"] and step["seconds"] > step["walltime"] - 1.0:
        _set_timer(truth, 2 * j + 1, now + step["walltime"])


@kernel
def _release_early(state, truth, time, j, phase):
    r, amount = phase["resource"], phase["amount"]
    state.releases[state.jobs[j]["leg"], r] -= amount
    write_log(state, truth, time, j, LogKind.RELEASE, r, amount, 0)
    _give_back(state, j, r, amount)


@kernel
def end_phase(state, truth, j, time):
    """The timer of job `j` rang: on to the next phase, or the leg is over."""
    step = truth.steps[state.jobs[j]["leg"]]
    phase = truth.phases[step["phase"]]
    if phase["resource"] >= 0:
        _release_early(state, truth, time, j, phase)
        state.clock[0]["reason"] |= Reason.SCHEDULING_POINT
    step["phase"] += 1
    if step["phase"] < step["last_phase"]:
        _set_timer(truth, 2 * j, time + truth.phases[step["phase"]]["seconds"])
    else:
        end_leg(state, truth, j, time, JobState.COMPLETED)


@kernel
def end_leg(state, truth, j, time, final):
    """The running leg of `j` is over: a job that ends gives back all it holds, another what its next leg can spare."""
    clock, job = state.clock[0], state.jobs[j]
    leg = job["leg"]
    ends = final != JobState.COMPLETED or leg == job["last_leg"]
    why = Why.COMPLETED if final == JobState.COMPLETED else Why.WALLTIME
    cancel_timer(truth, 2 * j)
    cancel_timer(truth, 2 * j + 1)
    drop_running(state, j, job["leg_start"] + truth.steps[leg]["walltime"])
    for r in range(len(state.resources)):
        amount = state.releases[leg, r]
        if ends:
            amount += truth.carries[leg, r]
        if r == 0:
            write_log(state, truth, time, j, LogKind.END, 0, amount, why)
        elif amount > 0:
            write_log(state, truth, time, j, LogKind.RELEASE, r, amount, why)
        if amount > 0:
            _give_back(state, j, r, amount)
    if ends:
        job["state"] = final
        job["finish"] = time
        truth.cursor[0]["n_open"] -= 1
        truth.cursor[0]["n_ended"] += 1
        clock["reason"] |= Reason.JOB_ENDED
    else:
        job["leg"] = leg + 1
        job["state"] = JobState.QUEUED
        job["queued_since"] = time
        enqueue_begun(state, j)
        write_log(state, truth, time, j, LogKind.QUEUE, -1, 0, 0)
        clock["reason"] |= Reason.LEG_ENDED
