"""Limits on what each user may have running, around any policy.

Before a decision, jobs that may not start leave holes in the queue, so that no policy sees them. After it, the actions
up to the first start that exceeds a limit are carried out, and the policy decides again: what it decided behind that
start rested on it. It also decides again once its starts have brought others to a limit: a job that is held back then
blocks nobody, and has no reservation.
"""

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, Verb
from forebay.engine.phases import has_begun


@kernel
def over_limit(state, truth, j):
    """Whether job `j`, which has not begun, would be too much for its user beside what that user has begun."""
    return _over_limit(truth, j, state.jobs[j]["nodes"])


@kernel
def _over_limit(truth, j, n_nodes):
    person, limits = truth.person[j], truth.limits[0]
    if person < 0:
        return False
    jobs, nodes = truth.begun[person, 0], truth.begun[person, 1]
    return jobs + 1 > limits["user_jobs"] or nodes + n_nodes > limits["user_nodes"]


@kernel
def _add(truth, j, n_nodes):
    person = truth.person[j]
    if person >= 0:
        truth.begun[person, 0] += 1
        truth.begun[person, 1] += n_nodes


@kernel
def count_begun(state, truth):
    """Add up what each user has begun: jobs that run, and those that wait between two legs."""
    counts = state.counts[0]
    truth.begun[:] = 0
    for i in range(counts["n_running"]):
        j = state.running[i]["job"]
        _add(truth, j, state.jobs[j]["nodes"])
    for i in range(counts["queue_first"], counts["queue_begun"]):
        j = state.queue[i]
        if j >= 0:
            _add(truth, j, state.jobs[j]["nodes"])


@kernel
def n_held(state, truth):
    """How many waiting jobs may not start now."""
    counts, held = state.counts[0], 0
    count_begun(state, truth)
    for i in range(counts["queue_begun"], counts["queue_last"]):
        if state.queue[i] >= 0 and over_limit(state, truth, state.queue[i]):
            held += 1
    return held


@kernel
def hide(state, truth):
    """Take the jobs that may not start now out of the queue, until `admit`."""
    counts, cursor = state.counts[0], truth.cursor[0]
    count_begun(state, truth)
    for i in range(counts["queue_begun"], counts["queue_last"]):
        j = state.queue[i]
        if j >= 0 and over_limit(state, truth, j):
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
        if job["state"] != JobState.QUEUED or has_begun(state, j):
            continue
        nodes = max(state.actions[a]["nodes"], job["nodes"])
        if over_limit(state, truth, j) and state.queue[job["at"]] >= 0:
            counts["n_actions"] = a
            cursor["again"] = 1
            break
        if state.queue[job["at"]] < 0 or _over_limit(truth, j, nodes):  # the same once more would not help
            refused = j
            break
        _add(truth, j, nodes)
    for i in range(cursor["n_hidden"]):
        j = truth.hidden[i]
        state.queue[state.jobs[j]["at"]] = j
    counts["n_queued"] += cursor["n_hidden"]
    cursor["n_hidden"] = 0
    return refused
