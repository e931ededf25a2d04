"""When a job finds room in a calendar of shared nodes, and where it then lies.

It may begin when all its parts find room, by the rule, in what is free from then on for its whole walltime.

Times to look for are cut into levels (see `put_off`). Of each that is looked at, the *peak* of each node is noted: the
most that it has free by then. On a busy machine few nodes can hold a part soon, and timelines are read of these alone.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.inside import BLOCK, bound_block, holds, next_open, place_parts
from forebay.algorithms.order import sort_smallest
from forebay.algorithms.timelines import first_window, least_between, most_until, next_segment
from forebay.algorithms.windows import next_edge
from forebay.core.inside import DIMENSIONS
from forebay.core.tables import instant_width
from forebay.policies._kernels.calendar import roomy, take_places
from forebay.policies._kernels.easy_inside import asks_of
from forebay.policies._kernels.windows import opens


@inlined_kernel
def open_at(state, leg, time):
    """The atoms, as bits, on which a leg may lie that starts at `time`."""
    return opens(state, leg, state.inside.asks[leg]["allowed"], time)


@inlined_kernel
def ever_open(state, leg):
    """The atoms, as bits, on which a leg may ever lie."""
    return state.legs[leg]["later"] if len(state.planned) > 0 else state.inside.asks[leg]["allowed"]


@inlined_kernel
def _node_needs(full, node, ask, needs):
    """What a node must have free for a part: all that is in it, if that is to be alone there."""
    needs[0], needs[1], needs[2], needs[3] = ask["cores"], ask["memory"], ask["gpus"], ask["local"]
    if ask["exclusive"]:
        for d in range(DIMENSIONS):
            needs[d] = max(needs[d], full[node, d])


@kernel
def _know_peaks(state, calendar, level, last):
    """Work out the peaks of a level, which ends at `last`, if nobody has."""
    peak, n_nodes = calendar.peaks[level], len(state.inside.full)
    if not calendar.peaked[level]:
        calendar.peaked[level] = True
        for node in range(n_nodes):
            most_until(calendar.lines, node, last, peak[node])
        for block in range(len(peak) - n_nodes):
            bound_block(peak, n_nodes, block)


@kernel
def _one_from(state, calendar, peak, ask, allowed, time, walltime, last):
    """When, from `time` on, some node has room for one part; inf if none has by `last`."""
    inside, needs, best, n_nodes = state.inside, calendar.needs[:DIMENSIONS], np.inf, len(state.inside.full)
    for a in range(len(inside.atoms) - 1):
        if not (allowed >> a) & 1:
            continue
        _node_needs(inside.full, inside.atoms[a], ask, needs)  # nodes of an atom are alike
        node, high = next_open(peak, n_nodes, inside.atoms[a], inside.atoms[a + 1], ask), inside.atoms[a + 1]
        while node < high:
            if holds(peak, inside.full, node, ask) > 0:
                begin = first_window(calendar.lines, node, needs, walltime, time, min(last, best))
                if begin <= time:
                    return time
                best = min(best, begin)
            node += 1
            if node % BLOCK == 0:
                node = next_open(peak, n_nodes, node, high, ask)
    return best if best <= last else np.inf


@kernel
def _most_parts(state, peak, ask, allowed):
    """How many parts find room at peaks, up to as many as there are."""
    inside, total, n_nodes = state.inside, 0, len(state.inside.full)
    for a in range(len(inside.atoms) - 1):
        if not (allowed >> a) & 1:
            continue
        node, high = next_open(peak, n_nodes, inside.atoms[a], inside.atoms[a + 1], ask), inside.atoms[a + 1]
        while node < high:
            total += holds(peak, inside.full, node, ask)
            if total >= ask["parts"]:
                return total
            node += 1
            if node % BLOCK == 0:
                node = next_open(peak, n_nodes, node, high, ask)
    return total


@inlined_kernel
def _parts_on(state, calendar, node, ask, needs, full, time, walltime, last):
    """How many parts a node holds from `time` on; when it may hold more, if it may.

    One that has no room for a part has none before its next window; one that has may hold more from its next segment.
    """
    lines, least = calendar.lines, calendar.least
    if full == 1:
        begin = first_window(lines, node, needs, walltime, time, last)
        return (1, np.inf) if begin <= time else (0, begin)
    least_between(lines, node, time, time + walltime, least[node])
    count = holds(least, state.inside.full, node, ask)
    if count == full:
        return count, np.inf
    if count == 0:
        return 0, first_window(lines, node, needs, walltime, time, last)
    return count, next_segment(lines, node, time)


@kernel
def _parts_from(state, calendar, peak, ask, allowed, time, walltime, last):
    """`time` if all parts find room then; else a time before which they do not, inf if not by `last`.

    As soon as enough nodes may hold more, it is worth to look again.
    """
    inside, needs, n_nodes = state.inside, calendar.needs[:DIMENSIONS], len(state.inside.full)
    n, total, most = 0, 0, 0
    for a in range(len(inside.atoms) - 1):
        if not (allowed >> a) & 1:
            continue
        _node_needs(inside.full, inside.atoms[a], ask, needs)
        full = holds(inside.full, inside.full, inside.atoms[a], ask)
        node, high = next_open(peak, n_nodes, inside.atoms[a], inside.atoms[a + 1], ask), inside.atoms[a + 1]
        while node < high:
            if holds(peak, inside.full, node, ask) > 0:
                count, begin = _parts_on(state, calendar, node, ask, needs, full, time, walltime, last)
                total += count
                if total >= ask["parts"]:
                    return time
                if begin <= last:
                    calendar.times[n], calendar.ties[n], calendar.nodes[n] = begin, node, full - count
                    most += full - count
                    n += 1
            node += 1
            if node % BLOCK == 0:
                node = next_open(peak, n_nodes, node, high, ask)
    if total + most < ask["parts"]:
        return np.inf
    # The sort brings what goes with the smallest times to the front of `nodes`, and the times themselves to the end.
    sort_smallest(calendar.times, calendar.ties, calendar.nodes, n, n)
    i = 0
    while total < ask["parts"]:
        total += calendar.nodes[i]
        i += 1
    return calendar.times[n - i]


@kernel
def begins(state, calendar, leg, n_pooled, first, last, level):
    """The earliest time from `first` on, up to a level's end `last`, at which a leg finds all it needs; inf if none."""
    ask, walltime, needs = state.inside.asks[leg], state.legs[leg]["walltime"], calendar.needs
    n_nodes, time, peak = len(state.inside.full), first, calendar.peaks[level]
    _know_peaks(state, calendar, level, last)
    if ask["parts"] > 1 and _most_parts(state, peak, ask, ever_open(state, leg)) < ask["parts"]:
        return np.inf
    while time <= last:
        if n_pooled > 0:
            for r in range(n_pooled):
                needs[r] = state.demands[leg, r + 1]
            time = first_window(calendar.lines, n_nodes, needs[:n_pooled], walltime, time, last)
            if time > last:
                break
        if ask["parts"] == 0:
            return time
        allowed = open_at(state, leg, time)
        if ask["parts"] == 1:
            found = _one_from(state, calendar, peak, ask, allowed, time, walltime, last)
            if n_pooled == 0 and len(state.planned) == 0:
                return found
        else:
            found = _parts_from(state, calendar, peak, ask, allowed, time, walltime, last)
        if found == time:
            return time
        time = min(found, next_edge(state.planned, time + instant_width(time)))
    return np.inf


