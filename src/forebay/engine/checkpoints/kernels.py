"""Checkpoints that a running job writes, as a rule of its own: its phases know nothing of them.

A compute phase is cut into slices where a checkpoint is due; other phases are not cut, and the checkpoint comes before
the next one. What is safe is a place in the program: the phase, the round, and the part of the phase that was done.
"""

import numpy as np

from forebay._numba.jit import kernel
from forebay.core.codes import LogKind, LogReason, PhaseKind, Resume
from forebay.core.tables import flex_row, instant_width
from forebay.engine.checkpoints.tables import GOES_ON, LEAVES, NO_INTERLUDE, RECOVERING, SAVING, WORKING, WORKS_ON
from forebay.engine.contention.transfers import clear_phase, move_files
from forebay.engine.log import write_log
from forebay.engine.queue import add_running, drop_running
from forebay.engine.timers import cancel_timer, set_timer

_DUE, _ALMOST = 1.0 - 1e-12, 1.0 + 1e-9
"""Of a period: sums of slices differ from it in their last bits."""
_ALL = -1.0  # of a phase


@kernel
def is_guarded(state, truth, j):
    """Whether job `j` writes checkpoints in the leg that it runs or waits for."""
    return len(truth.resilience.safe) > 0 and truth.scripts[state.jobs[j]["leg"]]["guarded"] != 0


@kernel
def stands_still(state, truth, j):
    """Whether the walltime of job `j` does: it writes a checkpoint, or reads its last one."""
    return is_guarded(state, truth, j) and truth.resilience.safe[j]["doing"] != WORKING


@kernel
def _transfer(rule, nodes, way):
    """Seconds that the bytes of so many nodes take, alone on the machine."""
    return rule["delay"][way] + rule["bytes"] * nodes / min(rule["rate"][way], rule["cap"][way] * nodes)


@kernel
def _cost(rule, nodes):
    """Seconds that a checkpoint on so many nodes is expected to take."""
    return _transfer(rule, nodes, 0) if rule["bytes"] > 0.0 else rule["cost"]


@kernel
def _recovery(rule, nodes):
    """Seconds that it is expected to take to read it back."""
    return _transfer(rule, nodes, 1) if rule["bytes"] > 0.0 else rule["recovery"]


@kernel
def _period(rule, nodes):
    """Work between two checkpoints on so many nodes: as given, or as Young (1974) and Daly (2006) have it."""
    return rule["period"] if rule["period"] > 0.0 else np.sqrt(2.0 * _cost(rule, nodes) * rule["node_mtbf"] / nodes)


@kernel
def _asked_walltime(state, truth, j):
    """The walltime that the user of job `j` asked for in its leg, at its present size."""
    row = flex_row(state, j)
    if row >= 0:
        flex = state.flexible.jobs[row]
        return state.flexible.sizes[flex["first"] + flex["size"]]["walltime"]
    return truth.scripts[state.jobs[j]["leg"]]["asked"]


@kernel
def _as_much(part, whole, now):
    """The same share of `now` as `part` is of `whole`: what is done at one size of a job, at another one."""
    return part if whole == now or part == 0.0 else part / whole * now


@kernel
def _walltime(state, truth, j):
    """The walltime of the leg of job `j` from its last checkpoint on, with all those that it will write."""
    rule, nodes, safe = truth.resilience.rule[0], max(state.jobs[j]["nodes"], 1), truth.resilience.safe[j]
    asked = _asked_walltime(state, truth, j)
    if asked == np.inf:
        return asked
    left = max(asked - _as_much(safe["saved_used"], safe["saved_asked"], asked), 1e-6)
    saves = max(np.ceil(left / _period(rule, nodes) * _DUE) - 1.0, 0.0)
    return left + saves * _cost(rule, nodes) + (_recovery(rule, nodes) if safe["saved_phase"] >= 0 else 0.0)


