"""Who joins the queue in an instant.

Where jobs wait for others, all join together, when everything else has happened in the instant: in the order in which
they were submitted, however each came to be free. Where none does, that is the order in which they come, and each joins
at once.
"""

from forebay._numba.jit import kernel
from forebay.algorithms.queues.heap import push, remove
from forebay.core.codes import JobState, LogKind, LogReason, Trigger
from forebay.engine.dependencies.kernels import forget_ring
from forebay.engine.dependencies.tables import Standing
from forebay.engine.ending import close
from forebay.engine.log import write_log
from forebay.engine.policy_io.show import show
from forebay.engine.queue import enqueue


@kernel
def join(state, truth, j, time):
    """Job `j`, which has just been submitted and waits for no other, joins the queue."""
    if len(truth.dependencies.first) == 0:
        _join_now(state, j, time)
    else:
        will_join(truth, j, Standing.JOINS)


@kernel
def will_join(truth, j, standing):
    """Job `j` joins the queue at the end of this instant."""
    waits, counts = truth.dependencies, truth.dependencies.counts[0]
    waits.jobs[j]["standing"] = standing
    counts["joining"] = push(waits.joining, waits.place, counts["joining"], 0.0, waits.jobs[j]["number"], j)


@kernel
def _joins(truth, j):
    """Whether job `j` does."""
    return truth.dependencies.place[j] >= 0


@kernel
def _keep_out(truth, j):
    """Let job `j` not join: it is withdrawn."""
    waits, counts = truth.dependencies, truth.dependencies.counts[0]
    counts["joining"] = remove(waits.joining, waits.place, counts["joining"], j)


@kernel
def join_all(state, truth):
    """Let all join that are to, those submitted first first."""
    waits, counts = truth.dependencies, truth.dependencies.counts[0]
    while len(waits.joining) > 0 and counts["joining"] > 0:
        j = waits.joining[0]["slot"]
        _keep_out(truth, j)
        one = waits.jobs[j]
        if one["standing"] == Standing.RELEASED:
            show(state, truth, j)
            state.jobs[j]["submit"] = one["time"]  # to policies: ages count from here, as in Slurm
            write_log(state, truth, one["time"], j, LogKind.ELIGIBLE, -1, truth.jobs[one["parent"]]["id"], 0)
        one["standing"] = Standing.FREE
        _join_now(state, j, state.jobs[j]["submit"])


@kernel
def _join_now(state, j, time):
    job = state.jobs[j]
    job["state"] = JobState.QUEUED
    job["queued_since"] = time
    enqueue(state, j)
    state.clock[0]["triggers"] |= Trigger.SUBMIT


@kernel
def withdraws_early(state, truth, j, time):
    """Whether job `j`, which its user withdraws, has not joined the queue yet; it goes then."""
    waits = truth.dependencies
    if len(waits.first) == 0 or not (_joins(truth, j) or waits.jobs[j]["standing"] == Standing.WAITS):
        return False
    if _joins(truth, j):
        _keep_out(truth, j)
    forget_ring(truth, 2 * j)
    waits.jobs[j]["standing"] = Standing.GONE
    state.jobs[j] = truth.jobs[j]
    write_log(state, truth, time, j, LogKind.CANCEL, -1, 0, LogReason.CANCELLED)
    close(state, truth, j, time, JobState.CANCELLED)
    return True
