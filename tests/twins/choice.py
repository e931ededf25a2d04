"""Nodes chosen by where they stand, on sets of ids."""

import itertools

from forebay.algorithms.nodes.choice import Rule


def runs(nodes):
    """Maximal runs of ids, lowest first."""
    ordered = sorted(nodes)
    return [
        [node for _, node in items]
        for _, items in itertools.groupby(enumerate(ordered), lambda pair: pair[1] - pair[0])
    ]


def choose(rule, idle, group, count):
    """The nodes of a job, group by group or run by run, whatever the rule takes next."""
    chosen, idle = set(), set(idle)
    while len(chosen) < count:
        left, rest = count - len(chosen), idle - chosen
        members = [sorted(node for node in rest if group[node] == g) for g in range(max(group) + 1)]
        if rule == Rule.CONTIGUOUS:
            members = [run for run in runs(idle) if run[0] not in chosen]
        enough = [some for some in members if len(some) >= left]
        if rule == Rule.SPREAD:
            chosen.add(max(members, key=len)[0])
        elif enough:
            chosen |= set(min(enough, key=len)[:left])
        elif rule == Rule.ONE_GROUP:
            chosen |= set(sorted(rest)[:left])
        else:
            chosen |= set(max(members, key=len))
    return chosen
