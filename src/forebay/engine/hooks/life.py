"""What happens to a job: when it starts and ends, and between its phases."""

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, LogReason
from forebay.engine.checkpoints.kernels import forget, restore_walltime
from forebay.engine.contention.transfers import stop_beside
from forebay.engine.dependencies.kernels import tell_begin, tell_end, waits_in_vain
from forebay.engine.io_knowledge.kernels import learn_io
from forebay.engine.limits.kernels import turned_away
from forebay.engine.limits.tables import count_submitted
from forebay.engine.malleable.steps import leave_point, restore_size, stops_altogether
from forebay.engine.partitions.tables import takes_none


@kernel
def turns_away(state, truth, j, out):
    """Why job `j` is rejected as it is submitted, NONE if it is not. It may stay `out` of the queue, for others."""
    if truth.jobs[j]["state"] == JobState.REJECTED:  # the machine could never run it
        return LogReason.PARTITION.value if takes_none(truth, j) else LogReason.TOO_LARGE.value
    if turned_away(state, truth, j):
        return LogReason.OVER_LIMIT.value
    return LogReason.DEPENDENCY.value if out and waits_in_vain(truth, j) else LogReason.NONE.value


@kernel
def on_submit(truth, j):
    """Job `j` is submitted, and was not turned away."""
    count_submitted(truth, j, 1)


@kernel
def on_first_start(truth, j, time):
    """Job `j` starts for the first time."""
    tell_begin(truth, j, time)


@kernel
def on_end(state, truth, j, time):
    """Job `j` is over, in the state that it has now."""
    count_submitted(truth, j, -1)
    learn_io(state, truth, j)
    tell_end(state, truth, j, time)


@kernel
def on_next_leg(truth, j):
    """Job `j` has ended a leg, and waits for its next one."""
    forget(truth, j)


@kernel
def on_again(state, truth, j):
    """Job `j` waits to run its leg once more."""
    restore_size(state, truth, j)
    restore_walltime(state, truth, j)


@kernel
def on_interrupt(state, truth, j, time):
    """Job `j` stops at once, with all that runs beside."""
    stop_beside(truth, j, time)
    leave_point(state, truth, j)


@kernel
def on_kill(state, truth, j, time):
    """Job `j` is killed: an application stops with all that runs beside, of others that runs on."""
    if stops_altogether(truth):
        stop_beside(truth, j, time)
        leave_point(state, truth, j)
