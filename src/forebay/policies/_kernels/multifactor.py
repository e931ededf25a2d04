"""Slurm's multifactor priorities: who is charged for what, what a job's factors are, and the queue in that order.

As in Slurm, a job's priority is computed when it is submitted, and all of them anew every period. Then what was used
since is added to the usage of who is charged, and all usage decays. Between two decisions the same jobs run: so what
they use is a rate times seconds, and no job has to be looked at when it ends.
"""

import math

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.order import sort_smallest
from forebay.core.codes import Verb
from forebay.core.tables import policy_kernel
from forebay.policies._families.backfill import Param
from forebay.policies._families.multifactor import Clock, Column, Number, Weight
from forebay.policies._kernels.accounts import begin_tree, charge_of, share_in_tree
from forebay.policies._kernels.backfill import serve, serve_by_number
from forebay.policies._kernels.long_line import index_behind
from forebay.policies._kernels.numbers import CHARGES, number_of
from forebay.policies._kernels.ordering import none_has_begun
from forebay.policies._kernels.places import what_is_there
from forebay.policies._kernels.priority_line import by_priority
from forebay.policies._orders import ALL

_N_WEIGHTS, _N_BACKFILL = len(Weight), len(Param)
_GROUP, _ACCOUNT, _QUEUE, _ASSOCIATION = 1, 2, 3, 4  # of CHARGED
_LN2 = 0.693  # as Slurm has it


@kernel
def _code_of(job, charged):
    if charged == _GROUP:
        return job["group"]
    if charged == _ACCOUNT:
        return job["account"]
    if charged == _QUEUE:
        return job["queue"]
    return job["user"]


@kernel
def _value(weights, first, count, code, default):
    """What a table of (code, value) says of a code."""
    for i in range(first, first + 2 * count, 2):
        if weights[i] == code:
            return weights[i + 1]
    return default


@kernel
def _largest(weights, first, count, least):
    for i in range(first, first + 2 * count, 2):
        least = max(least, weights[i + 1])
    return least


@kernel
def _add_usage(weights, integers, numbers, now):
    """Count what has been used up to now; whether a period is over, and priorities are to be computed."""
    decided, calculated = numbers[Clock.DECIDED, Number.CLOCK], numbers[Clock.CALCULATED, Number.CLOCK]
    period, half_life, n = weights[Weight.CALC_PERIOD], weights[Weight.HALF_LIFE], integers[CHARGES, Column.COUNT]
    numbers[Clock.DECIDED, Number.CLOCK] = now
    if period <= 0.0:
        period, calculated = max(now - decided, 0.0), decided  # a period a decision
    if now < calculated + period:
        for c in range(n):
            numbers[c, Number.RECENT] += numbers[c, Number.RATE] * (now - decided)
        return False
    whole = math.floor((now - calculated) / period) if period > 0.0 else 1.0
    kept = (1.0 - _LN2 / half_life) ** period if half_life > _LN2 else 1.0 if half_life == 0.0 else 0.0
    later = kept ** (whole - 1.0)
    # Periods in which the same jobs ran throughout: each adds as much, and decays the more often the earlier it was.
    series = kept * (1.0 - later) / (1.0 - kept) if kept < 1.0 else whole - 1.0
    for c in range(n):
        rate = numbers[c, Number.RATE]
        first = numbers[c, Number.RECENT] + rate * (calculated + period - decided)
        numbers[c, Number.USAGE] = (numbers[c, Number.USAGE] + first) * kept * later + rate * period * series
        numbers[c, Number.RECENT] = rate * (now - calculated - whole * period)
    numbers[Clock.CALCULATED, Number.CLOCK] = calculated + whole * period
    return True


@allocating_kernel
def _share_out(weights, integers, numbers):
    """The fair-share factor of everybody who is charged: their rank, or a power of what they used of their share."""
    n, shared, used = integers[CHARGES, Column.COUNT], 0.0, 0.0
    for c in range(n):
        code = integers[c, Column.CHARGE_CODE]
        shared += _value(weights, _N_WEIGHTS, int(weights[Weight.N_SHARES]), code, 1.0)
        used += numbers[c, Number.USAGE]
    over, ties, items = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    for c in range(n):
        share = _value(weights, _N_WEIGHTS, int(weights[Weight.N_SHARES]), integers[c, Column.CHARGE_CODE], 1.0)
        fraction = numbers[c, Number.USAGE] / used if used > 0.0 else 0.0
        over[c] = fraction * shared / share if share > 0.0 else np.inf  # usage over share: the least goes first
        ties[c] = items[c] = c
        numbers[c, Number.FACTOR] = 2.0 ** (-over[c] / weights[Weight.DAMPENING]) if share > 0.0 else 0.0
    if weights[Weight.FAIR_TREE] == 0.0:
        return
    sort_smallest(over.copy(), ties, items, n, n)
    rank = n
    for i in range(n):
        if i > 0 and over[items[i]] > over[items[i - 1]]:
            rank = n - i
        numbers[items[i], Number.FACTOR] = rank / n


@kernel
def _size_factor(state, weights, job):
    """The part of the machine that a job asks for, or what is left beside it; perhaps over the minutes it asks for."""
    part = job["nodes"] / state.resources[0]["capacity"]
    if weights[Weight.RELATIVE_TO_TIME] > 0.0:
        part /= max(job["walltime"] / 60.0, 1.0)
    return 1.0 - part if weights[Weight.FAVOR_SMALL] > 0.0 else part


