"""Limits on what jobs may have running together, and reservations, around any policy.

Before a decision, jobs that may not start leave holes in the queue, so that no policy sees them. After it, the actions
up to the first start that exceeds a limit are carried out, and the policy decides again: what it decided behind that
start rested on it. It also decides again once its starts have brought others to a limit: a job that is held back then
blocks nobody, and has no reservation.
"""

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, Verb
from forebay.engine.limits.tables import causes_of
from forebay.engine.log import write_held
from forebay.engine.queue import has_begun
from forebay.engine.reservations.kernels import closed_to


@kernel
def _asked(state, truth, j, column, n_nodes):
    return n_nodes if column == 0 else truth.meters.asks[j, column]


@kernel
def over_limit(state, truth, j):
    """Why job `j`, which has not begun, would be too much beside what has begun, see `_why`; -1 if it would not."""
    return _why(state, truth, j, state.jobs[j]["nodes"])


@kernel
def _why(state, truth, j, n_nodes):
    """The first limit that job `j` would exceed with so many nodes; -1 if none.

    It is a number of its meter and what that counts: jobs, then columns, then the same times the seconds to run.
    """
    meters = truth.meters
    n_columns, n_causes = meters.most.shape[1], causes_of(meters)
    for k in range(meters.first[j], meters.first[j + 1]):
        m = meters.of[k]
        meter = meters.table[m]
        if meter["jobs"] + 1 > meter["max_jobs"]:
            return m * n_causes
        for c in range(n_columns):
            if meters.used[m, c] + _asked(state, truth, j, c, n_nodes) > meters.most[m, c]:
                return m * n_causes + 1 + c
        if meter["weighs_time"]:
            for c in range(n_columns):
                more = _asked(state, truth, j, c, n_nodes)
                if more > 0 and meters.ahead[m, c] + more * state.jobs[j]["walltime"] > meters.most_ahead[m, c]:
                    return m * n_causes + 1 + n_columns + c
    return -1


@kernel
def held_by(state, truth, j):
    """Why waiting job `j` may not start now, see `_why`; behind these is what `closed_to` says; -1 if it may."""
    if len(truth.meters.table) > 0 and not has_begun(state, j):
        why = over_limit(state, truth, j)
        if why >= 0:
            state.legs[state.jobs[j]["leg"]]["later"] = 0
            return why
    if len(state.planned) > 0 or len(truth.doors.table) > 0:
        p = closed_to(state, truth, j)
        if p >= 0:
            return len(truth.meters.table) * causes_of(truth.meters) + p
    return -1


@kernel
def _first_held(state):
    """Where those begin in the queue who may be held back: a limit holds nobody who has begun."""
    counts = state.counts[0]
    return counts["queue_first"] if len(state.planned) > 0 else counts["queue_begun"]


@kernel
def _add(state, truth, j, n_nodes, seconds):
    """Count job `j`, which has so many seconds to run."""
    meters = truth.meters
    for k in range(meters.first[j], meters.first[j + 1]):
        m = meters.of[k]
        meters.table[m]["jobs"] += 1
        for c in range(meters.most.shape[1]):
            more = _asked(state, truth, j, c, n_nodes)
            meters.used[m, c] += more
            if more > 0:
                meters.ahead[m, c] += more * seconds


@kernel
def count_begun(state, truth):
    """Add up what has begun: jobs that run, and those that wait between two legs."""
    counts, meters, now = state.counts[0], truth.meters, state.clock[0]["now"]
    for m in range(len(meters.table)):
        meters.table[m]["jobs"] = 0
        for c in range(meters.most.shape[1]):
            meters.used[m, c] = 0
            meters.ahead[m, c] = 0.0
    for i in range(counts["n_running"]):
        j = state.running[i]["job"]
        _add(state, truth, j, state.jobs[j]["nodes"], max(state.running[i]["end"] - now, 0.0))
    for i in range(counts["queue_first"], counts["queue_begun"]):
        j = state.queue[i]
        if j >= 0:
            _add(state, truth, j, state.jobs[j]["nodes"], state.legs[state.jobs[j]["leg"]]["walltime"])


@kernel
def turned_away(state, truth, j):
    """Whether limits turn job `j` away when it is submitted."""
    meters = truth.meters
    if meters.away[j]:
        return True
    rejects = False
    for k in range(meters.first[j], meters.first[j + 1]):
        meter = meters.table[meters.of[k]]
        if not meter["waits"] and meter["submitted"] + 1 > meter["max_submit"]:
            return True
        rejects = rejects or meter["rejects"]
    if not rejects:
        return False
    count_begun(state, truth)
    for k in range(meters.first[j], meters.first[j + 1]):
        m = meters.of[k]
        full = meters.table[m]["jobs"] + 1 > meters.table[m]["max_jobs"]
        if meters.table[m]["rejects"] and (full or meters.used[m, 0] + truth.jobs[j]["nodes"] > meters.most[m, 0]):
            return True
    return False


@kernel
def n_held(state, truth):
    """How many waiting jobs may not start now."""
    counts, held = state.counts[0], 0
    count_begun(state, truth)
    for i in range(_first_held(state), counts["queue_last"]):
        if state.queue[i] >= 0 and held_by(state, truth, state.queue[i]) >= 0:
            held += 1
    return held


@kernel
def hide(state, truth):
    """Take the jobs that may not start now out of the queue, until `admit`; note why, where that has changed."""
    counts, cursor, cause = state.counts[0], truth.cursor[0], truth.meters.cause
    count_begun(state, truth)
    for i in range(_first_held(state), counts["queue_last"]):
        j = state.queue[i]
        if j < 0:
            continue
        why = held_by(state, truth, j)
        if why != cause[j]:
            write_held(truth, state.clock[0]["now"], j, why)
            cause[j] = why
        if why >= 0:
            state.queue[i] = -2 - j  # a hole, but not for good: see policies._kernels.long_line
            truth.hidden[cursor["n_hidden"]] = j
            cursor["n_hidden"] += 1
    counts["n_queued"] -= cursor["n_hidden"]


@kernel
def admit(state, truth):
    """Put hidden jobs back, and put off the actions from the first start on that exceeds a limit.

    Returns a hidden job that the policy started all the same, or one with a size that exceeds a limit; -1 if none.
    """
    counts, cursor = state.counts[0], truth.cursor[0]
    refused = -1
    for a in range(min(counts["n_actions"], len(state.actions))):
        j = state.actions[a]["job"]
        if state.actions[a]["verb"] != Verb.START or j < 0 or j >= len(state.jobs):
            continue
        job = state.jobs[j]
        if job["state"] != JobState.QUEUED:
            continue
        if has_begun(state, j) or len(truth.meters.table) == 0:
            if state.queue[job["at"]] < 0:
                refused = j
                break
            continue
        nodes = max(state.actions[a]["nodes"], job["nodes"])
        if over_limit(state, truth, j) >= 0 and state.queue[job["at"]] >= 0:
            counts["n_actions"] = a
            cursor["again"] = 1
            break
        if state.queue[job["at"]] < 0 or _why(state, truth, j, nodes) >= 0:  # the same once more would not help
            refused = j
            break
        _add(state, truth, j, nodes, state.legs[job["leg"]]["walltime"])
    for i in range(cursor["n_hidden"]):
        j = truth.hidden[i]
        state.queue[state.jobs[j]["at"]] = j
    counts["n_queued"] += cursor["n_hidden"]
    cursor["n_hidden"] = 0
    return refused
