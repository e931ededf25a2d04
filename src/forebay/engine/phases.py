"""The life of a leg: it takes what it needs, goes through its phases, gives back what its job does not carry on."""

from numba import types

from forebay._numba.jit import kernel
from forebay.algorithms.heap import push, remove
from forebay.algorithms.nodeset import give_back, take_from, take_lowest, take_these
from forebay.core.codes import JobState, LogKind, PhaseKind, Reason, Why
from forebay.core.tables import PICKS, STATE
from forebay.engine.queue import add_running, dequeue, drop_running, enqueue_begun
from forebay.engine.transfers import clear_phase, free_transfer, launch, stop_phase
from forebay.engine.truth import TRUTH

_f8, _i8 = types.float64, types.int64

# Explicit signatures where callers pass codes, literals and columns alike: without, each mix is compiled anew.


@kernel(types.void(STATE, TRUTH, _f8, _i8, _i8, _i8, _i8, _i8))
def write_log(state, truth, time, j, kind, resource, amount, reason):
    """Append a row to the log."""
    cursor = truth.cursor[0]
    row = truth.log[cursor["n_log"]]
    row["time"] = time
    row["job"] = j
    row["kind"] = kind
    row["leg"] = truth.steps[state.jobs[j]["leg"]]["number"]
    row["resource"] = resource
    row["amount"] = amount
    row["reason"] = reason
    cursor["n_log"] += 1


@kernel
def _set_timer(truth, slot, time):
    cursor = truth.cursor[0]
    cursor["n_timers"] = push(truth.timers, truth.where, cursor["n_timers"], time, cursor["seq"], slot)
    cursor["seq"] += 1


@kernel
def cancel_timer(truth, slot):
    """Forget a timer, if it is set."""
    if truth.where[slot] >= 0:
        cursor = truth.cursor[0]
        cursor["n_timers"] = remove(truth.timers, truth.where, cursor["n_timers"], slot)


@kernel
def _note_nodes(state, truth, j, before):
    """Remember the nodes that job `j` has got since its chain began at `before`."""
    cursor = truth.cursor[0]
    head = state.jobs[j]["held"]
    while head != before:
        placement = truth.placements[cursor["n_placed"]]
        placement["job"] = j
        placement["low"] = state.held[head]["low"]
        placement["high"] = state.held[head]["high"]
        cursor["n_placed"] += 1
        head = state.held[head]["next"]


@kernel
def first_large(state):
    """The first node of the larger kind."""
    return len(state.site) - state.resources[state.clock[0]["large"]]["capacity"]


@kernel
def _take_nodes(state, truth, j, count):
    """Give job `j` the lowest free nodes; of the larger kind, if there is one, as many as it is to have."""
    clock, job = state.clock[0], state.jobs[j]
    before, n_large = job["held"], 0
    if clock["large"] >= 0:
        n_large = state.releases[job["leg"], clock["large"]]
    n_free, blank, head = take_lowest(
        state.free, clock["n_free"], state.held, clock["held_blank"], before, count - n_large
    )
    if n_large > 0:
        n_free, blank, head = take_from(state.free, n_free, state.held, blank, head, first_large(state), n_large)
    clock["n_free"] = n_free
    clock["held_blank"] = blank
    job["held"] = head
    _note_nodes(state, truth, j, before)


@kernel(types.void(STATE, TRUTH, _i8, PICKS, _i8, _i8))
def _take_picked(state, truth, j, picks, first_pick, n_picks):
    """Give job `j` the nodes and chunks that were picked for it."""
    clock, job = state.clock[0], state.jobs[j]
    before, size = job["held"], state.legs[job["leg"]]["chunk"]
    for i in range(first_pick, first_pick + n_picks):
        pick = picks[i]
        if pick["low"] >= 0:
            n_free, blank, head = take_these(
                state.free, clock["n_free"], state.held, clock["held_blank"], job["held"], pick["low"], pick["count"]
            )
            clock["n_free"] = n_free
            clock["held_blank"] = blank
            job["held"] = head
        if size > 0:
            row = clock["chunk_blank"]
            chunk = state.chunks[row]
            clock["chunk_blank"] = chunk["next"]
            chunk["server"] = pick["server"]
            chunk["count"] = pick["count"]
            chunk["size"] = size
            chunk["next"] = job["chunks"]
            job["chunks"] = row
            state.room[pick["server"]] -= size * pick["count"]
    _note_nodes(state, truth, j, before)


@kernel
def _free_chunks(state, j):
    """Empty the servers of all that job `j` has there: chunks are kept all or not at all."""
    clock, job = state.clock[0], state.jobs[j]
    while job["chunks"] >= 0:
        row = job["chunks"]
        chunk = state.chunks[row]
        state.room[chunk["server"]] += chunk["size"] * chunk["count"]
        job["chunks"] = chunk["next"]
        chunk["next"] = clock["chunk_blank"]
        clock["chunk_blank"] = row


