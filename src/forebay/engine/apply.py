"""Actions, checked one by one, then carried out: a policy's bug never corrupts a run."""

from numba import types

from forebay._numba.jit import kernel
from forebay.algorithms.kinds import fewest_large
from forebay.algorithms.nodeset import find
from forebay.algorithms.place import count_chunks, place
from forebay.core.codes import JobState, LogKind, Refusal, Status, Verb, Why
from forebay.engine.phases import first_large, start_leg, write_log
from forebay.engine.queue import dequeue
from forebay.engine.truth import TRUTH


@kernel(types.int64(TRUTH, types.int64, types.int64, types.int64))
def refuse(truth, refusal, job, resource):
    """Note why an action is refused."""
    cursor = truth.cursor[0]
    cursor["refusal"] = refusal
    cursor["refused_job"] = job
    cursor["refused_resource"] = resource
    return Status.REFUSED.value


@kernel
def _large_of(state, j, n_large, first_pick, n_picks):
    """How many large nodes job `j` takes: what its picks say, or the policy did, else as few as can be."""
    leg, large = state.jobs[j]["leg"], state.clock[0]["large"]
    if n_picks > 0:
        n_large, first = 0, first_large(state)
        for i in range(first_pick, first_pick + n_picks):
            pick = state.picks[i]
            n_large += max(pick["low"] + pick["count"] - max(pick["low"], first), 0)
        return n_large
    if n_large >= 0 and state.demands[leg, large] == 0:
        return n_large
    return fewest_large(state.demands[leg], large, state.resources[0]["free"], state.resources[large]["free"])


@kernel
def _check_picks(state, truth, j, first_pick, n_picks):
    """What is wrong with the nodes and servers picked for job `j`, if anything. Nodes must ascend."""
    n_free, leg = state.clock[0]["n_free"], state.jobs[j]["leg"]
    size, n_nodes, n_chunks, following = state.legs[leg]["chunk"], 0, 0, 0
    lowest = 0
    if state.clock[0]["large"] >= 0 and state.demands[leg, state.clock[0]["large"]] > 0:
        lowest = first_large(state)
    if first_pick < 0 or first_pick + n_picks > len(state.picks):
        return Refusal.WRONG_NODES.value
    for s in range(len(state.room)):
        truth.room[s] = state.room[s]
    for i in range(first_pick, first_pick + n_picks):
        pick = state.picks[i]
        if pick["low"] >= 0:
            at = find(state.free, n_free, pick["low"])
            last = pick["low"] + pick["count"] - 1
            if pick["low"] < max(following, lowest) or pick["count"] < 1 or at < 0 or state.free[at]["high"] < last:
                return Refusal.WRONG_NODES.value
            n_nodes += pick["count"]
            following = last + 1
        if size > 0:
            if pick["server"] < 0 or pick["server"] >= len(state.room) or pick["count"] < 1:
                return Refusal.NO_ROOM.value
            n_chunks += pick["count"]
            truth.room[pick["server"]] -= size * pick["count"]
            if truth.room[pick["server"]] < 0:
                return Refusal.NO_ROOM.value
    if n_nodes != state.demands[leg, 0]:
        return Refusal.WRONG_NODES.value
    if size > 0 and n_chunks != max(state.jobs[j]["nodes"], 1):
        return Refusal.NO_ROOM.value
    return Refusal.NONE.value


@kernel
def _place(state, truth, j):
    """Pick nodes and servers for a job that takes chunks and names none; returns how many picks, -1 without room."""
    job = state.jobs[j]
    leg, n_chunks = job["leg"], max(job["nodes"], 1)
    size = state.legs[leg]["chunk"]
    if count_chunks(state.room, size, n_chunks) < n_chunks:
        return -1
    for s in range(len(state.room)):
        truth.room[s] = state.room[s]
    n_free, n_nodes = state.clock[0]["n_free"], state.demands[leg, 0]
    return place(state.free, n_free, state.site, state.near, truth.room, n_nodes, n_chunks, size, truth.picks, 0)


@kernel
def _choose_tier(state, j, tier):
    """Make the legs of job `j` on this tier of storage its own, if it has any there; legs after the first stay."""
    job = state.jobs[j]
    leg = job["leg"]
    if state.legs[leg]["number"] > 0:
        return True
    while leg >= 0 and state.legs[leg]["tier"] != tier:
        leg = state.legs[leg]["other"]
    if leg < 0:
        return False
    job["leg"] = leg
    job["last_leg"] = state.legs[leg]["last"]
    job["tier"] = tier
    return True


