"""Three queues whose running jobs are worth the more the shorter they are expected to run: Cerberus (2016), 3.2.

A run is expected to take what the last ones of the same user took, see `algorithms.predict`. What counts is the leg
that takes nodes, not the staging around it.
"""

from forebay._numba.jit import kernel
from forebay.algorithms.predict import recall, remember
from forebay.core.codes import JobState, Verb
from forebay.core.tables import policy_kernel
from forebay.policies._families.cerberus import FOLLOWS, N_FLOATS, Param, Row
from forebay.policies._kernels.cerberus import serve_queues
from forebay.policies._kernels.predicted import alike


@kernel
def _ran_until(job, leg):
    """When a job's run was over; -1 while it lasts, -2 if it was broken off."""
    if job["leg"] == leg and job["state"] == JobState.RUNNING:
        return -1.0
    if job["leg"] > leg:
        return job["queued_since"]  # since then it waits, or waited, to stage out
    if job["leg"] == leg and (job["state"] == JobState.COMPLETED or job["state"] == JobState.WALLTIME_REACHED):
        return job["finish"]
    return -2.0


@kernel
def _learn(state, params, integers, floats):
    """Note the runs that are over."""
    kept, n_last, followed = 0, len(floats) - N_FLOATS, integers[Row.FOLLOWED]
    began = floats[n_last]
    for i in range(integers[0, FOLLOWS]):
        j = followed[i]
        job = state.jobs[j]
        end = _ran_until(job, integers[Row.LEG, j])
        if end == -1.0:
            followed[kept] = j
            kept += 1
        elif end >= 0.0:
            row = alike(integers[Row.KEYS : Row.KEYS + 3], job, int(params[Param.LIKE]))
            remember(floats[:n_last], integers[Row.COUNTS], row, end - began[j])
    integers[0, FOLLOWS] = kept


@kernel
def _expect(state, params, integers, floats):
    """How long each waiting job is expected to run, a second at least: what takes no time would be worth all."""
    counts, n_last = state.counts[0], len(floats) - N_FLOATS
    for i in range(counts["queue_first"], counts["queue_last"]):
        j = state.queue[i]
        if j < 0:
            continue
        job, keys = state.jobs[j], integers[Row.KEYS : Row.KEYS + 3]
        seconds = walltime = state.legs[job["leg"]]["walltime"]
        if job["user"] >= 0:
            row = alike(keys, job, int(params[Param.LIKE]))
            seconds = recall(floats[:n_last], integers[Row.COUNTS], row, walltime, params[Param.WEIGHT])
        floats[n_last + 1, j] = min(max(seconds, 1.0), max(walltime, 1.0))


@kernel
def _follow(state, integers, floats):
    """Follow the runs that this decision begins, of jobs whose user is known."""
    now, began = state.clock[0]["now"], floats[len(floats) - N_FLOATS]
    for a in range(min(state.counts[0]["n_actions"], len(state.actions))):
        j = state.actions[a]["job"]
        job = state.jobs[j]
        if state.actions[a]["verb"] == Verb.START and state.demands[job["leg"], 0] > 0 and job["user"] >= 0:
            integers[Row.FOLLOWED, integers[0, FOLLOWS]] = j
            integers[Row.LEG, j] = job["leg"]
            began[j] = now
            integers[0, FOLLOWS] += 1


@policy_kernel
def cerberus(state, params, memory, rng):
    """The decision of one instant."""
    integers, floats = memory
    _learn(state, params, integers, floats)
    if state.counts[0]["n_queued"] > 0:
        _expect(state, params, integers, floats)
        serve_queues(state, params, memory, floats[len(floats) - 1])
        _follow(state, integers, floats)