@kernel(types.void(STATE, _i8, _i8, _i8))
def _give_back(state, j, resource, amount):
    state.resources[resource]["free"] += amount
    if resource == 0:
        clock, job = state.clock[0], state.jobs[j]
        n_free, blank, head = give_back(
            state.free, clock["n_free"], state.held, clock["held_blank"], job["held"], amount
        )
        clock["n_free"] = n_free
        clock["held_blank"] = blank
        job["held"] = head
    elif resource == state.clock[0]["chunked"]:
        _free_chunks(state, j)


@kernel
def _release_early(state, truth, time, j, phase):
    r, amount = phase["resource"], phase["amount"]
    state.releases[state.jobs[j]["leg"], r] -= amount
    write_log(state, truth, time, j, LogKind.RELEASE, r, amount, 0)
    _give_back(state, j, r, amount)
    large = state.clock[0]["large"]
    if r == 0 and large >= 0:  # nodes go back from the highest on, which are the large ones
        some = min(amount, state.releases[state.jobs[j]["leg"], large])
        if some > 0:
            state.releases[state.jobs[j]["leg"], large] -= some
            write_log(state, truth, time, j, LogKind.RELEASE, large, some, 0)
            _give_back(state, j, large, some)


@kernel(types.void(STATE, TRUTH, _i8, _f8, _i8))
def end_leg(state, truth, j, time, final):
    """The running leg of `j` is over: a job that ends gives back all it holds, another what its next leg can spare."""
    clock, job = state.clock[0], state.jobs[j]
    leg = job["leg"]
    ends = final != JobState.COMPLETED or leg == job["last_leg"]
    why = Why.COMPLETED
    if ends and final != JobState.COMPLETED:
        why = Why.WALLTIME if final == JobState.WALLTIME_REACHED else Why.CANCELLED
    cancel_timer(truth, 2 * j)
    cancel_timer(truth, 2 * j + 1)
    drop_running(state, j, job["leg_start"] + truth.steps[leg]["walltime"])
    for r in range(len(state.resources)):
        amount = state.releases[leg, r]
        if ends:
            amount += truth.carries[leg, r]
        if r == 0:
            write_log(state, truth, time, j, LogKind.END, 0, amount, why)
        elif amount > 0:
            write_log(state, truth, time, j, LogKind.RELEASE, r, amount, why)
        if amount > 0:
            _give_back(state, j, r, amount)
    if ends:
        job["state"] = final
        job["finish"] = time
        truth.cursor[0]["n_open"] -= 1
        truth.cursor[0]["n_ended"] += 1
        clock["reason"] |= Reason.JOB_ENDED
    else:
        job["leg"] = leg + 1
        job["state"] = JobState.QUEUED
        job["queued_since"] = time
        enqueue_begun(state, j)
        write_log(state, truth, time, j, LogKind.QUEUE, -1, 0, 0)
        clock["reason"] |= Reason.LEG_ENDED


@kernel(types.void(STATE, TRUTH, _f8, _i8, _i8, _i8, _f8))
def _log_phase(state, truth, time, j, kind, phase_kind, amount):
    """Record that a phase begins or ends, if this leg's phases are of interest."""
    if truth.steps[state.jobs[j]["leg"]]["logged"]:
        write_log(state, truth, time, j, kind, -1, amount, Why.STAGE_IN + phase_kind)


@kernel
def begin_phase(state, truth, j, time):
    """Begin the next phase of job `j`, and drains on the way to it; without any left, the leg is over."""
    step, activity = truth.steps[state.jobs[j]["leg"]], truth.activities[j]
    while step["phase"] < step["last_phase"]:
        phase = truth.phases[step["phase"]]
        _log_phase(state, truth, time, j, LogKind.BEGIN_PHASE, phase["kind"], 0)
        begun, seconds = launch(state, truth, j, phase, time)
        if phase["kind"] != PhaseKind.DRAIN:
            if begun == 0:
                _set_timer(truth, 2 * j, time + seconds)
            return
        if begun == 0:
            _log_phase(state, truth, time, j, LogKind.END_PHASE, phase["kind"], phase["bytes"])
        step["phase"] += 1
    activity["final"] = JobState.COMPLETED
    if activity["drains"] == 0:
        end_leg(state, truth, j, time, JobState.COMPLETED)


@kernel
def end_phase(state, truth, j, time):
    """The phase of job `j` is over: on to the next."""
    step = truth.steps[state.jobs[j]["leg"]]
    phase = truth.phases[step["phase"]]
    clear_phase(truth, j)
    _log_phase(state, truth, time, j, LogKind.END_PHASE, phase["kind"], phase["bytes"])
    if phase["resource"] >= 0:
        _release_early(state, truth, time, j, phase)
        state.clock[0]["reason"] |= Reason.SCHEDULING_POINT
    step["phase"] += 1
    begin_phase(state, truth, j, time)