@kernel
def _start(state, truth, j, why, first_pick, n_picks, tier, n_large):
    if j < 0 or j >= len(state.jobs):
        return refuse(truth, Refusal.UNKNOWN_JOB, j, -1)
    job = state.jobs[j]
    if job["state"] == JobState.UNSUBMITTED:
        return refuse(truth, Refusal.NOT_SUBMITTED, j, -1)
    if job["state"] == JobState.RUNNING:
        return refuse(truth, Refusal.ALREADY_STARTED, j, -1)
    if job["state"] != JobState.QUEUED:
        return refuse(truth, Refusal.ENDED, j, -1)
    if not _choose_tier(state, j, tier):
        return refuse(truth, Refusal.WRONG_TIER, j, tier)
    for r in range(len(state.resources)):
        if state.demands[job["leg"], r] > state.resources[r]["free"]:
            return refuse(truth, Refusal.OVERSUBSCRIBED, j, r)
    if len(truth.placements) - truth.cursor[0]["n_placed"] < state.clock[0]["n_free"] + n_picks:
        return Status.FULL.value
    if n_picks > 0:
        refusal = _check_picks(state, truth, j, first_pick, n_picks)
        if refusal != Refusal.NONE:
            return refuse(truth, refusal, j, 0 if refusal == Refusal.WRONG_NODES else state.clock[0]["chunked"])
    large = state.clock[0]["large"]
    if large >= 0:
        n_large = _large_of(state, j, n_large, first_pick, n_picks)
        n_small, free = state.demands[job["leg"], 0] - n_large, state.resources[large]["free"]
        if n_large > free or n_small < 0 or n_small > state.resources[0]["free"] - free:
            return refuse(truth, Refusal.OVERSUBSCRIBED, j, large)
        state.releases[job["leg"], large] = n_large
    if n_picks > 0:
        start_leg(state, truth, j, why, state.picks, first_pick, n_picks)
    elif state.legs[job["leg"]]["chunk"] > 0:
        n_picks = _place(state, truth, j)
        if n_picks < 0:
            return refuse(truth, Refusal.NO_ROOM, j, state.clock[0]["chunked"])
        start_leg(state, truth, j, why, truth.picks, 0, n_picks)
    else:
        start_leg(state, truth, j, why, state.picks, 0, 0)
    return Status.DECIDE.value


@kernel
def _reject(state, truth, j):
    if j < 0 or j >= len(state.jobs):
        return refuse(truth, Refusal.UNKNOWN_JOB, j, -1)
    job = state.jobs[j]
    if job["state"] != JobState.QUEUED or truth.steps[job["leg"]]["number"] > 0:
        return refuse(truth, Refusal.CANNOT_REJECT, j, -1)
    dequeue(state, j)
    job["state"] = JobState.REJECTED
    truth.cursor[0]["n_open"] -= 1
    truth.cursor[0]["n_ended"] += 1
    write_log(state, truth, state.clock[0]["now"], j, LogKind.REJECT, -1, 0, Why.BY_POLICY)
    return Status.DECIDE.value


@kernel
def _wake(state, truth, time):
    cursor = truth.cursor[0]
    if not time > state.clock[0]["now"]:
        return refuse(truth, Refusal.WAKE_NOT_LATER, -1, -1)
    n = cursor["n_wakes"]
    at = n
    while at > 0 and truth.wakes[at - 1] > time:
        at -= 1
    if at > 0 and truth.wakes[at - 1] == time:
        return Status.DECIDE.value
    if n == len(truth.wakes):
        return refuse(truth, Refusal.TOO_MANY_WAKES, -1, -1)
    for i in range(n, at, -1):
        truth.wakes[i] = truth.wakes[i - 1]
    truth.wakes[at] = time
    cursor["n_wakes"] = n + 1
    return Status.DECIDE.value


@kernel
def apply(state, truth):
    """Carry out this instant's actions in order. Anything but DECIDE means that one could not be; it stays the next."""
    clock, cursor = state.clock[0], truth.cursor[0]
    if clock["n_actions"] > len(state.actions):
        return refuse(truth, Refusal.TOO_MANY_ACTIONS, -1, -1)
    while cursor["next_action"] < clock["n_actions"]:
        action = state.actions[cursor["next_action"]]
        verb = action["verb"]
        if verb == Verb.START:
            status = _start(
                state,
                truth,
                action["job"],
                action["why"],
                action["first_pick"],
                action["n_picks"],
                action["tier"],
                action["large"],
            )
        elif verb == Verb.WAKE:
            status = _wake(state, truth, action["time"])
        elif verb == Verb.REJECT:
            status = _reject(state, truth, action["job"])
        elif verb == Verb.STOP:
            status = Status.STOPPED.value
        else:
            status = refuse(truth, Refusal.UNKNOWN_VERB, action["job"], -1)
        if status != Status.DECIDE:
            return status
        cursor["next_action"] += 1
    cursor["next_action"] = 0
    clock["n_actions"] = 0
    clock["n_picks"] = 0
    return Status.DECIDE.value
