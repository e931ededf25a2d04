"""When a job finds room in a calendar of shared nodes, and where it then lies.

It may begin when all its parts find room, by the rule, in what is free from then on for its whole walltime.

Nodes of an atom are alike: where one has too little when it is idle, none is looked at.
"""

import numpy as np

from forebay._numba.jit import inlined_kernel, kernel
from forebay.algorithms.availability.site_windows import next_edge
from forebay.algorithms.availability.timelines import first_window, least_between, least_if, next_segment
from forebay.algorithms.nodes.shared_nodes import BLOCK, holds, place_parts
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.core.codes import LogReason
from forebay.core.inside import DIMENSIONS
from forebay.core.tables import instant_width
from forebay.core.verbs import act_start, take_picks_from
from forebay.policies._kernels.availability.calendar import may_begin, node_needs, step_of, take_places, window_on
from forebay.policies._kernels.availability.node_sets import charge
from forebay.policies._kernels.availability.shared_nodes import take_picked
from forebay.policies._kernels.availability.site_windows import opens
from forebay.policies._kernels.backfill.easy_shared import copy_ask


@inlined_kernel
def open_at(state, leg, time):
    """The atoms, as bits, on which a leg may lie that starts at `time`."""
    return opens(state, leg, state.inside.asks[leg]["allowed"], time)


@kernel
def _one_from(state, calendar, ask, allowed, time, walltime, last):
    """When, from `time` on, some node has room for one part; inf if none has by `last`."""
    inside, needs, best = state.inside, calendar.needs[:DIMENSIONS], np.inf
    for a in range(len(inside.atoms) - 1):
        if not (allowed >> a) & 1 or holds(inside.full, inside.full, inside.atoms[a], ask) == 0:
            continue
        node_needs(inside.full, inside.atoms[a], ask, needs)
        step = step_of(needs[0])
        for node in range(inside.atoms[a], inside.atoms[a + 1]):
            begin = window_on(calendar, node, step, needs, walltime, time, min(last, best))
            if begin <= time:
                return time
            best = min(best, begin)
    return best


@inlined_kernel
def _parts_on(state, calendar, node, step, ask, needs, full, time, walltime, last):
    """How many parts a node holds from `time` on; when it may hold more, if it may by `last`.

    One that has no room for a part has none before its next window; one that has may hold more from its next segment.
    """
    begin = window_on(calendar, node, step, needs, walltime, time, last)
    if begin > time:
        return 0, begin
    if full == 1:
        return 1, np.inf
    least_between(calendar.lines, node, time, time + walltime, calendar.least[node])
    count = holds(calendar.least, state.inside.full, node, ask)
    if count == full:
        return count, np.inf
    return count, next_segment(calendar.lines, node, time)


@kernel
def _parts_from(state, calendar, ask, allowed, time, walltime, last):
    """`time` if all parts find room then; else a time before which they do not, inf if not by `last`.

    As soon as enough nodes may hold more, it is worth to look again.
    """
    inside, needs, n, total, most = state.inside, calendar.needs[:DIMENSIONS], 0, 0, 0
    for a in range(len(inside.atoms) - 1):
        full = holds(inside.full, inside.full, inside.atoms[a], ask)
        if not (allowed >> a) & 1 or full == 0:
            continue
        node_needs(inside.full, inside.atoms[a], ask, needs)
        step = step_of(needs[0])
        for node in range(inside.atoms[a], inside.atoms[a + 1]):
            count, begin = _parts_on(state, calendar, node, step, ask, needs, full, time, walltime, last)
            total += count
            if total >= ask["parts"]:
                return time
            if begin <= last and begin < np.inf:
                calendar.times[n], calendar.ties[n], calendar.nodes[n] = begin, node, full - count
                most += full - count
                n += 1
    if total + most < ask["parts"]:
        return np.inf
    # The sort brings what goes with the smallest times to the front of `nodes`, and the times themselves to the end.
    sort_smallest(calendar.times, calendar.ties, calendar.nodes, n, min(n, ask["parts"] - total))
    i = 0
    while total < ask["parts"]:
        total += calendar.nodes[i]
        i += 1
    return calendar.times[n - i]


