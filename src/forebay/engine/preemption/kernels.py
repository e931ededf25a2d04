"""A running job that the policy asks to leave: at once, or once a checkpoint is complete."""

from forebay._numba.jit import kernel
from forebay.core.codes import LogKind, LogReason, PhaseKind, Resume, Urgency
from forebay.engine.checkpoints.kernels import cut_slice, expect_to_leave, is_guarded
from forebay.engine.checkpoints.tables import RECOVERING, SAVING
from forebay.engine.legs import begin_phase, interrupt, log_phase


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
def leave(state, truth, j, resume):
    """Let job `j` leave, to go on later from the checkpoint that `resume` names."""
    now = state.clock[0]["now"]
    if not is_guarded(state, truth, j) or resume == Resume.LAST:
        interrupt(state, truth, j, now, Urgency.INTERRUPTED, LogReason.INTERRUPTED)
        return
    safe, told = truth.resilience.safe[j], state.safety[j]
    if safe["doing"] == SAVING:
        expect_to_leave(state, j, safe["began"] + told["save"])
        safe["leaves"] = resume
    elif resume == Resume.NEXT:
        expect_to_leave(state, j, told["next"])
        safe["leaves"] = resume
    elif safe["doing"] == RECOVERING or not _has_worked(state, truth, j):
        interrupt(state, truth, j, now, Urgency.INTERRUPTED, LogReason.INTERRUPTED)
    else:
        expect_to_leave(state, j, now + told["save"])
        safe["leaves"] = resume
        if _can_be_cut(truth, j):
            cut_slice(truth, j, now)
            log_phase(state, truth, now, j, LogKind.END_PHASE, PhaseKind.COMPUTE, 0)
            begin_phase(state, truth, j, now, False)
