"""Actions, checked one by one, then carried out: a policy's bug never corrupts a run."""

from numba import types

from forebay._numba.jit import kernel
from forebay.algorithms.nodeset import find
from forebay.algorithms.place import count_chunks, place
from forebay.core.codes import AGAIN, JobState, LogReason, Refusal, Resume, Status, Trigger, Verb
from forebay.core.tables import flex_row
from forebay.engine.allocation.allocate import gains_and_losses
from forebay.engine.allocation.node_sets import may_have, settle_atoms
from forebay.engine.checkpoints.kernels import is_guarded
from forebay.engine.ending import reject
from forebay.engine.legs import cancel, start_leg
from forebay.engine.malleable.resize import cannot_resize, choose_size, gives_at_once, nodes_missing, resize
from forebay.engine.preemption.kernels import leave
from forebay.engine.queue import has_begun
from forebay.engine.shared_nodes.kernels import settle_inside
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
def _check_picks(state, truth, action):
    """What is wrong with the nodes and servers picked for a start, if anything. Nodes must ascend."""
    j, first_pick, n_picks, room = action["job"], action["first_pick"], action["n_picks"], truth.room
    idle, n_idle, leg = state.nodes.idle, state.counts[0]["n_idle"], state.jobs[j]["leg"]
    size, n_nodes, n_chunks, following = state.legs[leg]["chunk"], 0, 0, 0
    if n_picks < 0 or n_picks > len(state.picks) or first_pick < 0 or first_pick > len(state.picks) - n_picks:
        return Refusal.WRONG_NODES.value
    for s in range(len(room)):
        room[s] = state.servers.room[s]
    for i in range(first_pick, first_pick + n_picks):
        pick = state.picks[i]
        if pick["count"] < 1 or pick["count"] > max(state.jobs[j]["nodes"], 1):  # sums below cannot wrap around
            return Refusal.WRONG_NODES.value
        if pick["low"] >= 0:
            at = find(idle, n_idle, pick["low"])
            last = pick["low"] + pick["count"] - 1
            if pick["low"] < following or at < 0 or idle[at]["high"] < last:
                return Refusal.WRONG_NODES.value
            if not may_have(state, leg, pick["low"], pick["count"]):
                return Refusal.WRONG_NODES.value
            n_nodes += pick["count"]
            following = last + 1
        if size > 0:
            if pick["server"] < 0 or pick["server"] >= len(room):
                return Refusal.NO_ROOM.value
            n_chunks += pick["count"]
            room[pick["server"]] -= size * pick["count"]
            if room[pick["server"]] < 0:
                return Refusal.NO_ROOM.value
    if n_nodes != state.demands[leg, 0]:
        return Refusal.WRONG_NODES.value
    if size > 0 and n_chunks != max(state.jobs[j]["nodes"], 1):
        return Refusal.NO_ROOM.value
    return Refusal.NONE.value


@kernel
def _place(state, truth, j):
    """Pick nodes and servers for a job that takes chunks and names none; returns how many picks, -1 without room."""
    job, servers, room = state.jobs[j], state.servers, truth.room
    leg, n_chunks = job["leg"], max(job["nodes"], 1)
    size = state.legs[leg]["chunk"]
    if len(room) == 0 or count_chunks(servers.room, size, n_chunks) < n_chunks:
        return -1
    for s in range(len(room)):
        room[s] = servers.room[s]
    nodes, n_idle = state.nodes, state.counts[0]["n_idle"]
    n_nodes = state.demands[leg, 0]
    return place(nodes.idle, n_idle, nodes.site, servers.near, room, n_nodes, n_chunks, size, truth.picks, 0)


@kernel
def _choose_way(state, j, way):
    """Make the legs of this way to run those of job `j`, if it has it; one that has begun keeps its way."""
    job = state.jobs[j]
    leg = job["leg"]
    if has_begun(state, j):
        return True
    while leg >= 0 and state.legs[leg]["way"] != way:
        leg = state.legs[leg]["other"]
    if leg < 0:
        return False
    job["leg"] = leg
    job["last_leg"] = state.legs[leg]["last"]
    return True


