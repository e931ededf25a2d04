"""A calendar of shared nodes: what each will have free when, as running jobs end and reservations are laid.

A job may begin where all its parts find room, by the rule, in what is free from then on for its whole walltime. What
is pooled, burst buffers and licences, has a timeline too, the last one.

Times to look for are cut into levels (see `put_off`). Of each that is looked at, the *peak* of each node is noted: the
most that it has free by then. On a busy machine few nodes can hold a part soon, and timelines are read of these alone.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.inside import (
    BLOCK,
    all_of,
    bound_block,
    held_in,
    holds,
    next_open,
    place_parts,
    taken_by,
)
from forebay.algorithms.order import sort_smallest
from forebay.algorithms.timelines import (
    Timelines,
    append,
    first_window,
    give_from,
    least_between,
    most_until,
    new_timelines,
    next_segment,
    take_between,
    with_room,
)
from forebay.algorithms.windows import next_edge
from forebay.core.inside import DIMENSIONS
from forebay.core.tables import PICK, after, instant_width
from forebay.policies._kernels.ahead import end_if_now, started_by_end
from forebay.policies._kernels.easy_inside import asks_of
from forebay.policies._kernels.put_off import LEVELS
from forebay.policies._kernels.windows import opens


class Calendar(NamedTuple):
    """What is free when, and scratch for whoever looks for a place there."""

    lines: Timelines  # one a node, and behind them that of the pools
    reserved: np.ndarray  # float64[node]: when its first reservation begins
    peaks: np.ndarray  # int64[level, node and block, dimension]: no more is free by a level's end
    peaked: np.ndarray  # bool[level]: whether its peaks are known
    least: np.ndarray  # int64[node and block, dimension]: what is free for a while, see algorithms.inside
    needs: np.ndarray  # int64[amount]
    picks: np.ndarray  # PICK[node]
    times: np.ndarray  # float64[node]: when it may hold more parts
    ties: np.ndarray  # int64[node]
    nodes: np.ndarray  # int64[node]


@inlined_kernel
def n_pools(state, R):
    """How many pooled resources a reservation holds that holds the first `R` resources."""
    return min(R, state.machine[0]["first_inside"]) - 1


@kernel
def _end_running(state, lines, tails, running, n_pooled, time):
    """A running job ends; no end before this one comes behind it."""
    row, n_nodes = state.inside.head[running["job"]], len(state.inside.full)
    while row >= 0:
        share = state.inside.shares[row]
        node = share["node"]
        tails[node] = segment = append(lines, tails[node], time)
        held = held_in(share)
        for d in range(DIMENSIONS):
            lines.free[segment, d] += held[d]
        row = share["next"]
    if n_pooled > 0:
        tails[n_nodes] = segment = append(lines, tails[n_nodes], time)
        for r in range(n_pooled):
            lines.free[segment, r] += state.releases[running["leg"], r + 1]


@kernel
def _end_late(state, lines, running, n_pooled, time):
    """The same of one that should have ended."""
    row = state.inside.head[running["job"]]
    while row >= 0:
        share = state.inside.shares[row]
        held = held_in(share)
        for d in range(DIMENSIONS):
            give_from(lines, share["node"], time, d, held[d])
        row = share["next"]
    for r in range(n_pooled):
        give_from(lines, len(state.inside.full), time, r, state.releases[running["leg"], r + 1])


@kernel
def _end_started(state, lines, action, n_pooled, time):
    """The same of one that this decision has started."""
    leg, full = state.jobs[action["job"]]["leg"], state.inside.full
    ask = state.inside.asks[leg]
    for i in range(action["first_pick"], action["first_pick"] + action["n_picks"]):
        node = state.picks[i]["low"]
        held = taken_by(full, node, ask, state.picks[i]["count"])
        for d in range(DIMENSIONS):
            give_from(lines, node, time, d, held[d])
    for r in range(n_pooled):
        give_from(lines, len(full), time, r, state.demands[leg, r + 1])


@kernel
def _n_shares(state):
    """How many shares of nodes running jobs and this decision's starts have."""
    n = 0
    for i in range(state.counts[0]["n_running"]):
        row = state.inside.head[state.running[i]["job"]]
        while row >= 0:
            n += 1
            row = state.inside.shares[row]["next"]
    return n + state.counts[0]["n_picks"]


@allocating_kernel
def new_calendar(state, have, R):
    """What is free from now on, before any reservation; one holds the first `R` resources."""
    inside, counts, n_pooled = state.inside, state.counts[0], n_pools(state, R)
    now, n_nodes, n_running = state.clock[0]["now"], len(inside.full), counts["n_running"]
    soon, started = after(now), started_by_end(state)
    room_for = _n_shares(state) + n_running + len(started) + counts["n_down"] + 256
    lines = new_timelines(n_nodes + 1, max(DIMENSIONS, n_pooled), room_for, now)
    tails = np.empty(n_nodes + 1, np.int64)
    for node in range(n_nodes + 1):
        tails[node] = node
        if node < n_nodes:
            for d in range(DIMENSIONS):
                lines.free[node, d] = have.inside[node, d]
    for r in range(n_pooled):
        lines.free[n_nodes, r] = have.free[r + 1]
    n_late = 0
    while n_late < n_running and state.running[n_late]["end"] < soon:
        n_late += 1
    for i in range(n_late, n_running):
        _end_running(state, lines, tails, state.running[i], n_pooled, state.running[i]["end"])
    for i in range(n_late):
        _end_late(state, lines, state.running[i], n_pooled, now + 1.0)
    for s in started:
        action = state.actions[s]
        _end_started(state, lines, action, n_pooled, max(end_if_now(state, action["job"]), soon))
    for i in range(counts["n_down"]):
        node, until = state.down[i]["node"], max(state.down[i]["until"], soon)
        if until < np.inf:
            given = all_of(inside.full, node)
            for d in range(DIMENSIONS):
                give_from(lines, node, until, d, given[d])
    return Calendar(
        lines, np.full(n_nodes, np.inf), np.empty((LEVELS, len(have.inside), DIMENSIONS), np.int64),
        np.zeros(LEVELS, np.bool_), np.empty_like(have.inside), np.empty(lines.free.shape[1], np.int64),
        np.empty(n_nodes, PICK), np.empty(n_nodes), np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64),
    )  # fmt: skip