@kernel
def _write_down(state, weights, numbers, j):
    """What a job's priority comes from, and never changes while it waits: when it came, its size, partition and QOS."""
    job, row = state.jobs[j], numbers[j]
    row[Number.SUBMIT], row[Number.RANK], row[Number.ID] = job["submit"], job["rank"], job["id"]
    row[Number.SIZE], row[Number.PARTITION], row[Number.QOS] = 0.0, 0.0, 0.0
    if weights[Weight.JOB_SIZE] > 0.0:
        row[Number.SIZE] = weights[Weight.JOB_SIZE] * _size_factor(state, weights, job)
    first = _N_WEIGHTS + 2 * int(weights[Weight.N_SHARES])
    if weights[Weight.PARTITION] > 0.0:
        n = int(weights[Weight.N_PARTITIONS])
        own, largest = _value(weights, first, n, job["queue"], 1.0), _largest(weights, first, n, 1.0)
        row[Number.PARTITION] = weights[Weight.PARTITION] * own / largest
    if weights[Weight.QOS] > 0.0:
        first += 2 * int(weights[Weight.N_PARTITIONS])
        n = int(weights[Weight.N_QOS])
        own, largest = _value(weights, first, n, job["qos"], 0.0), _largest(weights, first, n, 0.0)
        row[Number.QOS] = weights[Weight.QOS] * own / largest if largest > 0.0 else 0.0


@inlined_kernel
def _priority(weights, factor, row, now):
    """The priority of a job whose owner has a fair-share factor: a whole number, at least 1."""
    age = min((now - row[Number.SUBMIT]) / weights[Weight.MAX_AGE], 1.0)
    priority = weights[Weight.AGE] * age + weights[Weight.FAIRSHARE] * factor
    return max(math.floor(priority + row[Number.SIZE] + row[Number.PARTITION] + row[Number.QOS]), 1.0)


@kernel
def _charge(state, weights, memory, j, charged):
    """Find out who is charged for a job that is new."""
    integers, numbers = memory
    n = integers[CHARGES, Column.COUNT]
    if charged == _ASSOCIATION:
        c = charge_of(weights, integers, numbers, state.jobs[j])
    else:
        c = number_of(integers, CHARGES, _code_of(state.jobs[j], charged))
    integers[j, Column.CHARGE] = 1 + c
    numbers[j, Number.CHARGE] = 1 + c
    if c == n:
        numbers[c, Number.FACTOR] = 1.0  # who has used nothing


@allocating_kernel
def bring_up_to_date(state, weights, memory):
    """Count usage, and compute the priorities that are due. Returns whether all were."""
    integers, numbers = memory
    counts, now, charged = state.counts[0], state.clock[0]["now"], int(weights[Weight.CHARGED])
    if charged == _ASSOCIATION:
        begin_tree(weights, integers, numbers)
    due = _add_usage(weights, integers, numbers, now)
    if due:
        if charged == _ASSOCIATION:
            share_in_tree(weights, integers, numbers)
        else:
            _share_out(weights, integers, numbers)
        numbers[Clock.COMPUTED, Number.CLOCK] = 1.0
    for q in range(counts["queue_first"], counts["queue_last"]):
        j = state.queue[q]
        if j < 0:
            continue
        new = numbers[j, Number.CHARGE] == 0.0
        if new:
            _charge(state, weights, memory, j, charged)
            _write_down(state, weights, numbers, j)
        if new or due:
            row = numbers[j]
            at = now if new else numbers[Clock.CALCULATED, Number.CLOCK]
            factor = numbers[int(row[Number.CHARGE]) - 1, Number.FACTOR]
            row[Number.PRIORITY] = _priority(weights, factor, row, max(at, row[Number.SUBMIT]))
    return due


@kernel
def note_rates(state, memory):
    """Remember how many nodes the jobs of each have from now on, those included that this decision starts."""
    integers, numbers = memory
    for c in range(integers[CHARGES, Column.COUNT]):
        numbers[c, Number.RATE] = 0.0
    for i in range(state.counts[0]["n_running"]):
        j = state.running[i]["job"]
        if integers[j, Column.CHARGE] > 0:
            numbers[integers[j, Column.CHARGE] - 1, Number.RATE] += state.jobs[j]["held"]
    for a in range(min(state.counts[0]["n_actions"], len(state.actions))):
        action = state.actions[a]
        j = action["job"]
        if action["verb"] == Verb.START and integers[j, Column.CHARGE] > 0:
            taken = state.jobs[j]["held"] + state.demands[state.jobs[j]["leg"], 0]
            numbers[integers[j, Column.CHARGE] - 1, Number.RATE] += taken


@allocating_kernel
def _serve(state, params, own, table):
    """Backfill by priority; where at most one reservation is laid, a long queue by the index behind the table."""
    have = what_is_there(state, params[Param.PINNED] > 0 and params[Param.DEPTH] > 0)
    if params[Param.DEPTH] <= 1 and params[Param.MAX_BACKFILL] == ALL:  # see Prioritised.memory_on
        index = index_behind(state, table)
        if len(index) > 0 and none_has_begun(state):
            serve_by_number(state, have, own[1], index, params)
            return
    serve(state, have, by_priority(state, own), params)


@policy_kernel
def multifactor(state, params, memory, rng):
    """The decision of one instant: backfilling in the order of priorities."""
    own = (memory[0][: len(memory[1])], memory[1])  # without the index behind
    bring_up_to_date(state, params[_N_BACKFILL:], own)
    if state.counts[0]["n_queued"] > 0:
        _serve(state, params, own, memory[0])
    note_rates(state, own)
