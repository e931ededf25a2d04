"""A running job that the policy asks to leave: at once, or once a checkpoint is complete."""

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, LogKind, LogReason, PhaseKind, Refusal, Resume, Status, Urgency
from forebay.engine.checkpoints.kernels import cut_slice, expect_to_leave, is_guarded
from forebay.engine.checkpoints.tables import RECOVERING, SAVING
from forebay.engine.legs import begin_phase, interrupt, log_phase
from forebay.engine.refusal import refuse


@kernel
def _can_be_cut(truth, j):
    """Whether job `j` works on a phase that a checkpoint may divide."""
    activity = truth.activities[j]
    under_way = activity["final"] == 0 and truth.where[2 * j] >= 0
    return under_way and truth.phases[activity["phase"]]["kind"] == PhaseKind.COMPUTE


@kernel
def _has_worked(state, truth, j):
    """Whether job `j` has done anything that is not safe. To wait for what runs beside is no work."""
    safe = truth.resilience.safe[j]
    under_way = truth.where[2 * j] >= 0 or truth.activities[j]["streams"] > 0
    return safe["since"] > 0.0 or (under_way and state.clock[0]["now"] > safe["began"])


@kernel
def _leave(state, truth, j, resume):
    """Let job `j` leave, to go on later from the checkpoint that `resume` names."""
    now = state.clock[0]["now"]
    if not is_guarded(state, truth, j) or resume == Resume.LAST:
        interrupt(state, truth, j, now, Urgency.INTERRUPTED, LogReason.INTERRUPTED)
        return
    safe, shown = truth.resilience.safe[j], state.safety[j]
    if safe["doing"] == SAVING:
        expect_to_leave(state, j, safe["began"] + shown["save"])
        safe["leaves"] = resume
    elif resume == Resume.NEXT:
        expect_to_leave(state, j, shown["next"])
        safe["leaves"] = resume
    elif safe["doing"] == RECOVERING or not _has_worked(state, truth, j):
        interrupt(state, truth, j, now, Urgency.INTERRUPTED, LogReason.INTERRUPTED)
    else:
        expect_to_leave(state, j, now + shown["save"])
        safe["leaves"] = resume
        if _can_be_cut(truth, j):
            cut_slice(truth, j, now)
            log_phase(state, truth, now, j, LogKind.END_PHASE, PhaseKind.COMPUTE, 0)
            begin_phase(state, truth, j, now, False)


@kernel
def interrupt_as_asked(state, truth, action):
    """Interrupt a running job, as an action says. The policy decides again."""
    j, resume = action["job"], action["way"]
    if j < 0 or j >= len(state.jobs):
        return refuse(truth, Refusal.UNKNOWN_JOB, j, -1)
    if state.jobs[j]["state"] != JobState.RUNNING:
        return refuse(truth, Refusal.CANNOT_INTERRUPT, j, -1)
    if state.jobs[j]["leg_start"] == state.clock[0]["now"]:
        return refuse(truth, Refusal.JUST_STARTED, j, -1)
    if resume < Resume.LAST or resume > Resume.NEXT:
        return refuse(truth, Refusal.UNKNOWN_RESUME, j, resume)
    if resume != Resume.LAST and not is_guarded(state, truth, j):
        return refuse(truth, Refusal.NO_CHECKPOINTS, j, -1)
    _leave(state, truth, j, resume)
    truth.cursor[0]["again"] = 1
    return Status.DECIDE.value
