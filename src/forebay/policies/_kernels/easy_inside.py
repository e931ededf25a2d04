"""EASY on nodes that jobs share, exactly: the head holds a reservation of particular nodes and of what is in them.

The *shadow* is the first expected end at which the head finds room. There it is placed by the rule, on what is then
free; what is left beside it is *spare*. A job that ends by then may use all that is free now; any other, on each node,
what is free now and spare then.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.inside import BLOCK, give_amounts, give_parts, holds, place_parts, take_parts
from forebay.core.codes import LogReason
from forebay.core.tables import PICK, after, instant_width
from forebay.core.verbs import act_start, take_picks_from
from forebay.policies._kernels.ahead import end_if_now, started_by_end
from forebay.policies._kernels.atoms import charge
from forebay.policies._kernels.inside import fits_inside, pick_inside, start_inside, take_picked
from forebay.policies._kernels.long_line import MANY, next_place
from forebay.policies._kernels.places import fits_now


@kernel
def _is_allowed(inside, ask, node):
    for a in range(len(inside.atoms) - 1):
        if node < inside.atoms[a + 1]:
            return (ask["allowed"] >> a) & 1 != 0
    return False


@kernel
def _recount(state, ahead, count, node, head):
    """Something has left a node; returns how many parts more of the head find room there. `count` has how many do."""
    before = count[node]
    if before < 0:  # a node that the head may not use
        return 0
    count[node] = holds(ahead, state.inside.full, node, head)
    return count[node] - before


@kernel
def _end_running(state, ahead, count, free, running, head):
    """A running job ends: what it holds is free; returns how many parts more of the head find room."""
    more, row, shares = 0, state.inside.head[running["job"]], state.inside.shares
    for r in range(1, len(free)):
        free[r] += state.releases[running["leg"], r]
    while row >= 0:
        share = shares[row]
        give_amounts(ahead, state.inside.full, share["node"], share["cores"], share["memory"], share["gpus"])
        more += _recount(state, ahead, count, share["node"], head)
        row = share["next"]
    return more


@kernel
def _end_started(state, ahead, count, free, action, head):
    """The same of a job that this decision has started."""
    leg, more = state.jobs[action["job"]]["leg"], 0
    for r in range(1, len(free)):
        free[r] += state.demands[leg, r]
    for i in range(action["first_pick"], action["first_pick"] + action["n_picks"]):
        pick = state.picks[i]
        give_parts(ahead, state.inside.full, pick["low"], state.inside.asks[leg], pick["count"])
        more += _recount(state, ahead, count, pick["low"], head)
    return more


@allocating_kernel
def finds_room(state, head_leg, R, ahead, free):
    """When the head finds room, as walltimes tell; inf if never. `ahead` and `free` then have what is free by then.

    Whether it does is counted on, node by node as they change.
    """
    counts, running, head = state.counts[0], state.running, state.inside.asks[head_leg]
    now, n_running = state.clock[0]["now"], counts["n_running"]
    started, soon = started_by_end(state), after(state.clock[0]["now"])
    n_late, s, n_fit = 0, 0, 0
    while n_late < n_running and running[n_late]["end"] < soon:
        n_late += 1
    count = np.full(len(state.inside.full), -1)
    for node in range(len(count)):
        if _is_allowed(state.inside, head, node):
            count[node] = holds(ahead, state.inside.full, node, head)
            n_fit += count[node]
    i, late, time = n_late, n_late > 0, now
    while True:
        fits = n_fit >= head["parts"]
        for r in range(1, min(R, len(free))):
            fits = fits and free[r] >= state.demands[head_leg, r]
        if fits:
            return time
        time = np.inf
        if i < n_running:
            time = running[i]["end"]
        if s < len(started):
            time = min(time, max(end_if_now(state, state.actions[started[s]]["job"]), soon))
        if late:
            time = min(time, now + 1.0)
        if time == np.inf:
            return time
        width = instant_width(time)
        while i < n_running and running[i]["end"] <= time + width:
            n_fit += _end_running(state, ahead, count, free, running[i], head)
            i += 1
        while s < len(started) and end_if_now(state, state.actions[started[s]]["job"]) <= time + width:
            n_fit += _end_started(state, ahead, count, free, state.actions[started[s]], head)
            s += 1
        if late and now + 1.0 <= time + width:
            late = False
            for k in range(n_late):
                n_fit += _end_running(state, ahead, count, free, running[k], head)


@allocating_kernel
def _reserve(state, head_leg, spare):
    """The head takes its places at the shadow: what is left of what is free then is spare."""
    inside, head = state.inside, state.inside.asks[head_leg]
    picks = np.empty(min(head["parts"], len(inside.room)), PICK)
    n = place_parts(spare, inside.full, inside.atoms, head, state.machine[0]["placement"], picks, 0)
    for i in range(n):
        take_parts(spare, inside.full, picks[i]["low"], head, picks[i]["count"])


@kernel
def _both(now, spare, both, row):
    """What a job that outlasts the shadow may use of a node; of a block, no more than either."""
    for d in range(both.shape[1]):
        both[row, d] = min(now[row, d], spare[row, d])


@kernel
def _both_again(state, have, spare, both, first):
    """The same of the nodes that were picked from `first` on, and their blocks."""
    for i in range(first, state.counts[0]["n_picks"]):
        node = state.picks[i]["low"]
        _both(have.inside, spare, both, node)
        _both(have.inside, spare, both, len(state.inside.full) + node // BLOCK)


@kernel
def _start_beside(state, have, spare, both, j):
    """Start job `j`, which outlasts the shadow, on what is free now and spare then."""
    leg = state.jobs[j]["leg"]
    first = pick_inside(state, leg, both)
    take_picked(state, leg, have.inside, first)
    take_picked(state, leg, spare, first)
    take_picks_from(state, act_start(state, j, LogReason.BACKFILLED), first)
    _both_again(state, have, spare, both, first)


@kernel
def _start_short(state, have, spare, both, j):
    """Start job `j`, which ends by the shadow, on what is free now."""
    first = state.counts[0]["n_picks"]
    start_inside(state, have.inside, j, LogReason.BACKFILLED)
    _both_again(state, have, spare, both, first)


@allocating_kernel
def easy_inside(state, have, head, rest, limit, R, index, first):
    """Let jobs of `rest` pass the head where they do not delay it; with an index, `rest` is the queue from `first` on.

    The shadow is worked out once somebody fits: mostly nobody does.
    """
    head_leg, now, known = state.jobs[head]["leg"], state.clock[0]["now"], False
    shadow, latest, at, in_vain = np.inf, np.inf, 0, 0
    spare, amounts, both = have.inside, have.free.copy(), have.inside
    tiers = state.machine[0]["first_inside"]
    while True:
        if in_vain % MANY == 0:
            at = next_place(state, index, first + at, have.free, amounts[:R], latest) - first
        if at >= len(rest) or limit == 0:
            return
        j = rest[at]
        at += 1
        in_vain += 1
        if j < 0:
            continue
        limit -= 1
        if not fits_now(state, have, j):
            continue
        if not known:
            known = True
            spare = have.inside.copy()
            # Of what is in nodes, the room there tells more than sums; these may be as large as can be.
            shadow = finds_room(state, head_leg, R, spare, amounts[:tiers])
            latest = shadow + instant_width(shadow)
            for r in range(len(amounts)):
                if r == 0 or r >= tiers:
                    amounts[r] = state.resources[r]["capacity"]
                amounts[r] -= state.demands[head_leg, r]
            if shadow < np.inf:  # else there is nothing to delay
                _reserve(state, head_leg, spare)
            both = have.inside.copy()
            for row in range(len(both)):
                _both(have.inside, spare, both, row)
        leg = state.jobs[j]["leg"]
        if now + state.legs[leg]["walltime"] <= latest:
            charge(state, have.free, leg)
            _start_short(state, have, spare, both, j)
            in_vain = 0
            continue
        harmless = True
        for r in range(1, min(R, tiers)):
            harmless = harmless and state.demands[leg, r] <= amounts[r]
        if not harmless or not fits_inside(state.inside, both, state.inside.asks[leg]):
            continue
        charge(state, have.free, leg)
        charge(state, amounts, leg)
        _start_beside(state, have, spare, both, j)
        in_vain = 0