@kernel
def set_walltime(state, truth, j):
    """Let the leg that job `j` waits for ask for as long as it takes from its last checkpoint on."""
    leg = state.jobs[j]["leg"]
    state.legs[leg]["walltime"] = truth.scripts[leg]["walltime"] = _walltime(state, truth, j)


@kernel
def restore_walltime(state, truth, j):
    """Let the leg that job `j` is to run again ask for what its user did; with checkpoints, what is left."""
    leg = state.jobs[j]["leg"]
    if is_guarded(state, truth, j):
        set_walltime(state, truth, j)
    else:
        state.legs[leg]["walltime"] = truth.scripts[leg]["walltime"] = truth.scripts[leg]["asked"]


@kernel
def forget(truth, j):
    """Job `j` has nothing to go back to: another leg begins."""
    if len(truth.resilience.safe) == 0:
        return
    safe = truth.resilience.safe[j]
    safe["saved_phase"] = -1
    safe["saved_used"] = 0.0
    safe["attempts"] = 0


@kernel
def _show(state, truth, j):
    """Tell policies what job `j` would lose if it were interrupted."""
    safe, shown, rule = truth.resilience.safe[j], state.safety[j], truth.resilience.rule[0]
    nodes = max(state.jobs[j]["nodes"], 1)
    shown["left"] = _walltime(state, truth, j)
    shown["save"] = _cost(rule, nodes)
    shown["recovery"] = _recovery(rule, nodes)
    shown["next"] = safe["began"] + shown["save"] + max(safe["period"] - safe["since"], 0.0)
    shown["leaves"] = np.inf


@kernel
def _tell_nothing(state, j):
    """Job `j` writes no checkpoints in the leg that it begins."""
    shown = state.safety[j]
    shown["left"] = state.legs[state.jobs[j]["leg"]]["walltime"]
    shown["save"] = 0.0
    shown["recovery"] = 0.0
    shown["next"] = np.inf
    shown["leaves"] = np.inf


@kernel
def goes_back(state, truth, j, time):
    """Job `j` starts; whether it first reads its last checkpoint."""
    if is_guarded(state, truth, j):
        return _begin_attempt(state, truth, j, time)
    if len(state.safety) > 0:
        _tell_nothing(state, j)
    return False


@kernel
def _begin_attempt(state, truth, j, time):
    safe, activity, rounds = truth.resilience.safe[j], truth.activities[j], truth.rounds
    safe["period"] = _period(truth.resilience.rule[0], max(state.jobs[j]["nodes"], 1))
    safe["since"] = 0.0
    safe["overhead"] = 0.0
    safe["part"] = 0.0
    safe["doing"] = WORKING
    safe["leaves"] = GOES_ON
    safe["asked"] = _asked_walltime(state, truth, j)
    safe["used"] = _as_much(safe["saved_used"], safe["saved_asked"], safe["asked"])
    safe["began"] = time
    _show(state, truth, j)
    if safe["saved_phase"] < 0:
        return False
    state.safety[j]["next"] += state.safety[j]["recovery"]
    activity["phase"] = safe["saved_phase"]
    safe["part"] = safe["saved_part"]
    safe["whole"] = safe["saved_whole"]
    if len(rounds.steps) > 0:
        rounds.progress[j]["left"] = safe["saved_left"]
        rounds.progress[j]["begun"] = safe["saved_begun"]
        row = flex_row(state, j)
        if row >= 0:
            state.flexible.jobs[row]["done"] = safe["saved_done"]
    _begin(state, truth, j, time, RECOVERING)
    return True


@kernel
def _begin(state, truth, j, time, what):
    """Job `j` writes a checkpoint, or reads its last one. Its walltime does not run on."""
    safe, rule, nodes = truth.resilience.safe[j], truth.resilience.rule[0], max(state.jobs[j]["nodes"], 1)
    safe["doing"] = what
    safe["began"] = time
    cancel_timer(truth, 2 * j + 1)
    saves = what == SAVING
    reason = LogReason.SAVE if saves else LogReason.RECOVER
    write_log(state, truth, time, j, LogKind.BEGIN_PHASE, -1, 0, reason)
    if rule["bytes"] > 0.0:
        kind = PhaseKind.WRITE if saves else PhaseKind.READ
        if move_files(truth, j, kind, nodes, rule["bytes"] * nodes, time, 0) > 0:
            return
        set_timer(truth, 2 * j, time)
    else:
        set_timer(truth, 2 * j, time + (rule["cost"] if saves else rule["recovery"]))


