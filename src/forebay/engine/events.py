"""What comes from outside, at times known before a run: one stream, sorted when the run is built, one handler each.

And what comes because of other jobs, at times that only the run tells.
"""

from forebay._numba.jit import kernel
from forebay.core.codes import EventKind, JobState, LogKind, LogReason, Trigger
from forebay.core.verbs import interrupted
from forebay.engine.dependencies.joining import join, join_all, joins, keep_out, will_join
from forebay.engine.dependencies.kernels import (
    forget_ring,
    is_timed,
    next_release,
    reject_early,
    ring_at,
    stays_out,
    tell_end,
)
from forebay.engine.dependencies.tables import Standing
from forebay.engine.ending import close
from forebay.engine.legs import cancel
from forebay.engine.limits.kernels import turned_away
from forebay.engine.limits.outside import Place, come_in, full_meter, go_outside, is_outside, may_come_in
from forebay.engine.limits.tables import count_submitted
from forebay.engine.log import write_log
from forebay.engine.policy_io.show import show
from forebay.engine.queue import reject_unseen
from forebay.engine.warm_start import start_early


@kernel
def _arrive(state, truth, j):
    """Job `j` is submitted. It waits outside if there are too many of its kind: see `limits.outside`."""
    job = truth.jobs[j]
    time = job["submit"]
    if len(truth.meters.outside) > 0 and job["state"] != JobState.REJECTED:
        _let_in(state, truth, time)  # before it
        m = full_meter(truth, j)
        if m >= 0 and not turned_away(state, truth, j):
            _log_submit(state, truth, j, time)
            truth.cursor[0]["n_open"] += 1
            go_outside(truth, j, time, m)
            return
    _enter(state, truth, j, time, True)


@kernel
def _log_submit(state, truth, j, time):
    job = truth.jobs[j]
    asked = job["nodes"] if len(truth.asks) == 0 else truth.demands[job["leg"], 0]  # in cores where nodes are shared
    write_log(state, truth, time, j, LogKind.SUBMIT, 0, asked, 0)


@kernel
def _let_in(state, truth, time):
    """Submit the jobs that wait outside and are below their limits now."""
    meters = truth.meters
    while meters.n_outside[1] > 0 and not interrupted(state):
        meters.n_outside[1], kept = 0, 0
        for i in range(meters.n_outside[0]):
            j = meters.outside[i]
            if not is_outside(truth, j):
                continue  # it was withdrawn
            if full_meter(truth, j) >= 0:
                meters.outside[kept] = j
                kept += 1
            else:
                come_in(truth, j, time)
                truth.cursor[0]["n_open"] -= 1
                _enter(state, truth, j, time, False)
        meters.n_outside[0] = kept


@kernel
def _enter(state, truth, j, time, first):
    """Show job `j` to the policy, or turn it away if the machine could never run it or a limit forbids it.

    One that waits for others is not shown. It may come for the `first` time, or have waited outside.
    """
    job, waits = truth.jobs[j], truth.dependencies
    if len(waits.first) > 0:
        waits.jobs[j]["number"] = waits.counts[0]["submitted"]
        waits.counts[0]["submitted"] += 1
    out = stays_out(state, truth, j, time)
    if not out:
        show(state, truth, j)
    if first:
        _log_submit(state, truth, j, time)
    else:
        if not out:
            state.jobs[j]["submit"] = time  # to policies: ages count from here, as in Slurm
        write_log(state, truth, time, j, LogKind.ELIGIBLE, -1, 0, LogReason.OVER_LIMIT)
    too_large = job["state"] == JobState.REJECTED
    limited = len(truth.meters.away) > 0
    if too_large or (limited and turned_away(state, truth, j)):
        unfit = LogReason.PARTITION if len(truth.doors.away) > 0 and truth.doors.away[j] else LogReason.TOO_LARGE
        _turn_away(state, truth, j, time, unfit if too_large else LogReason.OVER_LIMIT)
        return
    if out and waits.jobs[j]["left"] > waits.jobs[j]["open"]:
        _turn_away(state, truth, j, time, LogReason.DEPENDENCY)
        return
    truth.cursor[0]["n_open"] += 1
    if limited:
        count_submitted(truth, j, 1)
    if not out:
        join(state, truth, j, time)