@kernel
def _clear(state, calendar, peak, ask, begin, end):
    """Work out what is free for a while on nodes where a leg may lie, and the bounds of their blocks."""
    inside, least, n_nodes = state.inside, calendar.least, len(state.inside.full)
    for a in range(len(inside.atoms) - 1):
        if not (ask["allowed"] >> a) & 1:
            continue
        low, high = inside.atoms[a], inside.atoms[a + 1]
        for block in range(low // BLOCK, (high - 1) // BLOCK + 1):
            for d in range(DIMENSIONS):
                least[n_nodes + block, d] = peak[n_nodes + block, d]
        node = next_open(peak, n_nodes, low, high, ask)
        while node < high:
            least[node, 0] = -1
            if holds(peak, inside.full, node, ask) > 0:
                least_between(calendar.lines, node, begin, end, least[node])
            node += 1
            if node % BLOCK == 0:
                node = next_open(peak, n_nodes, node, high, ask)


@allocating_kernel
def lay(state, calendar, leg, n_pooled, begin, level):
    """A leg that finds room at `begin`, within a level, holds its places by the rule; returns the calendar."""
    inside, asks, picks = state.inside, asks_of(state, leg), calendar.picks
    ask, end, n = asks[0], begin + state.legs[leg]["walltime"], 0
    ask["allowed"] = open_at(state, leg, begin)
    if ask["parts"] > 0:
        _clear(state, calendar, calendar.peaks[level], ask, begin, end)
        n = place_parts(calendar.least, inside.full, inside.atoms, ask, state.machine[0]["placement"], picks, 0)
    calendar = roomy(calendar, n)
    take_places(state, calendar, leg, n_pooled, picks[:n], begin, end)
    for i in range(n):
        calendar.reserved[picks[i]["low"]] = min(calendar.reserved[picks[i]["low"]], begin)
    return calendar