@kernel
def _must_save(state, truth, j, time):
    """Whether job `j` writes a checkpoint before its next phase, or the rest of one.

    It is of no use to a job that is killed in the same instant, and what runs beside would not be safe.
    """
    safe, script = truth.resilience.safe[j], truth.scripts[state.jobs[j]["leg"]]
    due = safe["since"] >= safe["period"] * _DUE or (safe["leaves"] == Resume.NOW and safe["since"] > 0.0)
    killed = script["kills"] != 0 and state.jobs[j]["leg_start"] + script["walltime"] <= time + instant_width(time)
    return due and not killed and truth.activities[j]["drains"] == 0


@kernel
def saves_first(state, truth, j, time):
    """Whether job `j` writes a checkpoint before its next phase; it begins to."""
    if not is_guarded(state, truth, j) or not _must_save(state, truth, j, time):
        return False
    _begin(state, truth, j, time, SAVING)
    return True


@kernel
def rest_of_phase(state, truth, j):
    """The part of its phase that job `j` has still to do."""
    if not is_guarded(state, truth, j):
        return 1.0
    safe = truth.resilience.safe[j]
    return 1.0 - safe["part"] / safe["whole"] if safe["part"] > 0.0 else 1.0


@kernel
def begin_work(state, truth, j, time, seconds, divides):
    """Job `j` works on a phase that takes so long as a whole, or as its transfers take; returns the time to its end.

    Where a checkpoint `divides` the phase, that is the end of a slice of it.
    """
    if not is_guarded(state, truth, j):
        return seconds
    if divides:
        return _begin_slice(truth, j, time, seconds)
    truth.resilience.safe[j]["began"] = time
    truth.resilience.safe[j]["upto"] = _ALL
    return seconds


@kernel
def _begin_slice(truth, j, time, seconds):
    """Job `j` works on a phase that takes so long as a whole; returns how long until it ends, or is cut."""
    safe = truth.resilience.safe[j]
    safe["part"] = _as_much(safe["part"], safe["whole"], seconds)
    safe["whole"] = seconds
    left, room = seconds - safe["part"], safe["period"] - safe["since"]
    safe["began"] = time
    if left <= room * _ALMOST or room <= 0.0:  # no room: it is due, and was put off
        safe["upto"] = _ALL
        return left
    safe["upto"] = safe["part"] + room
    return room


@kernel
def ends_slice(state, truth, j, time):
    """What job `j` worked on is over; whether that was a slice of its phase, which then is not."""
    if not is_guarded(state, truth, j):
        return False
    safe = truth.resilience.safe[j]
    if safe["upto"] != _ALL:
        safe["since"] = safe["period"]
        safe["part"] = safe["upto"]
        return True
    safe["since"] += time - safe["began"]
    safe["part"] = 0.0
    return False


@kernel
def cut_slice(truth, j, time):
    """Stop job `j` in the middle of a compute phase."""
    safe = truth.resilience.safe[j]
    worked = time - safe["began"]
    cancel_timer(truth, 2 * j)
    safe["since"] += worked
    safe["part"] = min(safe["part"] + worked, safe["whole"])


@kernel
def _move_end(state, truth, j, time, by):
    """Job `j` is expected to end so much later, and may run as long: its walltime runs again, if any is left."""
    job, leg = state.jobs[j], state.jobs[j]["leg"]
    script, shown = truth.scripts[leg], state.safety[j]
    by = max(by, time - (job["leg_start"] + script["walltime"]))
    if by != 0.0:
        drop_running(state, j)
        job["end"] += by
        add_running(state, j)
        script["walltime"] += by
        state.legs[leg]["walltime"] += by
        shown["next"] += by
        shown["leaves"] += by
    if script["kills"] and script["walltime"] < np.inf:
        set_timer(truth, 2 * j + 1, job["leg_start"] + script["walltime"])


