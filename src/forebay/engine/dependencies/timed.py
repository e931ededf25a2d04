"""What comes because of other jobs, at times that only the run tells: a job is submitted, or free, or withdrawn."""

from forebay._numba.jit import kernel
from forebay.core.codes import EventKind
from forebay.engine.dependencies.joining import will_join
from forebay.engine.dependencies.kernels import forget_ring, is_timed, next_release, ring_at
from forebay.engine.dependencies.tables import Standing
from forebay.engine.submissions import arrive, withdraw


@kernel
def others_first(truth, event_time):
    """Whether what comes next comes by other jobs: of one time submissions go before withdrawals, then rows decide."""
    if not is_timed(truth):
        return False
    its = next_release(truth)
    if event_time != its or event_time == float("inf"):
        return its < event_time
    slot, event = truth.dependencies.heap[0]["slot"], truth.events[truth.cursor[0]["next_event"]]
    kind = EventKind.CANCEL if slot & 1 else EventKind.SUBMIT
    return kind < event["kind"] or (kind == event["kind"] and (slot >> 1) < event["subject"])


@kernel
def release_next(state, truth, time):
    """Let the next of it happen."""
    waits, slot = truth.dependencies, truth.dependencies.heap[0]["slot"]
    forget_ring(truth, slot)
    j = slot >> 1
    if slot & 1:
        withdraw(state, truth, j, time)
    elif waits.jobs[j]["standing"] == Standing.WAITS:
        will_join(truth, j, Standing.RELEASED)
    else:
        truth.jobs[j]["submit"] = time
        if waits.jobs[j]["cancel"] < float("inf"):
            ring_at(truth, 2 * j + 1, time + waits.jobs[j]["cancel"])
        arrive(state, truth, j)
