"""The life of a leg: it takes what it needs, goes through its phases, gives back what its job does not carry on."""

from numba import types

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, LegEnd, LogKind, LogReason, PhaseKind, Trigger, Urgency
from forebay.core.tables import PICKS, STATE
from forebay.core.verbs import interrupted
from forebay.engine.allocation.allocate import give, give_at_end, give_early, take_all
from forebay.engine.contention.transfers import clear_phase, go_under_way, launch, leave_beside, stop_phase
from forebay.engine.ending import close
from forebay.engine.hooks.life import on_again, on_first_start, on_interrupt, on_kill, on_next_leg
from forebay.engine.hooks.phases import (
    LEAVES,
    NO_INTERLUDE,
    amounts,
    begin_program,
    begin_work,
    break_off,
    end_interlude,
    ends_slice,
    gives_up,
    go_on,
    goes_back,
    halts,
    has_ended,
    is_halted,
    on_transfer,
    on_transfers,
    rest_of_phase,
    returns,
    runs_beside,
    saves_first,
    step_on,
    stops_altogether,
)
from forebay.engine.log import write_log
from forebay.engine.queue import add_running, dequeue, drop_running, enqueue_begun, has_begun
from forebay.engine.timers import cancel_timer, set_timer
from forebay.engine.truth import TRUTH

_f8, _i8 = types.float64, types.int64


@kernel
def _requeue(state, truth, j, time):
    """Job `j`, which has begun, waits for a leg."""
    job = state.jobs[j]
    job["state"] = JobState.QUEUED
    job["queued_since"] = time
    enqueue_begun(state, j)
    write_log(state, truth, time, j, LogKind.QUEUE, -1, 0, 0)
    state.clock[0]["triggers"] |= Trigger.LEG_ENDED