@kernel
def expect_to_leave(state, j, time):
    """Policies are to see that job `j` will stop at about that time, or at its walltime if that is over before."""
    job = state.jobs[j]
    state.safety[j]["leaves"] = time
    drop_running(state, j)
    job["end"] = min(time, job["leg_start"] + state.legs[job["leg"]]["walltime"])
    add_running(state, j)


@kernel
def _keep(state, truth, j, time):
    """What job `j` has done is safe."""
    safe = truth.resilience.safe[j]
    safe["saved_used"] = safe["used"] + time - state.jobs[j]["leg_start"] - safe["overhead"]
    safe["saved_asked"] = safe["asked"]
    safe["saved_part"] = safe["part"]
    safe["saved_whole"] = safe["whole"]
    safe["saved_phase"] = truth.activities[j]["phase"]
    if len(truth.rounds.steps) > 0:
        progress, row = truth.rounds.progress[j], flex_row(state, j)
        if progress["resume"] >= 0:  # it starts again with a size of its own, and has nothing to reconfigure
            safe["saved_phase"] = progress["resume"]
            safe["saved_part"] = 0.0
        safe["saved_left"] = progress["left"]
        safe["saved_begun"] = progress["begun"]
        safe["saved_done"] = state.flexible.jobs[row]["done"] if row >= 0 else 0
    safe["since"] = 0.0
    safe["attempts"] = 0


@kernel
def end_interlude(state, truth, j, time):
    """What job `j` does may be a checkpoint or a recovery, and is complete: what follows, see `checkpoints.tables`."""
    if not stands_still(state, truth, j):
        return NO_INTERLUDE
    return LEAVES if _end_saving(state, truth, j, time) else WORKS_ON


@kernel
def break_off(state, truth, j, time, moved):
    """Job `j` stops, having moved so much; whether it wrote a checkpoint, or read its last one. It is of no use."""
    if not stands_still(state, truth, j):
        return False
    if truth.resilience.safe[j]["doing"] == SAVING:
        write_log(state, truth, time, j, LogKind.END_PHASE, -1, -1, LogReason.SAVE)
    else:
        write_log(state, truth, time, j, LogKind.END_PHASE, -1, moved, LogReason.RECOVER)
    return True


@kernel
def gives_up(truth, j, reason):
    """Whether job `j`, which is interrupted, has failed too often without a new checkpoint."""
    if reason != LogReason.NODE_DOWN or len(truth.resilience.safe) == 0:
        return False
    truth.resilience.safe[j]["attempts"] += 1
    return truth.resilience.safe[j]["attempts"] >= truth.resilience.rule[0]["max_attempts"]


@kernel
def _end_saving(state, truth, j, time):
    """The checkpoint or recovery of job `j` is complete; whether it is to leave now."""
    safe, rule, nodes = truth.resilience.safe[j], truth.resilience.rule[0], max(state.jobs[j]["nodes"], 1)
    saved, took = safe["doing"] == SAVING, time - safe["began"]
    reason = LogReason.SAVE if saved else LogReason.RECOVER
    clear_phase(truth, j)
    write_log(state, truth, time, j, LogKind.END_PHASE, -1, rule["bytes"] * nodes, reason)
    safe["doing"] = WORKING
    safe["overhead"] += took
    if saved:
        _keep(state, truth, j, time)
    leaves = saved and safe["leaves"] != GOES_ON
    if not leaves:
        late = took - (_cost(rule, nodes) if saved else _recovery(rule, nodes))
        _move_end(state, truth, j, time, late if rule["bytes"] > 0.0 else 0.0)
    safe["began"] = time
    if not leaves and safe["leaves"] == GOES_ON:
        _show(state, truth, j)
    return leaves
