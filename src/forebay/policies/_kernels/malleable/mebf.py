"""Malleable EASY backfilling: see mebf. Algorithm 1 of ADMIRE's D3.3 (2023), section 4.1.

Jobs are tried by priority. The first that cannot start has a reservation of the fewest nodes that it can run on; those
behind it start only if they do not delay it. What else is done for a job that cannot start depends on idle nodes: if
there are none, running jobs of lower priority give some back (SHRINK); if there are some that nobody waiting can use,
running jobs that do not rank below it take them (EXPAND). The paper expands while somebody waits; here also when nobody
does, as its makespans need.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.core.codes import LogReason, Verb
from forebay.core.tables import after, flex_row, instant_width, policy_kernel
from forebay.core.verbs import act_resize, interrupted
from forebay.policies._families.mebf import Param
from forebay.policies._kernels.availability.node_sets import free_for, may_be_on, n_ids, share_within
from forebay.policies._kernels.availability.placement import what_is_there
from forebay.policies._kernels.malleable.pools import lowest_giver, may_give, may_take
from forebay.policies._kernels.malleable.sizing import grant_requests, has_room, is_malleable, largest_size, start_sized
from forebay.policies._kernels.queue.index import is_long, of_amounts, take_in_new
from forebay.policies._kernels.queue.keyed_index import Line, everybody, next_by_key, take_out
from forebay.policies._kernels.queue.keys import PRIORITY, key_by, lift_of
from forebay.policies._kernels.queue.ordering import none_has_begun, queue_by

_LATE = 1.0  # seconds after which a job that has outlived its time is taken to end
_ALMOST_DONE = 0.25  # of its time: a job that has no more left is not worth to expand


class Ahead(NamedTuple):
    """The reservation of the first job that cannot start."""

    shadow: np.ndarray  # float64[1]: when it will start; inf = nobody waits
    spare: np.ndarray  # int64[1]: nodes that it will leave, of those where it may run
    allowed: np.ndarray  # int64[1]: the atoms where that is, as bits


@kernel
def _preferred(state, j):
    return state.demands[state.jobs[j]["leg"], 0]


@kernel
def _fewest(state, j):
    """The fewest nodes that job `j` can run on."""
    row = flex_row(state, j)
    return _preferred(state, j) if row < 0 else state.flexible.sizes[state.flexible.jobs[row]["first"]]["nodes"]


@kernel
def _seconds(state, params, j, nodes):
    """How long waiting job `j` is said to take with so many nodes."""
    row = flex_row(state, j)
    if row >= 0:
        flex = state.flexible.jobs[row]
        for k in range(flex["first"], flex["first"] + flex["n_sizes"]):
            size = state.flexible.sizes[k]
            if size["nodes"] == nodes:
                return size["seconds"] if params[Param.RECORDED] > 0 else size["walltime"]
    return state.legs[state.jobs[j]["leg"]]["walltime"]


@kernel
def _whole(state, params, j):
    """How long job `j`, which runs, is said to take at its present size, from its beginning."""
    row = flex_row(state, j)
    if params[Param.RECORDED] > 0 and row >= 0:
        flex = state.flexible.jobs[row]
        return state.flexible.sizes[flex["first"] + flex["size"]]["seconds"]
    return state.legs[state.jobs[j]["leg"]]["walltime"]


@kernel
def _remaining(state, params, j):
    """How long job `j`, which runs, is said to take from now on."""
    row = flex_row(state, j)
    if params[Param.RECORDED] > 0 and row >= 0:
        flex = state.flexible.jobs[row]
        return _whole(state, params, j) * (1.0 - flex["done"] / max(flex["rounds"], 1))
    return max(state.jobs[j]["end"] - state.clock[0]["now"], 0.0)


@kernel
def _is_free_to_change(state, j):
    """Whether running job `j` is malleable, and no change of its size is under way."""
    row = flex_row(state, j)
    if row < 0 or not is_malleable(state, row):
        return False
    flex = state.flexible.jobs[row]
    return flex["asked"] < 0 and flex["wants"] == 0


@allocating_kernel
def _resizable(state):
    """Running jobs that may be resized, in no order that matters."""
    found, n = np.empty(state.counts[0]["n_running"], np.int64), 0
    for i in range(len(found)):
        if _is_free_to_change(state, state.running[i]["job"]):
            found[n] = state.running[i]["job"]
            n += 1
    return found[:n]


@allocating_kernel
def _reserve(state, have, params, j):
    """When job `j` is expected to have the fewest nodes that it can run on, and the nodes that are left then."""
    needs, counts, now = _fewest(state, j), state.counts[0], state.clock[0]["now"]
    leg, divided = state.jobs[j]["leg"], len(state.nodes.atoms) > 0
    n_actions = min(counts["n_actions"], len(state.actions))
    n_most = counts["n_running"] + n_actions + counts["n_down"]
    ends, ties, nodes = np.empty(n_most), np.empty(n_most, np.int64), np.empty(n_most, np.int64)
    n = 0
    for i in range(counts["n_running"]):
        one = state.running[i]["job"]
        left = _remaining(state, params, one)
        held = free_for(state, state.releases[state.running[i]["leg"]], leg) if divided else state.jobs[one]["held"]
        ends[n], ties[n], nodes[n] = left if left > 0 else _LATE, n, held
        n += 1
    for a in range(n_actions):
        action = state.actions[a]
        if action["verb"] == Verb.START:
            count = action["nodes"] if action["nodes"] > 0 else state.demands[state.jobs[action["job"]]["leg"], 0]
            seconds = _seconds(state, params, action["job"], count)
            if action["share"] >= 0:
                count = share_within(state, action["share"], leg)
            ends[n], ties[n], nodes[n] = seconds, n, count
            n += 1
    for i in range(counts["n_down"]):
        if state.down[i]["until"] < np.inf and may_be_on(state, leg, state.down[i]["node"]):
            ends[n], ties[n], nodes[n] = max(state.down[i]["until"] - now, 0.0), n, n_ids(state, state.down[i]["node"])
            n += 1
    order = np.arange(n)
    sort_smallest(ends.copy(), ties, order, n, n)
    free, shadow = free_for(state, have.free, leg), now
    for i in range(n):
        end = now + ends[order[i]]
        if free >= needs and end > shadow + instant_width(shadow):  # whoever ends in the same instant leaves nodes too
            break
        free += nodes[order[i]]
        shadow = max(end, shadow)
    return (shadow if free >= needs else np.inf), free - needs


@kernel
def _is_apart(state, ahead, j):
    """Whether job `j` may run only where the first that waits may not."""
    return state.legs[state.jobs[j]["leg"]]["allowed"] & ahead.allowed[0] == 0


@kernel
def _harmless(state, ahead, j, nodes, end):
    """Whether job `j`, which takes so many nodes until then, leaves the reservation as it is."""
    if nodes <= ahead.spare[0] or end <= ahead.shadow[0] + instant_width(ahead.shadow[0]):
        return True
    return _is_apart(state, ahead, j)


@kernel
def _start_within(state, have, params, ahead, j, least, most, reason):
    """Start job `j` at its largest size in this range that fits and delays nobody; whether it did."""
    row, now = flex_row(state, j), state.clock[0]["now"]
    nodes = most if row < 0 else largest_size(state, row, min(most, have.free[0]))
    while nodes >= max(least, 1) or row < 0:
        end = now + _seconds(state, params, j, nodes)
        if has_room(state, have, j, nodes) and _harmless(state, ahead, j, nodes, end):
            start_sized(state, have, j, nodes, reason)
            if end > ahead.shadow[0] + instant_width(ahead.shadow[0]) and not _is_apart(state, ahead, j):
                ahead.spare[0] -= nodes
            return True
        if row < 0:
            return False
        nodes = largest_size(state, row, nodes - 1)
    return False


@kernel
def _granted(state, params, j):
    """The nodes that job `j` would give back, eqs. 4.1 to 4.4; 0 if that costs it too much."""
    flex, held = state.flexible.jobs[flex_row(state, j)], state.jobs[j]["nodes"]
    least = held - int(np.floor(params[Param.SHARING] * held))
    left, granted = _remaining(state, params, j), 0
    for k in range(flex["first"], flex["first"] + flex["size"]):
        if state.flexible.sizes[k]["nodes"] >= least:
            granted = held - state.flexible.sizes[k]["nodes"]
            break
    if granted == 0 or left <= 0:
        return 0
    if left == np.inf:
        return granted
    increase = granted / held * left + params[Param.ALPHA]
    return granted if (left + increase) / left <= params[Param.GAMMA] else 0


@allocating_kernel
def _shrink(state, have, params, running, j, coming):
    """SHRINK: let jobs of lower priority than `j` give back nodes until it can start, if they can.

    `coming` are nodes that will be given back and that nobody before `j` waits for.
    """
    needs = _fewest(state, j)
    if coming[0] >= needs:
        coming[0] -= needs
        return
    keys, ties, givers, n, total = np.empty(len(running)), running.copy(), running.copy(), 0, coming[0]
    for one in running:
        if interrupted(state):
            return
        if _is_free_to_change(state, one) and may_give(state, params, one, state.jobs[j]["priority"]):
            granted = _granted(state, params, one)
            if granted > 0 and not _was_resized(state, one):
                keys[n], ties[n], givers[n] = state.jobs[one]["priority"], -state.jobs[one]["id"], one
                total += granted
                n += 1
    if total < needs:
        return
    sort_smallest(keys, ties, givers, n, n)
    for one in givers[:n]:
        if coming[0] >= needs:
            break
        granted = _granted(state, params, one)
        act_resize(state, one, state.jobs[one]["nodes"] - granted)
        if state.flexible.jobs[flex_row(state, one)]["at_point"]:
            have.free[0] += granted
        coming[0] += granted
    coming[0] -= needs


@kernel
def _was_resized(state, j):
    """Whether this decision has resized job `j`."""
    for a in range(min(state.counts[0]["n_actions"], len(state.actions))):
        if state.actions[a]["job"] == j:
            return True
    return False


@kernel
def _expand_one(state, have, params, ahead, running, priority):
    """EXPAND: give idle nodes to the job that will run longest, of those that rank so high; whether one took any."""
    longest, chosen, size = 0.0, -1, 0
    for one in running:
        if interrupted(state):
            return False
        left = _remaining(state, params, one)
        if not may_take(state, params, one, priority) or left < longest or _was_resized(state, one):
            continue
        if left == longest and chosen >= 0 and state.jobs[one]["id"] > state.jobs[chosen]["id"]:
            continue
        if left <= _ALMOST_DONE * _whole(state, params, one) and left < np.inf:
            continue
        nodes = _grown(state, have, params, ahead, one, left)
        if nodes > 0:
            longest, chosen, size = left, one, nodes
    if chosen < 0:
        return False
    held = state.jobs[chosen]["nodes"]
    more = size - held
    if state.clock[0]["now"] + longest * held / size > ahead.shadow[0]:
        ahead.spare[0] -= min(more, ahead.spare[0])
    have.free[0] -= more
    act_resize(state, chosen, size)
    return True


@kernel
def _grown(state, have, params, ahead, j, left):
    """The size that job `j` would have with the idle nodes it may take; 0 if it is not worth its cost."""
    held, row, now = state.jobs[j]["nodes"], flex_row(state, j), state.clock[0]["now"]
    nodes = largest_size(state, row, held + have.free[0])
    if params[Param.GUARD] > 0 and now + left * held / max(nodes, 1) > ahead.shadow[0]:
        nodes = largest_size(state, row, held + max(min(ahead.spare[0], have.free[0]), 0))
    if nodes <= held:
        return 0
    saved = left if left == np.inf else left * (1.0 - held / nodes)
    return nodes if saved > params[Param.ALPHA] else 0


@kernel
def _expand(state, have, params, ahead, running, priority):
    while not interrupted(state) and have.free[0] > 0 and _expand_one(state, have, params, ahead, running, priority):
        pass


@kernel
def _next_that_fits(state, have, params, ahead, line, first):
    """Start the first job from there on that can at its preferred size; its place in line, the length if none."""
    for at in range(first, len(line)):
        j = line[at]
        if interrupted(state):
            break
        if j >= 0:
            most = _preferred(state, j)
            least = _fewest(state, j) if params[Param.AT_LEAST] > 0 else most
            if _start_within(state, have, params, ahead, j, least, most, LogReason.BACKFILLED):
                return at
    return len(line)


@allocating_kernel
def _serve(state, have, params, line, running):
    """Go through the waiting jobs; `line` has -1 in place of those that have started."""
    ahead = Ahead(np.full(1, np.inf), np.full(1, have.free[0]), np.full(1, np.int64(-1)))
    coming, passed = np.zeros(1, np.int64), 0
    for i in range(state.counts[0]["n_running"]):
        one = state.running[i]["job"]
        row = flex_row(state, one)
        if row >= 0 and state.flexible.jobs[row]["asked"] >= 0:
            flex = state.flexible.jobs[row]
            coming[0] += max(state.jobs[one]["nodes"] - state.flexible.sizes[flex["first"] + flex["asked"]]["nodes"], 0)
    lowest = lowest_giver(state, params, running)
    blocked, expanded = False, np.nan
    for at in range(len(line)):
        j = line[at]
        if interrupted(state):
            return
        if j < 0:
            continue
        least, reason = _fewest(state, j), LogReason.BACKFILLED if blocked else LogReason.IN_ORDER
        line[at] = -1
        if _start_within(state, have, params, ahead, j, least, _preferred(state, j), reason):
            continue
        priority = state.jobs[j]["priority"]
        if have.free[0] == 0 and priority > lowest:
            _shrink(state, have, params, running, j, coming)
            if _start_within(state, have, params, ahead, j, least, _preferred(state, j), reason):
                continue
            passed, expanded = 0, np.nan  # nodes may have come back
        if not blocked:
            blocked = True
            ahead.shadow[0], ahead.spare[0] = _reserve(state, have, params, j)
            ahead.allowed[0] = state.legs[state.jobs[j]["leg"]]["allowed"]
        if have.free[0] == 0 and priority <= lowest and len(state.flexible.row) > 0:
            return  # whoever has an application needs a node, and nobody ranks below those that are left
        if have.free[0] > 0:
            passed = _next_that_fits(state, have, params, ahead, line, max(passed, at + 1))
            if passed < len(line):
                line[passed] = -1
            elif priority != expanded:  # those that rank as high have had their chance
                _expand(state, have, params, ahead, running, priority)
                expanded = priority
    if not blocked:
        _expand(state, have, params, ahead, running, -np.inf)


@allocating_kernel
def _serve_long(state, have, params, index):
    """The same by an index, where no job can change its size: none is shrunk or expanded."""
    key, now = key_by(PRIORITY, -1.0), state.clock[0]["now"]
    take_in_new(state, index, key)
    line = Line(state.queue[:0], index, 0, key, lift_of(key, 0))
    ahead = Ahead(np.full(1, np.inf), have.free[:1].copy(), np.full(1, np.int64(-1)))
    anybody = everybody(state, line)
    found = next_by_key(state, line, -1, anybody)
    while found[0] >= 0 and _start_as_it_is(state, have, params, ahead, found[0], LogReason.IN_ORDER):
        take_out(state, line, found)
        found = next_by_key(state, line, found[0], anybody)
    if found[0] < 0 or interrupted(state):
        return
    ahead.shadow[0], ahead.spare[0] = _reserve(state, have, params, found[0])
    ahead.allowed[0] = state.legs[state.jobs[found[0]]["leg"]]["allowed"]
    # Jobs that may only run elsewhere leave the reservation as it is.
    spare = ahead.spare if len(state.nodes.atoms) == 0 else have.free
    sought = of_amounts(after(ahead.shadow[0]) - now, have.free, spare, index)
    found = next_by_key(state, line, found[0], sought)
    while found[0] >= 0 and not interrupted(state):
        if _start_as_it_is(state, have, params, ahead, found[0], LogReason.BACKFILLED):
            take_out(state, line, found)
        found = next_by_key(state, line, found[0], sought)


@kernel
def _start_as_it_is(state, have, params, ahead, j, reason):
    nodes = _preferred(state, j)
    return _start_within(state, have, params, ahead, j, nodes, nodes, reason)


@policy_kernel
def mebf(state, params, memory, rng):
    """The decision of one instant: requests first, then the queue by priority."""
    have = what_is_there(state, False)
    grant_requests(state, have)
    if len(memory[0]) > 0 and is_long(state) and none_has_begun(state):
        _serve_long(state, have, params, memory[0])
        return
    _serve(state, have, params, queue_by(state, have, PRIORITY, -1.0), _resizable(state))
