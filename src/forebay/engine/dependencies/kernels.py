"""Jobs that wait for others: who is free to start now that another has begun or ended, and who never will be.

A job that waits is in no queue, and policies do not see it. When enough of its parents have done what it waits for, it
joins the queue, in the same instant: see `joining`. One that can never start is rejected, and those that wait for it
are told.
"""

from numba import types

from forebay._numba.jit import kernel
from forebay.algorithms.queues.heap import push, remove
from forebay.core.codes import JobState, LogReason
from forebay.core.tables import STATE
from forebay.engine.dependencies.tables import Kind, Standing
from forebay.engine.limits.tables import count_submitted
from forebay.engine.queue import reject_unseen
from forebay.engine.truth import TRUTH

_f8, _i8 = types.float64, types.int64


@kernel
def next_release(truth):
    """When the next job is submitted or free because of others."""
    waits = truth.dependencies
    return waits.heap[0]["time"] if is_timed(truth) else float("inf")


@kernel
def is_timed(truth):
    """Whether any is to be."""
    return len(truth.dependencies.heap) > 0 and truth.dependencies.counts[0]["timed"] > 0


@kernel(types.void(TRUTH, _i8, _f8))
def ring_at(truth, slot, time):
    """Let something happen to a job that waits, at this time alone; of one time withdrawals come last, then by row."""
    waits, counts = truth.dependencies, truth.dependencies.counts[0]
    forget_ring(truth, slot)
    order = (slot & 1) * len(waits.jobs) + (slot >> 1)
    counts["timed"] = push(waits.heap, waits.where, counts["timed"], time, order, slot)


@kernel(types.void(TRUTH, _i8))
def forget_ring(truth, slot):
    """Let it not happen."""
    waits, counts = truth.dependencies, truth.dependencies.counts[0]
    if waits.where[slot] >= 0:
        counts["timed"] = remove(waits.heap, waits.where, counts["timed"], slot)


@kernel
def _hold(truth, j, parent, time):
    """A parent of job `j` has done what it waits for; its delay is over at `time`."""
    one = truth.dependencies.jobs[j]
    one["open"] -= 1
    one["left"] -= 1
    earlier = time < one["time"] or one["parent"] < 0
    if earlier if one["any"] else time >= one["time"]:
        one["time"] = time
        one["parent"] = parent
    elif one["any"]:
        return
    if one["left"] <= 0 and one["standing"] == Standing.WAITS:
        ring_at(truth, 2 * j, one["time"])


@kernel
def _fail(truth, j, parent):
    """A parent of job `j` will never do what it waits for; whether the job can then never start."""
    one = truth.dependencies.jobs[j]
    one["open"] -= 1
    if one["left"] <= one["open"]:
        return False
    one["parent"] = parent
    return True


@kernel(types.void(STATE, TRUTH, _i8, _f8, _i8, _i8))
def reject_early(state, truth, j, time, reason, parent):
    """Reject job `j`, which was submitted and never joined the queue; its children do not hear of it."""
    forget_ring(truth, 2 * j)
    forget_ring(truth, 2 * j + 1)
    truth.dependencies.jobs[j]["standing"] = Standing.GONE
    state.jobs[j] = truth.jobs[j]
    reject_unseen(state, truth, j, time, reason, truth.jobs[parent]["id"] if parent >= 0 else 0)


@kernel
def reject_submitted(state, truth, j, time, reason):
    """Reject job `j` as it is submitted, and those that can then never start."""
    waits = truth.dependencies
    if len(waits.first) == 0:
        reject_unseen(state, truth, j, time, reason, 0)
        return
    reject_early(state, truth, j, time, reason, waits.jobs[j]["parent"] if reason == LogReason.DEPENDENCY else -1)
    tell_end(state, truth, j, time)


@kernel
def forget_job(truth, j):
    """Job `j` waits for no other any more: it has gone before it joined the queue."""
    if len(truth.dependencies.first) > 0:
        truth.dependencies.jobs[j]["standing"] = Standing.GONE


