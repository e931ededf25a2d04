"""A calendar of shared nodes: what each will have free when, as running jobs end and reservations are laid.

What is pooled, burst buffers and licences, has a timeline too, the last one. A job may start now where all its parts
find room in what is free for its whole walltime; when others may, `earliest_start` tells.

Most nodes have no room for most jobs for long enough. Two numbers tell that, for 1, 2, 4, ... cores: from when on a
node has as many for ever, and the longest time that it has them before. As room only shrinks during a decision, they
are worked out again only after somebody has looked in vain.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.availability.timelines import (
    Timelines,
    append,
    first_window,
    give_from,
    has_rows,
    least_between,
    least_if,
    new_timelines,
    take_between,
    with_room,
    write_runs,
)
from forebay.algorithms.nodes.shared_nodes import (
    BLOCK,
    all_of,
    held_in,
    holds,
    next_open,
    taken_by,
)
from forebay.core.inside import ASK, DIMENSIONS
from forebay.core.tables import PICK, after, instant_width
from forebay.policies._kernels.availability.profile import end_if_now, started_by_end

STEPS = 8  # of cores: 1, 2, 4, ...
_WIDTH = 1e-5  # seconds by which a window may be shorter: see tables.instant_width


class Calendar(NamedTuple):
    """What is free when, and scratch for whoever looks for a place there."""

    lines: Timelines  # one a node, and behind them that of the pools
    reserved: np.ndarray  # float64[node]: when its first reservation begins
    runs: np.ndarray  # float64[node, 2, step]: see timelines.write_runs; windows are within these, or fewer
    unsure: np.ndarray  # bool[node]: whether there are fewer
    bits: np.ndarray  # int64[node]: its atom
    least: np.ndarray  # int64[node and block, dimension]: what is free for a while, see algorithms.nodes.shared_nodes
    needs: np.ndarray  # int64[amount]
    asks: np.ndarray  # ASK[1]
    picks: np.ndarray  # PICK[node]
    times: np.ndarray  # float64[node]: when it may hold more parts
    ties: np.ndarray  # int64[node]
    nodes: np.ndarray  # int64[node and one more]: a node may be there twice, see `moved_reservations`


@inlined_kernel
def n_pools(state, R):
    """How many pooled resources a reservation holds that holds the first `R` resources."""
    return min(R, state.machine[0]["first_inside"]) - 1


@kernel
def _end_running(state, lines, tails, blank, running, n_pooled, time):
    """A running job ends; no end before this one comes behind it."""
    row, n_nodes = state.inside.head[running["job"]], len(state.inside.full)
    while row >= 0:
        share = state.inside.shares[row]
        node = share["node"]
        tails[node] = segment = append(lines, tails[node], time, blank[node])
        blank[node] += 1
        held = held_in(share)
        for d in range(DIMENSIONS):
            lines.free[segment, d] += held[d]
        row = share["next"]
    if n_pooled > 0:
        tails[n_nodes] = segment = append(lines, tails[n_nodes], time, blank[n_nodes])
        blank[n_nodes] += 1
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
def _lay_rows(state, blank):
    """Where the segments of each timeline begin at which running jobs end; returns where all these end."""
    n_running, n_nodes = state.counts[0]["n_running"], len(state.inside.full)
    for k in range(n_nodes + 1):
        blank[k] = 0
    for i in range(n_running):
        row = state.inside.head[state.running[i]["job"]]
        while row >= 0:
            blank[state.inside.shares[row]["node"]] += 1
            row = state.inside.shares[row]["next"]
    blank[n_nodes] = n_running
    end = n_nodes + 1
    for k in range(n_nodes + 1):
        end += blank[k]
        blank[k] = end - blank[k]
    return end


@allocating_kernel
def new_calendar(state, have, R):
    """What is free from now on, before any reservation; one holds the first `R` resources."""
    inside, counts, n_pooled = state.inside, state.counts[0], n_pools(state, R)
    now, n_nodes, n_running = state.clock[0]["now"], len(inside.full), counts["n_running"]
    soon, started = after(now), started_by_end(state)
    tails, blank = np.empty(n_nodes + 1, np.int64), np.empty(n_nodes + 1, np.int64)
    used = _lay_rows(state, blank)
    # Ends of others: of late ones, of what this decision has started, and repairs; the rest is for reservations.
    others = n_nodes + 1 + len(started) + counts["n_picks"] + counts["n_down"] + 2 * n_nodes + 1024
    lines = new_timelines(n_nodes + 1, max(DIMENSIONS, n_pooled), used + others, now)
    lines.used[0] = used
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
        _end_running(state, lines, tails, blank, state.running[i], n_pooled, state.running[i]["end"])
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
    bits = np.empty(n_nodes, np.int64)
    for a in range(len(inside.atoms) - 1):
        for node in range(inside.atoms[a], inside.atoms[a + 1]):
            bits[node] = 1 << a
    return Calendar(
        lines, np.full(n_nodes, np.inf), np.full((n_nodes, 2, STEPS), np.inf), np.ones(n_nodes, np.bool_),
        bits, np.empty_like(have.inside), np.empty(lines.free.shape[1], np.int64),
        np.empty(1, ASK), np.empty(n_nodes, PICK), np.empty(n_nodes), np.empty(n_nodes, np.int64),
        np.empty(n_nodes + 1, np.int64),
    )  # fmt: skip


@allocating_kernel
def no_calendar():
    """What stands for one that nobody has needed yet."""
    nothing, whole = np.empty(0), np.empty(0, np.int64)
    lines = new_timelines(0, 1, 0, 0.0)
    return Calendar(
        lines, nothing, np.empty((0, 2, STEPS)), np.empty(0, np.bool_), whole,
        np.empty((0, DIMENSIONS), np.int64), whole, np.empty(0, ASK), np.empty(0, PICK),
        nothing, whole, whole,
    )  # fmt: skip


@kernel
def take_places(state, calendar, leg, n_pooled, picks, begin, end):
    """A leg holds places from `begin` to `end`."""
    full, ask, needs = state.inside.full, state.inside.asks[leg], calendar.needs
    for i in range(len(picks)):
        node = picks[i]["low"]
        taken = taken_by(full, node, ask, picks[i]["count"])
        take_between(calendar.lines, node, begin, end, taken)
        calendar.unsure[node] = True
    if n_pooled > 0:
        for r in range(n_pooled):
            needs[r] = state.demands[leg, r + 1]
        take_between(calendar.lines, len(full), begin, end, needs[:n_pooled])


@inlined_kernel
def is_roomy(calendar):
    """Whether the calendar has rows for all places to be taken."""
    return has_rows(calendar.lines, 2 * len(calendar.picks) + 2)


@allocating_kernel
def roomy(calendar):
    """The calendar with rows for all places to be taken."""
    lines = with_room(calendar.lines, 2 * len(calendar.picks) + 2)
    return Calendar(
        lines, calendar.reserved, calendar.runs, calendar.unsure, calendar.bits, calendar.least, calendar.needs,
        calendar.asks, calendar.picks, calendar.times, calendar.ties, calendar.nodes,
    )  # fmt: skip


@inlined_kernel
def step_of(cores):
    """The last step that is no more than so many cores."""
    step = 0
    while step < STEPS - 1 and 2 << step <= cores:
        step += 1
    return step


@inlined_kernel
def may_begin(calendar, node, step, walltime, last):
    """Whether a node may have as many cores as a step for a while from some time on, up to `last`.

    Room only shrinks during a decision: where it once was too little it stays so.
    """
    return calendar.runs[node, 0, step] <= last or calendar.runs[node, 1, step] >= walltime - _WIDTH


@inlined_kernel
def _know_runs(calendar, node):
    if calendar.unsure[node]:
        write_runs(calendar.lines, node, calendar.runs[node, 0], calendar.runs[node, 1])
        calendar.unsure[node] = False


@inlined_kernel
def node_needs(full, node, ask, needs):
    """What a node must have free for a part: all that is in it, if that is to be alone there."""
    needs[0], needs[1], needs[2], needs[3] = ask["cores"], ask["memory"], ask["gpus"], ask["local"]
    if ask["exclusive"]:
        for d in range(DIMENSIONS):
            needs[d] = max(needs[d], full[node, d])


@inlined_kernel
def window_on(calendar, node, step, needs, walltime, first, last):
    """The earliest time from `first` on, up to `last`, at which a node has `needs` for a while; inf if there is none.

    Who looks in vain works out what tells the next one so at once.
    """
    if not may_begin(calendar, node, step, walltime, last):
        return np.inf
    time = first_window(calendar.lines, node, needs, walltime, first, last)
    if time == np.inf:
        _know_runs(calendar, node)
    return time


@kernel
def _has_pools(state, calendar, leg, n_pooled, end):
    """Whether what a leg takes of pools is free from now until it ends."""
    least_between(calendar.lines, len(state.inside.full), state.clock[0]["now"], end, calendar.needs[:n_pooled])
    for r in range(n_pooled):
        if calendar.needs[r] < state.demands[leg, r + 1]:
            return False
    return True


@inlined_kernel
def _free_on(state, have, calendar, node, ask, step, needs, now, end):
    """Work out what is free on a node from now until `end`; returns how many parts it holds. It shows none if it is 0.

    What runs only gives back: without a reservation until then that is what is free now.
    """
    least = calendar.least
    for d in range(DIMENSIONS):
        least[node, d] = have.inside[node, d]
    count = holds(least, state.inside.full, node, ask)
    if count > 0 and calendar.reserved[node] < end - instant_width(end):
        count = 0
        if may_begin(calendar, node, step, end - now, now):
            if least_if(calendar.lines, node, now, end, needs, least[node]):
                return holds(least, state.inside.full, node, ask)
            _know_runs(calendar, node)
        least[node, 0] = -1
    return count


@kernel
def _one_clear(state, have, calendar, ask, now, end):
    """Whether some node has room for one part from now until `end`."""
    inside, room, needs, n_nodes = state.inside, have.inside, calendar.needs[:DIMENSIONS], len(state.inside.full)
    limit = end - instant_width(end)
    for a in range(len(inside.atoms) - 1):
        if not (ask["allowed"] >> a) & 1:
            continue
        high = inside.atoms[a + 1]
        node_needs(inside.full, inside.atoms[a], ask, needs)
        step, node = step_of(needs[0]), next_open(room, n_nodes, inside.atoms[a], high, ask)
        while node < high:
            enough = room[node, 0] >= needs[0] and room[node, 1] >= needs[1]
            if enough and room[node, 2] >= needs[2] and room[node, 3] >= needs[3]:
                if calendar.reserved[node] >= limit:
                    return True
                if may_begin(calendar, node, step, end - now, now):
                    if least_if(calendar.lines, node, now, end, needs, calendar.least[node]):
                        return True
                    _know_runs(calendar, node)
            node += 1
            if node % BLOCK == 0:
                node = next_open(room, n_nodes, node, high, ask)
    return False


@kernel
def clear_now(state, have, calendar, leg, n_pooled, all_nodes):
    """Whether a leg, of which there is enough now, may start and delay no reservation.

    With `all_nodes`, `calendar.least` then has what is free for it on every node where it may lie.
    """
    inside, ask, room, n_nodes = state.inside, state.inside.asks[leg], have.inside, len(state.inside.full)
    now, end, total = state.clock[0]["now"], state.clock[0]["now"] + state.legs[leg]["walltime"], 0
    needs = calendar.needs[:DIMENSIONS]
    if n_pooled > 0 and not _has_pools(state, calendar, leg, n_pooled, end):
        return False
    if ask["parts"] == 1 and not all_nodes:
        return _one_clear(state, have, calendar, ask, now, end)
    for a in range(len(inside.atoms) - 1):
        if not (ask["allowed"] >> a) & 1:
            continue
        low, high = inside.atoms[a], inside.atoms[a + 1]
        if all_nodes:
            for block in range(low // BLOCK, (high - 1) // BLOCK + 1):
                for d in range(DIMENSIONS):
                    calendar.least[n_nodes + block, d] = room[n_nodes + block, d]
        node_needs(inside.full, low, ask, needs)
        step, node = step_of(needs[0]), next_open(room, n_nodes, low, high, ask)
        while node < high:
            total += _free_on(state, have, calendar, node, ask, step, needs, now, end)
            if total >= ask["parts"] and not all_nodes:
                return True
            node += 1
            if node % BLOCK == 0:
                node = next_open(room, n_nodes, node, high, ask)
    return total >= ask["parts"]
