"""The waiting and the running. Removals leave holes, closed in bulk: 100,000 waiting jobs cost nothing extra."""

from forebay._jit import kernel


@kernel
def _close_holes(state):
    clock = state.clock[0]
    kept = 0
    for i in range(clock["queue_first"], clock["queue_last"]):
        j = state.queue[i]
        if j >= 0:
            state.queue[kept] = j
            state.jobs[j]["at"] = kept
            kept += 1
    clock["queue_first"] = 0
    clock["queue_last"] = kept


@kernel
def enqueue(state, j):
    """Put a job at the end of the queue."""
    clock = state.clock[0]
    if clock["queue_last"] == len(state.queue):
        _close_holes(state)
    at = clock["queue_last"]
    state.queue[at] = j
    state.jobs[j]["at"] = at
    clock["queue_last"] = at + 1
    clock["n_queued"] += 1


@kernel
def dequeue(state, j):
    """Take a job out of the queue, wherever it stands."""
    clock = state.clock[0]
    state.queue[state.jobs[j]["at"]] = -1
    clock["n_queued"] -= 1
    first, last = clock["queue_first"], clock["queue_last"]
    while first < last and state.queue[first] < 0:
        first += 1
    clock["queue_first"] = first
    # Scans pay for holes: close them once they outnumber the jobs.
    if last - first > 2 * clock["n_queued"] + 64:
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
def add_running(state, j, leg, end):
    """Insert a leg by its expected end, after those that share it."""
    clock, running = state.clock[0], state.running
    at = _first_later(running, clock["n_running"], end)
    for i in range(clock["n_running"], at, -1):
        running[i]["end"] = running[i - 1]["end"]
        running[i]["job"] = running[i - 1]["job"]
        running[i]["leg"] = running[i - 1]["leg"]
    running[at]["end"] = end
    running[at]["job"] = j
    running[at]["leg"] = leg
    clock["n_running"] += 1


@kernel
def drop_running(state, j, end):
    """Remove the running leg of job `j`, which was expected to end at `end`."""
    clock, running = state.clock[0], state.running
    at = _first_later(running, clock["n_running"], end) - 1
    while running[at]["job"] != j:
        at -= 1
    for i in range(at, clock["n_running"] - 1):
        running[i]["end"] = running[i + 1]["end"]
        running[i]["job"] = running[i + 1]["job"]
        running[i]["leg"] = running[i + 1]["leg"]
    clock["n_running"] -= 1