@kernel
def _cannot_start(state, j):
    """Why job `j` cannot start, whatever is free."""
    if j < 0 or j >= len(state.jobs):
        return Refusal.UNKNOWN_JOB.value
    phase = state.jobs[j]["state"]
    if phase == JobState.QUEUED:
        return Refusal.NONE.value
    if phase == JobState.UNSUBMITTED:
        return Refusal.NOT_SUBMITTED.value
    return Refusal.ALREADY_STARTED.value if phase == JobState.RUNNING else Refusal.ENDED.value


@kernel
def start(state, truth, action):
    """Start a job as an action says, on what is free now."""
    j, n_picks, chunked = action["job"], action["n_picks"], state.machine[0]["chunked"]
    refusal = _cannot_start(state, j)
    if refusal != Refusal.NONE:
        return refuse(truth, refusal, j, -1)
    if action["reason"] < LogReason.NONE or action["reason"] > LogReason.BACKFILLED:
        return refuse(truth, Refusal.UNKNOWN_REASON, j, action["reason"])
    if not _choose_way(state, j, action["way"]):
        return refuse(truth, Refusal.WRONG_WAY, j, action["way"])
    if action["nodes"] != 0 and not choose_size(state, truth, j, action["nodes"]):
        return refuse(truth, Refusal.WRONG_SIZE, j, action["nodes"])
    leg = state.jobs[j]["leg"]
    for r in range(len(state.resources)):
        if state.demands[leg, r] > state.resources[r]["free"]:
            return refuse(truth, Refusal.OVERSUBSCRIBED, j, r)
    if state.machine[0]["placement"] >= 0:
        return _start_inside(state, truth, action)
    if n_picks != 0:
        refusal = _check_picks(state, truth, action)
        if refusal != Refusal.NONE:
            return refuse(truth, refusal, j, 0 if refusal == Refusal.WRONG_NODES else chunked)
    if not settle_atoms(state, leg, action):
        return refuse(truth, Refusal.OVERSUBSCRIBED, j, 0)
    if n_picks > 0:
        start_leg(state, truth, j, action["reason"], state.picks, action["first_pick"], n_picks)
    elif state.legs[leg]["chunk"] > 0:
        n_picks = _place(state, truth, j)
        if n_picks < 0:
            return refuse(truth, Refusal.NO_ROOM, j, chunked)
        start_leg(state, truth, j, action["reason"], truth.picks, 0, n_picks)
    else:
        start_leg(state, truth, j, action["reason"], state.picks, 0, 0)
    return Status.DECIDE.value


@kernel
def _start_inside(state, truth, action):
    """Start a job whose amounts are free on nodes that are shared: on those picked, or where the rule puts it."""
    j = action["job"]
    refusal, n_picks = settle_inside(state, truth, action)
    if refusal != Refusal.NONE:
        return refuse(truth, refusal, j, 0)
    if action["n_picks"] > 0:
        start_leg(state, truth, j, action["reason"], state.picks, action["first_pick"], n_picks)
    else:
        start_leg(state, truth, j, action["reason"], truth.picks, 0, n_picks)
    return Status.DECIDE.value


