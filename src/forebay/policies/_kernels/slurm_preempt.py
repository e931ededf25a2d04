"""Slurm's scheduler where jobs displace others; see `preempt` for who gives way.

A job that the main scheduler tries in vain looks for running jobs that it may displace. They are asked in order of the
priority of their QOS or the tier of their partition, the lowest first; of those alike the smallest go first, or the
youngest, then those that were submitted first. If enough of them can give way it starts in their place, in the same
instant. With a GraceTime they leave when it is over, all at the end of the longest of theirs, and the job starts then.

A requeued job holds no place before others: it waits where its priority puts it, and may not start for a while.
Displacing ends a decision, and the engine asks again: what else the main scheduler would start, it starts then.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.order import sort_smallest
from forebay.core.codes import LogReason, Urgency
from forebay.core.tables import instant_width, policy_kernel
from forebay.core.verbs import act_start, act_wake
from forebay.policies._families.multifactor import Clock, Column, Number, Weight
from forebay.policies._families.preempt import Mode, Name, Preempt
from forebay.policies._families.slurm_scheduler import Sched
from forebay.policies._kernels.line_up import waits
from forebay.policies._kernels.multifactor import bring_up_to_date, note_rates
from forebay.policies._kernels.places import fits_now, what_is_there
from forebay.policies._kernels.preempt import can_give_way, choose_victims, copy_of, displace, without
from forebay.policies._kernels.priority_line import goes_before
from forebay.policies._kernels.slurm_scheduler import (
    due_now,
    fill_up,
    in_line,
    main_scheduler,
    set_clocks,
    wake_when_due,
)

_N_SCHED, _N_WEIGHTS, _N_PREEMPT, _N_NAME = len(Sched), len(Weight), len(Preempt), len(Name)
_LEAVES, _FOR = len(Number), len(Column)  # columns behind those of priorities: when a job leaves, and 1 + for whom


@allocating_kernel
def _block(params):
    """What is said of preemption: behind the weights and their tables."""
    weights = params[_N_SCHED:]
    tables = weights[Weight.N_SHARES] + weights[Weight.N_PARTITIONS] + weights[Weight.N_QOS]
    return weights[_N_WEIGHTS + 2 * int(tables) :]


@kernel
def _row_of(state, block, j):
    """The row of what is said of the QOS or partition of job `j`; -1 = nothing is."""
    code = state.jobs[j]["queue"] if block[Preempt.BY_PARTITION] > 0.0 else state.jobs[j]["qos"]
    for i in range(int(block[Preempt.N_NAMES])):
        if block[_N_PREEMPT + i * _N_NAME + Name.CODE] == code:
            return i
    return -1


@kernel
def _said(block, row, name, usual):
    return block[_N_PREEMPT + row * _N_NAME + name] if row >= 0 else block[usual]


@kernel
def _may_displace(state, block, j, row, other, its_row):
    """Whether the one job may displace the other, by partition or QOS."""
    if block[Preempt.BY_PARTITION] > 0.0:
        return state.jobs[j]["rank"] > state.jobs[other]["rank"]
    n = int(block[Preempt.N_NAMES])
    return row >= 0 and its_row >= 0 and block[_N_PREEMPT + n * _N_NAME + row * n + its_row] > 0.0


@kernel
def _priority_of(state, block, j):
    """What the QOS or partition of job `j` counts among those that give way."""
    if block[Preempt.BY_PARTITION] > 0.0:
        return float(state.jobs[j]["rank"])
    row = _row_of(state, block, j)
    return block[_N_PREEMPT + row * _N_NAME + Name.PRIORITY] if row >= 0 else 0.0


@kernel
def _may_be_displaced(state, block, j, row, memory):
    """Whether running job `j`, of whom `row` tells, can give way now."""
    job, now = state.jobs[j], state.clock[0]["now"]
    if memory[1][j, _LEAVES] > 0.0 or int(_said(block, row, Name.MODE, Preempt.MODE)) == Mode.OFF:
        return False
    safe_until = job["leg_start"] + _said(block, row, Name.EXEMPT, Preempt.EXEMPT)
    return safe_until <= now + instant_width(now) and can_give_way(state, j)


@allocating_kernel
def _candidates(state, block, j, memory):
    """The running jobs that job `j` may displace now, in order."""
    n, row, most = 0, _row_of(state, block, j), state.counts[0]["n_running"]
    found, keys, ties = np.empty(most, np.int64), np.empty(most), np.empty(most, np.int64)
    for i in range(most):
        v = state.running[i]["job"]
        its_row = _row_of(state, block, v)
        if _may_displace(state, block, j, row, v, its_row) and _may_be_displaced(state, block, v, its_row, memory):
            found[n] = ties[n] = v
            keys[n] = -state.jobs[v]["leg_start"] if block[Preempt.YOUNGEST_FIRST] > 0.0 else state.jobs[v]["held"]
            n += 1
    sort_smallest(keys, ties, found, n, n)
    for i in range(n):
        keys[i], ties[i] = _priority_of(state, block, found[i]), i
    sort_smallest(keys, ties, found, n, n)
    return found[:n]


@kernel
def _is_waited_for(state, j, memory):
    """Whether running jobs are about to leave for job `j`."""
    for i in range(state.counts[0]["n_running"]):
        v = state.running[i]["job"]
        if memory[1][v, _LEAVES] > 0.0 and memory[0][v, _FOR] == 1 + j:
            return True
    return False


@kernel
def _cancels(state, block, j):
    return int(_said(block, _row_of(state, block, j), Name.MODE, Preempt.MODE)) == Mode.CANCEL


@allocating_kernel
def _displaces(state, have, heads, block, memory):
    """Let the first of those who block the queue that can start in others' place; whether the decision ends with it.

    With notice nothing ends: the job goes on to wait until the others leave.
    """
    counts, now = state.counts[0], state.clock[0]["now"]
    strict = block[Preempt.STRICT_ORDER] > 0.0
    for j in heads:
        if _is_waited_for(state, j, memory):
            continue
        order = _candidates(state, block, j, memory)
        chosen = choose_victims(state, have, j, order, int(block[Preempt.REORDER_COUNT]), strict)
        if len(chosen) == 0:
            continue
        grace = 0.0
        for v in chosen:
            grace = max(grace, _said(block, _row_of(state, block, v), Name.GRACE, Preempt.GRACE))
        if grace > 0.0:
            for v in chosen:
                memory[1][v, _LEAVES], memory[0][v, _FOR] = now + grace, 1 + j
            continue
        # Who else would start does so when the engine asks again: a limit that a start exceeds cuts actions off there.
        counts["n_actions"] = counts["n_picks"] = counts["n_shares"] = 0
        for v in chosen:
            displace(state, v, _cancels(state, block, v))
        act_start(state, j, LogReason.IN_ORDER)
        return True
    return False


@allocating_kernel
def _leave(state, block, memory):
    """Stop the jobs whose notice is over, those for one job at a time, and start it; whether there are any."""
    now, first = state.clock[0]["now"], 0
    have = copy_of(what_is_there(state, False))
    for i in range(state.counts[0]["n_running"]):
        v = state.running[i]["job"]
        due = 0.0 < memory[1][v, _LEAVES] <= now + instant_width(now)
        if not due or (first > 0 and memory[0][v, _FOR] != first):
            continue
        memory[1][v, _LEAVES] = 0.0
        if can_give_way(state, v):
            first = memory[0][v, _FOR]
            without(state, have, v)
            displace(state, v, _cancels(state, block, v))
    if first > 0 and waits(state, first - 1) and fits_now(state, have, first - 1):
        act_start(state, first - 1, LogReason.IN_ORDER)
    return first > 0


@kernel
def _wake_to_leave(state, memory):
    """Be called when notice is over."""
    for i in range(state.counts[0]["n_running"]):
        leaves = memory[1][state.running[i]["job"], _LEAVES]
        if leaves > state.clock[0]["now"]:
            act_wake(state, leaves)


@kernel
def _goes_before(state, params, memory, j, other):
    """Whether a requeued job is tried before another one."""
    ours, theirs = state.jobs[j]["rank"], state.jobs[other]["rank"]
    if ours != theirs:
        return ours > theirs
    return goes_before(state, memory[1], j, other) if params[Sched.MULTIFACTOR] > 0.0 else j < other


@allocating_kernel
def _requeued_in_place(state, params, block, memory, line):
    """The line with requeued jobs where their priorities put them; those that may not start yet are left out."""
    now, n_begun, n_back, n = state.clock[0]["now"], 0, 0, 0
    counts = state.counts[0]
    for q in range(counts["queue_first"], counts["queue_begun"]):
        n_begun += state.queue[q] >= 0
    back, placed = np.empty(n_begun, np.int64), np.empty(len(line), np.int64)
    for i in range(n_begun):
        j = line[i]
        memory[1][j, _LEAVES] = 0.0  # it may have failed before its notice was over
        if state.jobs[j]["urgency"] != Urgency.INTERRUPTED or state.legs[state.jobs[j]["leg"]]["number"] > 0:
            placed[n] = j
            n += 1
        elif state.jobs[j]["queued_since"] + block[Preempt.DELAY] <= now + instant_width(now):
            k = n_back
            while k > 0 and _goes_before(state, params, memory, j, back[k - 1]):
                back[k] = back[k - 1]
                k -= 1
            back[k] = j
            n_back += 1
    k = 0
    for i in range(n_begun, len(line)):
        while k < n_back and _goes_before(state, params, memory, back[k], line[i]):
            placed[n] = back[k]
            n, k = n + 1, k + 1
        placed[n] = line[i]
        n += 1
    for i in range(k, n_back):
        placed[n] = back[i]
        n += 1
    return placed[:n]


@allocating_kernel
def _schedule(state, params, block, memory, clocks):
    """Run whatever is due. Returns how many jobs start; -1 = one has displaced others, and all is to be asked again."""
    batched, batch_due, full_due = clocks[Clock.BATCHED], clocks[Clock.BATCH_DUE], clocks[Clock.FULL_DUE]
    batch, full, fill = due_now(state, params, clocks)
    if not (batch or full or (fill and clocks[Clock.CHANGED] > 0.0)):
        return 0
    have, n_started = what_is_there(state, params[Sched.PINNED] > 0.0), 0
    line = _requeued_in_place(state, params, block, memory, in_line(state, params, memory))
    if batch or full:
        depth = len(line) if full else int(params[Sched.QUEUE_DEPTH])
        n_started, heads = main_scheduler(state, have, line, params, memory[0], depth)
        if _displaces(state, have, heads, block, memory):
            clocks[Clock.BATCHED], clocks[Clock.BATCH_DUE], clocks[Clock.FULL_DUE] = batched, batch_due, full_due
            return -1
    if n_started > 0:
        clocks[Clock.CHANGED] = 1.0
    return n_started + (fill_up(state, have, line, params, memory, clocks) if fill else 0)


@policy_kernel
def slurm(state, params, memory, rng):
    """The decision of one instant."""
    now, clocks, prioritised = state.clock[0]["now"], memory[1][:, Number.CLOCK], params[Sched.MULTIFACTOR] > 0.0
    block, n_queued = _block(params), state.counts[0]["n_queued"]
    set_clocks(clocks, params, now)
    if prioritised and bring_up_to_date(state, params[_N_SCHED:], memory):
        clocks[Clock.CHANGED] = 1.0
    if not _leave(state, block, memory):
        n_started = _schedule(state, params, block, memory, clocks) if n_queued > 0 else n_queued
        if 0 <= n_started < n_queued:
            wake_when_due(state, params, clocks)
        _wake_to_leave(state, memory)
    if prioritised:
        note_rates(state, memory)
