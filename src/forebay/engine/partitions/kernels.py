"""The end of a run in which jobs still wait for a partition that lets none start."""

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, LogReason
from forebay.engine.ending import reject
from forebay.engine.partitions.tables import shut_to
from forebay.engine.queue import has_begun


@kernel
def turn_away_for_good(state, truth):
    """Reject the jobs that wait for a partition, as nothing is to come any more; whether there were any."""
    now, found = state.clock[0]["now"], False
    if len(truth.doors.table) == 0:
        return False
    for j in range(len(state.jobs)):
        if state.jobs[j]["state"] != JobState.QUEUED or has_begun(state, j) or shut_to(truth.doors, j, now)[0] < 0:
            continue
        found = True
        truth.doors.left[j] = True
        reject(state, truth, j, now, LogReason.PARTITION)
    return found
