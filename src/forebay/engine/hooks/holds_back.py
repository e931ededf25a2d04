"""Jobs that may not start now, by limits, reservations or partitions, around any policy.

Before a decision, they leave holes in the queue, so that no policy sees them. After it, the actions up to the first
start that exceeds a limit are carried out, and the policy decides again: what it decided behind that start rested on
it. It also decides again once its starts have brought others to a limit: a job that is held back then blocks no other,
and has no reservation.
"""

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, Verb
from forebay.engine.causes import HeldBy
from forebay.engine.limits.kernels import count_begun, exceeded, over_limit, take
from forebay.engine.log import write_held
from forebay.engine.queue import has_begun
from forebay.engine.reservations.kernels import closed_to


@kernel
def holds_back(state, truth, j):
    """What keeps waiting job `j` from starting now, see `causes`: by what, which row, what part of it."""
    row, part = over_limit(state, truth, j)
    if row >= 0:
        return HeldBy.LIMIT.value, row, part
    by, row = closed_to(state, truth, j)
    return by, row, 0


@kernel
def _first_held(state):
    """Where those begin in the queue that may be held back: a limit holds back no job that has begun."""
    counts = state.counts[0]
    return counts["queue_first"] if len(state.planned) > 0 else counts["queue_begun"]


@kernel
def are_more(state, truth, n_hidden):
    """Whether more of the jobs that wait may not start now than were hidden before the decision."""
    if len(truth.hidden) == 0:
        return False
    counts, held = state.counts[0], 0
    count_begun(state, truth)
    for i in range(_first_held(state), counts["queue_last"]):
        if state.queue[i] >= 0 and holds_back(state, truth, state.queue[i])[0] != HeldBy.NOTHING:
            held += 1
    return held > n_hidden


@kernel
def hide(state, truth):
    """Take the jobs that may not start now out of the queue, until `admit`; note why, where that has changed."""
    if len(truth.hidden) == 0:
        return
    counts, cursor = state.counts[0], truth.cursor[0]
    count_begun(state, truth)
    for i in range(_first_held(state), counts["queue_last"]):
        j = state.queue[i]
        if j < 0:
            continue
        by, row, part = holds_back(state, truth, j)
        write_held(truth, state.clock[0]["now"], j, by, row, part)
        if by != HeldBy.NOTHING:
            state.queue[i] = -2 - j  # a hole, but not for good: see policies._kernels.queue.index
            truth.hidden[cursor["n_hidden"]] = j
            cursor["n_hidden"] += 1
    counts["n_queued"] -= cursor["n_hidden"]


@kernel
def _put_off(state, truth):
    """Keep the actions up to the first start that exceeds a limit; a job that must not start at all, -1 if none."""
    counts = state.counts[0]
    for a in range(min(counts["n_actions"], len(state.actions))):
        j = state.actions[a]["job"]
        if state.actions[a]["verb"] != Verb.START or j < 0 or j >= len(state.jobs):
            continue
        job = state.jobs[j]
        if job["state"] != JobState.QUEUED:
            continue
        is_hidden = state.queue[job["at"]] < 0
        if has_begun(state, j) or len(truth.meters.table) == 0:
            if is_hidden:
                return j
            continue
        if not is_hidden and exceeded(state, truth, j, job["nodes"])[0] >= 0:
            counts["n_actions"] = a
            counts["layout"] += 1  # an index may have left out jobs that were to start
            truth.cursor[0]["again"] = 1
            break
        if is_hidden or not take(state, truth, j, max(state.actions[a]["nodes"], job["nodes"])):
            return j  # to decide once more would not help
    return -1


@kernel
def admit(state, truth):
    """Put hidden jobs back, and put off the actions from the first start on that exceeds a limit.

    Returns a hidden job that the policy started all the same, or one with a size that exceeds a limit; -1 if none.
    """
    if len(truth.hidden) == 0:
        return -1
    counts, cursor = state.counts[0], truth.cursor[0]
    refused = _put_off(state, truth)
    for i in range(cursor["n_hidden"]):
        j = truth.hidden[i]
        state.queue[state.jobs[j]["at"]] = j
    counts["n_queued"] += cursor["n_hidden"]
    cursor["n_hidden"] = 0
    return refused