@kernel
def _restore(state, truth, j):
    """The leg of job `j` begins once more, as it did at first: with the size and the walltime that its user asked for.

    With checkpoints, the walltime is what is left of it. What it gave back of what it had carried it takes again.
    """
    job, leg = state.jobs[j], state.jobs[j]["leg"]
    for r in range(len(state.resources)):
        held = state.releases[leg, r] + truth.carries[leg, r]
        carried = truth.releases[leg, r] + truth.carries[leg, r] - truth.demands[leg, r]
        state.demands[leg, r] = truth.demands[leg, r] + max(carried - held, 0)
        state.releases[leg, r] = truth.releases[leg, r]
        if r == state.machine[0]["chunked"]:  # all of it or nothing, see sizes.chunks
            state.legs[leg]["chunk"] = -(-state.demands[leg, r] // max(truth.jobs[j]["nodes"], 1))
    job["nodes"] = truth.jobs[j]["nodes"]
    on_again(state, truth, j)


@kernel(types.void(STATE, TRUTH, _i8, _f8, _i8, _i8, _i8))
def end_leg(state, truth, j, time, end, reason, final):
    """The running leg of `j` ends. A job that is OVER gives back all it holds and has this `final` state.

    One that goes on to its NEXT leg gives back what that can spare; one that is to run it AGAIN, what it took for it.
    """
    job = state.jobs[j]
    leg = job["leg"]
    cancel_timer(truth, 2 * j)
    cancel_timer(truth, 2 * j + 1)
    drop_running(state, j)
    carrier = -1
    if end == LegEnd.NEXT:
        carrier = leg
    elif end == LegEnd.AGAIN and truth.scripts[leg]["number"] > 0:
        carrier = leg - 1
    give_at_end(state, truth, time, j, carrier, reason)
    if end == LegEnd.OVER:
        close(state, truth, j, time, final)
        return
    if end == LegEnd.NEXT:
        job["leg"] = leg + 1
        on_next_leg(truth, j)
    else:
        _restore(state, truth, j)
    _requeue(state, truth, j, time)


@kernel(types.void(STATE, TRUTH, _i8, _f8, _i8))
def _finish_leg(state, truth, j, time, final):
    """All that the running leg of `j` was to do is done, or was broken off with this `final` state; drains run on."""
    job, activity = state.jobs[j], truth.activities[j]
    activity["final"] = final
    if activity["drains"] > 0:
        return
    if final == JobState.COMPLETED:
        end = LegEnd.OVER.value if job["leg"] == job["last_leg"] else LegEnd.NEXT.value
        end_leg(state, truth, j, time, end, LogReason.COMPLETED, final)
    else:
        reason = LogReason.WALLTIME.value if final == JobState.WALLTIME_REACHED else LogReason.CANCELLED.value
        end_leg(state, truth, j, time, LegEnd.OVER, reason, final)


@kernel(types.void(STATE, TRUTH, _f8, _i8, _i8, _i8, _f8))
def log_phase(state, truth, time, j, kind, phase_kind, amount):
    """Record that a phase begins or ends, if this leg's phases are of interest."""
    if truth.scripts[state.jobs[j]["leg"]]["logged"]:
        write_log(state, truth, time, j, kind, -1, amount, LogReason.STAGE_IN + phase_kind)


@kernel
def begin_phase(state, truth, j, time, stops):
    """Begin the next phase of job `j`, and those on the way to it that run beside; without any left, the leg is over.

    Unless the job goes on from a point, it `stops` at one.
    """
    activity = truth.activities[j]
    while True:
        if returns(state, truth, j, time):
            stops = False
        if has_ended(state, truth, j):
            break
        if stops and halts(state, truth, j, time):
            return
        go_on(truth, j)
        if saves_first(state, truth, j, time):
            return
        p = activity["phase"]
        kind = truth.phases[p]["kind"]
        log_phase(state, truth, time, j, LogKind.BEGIN_PHASE, kind, 0)
        begun, seconds = launch(state, truth, j, rest_of_phase(state, truth, j), time)
        on_transfers(state, truth, j, runs_beside(truth, p) or kind == PhaseKind.DRAIN, time)
        if not runs_beside(truth, p):
            seconds = begin_work(state, truth, j, time, seconds, begun == 0 and kind == PhaseKind.COMPUTE)
            if begun == 0:
                set_timer(truth, 2 * j, time + seconds)
            return
        if begun == 0:
            log_phase(state, truth, time, j, LogKind.END_PHASE, kind, amounts(state, truth, j, p)[1])
        step_on(state, truth, j)
        stops = True
        if interrupted(state):
            return
    _finish_leg(state, truth, j, time, JobState.COMPLETED)


@kernel
def end_phase(state, truth, j, time):
    """The phase of job `j` is over: on to the next. It may be a slice of one, or a checkpoint, that is over."""
    p, follows = truth.activities[j]["phase"], end_interlude(state, truth, j, time)
    if follows == LEAVES:
        _leave(state, truth, j, time, Urgency.INTERRUPTED, LogReason.INTERRUPTED)
        return
    if follows != NO_INTERLUDE:
        begin_phase(state, truth, j, time, False)
        return
    phase = truth.phases[p]
    clear_phase(truth, j)
    log_phase(state, truth, time, j, LogKind.END_PHASE, phase["kind"], amounts(state, truth, j, p)[1])
    if ends_slice(state, truth, j, time):
        begin_phase(state, truth, j, time, False)
        return
    if phase["resource"] >= 0:
        give_early(state, truth, time, j, phase["resource"], phase["amount"])
        state.clock[0]["triggers"] |= Trigger.RELEASED
    step_on(state, truth, j)
    begin_phase(state, truth, j, time, True)


@kernel
def end_transfer(state, truth, f):
    """Transfer `f` has moved all its bytes: it may have been the last of its phase, or the last that its leg awaits."""
    if go_under_way(truth.network, f):
        on_transfer(state, truth, f)
        return
    transfer = truth.network.transfers[f]
    j, time = transfer["job"], transfer["end"]
    activity = truth.activities[j]
    if transfer["beside"] == 0:
        activity["streams"] -= 1
        if activity["streams"] == 0:
            end_phase(state, truth, j, time)
        return
    if truth.scripts[state.jobs[j]["leg"]]["logged"]:
        reason = LogReason.STAGE_IN + transfer["beside"] - 1
        write_log(state, truth, time, j, LogKind.END_PHASE, -1, transfer["amount"], reason)
    leave_beside(truth, j, f)
    if activity["final"] > 0:
        _finish_leg(state, truth, j, time, activity["final"])
    elif activity["drains"] == 0 and is_halted(truth, j):
        begin_phase(state, truth, j, time, True)


@kernel
def _stop(state, truth, j, time):
    """Break off what job `j` is doing."""
    activity = truth.activities[j]
    cancel_timer(truth, 2 * j)
    if activity["final"] > 0 or is_halted(truth, j):
        return
    moved = stop_phase(truth, j, time)
    if break_off(state, truth, j, time, moved):
        return
    kind = truth.phases[activity["phase"]]["kind"]
    if kind == PhaseKind.COMPUTE:
        moved = 0.0  # what nodes send one another is not for the log
    log_phase(state, truth, time, j, LogKind.END_PHASE, kind, moved)


@kernel(types.void(STATE, TRUTH, _i8, _f8, _i8, _i8))
def _leave(state, truth, j, time, urgency, reason):
    """Job `j`, which does nothing any more, gives back what it took for its leg and waits to run it again."""
    state.jobs[j]["urgency"] = urgency
    end_leg(state, truth, j, time, LegEnd.AGAIN, reason, JobState.QUEUED)


@kernel(types.void(STATE, TRUTH, _i8, _f8, _i8, _i8))
def interrupt(state, truth, j, time, urgency, reason):
    """Stop job `j` at once. It waits to go on from its last checkpoint, unless it has failed too often without one."""
    activity = truth.activities[j]
    _stop(state, truth, j, time)
    on_interrupt(state, truth, j, time)
    if activity["final"] > 0 and activity["final"] != JobState.COMPLETED:  # it had only drains left
        _finish_leg(state, truth, j, time, activity["final"])
        return
    if gives_up(truth, j, reason):
        end_leg(state, truth, j, time, LegEnd.OVER, reason, JobState.FAILED)
    else:
        _leave(state, truth, j, time, urgency, reason)


@kernel
def kill(state, truth, j, time, final):
    """Job `j` ends as `final`: its phase stops at once. Drains run on, and it holds what it has until then.

    An application stops altogether.
    """
    activity = truth.activities[j]
    if activity["final"] > 0 and not stops_altogether(truth):  # only drains are left
        return
    _stop(state, truth, j, time)
    on_kill(state, truth, j, time)
    activity["phase"] = truth.scripts[state.jobs[j]["leg"]]["last_phase"]
    _finish_leg(state, truth, j, time, final)


@kernel
def cancel(state, truth, j, time):
    """The user of job `j` withdraws it, wherever it is; one that waits between its legs gives back what it carries."""
    job = state.jobs[j]
    if job["state"] == JobState.RUNNING:
        kill(state, truth, j, time, JobState.KILLED)
    if job["state"] != JobState.QUEUED:
        return
    dequeue(state, j)
    job["waited"] += time - job["queued_since"]
    write_log(state, truth, time, j, LogKind.CANCEL, -1, 0, LogReason.CANCELLED)
    if truth.scripts[job["leg"]]["number"] > 0:
        for r in range(len(state.resources)):
            missing = state.demands[job["leg"], r] - truth.demands[job["leg"], r]  # of what it carried, see _restore
            amount = truth.carries[job["leg"] - 1, r] - missing
            if amount > 0:
                write_log(state, truth, time, j, LogKind.RELEASE, r, amount, LogReason.CANCELLED)
                give(state, truth, j, r, amount)
    close(state, truth, j, time, JobState.KILLED if has_begun(state, j) else JobState.CANCELLED)


@kernel(types.void(STATE, TRUTH, _i8, _i8, PICKS, _i8, _i8))
def start_leg(state, truth, j, reason, picks, first_pick, n_picks):
    """Start the waiting leg of job `j` now, on the nodes and servers picked or, without picks, on the lowest nodes.

    The caller has checked that everything it asks for is free.
    """
    job, now = state.jobs[j], state.clock[0]["now"]
    leg = job["leg"]
    script, activity = truth.scripts[leg], truth.activities[j]
    dequeue(state, j)
    state.started[state.counts[0]["n_started"]] = j
    state.counts[0]["n_started"] += 1
    if not has_begun(state, j):
        job["start"] = now
        on_first_start(truth, j, now)
    job["waited"] += now - job["queued_since"]
    job["leg_start"] = now
    job["end"] = now + script["walltime"]
    job["state"] = JobState.RUNNING
    job["urgency"] = Urgency.NEXT_LEG
    take_all(state, truth, j, reason, picks, first_pick, n_picks)
    add_running(state, j)
    activity["first"] = -1
    activity["streams"] = 0
    activity["drains"] = 0
    activity["final"] = 0
    begin_program(state, truth, j)
    # A leg that is sure to end a second before its walltime needs no second timer.
    if script["kills"] and script["seconds"] > script["walltime"] - 1.0:
        set_timer(truth, 2 * j + 1, now + script["walltime"])
    if not goes_back(state, truth, j, now):
        begin_phase(state, truth, j, now, True)
