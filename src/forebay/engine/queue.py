"""The waiting and the running. Removals leave holes, closed in bulk: 100,000 waiting jobs cost nothing extra."""

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, LogKind
from forebay.engine.log import write_log


@kernel
def has_begun(state, j):
    """Whether job `j` has ever started."""
    return state.jobs[j]["start"] == state.jobs[j]["start"]  # NaN until it has


@kernel
def reject_unseen(state, truth, j, time, reason, cause):
    """Reject job `j`, which never joins the queue: policies see no end of it. `cause` is the id of another, or 0."""
    state.jobs[j]["state"] = JobState.REJECTED
    write_log(state, truth, time, j, LogKind.REJECT, -1, cause, reason)
    truth.cursor[0]["n_ended"] += 1


@kernel
def _close_holes(state):
    """Lay the queue out again, without holes and with room on both sides."""
    counts, queue = state.counts[0], state.queue
    kept, n_begun = 0, 0
    for i in range(counts["queue_first"], counts["queue_last"]):
        if queue[i] >= 0:
            queue[kept] = queue[i]
            kept += 1
            n_begun += i < counts["queue_begun"]
    first = (len(queue) - kept) >> 1
    for i in range(kept - 1, -1, -1):
        queue[first + i] = queue[i]
        state.jobs[queue[i]]["at"] = first + i
    counts["queue_first"] = first
    counts["queue_begun"] = first + n_begun
    counts["queue_last"] = first + kept
    counts["layout"] += 1


@kernel
def enqueue(state, j):
    """Put a job that arrives at the end of the queue, or where those of its rank end."""
    counts = state.counts[0]
    if counts["queue_last"] == len(state.queue):
        _close_holes(state)
    last = counts["queue_last"]
    at = _let_pass(state, j, last) if state.jobs[j]["rank"] > 0 else last
    state.queue[at] = j
    state.jobs[j]["at"] = at
    counts["queue_last"] = last + 1
    counts["n_queued"] += 1


@kernel
def _let_pass(state, j, at):
    """Move all of a lower rank than job `j` that have not begun one place on; returns the place before them."""
    counts, queue, rank, end = state.counts[0], state.queue, state.jobs[j]["rank"], at
    while at > counts["queue_begun"]:
        other = queue[at - 1]
        if other >= 0 and state.jobs[other]["rank"] >= rank:
            break
        queue[at] = other
        if other >= 0:
            state.jobs[other]["at"] = at
        at -= 1
    counts["layout"] += at < end
    return at


@kernel
def enqueue_begun(state, j):
    """Put a job that has begun and waits for a leg before all that have not begun: behind others of its kind, unless
    it is more urgent.

    What it carries is held while it waits: behind a head that needs it, both would wait for ever.
    """
    counts, queue = state.counts[0], state.queue
    if counts["queue_first"] == 0:
        _close_holes(state)
    at = counts["queue_begun"] - 1
    for i in range(counts["queue_first"], at + 1):
        queue[i - 1] = queue[i]
        if queue[i] >= 0:
            state.jobs[queue[i]]["at"] = i - 1
    counts["queue_first"] -= 1
    counts["n_queued"] += 1
    while at > counts["queue_first"] and _goes_before(state, j, queue[at - 1]):
        queue[at] = queue[at - 1]
        if queue[at] >= 0:
            state.jobs[queue[at]]["at"] = at
        at -= 1
    queue[at] = j
    state.jobs[j]["at"] = at


@kernel
def _goes_before(state, j, other):
    """Whether job `j` goes before another one that has begun, or a hole. Rows are in order of submission.

    One that waits for a later leg may hold what another one needs; one that starts its first again holds nothing.
    """
    if other < 0:
        return True
    one, two = state.jobs[j], state.jobs[other]
    holds, its = state.legs[one["leg"]]["number"] > 0, state.legs[two["leg"]]["number"] > 0
    if holds != its:
        return holds
    return one["urgency"] > two["urgency"] or (one["urgency"] == two["urgency"] and one["urgency"] > 0 and j < other)


@kernel
def dequeue(state, j):
    """Take a job out of the queue, wherever it stands."""
    counts = state.counts[0]
    state.queue[state.jobs[j]["at"]] = -1
    counts["n_queued"] -= 1
    first, last = counts["queue_first"], counts["queue_last"]
    while first < last and state.queue[first] < 0:
        first += 1
    counts["queue_first"] = first
    counts["queue_begun"] = max(first, counts["queue_begun"])
    # Scans pay for holes: close them once they outnumber the jobs.
    if last - first > 2 * counts["n_queued"] + 64:
        _close_holes(state)


@kernel
def _first_later(running, n, end):
    a, b = 0, n
    while a < b:
        middle = (a + b) >> 1
        if running[middle]["end"] > end:
            b = middle
        else:
            a = middle + 1
    return a


@kernel
def add_running(state, j):
    """Insert the running leg of job `j` by its expected end, after those that share it."""
    end = state.jobs[j]["end"]
    counts, running = state.counts[0], state.running
    at = _first_later(running, counts["n_running"], end)
    for i in range(counts["n_running"], at, -1):
        running[i]["end"] = running[i - 1]["end"]
        running[i]["job"] = running[i - 1]["job"]
        running[i]["leg"] = running[i - 1]["leg"]
    running[at]["end"] = end
    running[at]["job"] = j
    running[at]["leg"] = state.jobs[j]["leg"]
    counts["n_running"] += 1


@kernel
def drop_running(state, j):
    """Remove the running leg of job `j`."""
    end = state.jobs[j]["end"]
    counts, running = state.counts[0], state.running
    at = _first_later(running, counts["n_running"], end) - 1
    while running[at]["job"] != j:
        at -= 1
    for i in range(at, counts["n_running"] - 1):
        running[i]["end"] = running[i + 1]["end"]
        running[i]["job"] = running[i + 1]["job"]
        running[i]["leg"] = running[i + 1]["leg"]
    counts["n_running"] -= 1
