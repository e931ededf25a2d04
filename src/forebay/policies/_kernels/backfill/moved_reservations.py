"""Whether somebody who was promised a place on shared nodes moves, as far as changes tell: see `kept_reservations`.

A node that has not changed, or only has less than before, has no room sooner than it had. So a job may begin sooner
only from the first time on at which a node that has more lets a part begin. If it begins when it was to begin, nodes
that have not changed come behind those it was promised, by the rule. So as long as these have not changed, or its only
node has a key that is no worse, it is placed anew beside the changed ones alone, if any of them has room.
"""

import numpy as np

from forebay._numba.jit import inlined_kernel, kernel
from forebay.algorithms.availability.timelines import least_between
from forebay.algorithms.nodes.shared_nodes import BEST, LOWEST
from forebay.core.inside import DIMENSIONS
from forebay.core.tables import after
from forebay.policies._kernels.availability.calendar import node_needs, step_of, window_on
from forebay.policies._kernels.availability.earliest_start import begins, clear_some, place, place_at
from forebay.policies._kernels.backfill.kept_reservations import KEY, N_CHANGED, is_place_of, promised_places


@inlined_kernel
def takes_pools(state, leg, n_pooled):
    """Whether a leg takes something of pools."""
    for r in range(n_pooled):
        if state.demands[leg, r + 1] > 0:
            return True
    return False


@inlined_kernel
def _had(picks, n, node):
    for i in range(n):
        if picks[i]["low"] == node:
            return True
    return False


@kernel
def _comes_first(state, calendar, kept, j, node, begin, end):
    """Whether the node that job `j` was promised, which has changed and has room, comes before those that have not.

    It did, so it does if its key is no worse; which is then noted.
    """
    least, placement, before = calendar.least[node], state.machine[0]["placement"], kept.marks[j, KEY]
    least_between(calendar.lines, node, begin, end, least)
    if placement != LOWEST and (least[0] > before if placement == BEST else least[0] < before):
        return False
    kept.marks[j, KEY] = least[0]
    return True


@kernel
def _look(state, calendar, kept, j, leg, n_picks, begin, end, alone):
    """What changes mean for a leg that was promised `begin`.

    Returns the earliest time at which a changed node has room for a part, up to `begin`, inf if none has; whether one
    that it was not promised has room at `begin`; whether one that it was promised has changed for the worse; and how
    many changed ones have room, which are in `calendar.nodes`.
    """
    inside, ask, walltime = state.inside, state.inside.asks[leg], state.legs[leg]["walltime"]
    needs, allowed, exclusive = calendar.needs[:DIMENSIONS], ask["allowed"], ask["exclusive"]
    now, last, until = state.clock[0]["now"], begin, begin - 2.0 * (after(begin) - begin)
    node_needs(inside.full, 0, ask, needs)
    soonest, beside, own, n, step = np.inf, False, False, 0, step_of(ask["cores"])
    for i in range(kept.facts[N_CHANGED]):
        node = kept.changed[i]
        sooner, then = kept.spans[node, 2] < end, kept.spans[node, 0] < end and kept.spans[node, 1] >= until
        if not (sooner or then) or node == len(inside.full) or calendar.bits[node] & allowed == 0:
            continue
        if exclusive:
            node_needs(inside.full, node, ask, needs)
        time = window_on(calendar, node, step, needs, walltime, now if sooner else begin, last)
        soonest = min(soonest, time)
        if time < np.inf:
            calendar.nodes[n] = node
            n += 1
            if alone:  # those that have room later than another one do not count
                last = min(last, time)
        if then:
            had = _had(calendar.picks, n_picks, node)
            if had and time == begin and alone and _comes_first(state, calendar, kept, j, node, begin, end):
                continue
            own = own or had
            beside = beside or (time < np.inf and not had)
    return soonest, beside, own, n


@kernel
def find_again(state, calendar, kept, j, leg, n_pooled):
    """When job `j`, which was promised a place, begins now, on how many nodes, and whether that is another place.

    The nodes are in `calendar.picks`.
    """
    begin, end, first, last = kept.times[j, 0], kept.times[j, 1], state.clock[0]["now"], np.inf
    picks, n_picks, beside, own = calendar.picks, promised_places(kept, j, calendar.picks), True, True
    pooled = takes_pools(state, leg, n_pooled)
    alone = state.inside.asks[leg]["parts"] == 1 and not pooled
    if not pooled or kept.spans[len(kept.spans) - 1, 0] >= end:
        soonest, beside, own, n = _look(state, calendar, kept, j, leg, n_picks, begin, end, alone)
        if soonest >= begin and not beside and not own:
            return begin, n_picks, False
        if alone and (soonest < begin or not own):
            time = min(soonest, begin)
            if soonest >= begin:
                calendar.nodes[n] = picks[0]["low"]
                n += 1
            clear_some(state, calendar, calendar.nodes[:n], time, time + state.legs[leg]["walltime"])
            n_picks = place(state, calendar, leg)
            return time, n_picks, time < begin or not is_place_of(kept, j, picks, n_picks)
        first, last = min(soonest, begin), begin  # until then nothing is better than it was
    time = begins(state, calendar, leg, n_pooled, first, last)
    if last == begin and time >= begin and not own:
        time = begin
        if not beside:
            return begin, n_picks, False
    if time == np.inf and last < np.inf:
        time = begins(state, calendar, leg, n_pooled, last, np.inf)
    n_picks = place_at(state, calendar, leg, time)
    if alone and time < np.inf:
        kept.marks[j, KEY] = calendar.least[picks[0]["low"], 0]
    return time, n_picks, time != begin or not is_place_of(kept, j, picks, n_picks)
