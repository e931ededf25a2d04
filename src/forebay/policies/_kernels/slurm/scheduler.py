"""When Slurm schedules, and its main scheduler; see `backfill` for the other one.

- After jobs were submitted or have ended the main scheduler runs, not sooner than `batch_sched_delay` after the last
  time. (A real one, of version 22.05, showed this: of ends too, and of jobs that come to an idle machine.)
- Every `sched_interval` it runs over the whole queue; not here, if it did in vain and nothing has changed since.
- Backfilling runs every `bf_interval` while jobs wait: each cycle writes down what it expects, and so gives the next
  one something to do. Cycles for which nothing but the time has changed are left out here. Who comes to an empty queue
  later than that after the last cycle finds backfilling ready. (So it was in all recordings of a real one.)
- All of this at multiples of `look_every`: Slurm's threads wake once a second to look for work.

The main scheduler goes down the queue. A job that finds no nodes blocks its partition, and with it the nodes of that
partition, to all behind it, whatever few of these nodes it may run on. Who is in another partition is tried on the
nodes that this leaves, and does not block its own if there are none for it. Jobs of blocked partitions count as tried.
(A real one did all of this.) One that only lacks licences blocks nobody, unless reservations hold licences: then it
blocks as well. (A real Slurm passed such jobs 22 times among 200 without bf_licenses, and never with it.)
"""

import math

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.nodes.shared_nodes import holds
from forebay.core.codes import LogReason, Trigger
from forebay.core.tables import instant_width, policy_kernel
from forebay.core.verbs import act_wake, interrupted
from forebay.policies._families.multifactor import Clock, Column, Number
from forebay.policies._families.slurm_scheduler import Sched
from forebay.policies._kernels.availability.licenses import has_licenses
from forebay.policies._kernels.availability.placement import fits_now, what_is_there
from forebay.policies._kernels.backfill.backfill import start_now
from forebay.policies._kernels.priority.multifactor import bring_up_to_date, note_rates
from forebay.policies._kernels.priority.numbering import number_of
from forebay.policies._kernels.priority.order import by_priority
from forebay.policies._kernels.slurm.backfill import backfill_cycle, tested
from forebay.policies._kernels.slurm.pick import starts_within
from forebay.policies._kernels.slurm.queue import in_arrival, job_at, whole_line
from forebay.policies._kernels.slurm.select import bits_of, select_of
from forebay.policies._orders import ALL

_N_SCHED = len(Sched)
_PARTITIONS = 2
_MOST_ATOMS = 64  # sets of nodes that are distinguished: bits of a word
_ENDED = Trigger.LEG_ENDED | Trigger.JOB_ENDED | Trigger.RELEASED | Trigger.NODE_UP


@allocating_kernel
def in_line(state, params, memory):
    """The queue in the order in which jobs are tried."""
    return whole_line(by_priority(state, memory)) if params[Sched.MULTIFACTOR] > 0.0 else in_arrival(state)


@kernel
def by_select(state, params):
    """Whether jobs start on the nodes that Slurm's select plug-in would pick: always where they share nodes."""
    return len(state.inside.full) > 0 or (params[Sched.PINNED] > 0.0 and state.machine[0]["chunked"] < 0)


@kernel
def _starts(state, have, select, j, params, blocked):
    """Start job `j` if it fits on nodes that are not blocked."""
    if not fits_now(state, have, j):
        return False
    partly = blocked & bits_of(state, state.jobs[j]["leg"]) != 0
    if partly or by_select(state, params):
        return starts_within(state, have, select, j, LogReason.IN_ORDER, ~blocked)
    start_now(state, have, j, LogReason.IN_ORDER)
    return True


