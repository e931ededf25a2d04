"""Slurm's multifactor priorities: who is charged for what, what a job's factors are, and the queue in that order.

As in Slurm, a job's priority is computed when it is submitted, and all of them anew every period. Then what was used
since is added to the usage of who is charged, and all usage decays. Between two decisions the same jobs run: so what
they use is a rate times seconds, and no job has to be looked at when it ends.
"""

import math

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.core.codes import Verb
from forebay.core.tables import policy_kernel
from forebay.policies._families.backfill import Param
from forebay.policies._families.multifactor import Clock, Column, Number, Row, Weight
from forebay.policies._kernels.availability.placement import what_is_there
from forebay.policies._kernels.backfill.backfill import serve, serve_by_key
from forebay.policies._kernels.priority.factors import priority_of, value_in, write_parts
from forebay.policies._kernels.priority.fair_share import begin_tree, charge_of, share_in_tree
from forebay.policies._kernels.priority.numbering import CHARGES, number_of
from forebay.policies._kernels.priority.order import by_priority
from forebay.policies._kernels.queue.index import first_unknown, index_behind, is_long, take_in_new
from forebay.policies._kernels.queue.keys import AS_IS, BY_NUMBER, key_by_number
from forebay.policies._kernels.queue.ordering import none_has_begun
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
        shared += value_in(weights, _N_WEIGHTS, int(weights[Weight.N_SHARES]), code, 1.0)
        used += numbers[c, Number.USAGE]
    over, ties, items = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    for c in range(n):
        share = value_in(weights, _N_WEIGHTS, int(weights[Weight.N_SHARES]), integers[c, Column.CHARGE_CODE], 1.0)
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


@kernel
def _meet(state, weights, memory, j):
    """A job that a decision sees for the first time."""
    numbers, now = memory[1], state.clock[0]["now"]
    _charge(state, weights, memory, j, int(weights[Weight.CHARGED]))
    write_parts(state, weights, numbers, j)
    numbers[j, Number.MET] = numbers[Clock.MET, Number.CLOCK] = now
    numbers[j, Number.PRIORITY] = priority_of(weights, numbers, j)


@allocating_kernel
def _count_usage(state, weights, memory):
    """Count usage, and what follows for fair shares where a period is over. Returns whether one is."""
    (integers, numbers), in_tree = memory, int(weights[Weight.CHARGED]) == _ASSOCIATION
    if in_tree:
        begin_tree(weights, integers, numbers)
    due = _add_usage(weights, integers, numbers, state.clock[0]["now"])
    if due:
        if in_tree:
            share_in_tree(weights, integers, numbers)
        else:
            _share_out(weights, integers, numbers)
        numbers[Clock.COMPUTED, Number.CLOCK] = numbers[Clock.UNWRITTEN, Number.CLOCK] = 1.0
    return due


@allocating_kernel
def bring_up_to_date(state, weights, memory):
    """Count usage, and write down the priorities that are due. Returns whether all were."""
    due, counts, numbers = _count_usage(state, weights, memory), state.counts[0], memory[1]
    unwritten = numbers[Clock.UNWRITTEN, Number.CLOCK] > 0.0
    numbers[Clock.UNWRITTEN, Number.CLOCK] = 0.0
    for q in range(counts["queue_first"], counts["queue_last"]):
        j = state.queue[q]
        if j >= 0 and numbers[j, Number.CHARGE] == 0.0:
            _meet(state, weights, memory, j)
        elif unwritten and j != -1:
            j = j if j >= 0 else -2 - j  # one that is held back grows older, too
            if numbers[j, Number.CHARGE] > 0.0:
                numbers[j, Number.PRIORITY] = priority_of(weights, numbers, j)
    return due


@kernel
def _meet_all(state, weights, memory, index):
    """See who is new since the last decision, if none has begun."""
    counts, (integers, numbers) = state.counts[0], memory
    first = counts["queue_begun"]
    if integers[Row.HELD, Column.COUNT] == 0:  # else any may be let in now
        first = max(first, first_unknown(state, index))
    for q in range(first, counts["queue_last"]):
        j = state.queue[q]
        if j < -1:
            integers[Row.HELD, Column.COUNT] = 1
        elif j >= 0 and numbers[j, Number.CHARGE] == 0.0:
            _meet(state, weights, memory, j)


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


@kernel
def _is_long(state, params):
    """Whether the queue goes by its index: see Prioritised.memory_on."""
    shallow = params[Param.DEPTH] <= 1 and params[Param.MAX_BACKFILL] == ALL and params[Param.BACKFILL_ORDER] == AS_IS
    return shallow and is_long(state) and none_has_begun(state)


@policy_kernel
def multifactor(state, params, memory, rng):
    """The decision of one instant: backfilling in the order of priorities."""
    own = (memory[0][: len(memory[1])], memory[1])  # without the index behind
    weights = params[_N_BACKFILL:]
    if _is_long(state, params):
        index, key = index_behind(state, memory[0], BY_NUMBER), key_by_number(memory[1], weights)
        _count_usage(state, weights, own)
        _meet_all(state, weights, own, index)
        take_in_new(state, index, key)
        have = what_is_there(state, params[Param.PINNED] > 0 and params[Param.DEPTH] > 0)
        serve_by_key(state, have, index, key, own[0][CHARGES, Column.COUNT], params)
    else:
        bring_up_to_date(state, weights, own)
        if state.counts[0]["n_queued"] > 0:
            have = what_is_there(state, params[Param.PINNED] > 0 and params[Param.DEPTH] > 0)
            serve(state, have, by_priority(state, own), params)
    note_rates(state, own)
