"""What comes from outside, at times known before a run: one stream, sorted when the run is built, one handler each."""

from forebay._numba.jit import kernel
from forebay.core.codes import EventKind, JobState, LogKind, LogReason, Trigger
from forebay.engine.journal import write_log
from forebay.engine.limits import turned_away
from forebay.engine.meters import count_submitted
from forebay.engine.phases import cancel
from forebay.engine.queue import enqueue
from forebay.engine.warm import start_early


@kernel
def _show_sizes(state, truth, j):
    """Show what the application of job `j` tells, if it has one."""
    rounds = truth.rounds
    if len(rounds.row) == 0 or rounds.row[j] < 0:
        return
    row = rounds.row[j]
    state.flexible.row[j] = row
    state.flexible.jobs[row] = rounds.jobs[row]
    for k in range(rounds.jobs[row]["first"], rounds.jobs[row]["first"] + rounds.jobs[row]["n_sizes"]):
        state.flexible.sizes[k] = rounds.sizes[k]


@kernel
def _arrive(state, truth, j):
    """Show job `j` to the policy, or turn it away if the machine could never run it or a limit forbids it."""
    state.jobs[j] = truth.jobs[j]
    job = state.jobs[j]
    time = job["submit"]
    first = job["leg"]
    while first >= 0:
        for leg in range(first, truth.legs[first]["last"] + 1):
            state.legs[leg] = truth.legs[leg]
            for r in range(len(state.resources)):
                state.demands[leg, r] = truth.demands[leg, r]
                state.releases[leg, r] = truth.releases[leg, r]
            if len(truth.told) > 0:
                state.tiers.told[leg, 0] = truth.told[leg, 0]
                state.tiers.told[leg, 1] = truth.told[leg, 1]
            if len(truth.asks) > 0:
                state.inside.asks[leg] = truth.asks[leg]
        first = truth.legs[first]["other"]
    _show_sizes(state, truth, j)
    for k in range(state.columns.shape[1]):
        state.columns[j, k] = truth.columns[j, k]
    asked = job["nodes"] if len(truth.asks) == 0 else truth.demands[job["leg"], 0]  # in cores where nodes are shared
    write_log(state, truth, time, j, LogKind.SUBMIT, 0, asked, 0)
    too_large = job["state"] == JobState.REJECTED
    limited = len(truth.meters.away) > 0
    if too_large or (limited and turned_away(state, truth, j)):
        job["state"] = JobState.REJECTED
        reason = LogReason.TOO_LARGE if too_large else LogReason.OVER_LIMIT
        write_log(state, truth, time, j, LogKind.REJECT, -1, 0, reason)
        truth.cursor[0]["n_ended"] += 1
        return
    job["state"] = JobState.QUEUED
    job["queued_since"] = time
    truth.cursor[0]["n_open"] += 1
    if limited:
        count_submitted(truth, j, 1)
    enqueue(state, j)
    state.clock[0]["triggers"] |= Trigger.SUBMIT


@kernel
def next_event(truth):
    """When the next event happens."""
    at = truth.cursor[0]["next_event"]
    return truth.events[at]["time"] if at < len(truth.events) else float("inf")


@kernel
def happen(state, truth, until):
    """Let every event up to `until` happen; returns the latest time seen."""
    cursor, latest = truth.cursor[0], float("-inf")
    while cursor["next_event"] < len(truth.events) and truth.events[cursor["next_event"]]["time"] <= until:
        event = truth.events[cursor["next_event"]]
        cursor["next_event"] += 1
        latest = max(latest, event["time"])
        if event["kind"] == EventKind.SUBMIT:
            _arrive(state, truth, event["subject"])
        elif event["kind"] == EventKind.RESERVATION:
            state.clock[0]["triggers"] |= Trigger.RESERVATION
        elif event["kind"] == EventKind.START:
            start_early(state, truth, event["subject"], event["time"])
        else:
            cancel(state, truth, event["subject"], event["time"])
    return latest
