"""Which running jobs a waiting one may displace, by Slurm's rules: the relation, who is safe, and in which order.

They are asked in order of the priority of their QOS or the tier of their partition, the lowest first; of those alike
the smallest go first, or the youngest, then those that were submitted first.
"""

import math

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay._numba.pointer import keep, replaced
from forebay.algorithms.nodes.bits import fill
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.core.tables import RUNNING, instant_width
from forebay.policies._families.multifactor import Column, Number, Weight
from forebay.policies._families.preempt import Mode, Name, Preempt
from forebay.policies._families.slurm_scheduler import Sched
from forebay.policies._kernels.availability.placement import Have
from forebay.policies._kernels.availability.profile import ahead_of, availability
from forebay.policies._kernels.priority.factors import behind_tables
from forebay.policies._kernels.victims import can_give_way, copy_of, displace, without

_N_SCHED, _N_PREEMPT, _N_NAME = len(Sched), len(Preempt), len(Name)
_EVERY = 30.0  # s; how often Slurm looks for jobs that are over their time
LEAVES, FOR = len(Number), len(Column)  # columns behind those of priorities: when a job leaves, and 1 + for whom


@allocating_kernel
def block_of(params):
    """What is said of preemption: behind the weights and their tables."""
    weights = params[_N_SCHED:]
    return weights[behind_tables(weights) + int(weights[Weight.N_TRES]) :]


@kernel
def row_of(state, block, j):
    """The row of what is said of the QOS or partition of job `j`; -1 = nothing is."""
    code = state.jobs[j]["queue"] if block[Preempt.BY_PARTITION] > 0.0 else state.jobs[j]["qos"]
    for i in range(int(block[Preempt.N_NAMES])):
        if block[_N_PREEMPT + i * _N_NAME + Name.CODE] == code:
            return i
    return -1


@kernel
def said(block, row, name, usual):
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
    row = row_of(state, block, j)
    return block[_N_PREEMPT + row * _N_NAME + Name.PRIORITY] if row >= 0 else 0.0


@kernel
def _may_be_displaced(state, block, j, row, memory):
    """Whether running job `j`, of whom `row` tells, can give way now."""
    job, now = state.jobs[j], state.clock[0]["now"]
    if memory[1][j, LEAVES] > 0.0 or int(said(block, row, Name.MODE, Preempt.MODE)) == Mode.OFF:
        return False
    safe_until = job["leg_start"] + said(block, row, Name.EXEMPT, Preempt.EXEMPT)
    return safe_until <= now + instant_width(now) and can_give_way(state, j)


@allocating_kernel
def candidates(state, block, j, memory):
    """The running jobs that job `j` may displace now, in order."""
    n, row, most = 0, row_of(state, block, j), state.counts[0]["n_running"]
    found, keys, ties = np.empty(most, np.int64), np.empty(most), np.empty(most, np.int64)
    for i in range(most):
        v = state.running[i]["job"]
        its_row = row_of(state, block, v)
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
def is_waited_for(state, j, memory):
    """Whether running jobs are about to leave for job `j`."""
    for i in range(state.counts[0]["n_running"]):
        v = state.running[i]["job"]
        if memory[1][v, LEAVES] > 0.0 and memory[0][v, FOR] == 1 + j:
            return True
    return False


@kernel
def cancels(state, block, j):
    return int(said(block, row_of(state, block, j), Name.MODE, Preempt.MODE)) == Mode.CANCEL


@allocating_kernel
def displacers_first(state, block, line):
    """The line with whoever may displace others before those, whatever their priorities.

    A job goes before the first one that it may displace. Of several who go before the same one, those first who may
    displace others of them.
    """
    n, names = len(line), int(block[Preempt.N_NAMES])
    if block[Preempt.BY_PARTITION] > 0.0 or n == 0:  # the queue is in order of tiers
        return line
    square = block[_N_PREEMPT + names * _N_NAME :].reshape((names, names))
    first, above = np.full(names, n), _levels(square)
    keys, ties, moved = np.empty(n), np.empty(n, np.int64), False
    for i in range(n):
        row, place, level = row_of(state, block, line[i]), i, 0
        if row >= 0:
            for other in range(names):
                if square[row, other] > 0.0 and first[other] < place:
                    place, moved = first[other], True
            first[row], level = min(first[row], place), above[row]
        keys[i], ties[i] = place * (names + 1.0) + names - level, i
    if moved:
        sort_smallest(keys, ties, line, n, n)
    return line


