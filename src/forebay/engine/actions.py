"""Actions, checked one by one, then carried out: a policy's bug never corrupts a run."""

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, LogReason, Refusal, Status, Verb
from forebay.engine.allocation.picks import settle_places
from forebay.engine.allocation.ways import takes_way
from forebay.engine.ending import reject
from forebay.engine.legs import cancel, start_leg
from forebay.engine.malleable.resize import resize_as_asked, takes_size
from forebay.engine.placing.kernels import put_off, was_put_off
from forebay.engine.preemption.kernels import interrupt_as_asked
from forebay.engine.queue import has_begun
from forebay.engine.refusal import refuse
from forebay.engine.steering.kernels import steer_as_asked


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
    j, reason = action["job"], action["reason"]
    refusal = _cannot_start(state, j)
    if refusal != Refusal.NONE:
        return refuse(truth, refusal, j, -1)
    if reason < LogReason.NONE or reason > LogReason.BACKFILLED:
        return refuse(truth, Refusal.UNKNOWN_REASON, j, reason)
    if not takes_way(state, j, action["way"]):
        return refuse(truth, Refusal.WRONG_WAY, j, action["way"])
    if not takes_size(state, truth, j, action["nodes"]):
        return refuse(truth, Refusal.WRONG_SIZE, j, action["nodes"])
    leg = state.jobs[j]["leg"]
    for r in range(len(state.resources)):
        if state.demands[leg, r] > state.resources[r]["free"]:
            return refuse(truth, Refusal.OVERSUBSCRIBED, j, r)
    refusal, short, first, n_picks, by_engine = settle_places(state, truth, action)
    if put_off(state, truth, refusal):
        return Status.DECIDE.value
    if refusal != Refusal.NONE:
        return refuse(truth, refusal, j, short)
    if by_engine:
        start_leg(state, truth, j, reason, truth.picks, first, n_picks)
    else:
        start_leg(state, truth, j, reason, state.picks, first, n_picks)
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
            status = resize_as_asked(state, truth, action)
        elif verb == Verb.INTERRUPT:
            status = interrupt_as_asked(state, truth, action)
        elif verb == Verb.KILL:
            status = _kill(state, truth, action["job"])
        elif verb >= Verb.IO_WEIGHT and verb <= Verb.IO_CAP:
            status = steer_as_asked(state, truth, action)
        elif verb == Verb.STOP:
            status = Status.STOPPED.value
        else:
            status = refuse(truth, Refusal.UNKNOWN_VERB, action["job"], -1)
        if status != Status.DECIDE:
            return status
        if was_put_off(truth):
            break
    counts["n_actions"] = 0
    counts["n_picks"] = 0
    counts["n_shares"] = 0
    return Status.DECIDE.value
