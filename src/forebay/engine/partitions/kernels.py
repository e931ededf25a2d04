"""The end of a run in which jobs still wait for a partition that lets none start."""

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, LogKind, LogReason
from forebay.engine.dependencies.kernels import tell_end
from forebay.engine.legs import has_begun
from forebay.engine.limits.tables import count_submitted
from forebay.engine.log import write_log
from forebay.engine.partitions.tables import shut_to
from forebay.engine.queue import dequeue


@kernel
def turn_away_for_good(state, truth):
    """Reject who waits for a partition, as nothing is to come any more; whether there was anybody."""
    now, found = state.clock[0]["now"], False
    if len(truth.doors.table) == 0:
        return False
    for j in range(len(state.jobs)):
        if state.jobs[j]["state"] != JobState.QUEUED or has_begun(state, j) or shut_to(truth.doors, j, now)[0] < 0:
            continue
        found = True
        truth.doors.left[j] = True
        dequeue(state, j)
        state.jobs[j]["state"] = JobState.REJECTED
        truth.cursor[0]["n_open"] -= 1
        truth.cursor[0]["n_ended"] += 1
        if len(truth.meters.table) > 0:
            count_submitted(truth, j, -1)
        write_log(state, truth, now, j, LogKind.REJECT, -1, 0, LogReason.PARTITION)
        tell_end(state, truth, j, now)
    return found
