"""Jobs ask for the file system when a phase of theirs begins to move data, and until nothing of it is under way.

A scheduler decides once an instant, after all that begins and ends in it and before links are shared out: nothing has
moved meanwhile.
"""

import numpy as np

from forebay._numba.jit import kernel
from forebay.core.codes import JobState
from forebay.engine.checkpoints.kernels import stands_still
from forebay.engine.io_scheduling.amounts import is_io, left_alone


@kernel
def _is_under_way(state, truth, j):
    """Whether a phase that job `j` waits for reads or writes."""
    activity = truth.activities[j]
    if state.jobs[j]["state"] != JobState.RUNNING or activity["streams"] == 0 or stands_still(state, truth, j):
        return False
    return is_io(truth.phases[activity["phase"]]["kind"])


@kernel
def _settle_account(truth, j, time):
    """No I/O phase of job `j` is under way any more."""
    own = truth.io.jobs[j]
    if own["since"] == own["since"]:
        own["taken"] += max(time - own["since"], 0.0)
        own["since"] = np.nan


@kernel
def ask(state, truth, j, beside, time):
    """A phase of job `j` has begun to move data; whether a scheduler decides on it, at the end of the instant."""
    io = truth.io
    if len(io.jobs) == 0:
        return False
    if not beside:
        _settle_account(truth, j, time)
        if _is_under_way(state, truth, j):
            io.jobs[j]["since"] = time
            io.jobs[j]["alone"] += left_alone(truth, j, time)[0]
        elif truth.activities[j]["drains"] == 0:
            return True
    if io.jobs[j]["asks"] == 0:
        request = io.requests[io.plan[0]["n"]]
        request["job"] = j
        request["turn"] = io.plan[0]["turn"]
        request["grant"] = 1.0
        request["known"] = 0
        io.jobs[j]["asks"] = 1
        io.plan[0]["n"] += 1
        io.plan[0]["turn"] += 1
    renew(truth, j)
    return True


@kernel
def renew(truth, j):
    """Transfers of job `j` have begun since the scheduler decided; whether there is one."""
    io = truth.io
    if len(io.jobs) == 0:
        return False
    if io.jobs[j]["asks"]:
        for i in range(io.plan[0]["n"] - 1, -1, -1):
            if io.requests[i]["job"] == j:
                io.requests[i]["given"] = -1.0
                break
    return True


@kernel
def drop_ended(state, truth, now):
    """Take off the requests of jobs that move nothing any more; the others keep their order."""
    io, kept = truth.io, 0
    for i in range(io.plan[0]["n"]):
        j = io.requests[i]["job"]
        waits = _is_under_way(state, truth, j)
        if not waits:
            _settle_account(truth, j, now)
        if waits or truth.activities[j]["drains"] > 0:
            io.requests[kept] = io.requests[i]
            kept += 1
        else:
            io.jobs[j]["asks"] = 0
    io.plan[0]["n"] = kept