@kernel
def begins(state, calendar, leg, n_pooled, first, last):
    """The earliest time from `first` on, up to `last`, at which a leg finds all it needs; inf if there is none."""
    ask, walltime, needs = state.inside.asks[leg], state.legs[leg]["walltime"], calendar.needs
    n_nodes, time = len(state.inside.full), first
    while time <= last and time < np.inf:
        if n_pooled > 0:
            for r in range(n_pooled):
                needs[r] = state.demands[leg, r + 1]
            time = first_window(calendar.lines, n_nodes, needs[:n_pooled], walltime, time, last)
            if time == np.inf:
                break
        if ask["parts"] == 0:
            return time
        allowed = open_at(state, leg, time)
        if ask["parts"] == 1:
            found = _one_from(state, calendar, ask, allowed, time, walltime, last)
            if n_pooled == 0 and len(state.planned) == 0:
                return found
        else:
            found = _parts_from(state, calendar, ask, allowed, time, walltime, last)
        if found == time:
            return time
        time = min(found, next_edge(state.planned, time + instant_width(time)))
    return np.inf


@kernel
def _clear(state, calendar, ask, begin, end):
    """Work out what is free for a while on nodes where a leg may lie; blocks may have all of it."""
    inside, least, needs, n_nodes = state.inside, calendar.least, calendar.needs[:DIMENSIONS], len(state.inside.full)
    for a in range(len(inside.atoms) - 1):
        if not (ask["allowed"] >> a) & 1:
            continue
        low, high = inside.atoms[a], inside.atoms[a + 1]
        for block in range(low // BLOCK, (high - 1) // BLOCK + 1):
            for d in range(DIMENSIONS):
                least[n_nodes + block, d] = 1 << 62
        node_needs(inside.full, low, ask, needs)
        step = step_of(needs[0])
        for node in range(low, high):
            fits = may_begin(calendar, node, step, end - begin, begin)
            if not fits or not least_if(calendar.lines, node, begin, end, needs, least[node]):
                least[node, 0] = -1


@kernel
def clear_some(state, calendar, nodes, begin, end):
    """The same on some nodes alone: no others have room."""
    least, n_nodes = calendar.least, len(state.inside.full)
    for block in range(len(least) - n_nodes):
        for d in range(DIMENSIONS):
            least[n_nodes + block, d] = -1
    for node in nodes:
        row = n_nodes + node // BLOCK
        if least[row, 0] < 0:
            for other in range(node // BLOCK * BLOCK, min((node // BLOCK + 1) * BLOCK, n_nodes)):
                least[other, 0] = -1
        least_between(calendar.lines, node, begin, end, least[node])
        for d in range(DIMENSIONS):
            least[row, d] = max(least[row, d], least[node, d])


@kernel
def place(state, calendar, leg):
    """Pick nodes by the rule for a leg that finds room in `calendar.least`; returns how many."""
    inside, ask = state.inside, state.inside.asks[leg]
    return place_parts(calendar.least, inside.full, inside.atoms, ask, state.machine[0]["placement"], calendar.picks, 0)


@kernel
def place_at(state, calendar, leg, begin):
    """Pick nodes by the rule for a leg that finds room at `begin`, if ever; returns how many."""
    inside, ask = state.inside, calendar.asks[0]
    copy_ask(state, leg, ask)
    if ask["parts"] == 0 or begin == np.inf:
        return 0
    ask["allowed"] = open_at(state, leg, begin)
    _clear(state, calendar, ask, begin, begin + state.legs[leg]["walltime"])
    return place_parts(calendar.least, inside.full, inside.atoms, ask, state.machine[0]["placement"], calendar.picks, 0)


@kernel
def lay(state, calendar, leg, n_pooled, n_picks, begin):
    """A leg holds the places that were picked last, from `begin` on, if ever; the calendar has rows for them."""
    if begin < np.inf:
        picks = calendar.picks[:n_picks]
        take_places(state, calendar, leg, n_pooled, picks, begin, begin + state.legs[leg]["walltime"])
        for i in range(n_picks):
            calendar.reserved[picks[i]["low"]] = min(calendar.reserved[picks[i]["low"]], begin)


@kernel
def start_clear(state, have, calendar, j, leg, n_pooled):
    """Start job `j` by the rule where `calendar.least` has room for it, which it takes; returns its first pick."""
    counts, inside, now = state.counts[0], state.inside, state.clock[0]["now"]
    ask, first = inside.asks[leg], counts["n_picks"]
    charge(state, have.free, leg)
    if ask["parts"] > 0:
        placement = state.machine[0]["placement"]
        counts["n_picks"] = place_parts(calendar.least, inside.full, inside.atoms, ask, placement, state.picks, first)
        take_picked(state, leg, have.inside, first)
    picks = state.picks[first : counts["n_picks"]]
    take_places(state, calendar, leg, n_pooled, picks, now, now + state.legs[leg]["walltime"])
    take_picks_from(state, act_start(state, j, LogReason.BACKFILLED), first)
    return first