@kernel
def blocks_others(state, j, blocked):
    """Whether job `j`, which has found no nodes, blocks its partition. Not if others have blocked all nodes where it
    may run; nor, if it says no number of nodes, if those that are left could not hold it were they idle."""
    leg = state.jobs[j]["leg"]
    left = bits_of(state, leg) & ~blocked
    if len(state.inside.asks) == 0 or blocked == 0 or state.inside.asks[leg]["spread"]:
        return left != 0
    inside, ask, room = state.inside, state.inside.asks[leg], 0
    for a in range(len(inside.atoms) - 1):
        if (left >> a) & 1:
            room += (inside.atoms[a + 1] - inside.atoms[a]) * holds(inside.full, inside.full, inside.atoms[a], ask)
    return room >= ask["parts"]


@allocating_kernel
def main_scheduler(state, have, line, params, integers, depth):
    """Start jobs in order until so many were tried, or all nodes are blocked; who starts is -1 in line from then on.

    Returns how many start, and who blocks.
    """
    most, n_tried, n_started, blocked = int(params[Sched.PARTITION_DEPTH]), 0, 0, 0
    heads, n_heads, select = np.empty(_MOST_ATOMS, np.int64), 0, select_of(state, have, line.jobs, 0)
    tried = np.zeros(len(line.jobs) + integers[_PARTITIONS, Column.COUNT] if most > 0 else 0, np.int64)
    for i in range(len(line.jobs)):
        if n_tried == depth or blocked == -1 or interrupted(state):
            break
        j = job_at(state, line, i)
        n_tried += 1
        within = state.jobs[j]["within"]
        if within & ~blocked == 0:
            continue
        if params[Sched.RESERVED] == 1.0 and not has_licenses(state, have, j, params):
            continue
        if most > 0:
            p = number_of(integers, _PARTITIONS, state.jobs[j]["queue"])
            tried[p] += 1
            if tried[p] > most:
                continue
        if _starts(state, have, select, j, params, blocked):
            line.jobs[i] = -1
            n_started += 1
            continue
        if blocks_others(state, j, blocked):
            blocked |= within
        if n_heads < len(heads):
            heads[n_heads] = j
            n_heads += 1
    return n_started, heads[:n_heads]


@kernel
def set_clocks(clocks, params, now):
    """The clocks of a run begin with its first decision."""
    if clocks[Clock.BEGUN] == 0.0:
        clocks[Clock.BEGUN] = 1.0
        clocks[Clock.BATCHED] = clocks[Clock.BACKFILLED] = -np.inf
        clocks[Clock.BATCH_DUE] = np.inf
        clocks[Clock.FULL_DUE] = now + params[Sched.SCHED_INTERVAL]
        clocks[Clock.ASKED_BATCH] = clocks[Clock.ASKED_FULL] = clocks[Clock.ASKED_BACKFILL] = -np.inf


@kernel
def _wake_at(state, clocks, which, time):
    """Be called at a time, unless that was asked for before."""
    if time < np.inf and time > state.clock[0]["now"] and clocks[which] != time:
        clocks[which] = time
        act_wake(state, time)


@kernel
def _next_look(params, time):
    """When Slurm looks for work at a time, or next after it."""
    every = params[Sched.LOOK_EVERY]
    if every == 0.0 or time == np.inf:
        return time
    return max(math.ceil((time - instant_width(time)) / every) * every, time)


@kernel
def _cycle_due(params, clocks, now):
    """When the next backfill cycle is due, from now on."""
    last, interval = clocks[Clock.BACKFILLED], params[Sched.BF_INTERVAL]
    if clocks[Clock.RESTED] > 0.0 or abs(last) == np.inf:
        return max(last + interval, now)
    return last + interval * max(math.ceil((now - instant_width(now) - last) / interval), 1.0)


@kernel
def wake_when_due(state, params, clocks):
    """Be called when a scheduler is due next."""
    now = state.clock[0]["now"]
    _wake_at(state, clocks, Clock.ASKED_BATCH, _next_look(params, max(clocks[Clock.BATCH_DUE], now)))
    _wake_at(state, clocks, Clock.ASKED_FULL, _next_look(params, max(clocks[Clock.FULL_DUE], now)))
    if clocks[Clock.CHANGED] > 0.0:
        _wake_at(state, clocks, Clock.ASKED_BACKFILL, _next_look(params, _cycle_due(params, clocks, now)))


