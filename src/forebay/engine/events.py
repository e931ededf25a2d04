"""What comes from outside, at times known before a run: one stream, sorted when the run is built."""

from forebay._numba.jit import kernel
from forebay.core.codes import EventKind
from forebay.engine.dependencies.joining import join_all
from forebay.engine.dependencies.kernels import next_release
from forebay.engine.dependencies.timed import others_first, release_next
from forebay.engine.limits.outside import come_in, may_come_in
from forebay.engine.reservations.kernels import open_or_close
from forebay.engine.submissions import arrive, withdraw
from forebay.engine.warm_start import start_early


@kernel
def next_event(truth):
    """When the next event from outside happens."""
    at = truth.cursor[0]["next_event"]
    return truth.events[at]["time"] if at < len(truth.events) else float("inf")


@kernel
def _happens(state, truth, event):
    """An event from outside happens."""
    if event["kind"] == EventKind.SUBMIT:
        arrive(state, truth, event["subject"])
    elif event["kind"] == EventKind.CANCEL:
        withdraw(state, truth, event["subject"], event["time"])
    elif event["kind"] == EventKind.RESERVATION:
        open_or_close(state)
    else:
        join_all(state, truth)  # it starts from the queue
        start_early(state, truth, event["subject"], event["time"])


@kernel
def let_in(state, truth, time):
    """Submit the jobs that wait outside and are below their limits now; they join the queue."""
    if may_come_in(truth):
        come_in(state, truth, time)
        join_all(state, truth)


@kernel
def happen(state, truth, until, now):
    """Let everything up to `until` happen that comes from outside or by other jobs; then those join the queue that are
    free. Returns the latest time seen, or `now`."""
    cursor = truth.cursor[0]
    while True:
        event_time = next_event(truth)
        time = min(event_time, next_release(truth))
        if time > until:
            if not may_come_in(truth):
                break
            come_in(state, truth, now)
            continue
        now = max(now, time)
        if others_first(truth, event_time):
            release_next(state, truth, time)
        else:
            cursor["next_event"] += 1
            _happens(state, truth, truth.events[cursor["next_event"] - 1])
    join_all(state, truth)
    return now
