"""Limits on what jobs may have running together, around any policy."""

from forebay._numba.jit import kernel
from forebay.engine.queue import has_begun


@kernel
def _asked(state, truth, j, column, n_nodes):
    return n_nodes if column == 0 else truth.meters.asks[j, column]


@kernel
def exceeded(state, truth, j, n_nodes):
    """The first meter at whose limit job `j`, which has not begun, would be too much with so many nodes; -1 if none is.

    And the part of it: jobs begun, then the columns, then these times seconds to run, then jobs submitted.
    """
    meters = truth.meters
    n_columns = meters.most.shape[1]
    for k in range(meters.first[j], meters.first[j + 1]):
        m = meters.of[k]
        meter = meters.table[m]
        if meter["jobs"] + 1 > meter["max_jobs"]:
            return m, 0
        for c in range(n_columns):
            if meters.used[m, c] + _asked(state, truth, j, c, n_nodes) > meters.most[m, c]:
                return m, 1 + c
        if meter["weighs_time"]:
            for c in range(n_columns):
                more = _asked(state, truth, j, c, n_nodes)
                if more > 0 and meters.ahead[m, c] + more * state.jobs[j]["walltime"] > meters.most_ahead[m, c]:
                    return m, 1 + n_columns + c
    return -1, 0


@kernel
def over_limit(state, truth, j):
    """The limit that holds waiting job `j` back, and the part of it: see `exceeded`."""
    if len(truth.meters.table) == 0 or has_begun(state, j):
        return -1, 0
    row, part = exceeded(state, truth, j, state.jobs[j]["nodes"])
    if row >= 0:
        state.legs[state.jobs[j]["leg"]]["later"] = 0
    return row, part


@kernel
def take(state, truth, j, n_nodes):
    """Whether job `j`, which has not begun, may start on so many nodes beside what has; it is then counted, too."""
    if exceeded(state, truth, j, n_nodes)[0] >= 0:
        return False
    _add(state, truth, j, n_nodes, state.legs[state.jobs[j]["leg"]]["walltime"])
    return True


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
    if len(meters.away) == 0:
        return False
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