@kernel
def due_now(state, params, clocks):
    """How many jobs the main scheduler is to try (0 = it is not due), and whether backfilling may be due.

    Where neither has anything to do, -1 and False.
    """
    now, triggers = state.clock[0]["now"], state.clock[0]["triggers"]
    ended, submitted, soon = triggers & _ENDED != 0, triggers & Trigger.SUBMIT != 0, now + instant_width(now)
    if submitted or ended:
        due = max(now, clocks[Clock.BATCHED] + params[Sched.BATCH_DELAY])
        clocks[Clock.BATCH_DUE] = min(clocks[Clock.BATCH_DUE], due)
        clocks[Clock.CHANGED] = 1.0
    if _next_look(params, now) > soon:
        return -1, False
    batch, full = clocks[Clock.BATCH_DUE] <= soon, clocks[Clock.FULL_DUE] <= soon
    if batch:
        clocks[Clock.BATCHED], clocks[Clock.BATCH_DUE] = now, np.inf
    if full:
        interval = params[Sched.SCHED_INTERVAL]
        clocks[Clock.FULL_DUE] += interval * (1.0 + math.floor((soon - clocks[Clock.FULL_DUE]) / interval))
        full = clocks[Clock.LOOKED] != state.counts[0]["n_queued"]
    fill = _cycle_due(params, clocks, now) <= soon
    if batch or full:
        return ALL if full else int(params[Sched.QUEUE_DEPTH]), fill
    return (0, True) if fill and clocks[Clock.CHANGED] > 0.0 else (-1, False)


@kernel
def note_cycle(clocks, now, n_started):
    """A cycle is over: the next one has to do only with what changes from now on, its own starts among it."""
    clocks[Clock.BACKFILLED], clocks[Clock.CHANGED], clocks[Clock.RESTED] = now, 1.0 if n_started > 0 else 0.0, 0.0


@allocating_kernel
def fill_up(state, have, line, params, memory, clocks):
    """Backfill beside the jobs that the main scheduler starts, if anything has changed; returns how many start."""
    if clocks[Clock.CHANGED] == 0.0:
        return 0
    filled = backfill_cycle(state, have, tested(state, have, line, params, memory[0]), params)
    note_cycle(clocks, state.clock[0]["now"], filled)
    return filled


@allocating_kernel
def _schedule(state, params, memory, clocks):
    """Run whatever is due. Returns how many jobs start."""
    depth, fill = due_now(state, params, clocks)
    if depth < 0:
        return 0
    have, line = what_is_there(state, params[Sched.PINNED] > 0.0), in_line(state, params, memory)
    n_started, _ = main_scheduler(state, have, line, params, memory[0], depth)
    if n_started > 0:
        clocks[Clock.CHANGED] = 1.0
    n_started += fill_up(state, have, line, params, memory, clocks) if fill else 0
    if n_started > 0:
        clocks[Clock.LOOKED] = 0.0
    elif depth == ALL and len(state.planned) == 0:  # windows of the site keep jobs off nodes as time goes by
        clocks[Clock.LOOKED] = state.counts[0]["n_queued"]
    return n_started


@policy_kernel
def slurm(state, params, memory, rng):
    """The decision of one instant."""
    now, clocks, prioritised = state.clock[0]["now"], memory[1][:, Number.CLOCK], params[Sched.MULTIFACTOR] > 0.0
    set_clocks(clocks, params, now)
    if prioritised and bring_up_to_date(state, params[_N_SCHED:], memory):
        clocks[Clock.CHANGED], clocks[Clock.LOOKED] = 1.0, 0.0
    if state.clock[0]["triggers"] & ~Trigger.WAKE != 0:
        clocks[Clock.LOOKED] = 0.0
    n_queued = state.counts[0]["n_queued"]
    if n_queued > 0 and _schedule(state, params, memory, clocks) < n_queued:
        wake_when_due(state, params, clocks)
    else:
        clocks[Clock.RESTED] = 1.0
    if prioritised:
        note_rates(state, memory)
