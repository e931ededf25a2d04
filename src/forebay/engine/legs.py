"""The life of a leg: it takes what it needs, goes through its phases, gives back what its job does not carry on."""

from numba import types

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, LegEnd, LogKind, LogReason, PhaseKind, Trigger, Urgency
from forebay.core.tables import PICKS, STATE, flex_row
from forebay.core.verbs import interrupted
from forebay.engine.allocation.allocate import give, give_at_end, give_early, give_some, take_all
from forebay.engine.checkpoints.kernels import (
    begin_attempt,
    begin_saving,
    begin_slice,
    begin_whole,
    end_saving,
    end_slice,
    forget,
    is_guarded,
    must_save,
    rest_of_phase,
    set_walltime,
    stands_still,
    tell_nothing,
)
from forebay.engine.checkpoints.tables import SAVING
from forebay.engine.contention.transfers import clear_phase, go_under_way, launch, leave_beside, stop_beside, stop_phase
from forebay.engine.dependencies.kernels import tell_begin, tell_end
from forebay.engine.limits.tables import count_submitted
from forebay.engine.log import write_log
from forebay.engine.malleable.steps import (
    amounts,
    begin_program,
    flags_of,
    go_on,
    halts,
    has_ended,
    leave_point,
    returns,
    step_on,
)
from forebay.engine.malleable.tables import BESIDE
from forebay.engine.queue import add_running, dequeue, drop_running, enqueue_begun
from forebay.engine.timers import cancel_timer, set_timer
from forebay.engine.truth import TRUTH

_f8, _i8 = types.float64, types.int64