@allocating_kernel
def no_calendar():
    """What stands for one that nobody has needed yet."""
    nothing, whole = np.empty(0), np.empty(0, np.int64)
    lines = new_timelines(0, 1, 0, 0.0)
    return Calendar(
        lines, nothing, np.empty((0, 0, DIMENSIONS), np.int64), np.empty(0, np.bool_),
        np.empty((0, DIMENSIONS), np.int64), whole, np.empty(0, PICK), nothing, whole, whole,
    )  # fmt: skip


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
def _peak(state, calendar, level, last):
    """The peaks of a level, which ends at `last`."""
    peak, n_nodes = calendar.peaks[level], len(state.inside.full)
    if not calendar.peaked[level]:
        calendar.peaked[level] = True
        for node in range(n_nodes):
            most_until(calendar.lines, node, last, peak[node])
        for block in range(len(peak) - n_nodes):
            bound_block(peak, n_nodes, block)
    return peak


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
    n_nodes, time, peak = len(state.inside.full), first, _peak(state, calendar, level, last)
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


@kernel
def take_places(state, calendar, leg, n_pooled, picks, begin, end):
    """A leg holds places from `begin` to `end`."""
    full, ask, needs = state.inside.full, state.inside.asks[leg], calendar.needs
    for i in range(len(picks)):
        node = picks[i]["low"]
        taken = taken_by(full, node, ask, picks[i]["count"])
        take_between(calendar.lines, node, begin, end, taken)
    if n_pooled > 0:
        for r in range(n_pooled):
            needs[r] = state.demands[leg, r + 1]
        take_between(calendar.lines, len(full), begin, end, needs[:n_pooled])


@allocating_kernel
def roomy(calendar, n_picks):
    """The calendar with rows for so many places to be taken."""
    lines = with_room(calendar.lines, 2 * n_picks + 2)
    return Calendar(
        lines, calendar.reserved, calendar.peaks, calendar.peaked, calendar.least, calendar.needs, calendar.picks,
        calendar.times, calendar.ties, calendar.nodes,
    )  # fmt: skip


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


@kernel
def _has_pools(state, calendar, leg, n_pooled, end):
    """Whether what a leg takes of pools is free from now until it ends."""
    least_between(calendar.lines, len(state.inside.full), state.clock[0]["now"], end, calendar.needs[:n_pooled])
    for r in range(n_pooled):
        if calendar.needs[r] < state.demands[leg, r + 1]:
            return False
    return True


@inlined_kernel
def _free_on(state, have, calendar, node, ask, now, end):
    """Work out what is free on a node from now until `end`; returns how many parts it holds.

    What runs only gives back: without a reservation until then that is what is free now.
    """
    least = calendar.least
    for d in range(DIMENSIONS):
        least[node, d] = have.inside[node, d]
    count = holds(least, state.inside.full, node, ask)
    if count > 0 and calendar.reserved[node] < end - instant_width(end):
        least_between(calendar.lines, node, now, end, least[node])
        count = holds(least, state.inside.full, node, ask)
    return count


@kernel
def clear_now(state, have, calendar, leg, n_pooled, all_nodes):
    """Whether a leg, of which there is enough now, may start and delay no reservation.

    With `all_nodes`, `calendar.least` then has what is free for it on every node where it may lie.
    """
    inside, ask, room, n_nodes = state.inside, state.inside.asks[leg], have.inside, len(state.inside.full)
    now, end, total = state.clock[0]["now"], state.clock[0]["now"] + state.legs[leg]["walltime"], 0
    if n_pooled > 0 and not _has_pools(state, calendar, leg, n_pooled, end):
        return False
    for a in range(len(inside.atoms) - 1):
        if not (ask["allowed"] >> a) & 1:
            continue
        low, high = inside.atoms[a], inside.atoms[a + 1]
        if all_nodes:
            for block in range(low // BLOCK, (high - 1) // BLOCK + 1):
                for d in range(DIMENSIONS):
                    calendar.least[n_nodes + block, d] = room[n_nodes + block, d]
        node = next_open(room, n_nodes, low, high, ask)
        while node < high:
            total += _free_on(state, have, calendar, node, ask, now, end)
            if total >= ask["parts"] and not all_nodes:
                return True
            node += 1
            if node % BLOCK == 0:
                node = next_open(room, n_nodes, node, high, ask)
    return total >= ask["parts"]