@allocating_kernel
def _levels(square):
    """Of each QOS, how many stand below one another below it."""
    levels = np.zeros(len(square), np.int64)
    for _ in range(len(square)):
        for row in range(len(square)):
            for other in range(len(square)):
                if square[row, other] > 0.0:
                    levels[row] = max(levels[row], 1 + levels[other])
    return levels


@allocating_kernel
def last_displacer(state, block, memory, line):
    """The last place in line of a job that may displace somebody who runs now; -1 if none may."""
    n, lowest, by_partition = int(block[Preempt.N_NAMES]), np.inf, block[Preempt.BY_PARTITION] > 0.0
    square, may = block[_N_PREEMPT + n * _N_NAME :], np.zeros(n, np.bool_)
    for i in range(state.counts[0]["n_running"]):
        v = state.running[i]["job"]
        row = row_of(state, block, v)
        if _may_be_displaced(state, block, v, row, memory):
            lowest = min(lowest, state.jobs[v]["rank"])
            for other in range(n if row >= 0 else 0):
                may[other] = may[other] or square[other * n + row] > 0.0
    for i in range(len(line) - 1, -1, -1):
        row = row_of(state, block, line[i])
        if state.jobs[line[i]]["rank"] > lowest if by_partition else row >= 0 and may[row]:
            return i
    return -1


@kernel
def give_nodes(state, words, j):
    """The nodes of running job `j` are free."""
    h = state.jobs[j]["piece"]
    while h >= 0:
        piece = state.nodes.pieces[h]
        fill(words, piece["low"], piece["high"] - piece["low"] + 1)
        h = piece["next"]


@allocating_kernel
def once_gone(state, have, gone):
    """What is there once some running jobs are gone."""
    there = copy_of(have)
    words = have.words.copy()
    for v in gone:
        without(state, there, v)
        if len(words) > 0:
            give_nodes(state, words, v)
    return Have(there.free, words, there.room, there.inside)


@allocating_kernel
def ahead_without(state, have, gone, n_actions, reserved, W):
    """What will be free when, if some jobs did not run and the decision had written its first `n_actions` alone; `have`
    is what is there then."""
    running, counts, n = np.empty(len(state.running), RUNNING), state.counts.copy(), 0
    for i in range(counts[0]["n_running"]):
        row, stays = state.running[i], True
        for v in gone:
            stays = stays and row["job"] != v
        if stays:
            running[n]["end"], running[n]["job"], running[n]["leg"] = row["end"], row["job"], row["leg"]
            n += 1
    counts[0]["n_running"], counts[0]["n_actions"] = n, n_actions
    then = replaced(replaced(state, "running", running), "counts", counts)
    # With words, these come right behind what is reserved, and nodes of atoms are not counted.
    found = availability(then, have, -1, reserved, 0, W) if W > 0 else ahead_of(then, have, -1, reserved, 0, 0)
    keep(running)
    keep(counts)
    return found


@kernel
def _grace(state, block, v):
    return said(block, row_of(state, block, v), Name.GRACE, Preempt.GRACE)


@kernel
def have_notice(state, block, chosen):
    """Whether some of the victims have a GraceTime."""
    for v in chosen:
        if _grace(state, block, v) > 0.0:
            return True
    return False


@kernel
def tell(state, block, memory, j, chosen):
    """Let victims leave for job `j`: now, or in the first look at running jobs when their GraceTime is over."""
    now = state.clock[0]["now"]
    for v in chosen:
        grace = _grace(state, block, v)
        memory[1][v, LEAVES], memory[0][v, FOR] = now, 1 + j
        if grace > 0.0:
            memory[1][v, LEAVES] = math.ceil((now + grace) / _EVERY) * _EVERY
        else:
            displace(state, v, cancels(state, block, v))


@kernel
def make_way(state, block, chosen):
    """Drop what the decision would do, and stop victims. Who else would start does so when the engine asks again: a
    limit that a start exceeds cuts actions off there."""
    counts = state.counts[0]
    counts["n_actions"] = counts["n_picks"] = counts["n_shares"] = 0
    for v in chosen:
        displace(state, v, cancels(state, block, v))
