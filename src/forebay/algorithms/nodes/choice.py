"""Which idle nodes a job gets, by rules that look at where nodes stand: groups of a network, and runs of ids.

Every rule returns exactly as many nodes as are asked for; there must be so many idle ones.
"""

from enum import IntEnum

from forebay._numba.jit import kernel
from forebay.algorithms.nodes.bits import fill, is_in


class Rule(IntEnum):
    """In the order of `core.limits.PLACES`."""

    IDS = 0
    CONTIGUOUS = 1
    ONE_GROUP = 2
    FEWEST_GROUPS = 3
    SPREAD = 4
    RANDOM = 5


@kernel
def _count_groups(idle, n_idle, group, counts):
    for g in range(len(counts)):
        counts[g] = 0
    for i in range(n_idle):
        for node in range(idle[i]["low"], idle[i]["high"] + 1):
            counts[group[node]] += 1


@kernel
def _tightest(counts, count):
    """The group with the fewest idle nodes that are enough; -1 if none has."""
    best = -1
    for g in range(len(counts)):
        if counts[g] >= count and (best < 0 or counts[g] < counts[best]):
            best = g
    return best


@kernel
def _fullest(counts):
    """The group with the most idle nodes."""
    best = 0
    for g in range(1, len(counts)):
        if counts[g] > counts[best]:
            best = g
    return best


@kernel
def _shares(rule, counts, count, shares):
    """How many nodes to take of each group; False where the rule has nothing to say."""
    for g in range(len(shares)):
        shares[g] = 0
    if rule == Rule.ONE_GROUP and _tightest(counts, count) < 0:
        return False
    left = count
    while left > 0:
        g = _fullest(counts) if rule == Rule.SPREAD else _tightest(counts, left)
        if g < 0:
            g = _fullest(counts)
        some = 1 if rule == Rule.SPREAD else min(left, counts[g])
        shares[g] += some
        counts[g] -= some
        left -= some
    return True


@kernel
def _take_shares(idle, n_idle, group, shares, words):
    """The lowest nodes of each group."""
    for i in range(n_idle - 1, -1, -1):
        for node in range(idle[i]["low"], idle[i]["high"] + 1):
            if shares[group[node]] > 0:
                shares[group[node]] -= 1
                fill(words, node, 1)


@kernel
def _take_lowest(idle, n_idle, count, words):
    left, i = count, n_idle - 1
    while left > 0:
        some = min(left, idle[i]["high"] - idle[i]["low"] + 1)
        fill(words, idle[i]["low"], some)
        left -= some
        i -= 1


@kernel
def _take_runs(idle, n_idle, count, words):
    """The shortest run of ids that holds all; where none does, the longest one, and so on with what is left."""
    left = count
    while left > 0:
        best, best_size = -1, 0
        for i in range(n_idle - 1, -1, -1):
            size = idle[i]["high"] - idle[i]["low"] + 1
            if is_in(words, idle[i]["low"]):
                continue
            if best_size < left:
                better = size > best_size
            else:
                better = left <= size < best_size
            if better:
                best, best_size = i, size
        some = min(left, best_size)
        fill(words, idle[best]["low"], some)
        left -= some


@kernel
def _take_at_random(idle, n_idle, count, words, draws, at):
    """Every set of so many idle nodes is as likely; `draws` from place `at[0]` on are used, round and round."""
    there, left = 0, count
    for i in range(n_idle):
        there += idle[i]["high"] - idle[i]["low"] + 1
    for i in range(n_idle - 1, -1, -1):
        for node in range(idle[i]["low"], idle[i]["high"] + 1):
            if draws[at[0] % len(draws)] * there < left:
                fill(words, node, 1)
                left -= 1
            at[0] += 1
            there -= 1


@kernel
def choose(idle, n_idle, count, tables):
    """Set the bits of the nodes that a job gets, in `tables.words`, which are all 0.

    `tables` has the rule, the group of each node, draws and the place of the next one, and scratch for groups.
    """
    rule = tables.rule[0]
    if rule == Rule.RANDOM:
        _take_at_random(idle, n_idle, count, tables.words, tables.draws, tables.at)
    elif rule == Rule.CONTIGUOUS:
        _take_runs(idle, n_idle, count, tables.words)
    else:
        _count_groups(idle, n_idle, tables.group, tables.counts)
        if rule != Rule.IDS and _shares(rule, tables.counts, count, tables.shares):
            _take_shares(idle, n_idle, tables.group, tables.shares, tables.words)
        else:
            _take_lowest(idle, n_idle, count, tables.words)