@kernel
def note_submitted(truth, j):
    """Number job `j` in the order in which jobs are submitted: so they join."""
    waits = truth.dependencies
    if len(waits.first) > 0:
        waits.jobs[j]["number"] = waits.counts[0]["submitted"]
        waits.counts[0]["submitted"] += 1


@kernel
def waits_in_vain(truth, j):
    """Whether job `j`, which waits for others, has lost too many of them ever to start."""
    one = truth.dependencies.jobs[j]
    return one["left"] > one["open"]


@kernel
def _think(truth, j, time):
    """A parent after which job `j` is submitted has ended, and its user has thought until `time`."""
    one = truth.dependencies.jobs[j]
    one["to_submit"] -= 1
    one["submit"] = max(one["submit"], time)
    if one["to_submit"] == 0:
        ring_at(truth, 2 * j, one["submit"])


@kernel
def _listens(truth, j):
    """Whether job `j` still waits for others."""
    return truth.dependencies.jobs[j]["standing"] in (Standing.AHEAD, Standing.WAITS)


@kernel
def _holds(state, parent, kind):
    """Whether a parent that has ended has done what this kind waits for. One that never began counts as ended."""
    if kind == Kind.AFTEROK:
        return state.jobs[parent]["state"] == JobState.COMPLETED
    return kind != Kind.AFTERNOTOK or state.jobs[parent]["state"] != JobState.COMPLETED


@kernel(types.void(STATE, TRUTH, _i8, _f8))
def tell_end(state, truth, parent, time):
    """Job `parent` has ended in the state that it has now: tell those that wait for it, and then those that wait for
    any of these that can never start; those nearest first, then by row."""
    waits = truth.dependencies
    if len(waits.first) == 0:
        return
    n_told, n_over = 0, 1
    waits.over[0] = parent
    while n_told < n_over:
        p = waits.over[n_told]
        n_told += 1
        began = state.jobs[p]["start"] == state.jobs[p]["start"]  # NaN until it has
        for e in range(waits.first[p], waits.first[p + 1]):
            edge = waits.edges[e]
            j = edge["child"]
            if edge["kind"] == Kind.THINK:
                _think(truth, j, time + edge["delay"])
            elif not _listens(truth, j) or (edge["kind"] == Kind.AFTER and began):  # it was released when that began
                continue
            elif _holds(state, p, edge["kind"]):
                _hold(truth, j, p, time + edge["delay"])
            elif _fail(truth, j, p):
                if waits.jobs[j]["standing"] == Standing.AHEAD:
                    waits.jobs[j]["standing"] = Standing.DOOMED
                else:
                    truth.cursor[0]["n_open"] -= 1
                    count_submitted(truth, j, -1)
                    reject_early(state, truth, j, time, LogReason.DEPENDENCY, p)
                    waits.over[n_over] = j
                    n_over += 1


@kernel(types.void(TRUTH, _i8, _f8))
def tell_begin(truth, parent, time):
    """Job `parent` begins for the first time: tell those that wait for that."""
    waits = truth.dependencies
    if len(waits.first) == 0:
        return
    for e in range(waits.first[parent], waits.first[parent + 1]):
        edge = waits.edges[e]
        if edge["kind"] == Kind.AFTER and _listens(truth, edge["child"]):
            _hold(truth, edge["child"], parent, time + edge["delay"])


@kernel
def stays_out(state, truth, j, time):
    """Whether job `j`, which is submitted now, waits for others before it joins the queue."""
    waits = truth.dependencies
    if len(waits.first) == 0 or waits.jobs[j]["standing"] == Standing.FREE:
        return False
    one = waits.jobs[j]
    if one["left"] <= 0 and one["time"] <= time:
        one["standing"] = Standing.FREE
        return False
    one["standing"] = Standing.WAITS
    if one["left"] <= 0:
        ring_at(truth, 2 * j, one["time"])
    return True
