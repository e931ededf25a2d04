"""Slurm's scheduler where jobs displace others; see `victims` for whom, `preemption_cycle` for backfilling.

Who may displace others stands before them in line. A job that the main scheduler tries in vain looks for running jobs
that it may displace. If enough of them can give way it starts in their place, in the same instant. With a GraceTime
they leave when Slurm next looks at running jobs after it is over; then schedulers run, as after any end.

A requeued job holds no place before others: it waits where its priority puts it, and may not start for a while.
Displacing ends a decision, and the engine asks again: what else the main scheduler would start, it starts then.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.core.codes import LogReason, Urgency
from forebay.core.tables import instant_width, policy_kernel
from forebay.core.verbs import act_start, act_wake
from forebay.policies._families.multifactor import Clock, Number
from forebay.policies._families.preempt import Preempt
from forebay.policies._families.slurm_scheduler import Sched
from forebay.policies._kernels.availability.placement import what_is_there
from forebay.policies._kernels.priority.multifactor import bring_up_to_date, note_rates
from forebay.policies._kernels.priority.order import goes_before
from forebay.policies._kernels.slurm.backfill import backfill_cycle, tested
from forebay.policies._kernels.slurm.pick import starts_within
from forebay.policies._kernels.slurm.preemption_cycle import NOBODY_MAY, displacing_cycle
from forebay.policies._kernels.slurm.queue import all_of_line, whole_line
from forebay.policies._kernels.slurm.scheduler import (
    by_select,
    due_now,
    in_line,
    main_scheduler,
    note_cycle,
    set_clocks,
    wake_when_due,
)
from forebay.policies._kernels.slurm.select import select_of
from forebay.policies._kernels.slurm.victims import (
    LEAVES,
    block_of,
    cancels,
    candidates,
    displacers_first,
    have_notice,
    is_waited_for,
    make_way,
    once_gone,
    tell,
)
from forebay.policies._kernels.victims import can_give_way, choose_victims, displace

_N_SCHED = len(Sched)


@allocating_kernel
def _displaces(state, have, heads, params, block, memory):
    """Let the first of those who block the queue that can start in others' place; whether the decision ends with it.

    With notice nothing ends: the job goes on to wait until the others leave.
    """
    strict, picks = block[Preempt.STRICT_ORDER] > 0.0, by_select(state, params)
    for j in heads:
        if is_waited_for(state, j, memory):
            continue
        order = candidates(state, block, j, memory)
        chosen = choose_victims(state, have, j, order, int(block[Preempt.REORDER_COUNT]), strict)
        if len(chosen) == 0:
            continue
        if have_notice(state, block, chosen):
            tell(state, block, memory, j, chosen)
            memory[1][Clock.CHANGED, Number.CLOCK] = 1.0
            continue
        make_way(state, block, chosen)
        if picks:
            starts_within(
                state, once_gone(state, have, chosen), select_of(state, have, heads, 0), j, LogReason.IN_ORDER, -1
            )
        else:
            act_start(state, j, LogReason.IN_ORDER)
        return True
    return False


@kernel
def _leave(state, block, memory):
    """Stop the jobs whose notice is over; whether there are any. Schedulers run then, as after any end."""
    now, somebody = state.clock[0]["now"], False
    for i in range(state.counts[0]["n_running"]):
        v = state.running[i]["job"]
        if 0.0 < memory[1][v, LEAVES] <= now + instant_width(now):
            memory[1][v, LEAVES] = 0.0
            if can_give_way(state, v):
                somebody = True
                displace(state, v, cancels(state, block, v))
    return somebody


@kernel
def _wake_to_leave(state, memory):
    """Be called when notice is over."""
    for i in range(state.counts[0]["n_running"]):
        leaves = memory[1][state.running[i]["job"], LEAVES]
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
        memory[1][j, LEAVES] = 0.0  # it may have failed before its notice was over
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
def _fill_up(state, have, line, params, block, memory, clocks):
    """A backfill cycle, if anything has changed; returns how many start."""
    if clocks[Clock.CHANGED] == 0.0:
        return 0
    found = tested(state, have, line, params, memory[0])
    filled, n_told = displacing_cycle(state, have, found, params, block, memory)
    if filled == NOBODY_MAY:
        filled = backfill_cycle(state, have, found, params)
    note_cycle(clocks, state.clock[0]["now"], filled + n_told)
    return filled


@allocating_kernel
def _schedule(state, params, block, memory, clocks):
    """Run whatever is due. Returns how many jobs start; -1 = one in the place of others, and all is asked again."""
    batched, batch_due, full_due = clocks[Clock.BATCHED], clocks[Clock.BATCH_DUE], clocks[Clock.FULL_DUE]
    depth, fill = due_now(state, params, clocks)
    if depth < 0:
        return 0
    have = what_is_there(state, params[Sched.PINNED] > 0.0)
    found = all_of_line(state, in_line(state, params, memory))
    found = displacers_first(state, block, _requeued_in_place(state, params, block, memory, found))
    line = whole_line(found)
    n_started, heads = main_scheduler(state, have, line, params, memory[0], depth)
    if _displaces(state, have, heads, params, block, memory):
        clocks[Clock.BATCHED], clocks[Clock.BATCH_DUE], clocks[Clock.FULL_DUE] = batched, batch_due, full_due
        return -1
    if n_started > 0:
        clocks[Clock.CHANGED] = 1.0
    return n_started + (_fill_up(state, have, line, params, block, memory, clocks) if fill else 0)


@policy_kernel
def slurm(state, params, memory, rng):
    """The decision of one instant."""
    now, clocks, prioritised = state.clock[0]["now"], memory[1][:, Number.CLOCK], params[Sched.MULTIFACTOR] > 0.0
    block, n_queued = block_of(params), state.counts[0]["n_queued"]
    set_clocks(clocks, params, now)
    if prioritised and bring_up_to_date(state, params[_N_SCHED:], memory):
        clocks[Clock.CHANGED] = 1.0
    if not _leave(state, block, memory):
        n_started = _schedule(state, params, block, memory, clocks) if n_queued > 0 else n_queued
        if 0 <= n_started < n_queued:
            wake_when_due(state, params, clocks)
        elif n_started == n_queued:
            clocks[Clock.RESTED] = 1.0
        _wake_to_leave(state, memory)
    if prioritised:
        note_rates(state, memory)