@kernel
def end_transfer(state, truth, f):
    """Transfer `f` has moved all its bytes: it may have been the last of its phase, or the last that its leg awaits."""
    transfer = truth.network.transfers[f]
    j, time = transfer["job"], transfer["end"]
    activity = truth.activities[j]
    if not transfer["drain"]:
        activity["streams"] -= 1
        if activity["streams"] == 0:
            end_phase(state, truth, j, time)
        return
    if truth.steps[state.jobs[j]["leg"]]["logged"]:
        write_log(state, truth, time, j, LogKind.END_PHASE, -1, transfer["amount"], Why.DRAIN)
    free_transfer(truth.network, f)
    activity["drains"] -= 1
    if activity["drains"] == 0 and activity["final"] > 0:
        end_leg(state, truth, j, time, activity["final"])


@kernel
def kill(state, truth, j, time, final):
    """Job `j` ends as `final`: its phase stops at once. Drains run on, and it holds what it has until then."""
    step, activity = truth.steps[state.jobs[j]["leg"]], truth.activities[j]
    if activity["final"] > 0:  # only drains are left
        return
    cancel_timer(truth, 2 * j)
    phase = truth.phases[step["phase"]]
    moved = stop_phase(truth, j, time)
    if phase["kind"] == PhaseKind.COMPUTE:
        moved = 0.0  # what nodes send one another is not for the log
    _log_phase(state, truth, time, j, LogKind.END_PHASE, phase["kind"], moved)
    step["phase"] = step["last_phase"]
    activity["final"] = final
    if activity["drains"] == 0:
        end_leg(state, truth, j, time, final)


@kernel
def cancel(state, truth, j, time):
    """The user of job `j` withdraws it, wherever it is; one that waits between its legs gives back what it carries."""
    job, cursor = state.jobs[j], truth.cursor[0]
    if job["state"] == JobState.RUNNING:
        kill(state, truth, j, time, JobState.KILLED)
    if job["state"] != JobState.QUEUED:
        return
    dequeue(state, j)
    job["waited"] += time - job["queued_since"]
    write_log(state, truth, time, j, LogKind.CANCEL, -1, 0, Why.CANCELLED)
    begun = state.legs[job["leg"]]["number"] > 0
    if begun:
        job["finish"] = time
        for r in range(len(state.resources)):
            amount = truth.carries[job["leg"] - 1, r]
            if amount > 0:
                write_log(state, truth, time, j, LogKind.RELEASE, r, amount, Why.CANCELLED)
                _give_back(state, j, r, amount)
    job["state"] = JobState.KILLED if begun else JobState.CANCELLED
    cursor["n_open"] -= 1
    cursor["n_ended"] += 1
    state.clock[0]["reason"] |= Reason.JOB_ENDED


@kernel(types.void(STATE, TRUTH, _i8, _i8, PICKS, _i8, _i8))
def start_leg(state, truth, j, why, picks, first_pick, n_picks):
    """Start the waiting leg of job `j` now, on the nodes and servers picked or, without picks, on the lowest nodes.

    The caller has checked that everything it asks for is free, and has put into `releases` how many nodes of the larger
    kind it takes, if nodes are of two.
    """
    job, now = state.jobs[j], state.clock[0]["now"]
    leg = job["leg"]
    step = truth.steps[leg]
    dequeue(state, j)
    if step["number"] == 0:
        job["start"] = now
    job["waited"] += now - job["queued_since"]
    job["leg_start"] = now
    job["state"] = JobState.RUNNING
    for r in range(len(state.resources)):
        amount = state.demands[leg, r] if r != state.clock[0]["large"] else state.releases[leg, r]
        state.resources[r]["free"] -= amount
        if r == 0:
            write_log(state, truth, now, j, LogKind.START, 0, amount, why)
            if n_picks > 0:
                _take_picked(state, truth, j, picks, first_pick, n_picks)
            elif amount > 0:
                _take_nodes(state, truth, j, amount)
        elif amount > 0:
            write_log(state, truth, now, j, LogKind.ACQUIRE, r, amount, why)
    add_running(state, j, leg, now + step["walltime"])
    activity = truth.activities[j]
    activity["first"] = -1
    activity["streams"] = 0
    activity["drains"] = 0
    activity["final"] = 0
    # A leg that is sure to end a second before its walltime needs no second timer.
    if step["kills"] and step["seconds"] > step["walltime"] - 1.0:
        _set_timer(truth, 2 * j + 1, now + step["walltime"])
    begin_phase(state, truth, j, now)