@kernel
def _turn_away(state, truth, j, time, reason):
    """Reject job `j` as it is submitted."""
    waits = truth.dependencies
    if len(waits.first) > 0:
        reject_early(state, truth, j, time, reason, waits.jobs[j]["parent"] if reason == LogReason.DEPENDENCY else -1)
        tell_end(state, truth, j, time)
        return
    reject_unseen(state, truth, j, time, reason, 0)


@kernel
def _withdraw(state, truth, j, time):
    """The user of job `j` withdraws it, which may not have joined the queue yet."""
    waits = truth.dependencies
    if is_outside(truth, j):
        truth.meters.place[j] = Place.LEFT.value
        if len(waits.first) > 0:
            waits.jobs[j]["standing"] = Standing.GONE
        state.jobs[j] = truth.jobs[j]
        write_log(state, truth, time, j, LogKind.CANCEL, -1, 0, LogReason.CANCELLED)
        count_submitted(truth, j, 1)  # which it never was, and no longer is
        close(state, truth, j, time, JobState.CANCELLED)
        return
    if len(waits.first) == 0 or not (joins(truth, j) or waits.jobs[j]["standing"] == Standing.WAITS):
        cancel(state, truth, j, time)
        return
    if joins(truth, j):
        keep_out(truth, j)
    forget_ring(truth, 2 * j)
    waits.jobs[j]["standing"] = Standing.GONE
    state.jobs[j] = truth.jobs[j]
    write_log(state, truth, time, j, LogKind.CANCEL, -1, 0, LogReason.CANCELLED)
    close(state, truth, j, time, JobState.CANCELLED)


@kernel
def _release(state, truth, slot, time):
    """Job slot / 2 is submitted, or is free to start, or is withdrawn."""
    j = slot >> 1
    waits = truth.dependencies
    if slot & 1:
        _withdraw(state, truth, j, time)
    elif waits.jobs[j]["standing"] == Standing.WAITS:
        will_join(truth, j, Standing.RELEASED)
    else:
        truth.jobs[j]["submit"] = time
        if waits.jobs[j]["cancel"] < float("inf"):
            ring_at(truth, 2 * j + 1, time + waits.jobs[j]["cancel"])
        _arrive(state, truth, j)


@kernel
def next_event(truth):
    """When the next event from outside happens."""
    at = truth.cursor[0]["next_event"]
    return truth.events[at]["time"] if at < len(truth.events) else float("inf")


@kernel
def _others_first(truth):
    """Whether what comes next comes by other jobs: of one time submissions go before withdrawals, then rows decide."""
    mine, its = next_event(truth), next_release(truth)
    if mine != its or mine == float("inf"):
        return its < mine
    slot, event = truth.dependencies.heap[0]["slot"], truth.events[truth.cursor[0]["next_event"]]
    kind = EventKind.CANCEL if slot & 1 else EventKind.SUBMIT
    return kind < event["kind"] or (kind == event["kind"] and (slot >> 1) < event["subject"])


@kernel
def _happens(state, truth, event):
    """An event from outside happens."""
    if event["kind"] == EventKind.SUBMIT:
        _arrive(state, truth, event["subject"])
    elif event["kind"] == EventKind.CANCEL:
        _withdraw(state, truth, event["subject"], event["time"])
    elif event["kind"] == EventKind.RESERVATION:
        state.clock[0]["triggers"] |= Trigger.RESERVATION
        state.counts[0]["opened"] += 1
    else:
        join_all(state, truth)  # it starts from the queue
        start_early(state, truth, event["subject"], event["time"])


@kernel
def let_in(state, truth, time):
    """Submit the jobs that wait outside and are below their limits now; they join the queue."""
    if may_come_in(truth):
        _let_in(state, truth, time)
        join_all(state, truth)


@kernel
def happen(state, truth, until, now):
    """Let everything up to `until` happen that comes from outside or by other jobs; then those join the queue that are
    free. Returns the latest time seen, or `now`."""
    cursor = truth.cursor[0]
    while True:
        time = min(next_event(truth), next_release(truth))
        if time > until:
            if not may_come_in(truth):
                break
            _let_in(state, truth, now)
            continue
        now = max(now, time)
        if is_timed(truth) and _others_first(truth):
            slot = truth.dependencies.heap[0]["slot"]
            forget_ring(truth, slot)
            _release(state, truth, slot, time)
        else:
            cursor["next_event"] += 1
            _happens(state, truth, truth.events[cursor["next_event"] - 1])
    join_all(state, truth)
    return now