@kernel
def _resize(state, truth, action):
    j, nodes, n_picks = action["job"], action["nodes"], action["n_picks"]
    refusal = cannot_resize(state, truth, j, nodes)
    if len(state.flexible.row) == 0 or refusal != Refusal.NONE:
        return refuse(truth, refusal, j, nodes)
    missing = nodes_missing(state, j, nodes)
    if n_picks != 0:
        first = action["first_pick"]
        if n_picks < 0 or n_picks > len(state.picks) or first < 0 or first > len(state.picks) - n_picks:
            return refuse(truth, Refusal.WRONG_NODES, j, 0)
        gains, losses = gains_and_losses(state, j, state.picks, first, n_picks)
        # Away from its point a job keeps what it has: which nodes it will lose is not asked of it.
        if gains < 0 or gains - losses != missing or (losses > 0 and not gives_at_once(state, j)):
            return refuse(truth, Refusal.WRONG_NODES, j, 0)
    if missing > state.resources[0]["free"]:
        return refuse(truth, Refusal.OVERSUBSCRIBED, j, 0)
    resize(state, truth, j, nodes, state.picks, action["first_pick"], n_picks)
    # Elsewhere it could give back what it was only promised, and be promised it again, in one instant for ever.
    if missing < 0 and action["way"] == AGAIN and state.flexible.jobs[flex_row(state, j)]["at_point"]:
        state.clock[0]["triggers"] |= Trigger.RELEASED
    return Status.DECIDE.value


@kernel
def _interrupt(state, truth, action):
    j, resume = action["job"], action["way"]
    if j < 0 or j >= len(state.jobs):
        return refuse(truth, Refusal.UNKNOWN_JOB, j, -1)
    if state.jobs[j]["state"] != JobState.RUNNING:
        return refuse(truth, Refusal.CANNOT_INTERRUPT, j, -1)
    if state.jobs[j]["leg_start"] == state.clock[0]["now"]:
        return refuse(truth, Refusal.JUST_STARTED, j, -1)
    if resume < Resume.LAST or resume > Resume.NEXT:
        return refuse(truth, Refusal.UNKNOWN_RESUME, j, resume)
    if resume != Resume.LAST and not is_guarded(state, truth, j):
        return refuse(truth, Refusal.NO_CHECKPOINTS, j, -1)
    leave(state, truth, j, resume)
    truth.cursor[0]["again"] = 1
    return Status.DECIDE.value


@kernel
def _kill(state, truth, j):
    if j < 0 or j >= len(state.jobs):
        return refuse(truth, Refusal.UNKNOWN_JOB, j, -1)
    if state.jobs[j]["state"] != JobState.RUNNING and state.jobs[j]["state"] != JobState.QUEUED:
        return refuse(truth, Refusal.CANNOT_KILL, j, -1)
    cancel(state, truth, j, state.clock[0]["now"])
    return Status.DECIDE.value


@kernel
def _reject(state, truth, j):
    if j < 0 or j >= len(state.jobs):
        return refuse(truth, Refusal.UNKNOWN_JOB, j, -1)
    if state.jobs[j]["state"] != JobState.QUEUED or has_begun(state, j):
        return refuse(truth, Refusal.CANNOT_REJECT, j, -1)
    reject(state, truth, j, state.clock[0]["now"], LogReason.BY_POLICY)
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
    """Carry out this instant's actions in order. Anything but DECIDE means that one could not be."""
    counts = state.counts[0]
    if counts["n_actions"] >= len(state.actions):
        return refuse(truth, Refusal.TOO_MANY_ACTIONS, -1, -1)
    for a in range(counts["n_actions"]):
        action = state.actions[a]
        verb = action["verb"]
        if verb == Verb.START:
            status = start(state, truth, action)
        elif verb == Verb.WAKE:
            status = _wake(state, truth, action["time"])
        elif verb == Verb.REJECT:
            status = _reject(state, truth, action["job"])
        elif verb == Verb.RESIZE:
            status = _resize(state, truth, action)
        elif verb == Verb.INTERRUPT:
            status = _interrupt(state, truth, action)
        elif verb == Verb.KILL:
            status = _kill(state, truth, action["job"])
        elif verb == Verb.STOP:
            status = Status.STOPPED.value
        else:
            status = refuse(truth, Refusal.UNKNOWN_VERB, action["job"], -1)
        if status != Status.DECIDE:
            return status
    counts["n_actions"] = 0
    counts["n_picks"] = 0
    counts["n_shares"] = 0
    return Status.DECIDE.value