@kernel
def close(state, truth, j, time, final):
    """Job `j` is over."""
    job = state.jobs[j]
    job["state"] = final
    state.ended[state.counts[0]["n_ended"]] = j
    state.counts[0]["n_ended"] += 1
    if final != JobState.CANCELLED:
        job["finish"] = time
    truth.cursor[0]["n_open"] -= 1
    truth.cursor[0]["n_ended"] += 1
    if len(truth.meters.table) > 0:
        count_submitted(truth, j, -1)
    state.clock[0]["triggers"] |= Trigger.JOB_ENDED
    tell_end(state, truth, j, time)


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
    job, leg, row = state.jobs[j], state.jobs[j]["leg"], flex_row(state, j)
    for r in range(len(state.resources)):
        held = state.releases[leg, r] + truth.carries[leg, r]
        carried = truth.releases[leg, r] + truth.carries[leg, r] - truth.demands[leg, r]
        state.demands[leg, r] = truth.demands[leg, r] + max(carried - held, 0)
        state.releases[leg, r] = truth.releases[leg, r]
        if r == state.machine[0]["chunked"]:  # all of it or nothing, see sizes.chunks
            state.legs[leg]["chunk"] = -(-state.demands[leg, r] // max(truth.jobs[j]["nodes"], 1))
    job["nodes"] = truth.jobs[j]["nodes"]
    if row >= 0:
        state.flexible.jobs[row] = truth.rounds.jobs[row]
    if is_guarded(state, truth, j):
        set_walltime(state, truth, j)
    else:
        state.legs[leg]["walltime"] = truth.scripts[leg]["walltime"] = truth.scripts[leg]["asked"]


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
        if len(truth.resilience.safe) > 0:
            forget(truth, j)
    else:
        _restore(state, truth, j)
    _requeue(state, truth, j, time)


@kernel(types.void(STATE, TRUTH, _i8, _f8, _i8))
def _finish_leg(state, truth, j, time, final):
    """All that the running leg of `j` was to do is done, or was broken off with this `final` state."""
    job = state.jobs[j]
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
def give_up(state, truth, j, time):
    """Job `j` has moved what it held on nodes that it is to give back."""
    progress = truth.rounds.progress[j]
    if progress["gives"] > 0:
        give_some(state, truth, time, j, progress["gives"])
        progress["gives"] = 0
        state.clock[0]["triggers"] |= Trigger.RELEASED


@kernel
def begin_phase(state, truth, j, time, stops):
    """Begin the next phase of job `j`, and those on the way to it that run beside; without any left, the leg is over.

    Unless the job goes on from a point, it `stops` at one.
    """
    activity, guarded = truth.activities[j], is_guarded(state, truth, j)
    while True:
        if returns(state, truth, j):
            stops = False
            give_up(state, truth, j, time)
        if has_ended(state, truth, j):
            break
        if stops and halts(state, truth, j, time):
            return
        go_on(truth, j)
        if guarded and must_save(state, truth, j, time):
            begin_saving(state, truth, j, time)
            return
        p = activity["phase"]
        kind = truth.phases[p]["kind"]
        log_phase(state, truth, time, j, LogKind.BEGIN_PHASE, kind, 0)
        rest = rest_of_phase(truth, j) if guarded else 1.0
        begun, seconds = launch(state, truth, j, rest, time)
        if kind != PhaseKind.DRAIN and flags_of(truth, p) & BESIDE == 0:
            if guarded and begun == 0 and kind == PhaseKind.COMPUTE:
                seconds = begin_slice(truth, j, time, seconds)
            elif guarded:
                begin_whole(truth, j, time)
            if begun == 0:
                set_timer(truth, 2 * j, time + seconds)
            return
        if begun == 0:
            log_phase(state, truth, time, j, LogKind.END_PHASE, kind, amounts(state, truth, j, p)[1])
        step_on(state, truth, j)
        stops = True
        if interrupted(state):
            return
    activity["final"] = JobState.COMPLETED
    if activity["drains"] == 0:
        _finish_leg(state, truth, j, time, JobState.COMPLETED)


@kernel
def end_phase(state, truth, j, time):
    """The phase of job `j` is over: on to the next. It may be a slice of one, or a checkpoint, that is over."""
    p, guarded = truth.activities[j]["phase"], is_guarded(state, truth, j)
    if stands_still(state, truth, j):
        if end_saving(state, truth, j, time):
            _leave(state, truth, j, time, Urgency.INTERRUPTED, LogReason.INTERRUPTED)
        else:
            begin_phase(state, truth, j, time, False)
        return
    phase = truth.phases[p]
    clear_phase(truth, j)
    log_phase(state, truth, time, j, LogKind.END_PHASE, phase["kind"], amounts(state, truth, j, p)[1])
    if guarded and not end_slice(truth, j, time):
        begin_phase(state, truth, j, time, False)
        return
    if phase["resource"] >= 0:
        give_early(state, truth, time, j, phase["resource"], phase["amount"])
        state.clock[0]["triggers"] |= Trigger.RELEASED
    step_on(state, truth, j)
    begin_phase(state, truth, j, time, True)


@kernel
def _is_halted(truth, j):
    """Whether no phase of job `j` is under way: it waits before a round."""
    return len(truth.rounds.progress) > 0 and truth.rounds.progress[j]["halted"] != 0


@kernel
def end_transfer(state, truth, f):
    """Transfer `f` has moved all its bytes: it may have been the last of its phase, or the last that its leg awaits."""
    if go_under_way(truth.network, f):
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
    if activity["drains"] > 0:
        return
    if activity["final"] > 0:
        _finish_leg(state, truth, j, time, activity["final"])
    elif _is_halted(truth, j):
        begin_phase(state, truth, j, time, True)


@kernel
def _stop(state, truth, j, time):
    """Break off what job `j` is doing."""
    activity = truth.activities[j]
    cancel_timer(truth, 2 * j)
    if activity["final"] > 0 or _is_halted(truth, j):
        return
    moved = stop_phase(truth, j, time)
    if stands_still(state, truth, j):
        if truth.resilience.safe[j]["doing"] == SAVING:
            write_log(state, truth, time, j, LogKind.END_PHASE, -1, -1, LogReason.SAVE)  # it is of no use
        else:
            write_log(state, truth, time, j, LogKind.END_PHASE, -1, moved, LogReason.RECOVER)
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
    activity, rule = truth.activities[j], truth.resilience.rule[0]
    _stop(state, truth, j, time)
    stop_beside(truth, j, time)
    if len(truth.rounds.progress) > 0:
        leave_point(state, truth, j)
    if activity["final"] > 0 and activity["final"] != JobState.COMPLETED:  # it had only drains left
        _finish_leg(state, truth, j, time, activity["final"])
        return
    if reason == LogReason.NODE_DOWN and len(truth.resilience.safe) > 0:
        truth.resilience.safe[j]["attempts"] += 1
        if truth.resilience.safe[j]["attempts"] >= rule["max_attempts"]:
            end_leg(state, truth, j, time, LegEnd.OVER, reason, JobState.FAILED)
            return
    _leave(state, truth, j, time, urgency, reason)


@kernel
def kill(state, truth, j, time, final):
    """Job `j` ends as `final`: its phase stops at once. Drains run on, and it holds what it has until then.

    An application stops altogether.
    """
    activity, in_rounds = truth.activities[j], len(truth.rounds.progress) > 0
    if activity["final"] > 0 and not in_rounds:  # only drains are left
        return
    _stop(state, truth, j, time)
    if in_rounds:
        stop_beside(truth, j, time)
        leave_point(state, truth, j)
    activity["phase"] = truth.scripts[state.jobs[j]["leg"]]["last_phase"]
    activity["final"] = final
    if activity["drains"] == 0:
        _finish_leg(state, truth, j, time, final)


@kernel
def has_begun(state, j):
    """Whether job `j` has ever started."""
    return state.jobs[j]["start"] == state.jobs[j]["start"]  # NaN until it has


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
        tell_begin(truth, j, now)
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
    guarded = is_guarded(state, truth, j)
    # A leg that is sure to end a second before its walltime needs no second timer.
    if script["kills"] and (guarded or script["seconds"] > script["walltime"] - 1.0):
        set_timer(truth, 2 * j + 1, now + script["walltime"])
    if len(state.safety) > 0 and not guarded:
        tell_nothing(state, j)
    if not (guarded and begin_attempt(state, truth, j, now)):
        begin_phase(state, truth, j, now, True)
