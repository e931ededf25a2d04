"""What will be free when: running legs, and those that a decision has started, end as expected; nodes are repaired."""

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.availability.site_windows import next_edge
from forebay.algorithms.nodes.atoms import COLUMN, FIRST
from forebay.algorithms.nodes.bits import wipe
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.core.codes import Verb
from forebay.core.inside import DIMENSIONS
from forebay.core.tables import STATE, after, instant_width, nodes_in
from forebay.policies._kernels.availability.node_sets import fits_atoms, n_counted, return_taken
from forebay.policies._kernels.availability.placement import Have, give_back, repair

_i8 = types.int64
_FREE = _i8[:, ::1]
HAVE = types.NamedTuple((_i8[::1], _i8[::1], _i8[::1], _FREE), Have)


_PLENTY = 2**62


@kernel
def n_held(state, have, reserved):
    """How many resources a reservation counts that holds the first `reserved`, or all.

    Nodes are also those of classes and partitions, the last resources: where it holds nodes alone, it counts them all.
    """
    R, atoms = min(len(have.free), reserved), state.nodes.atoms
    return R if len(atoms) == 0 or atoms[0, COLUMN] < 0 else len(have.free)


@kernel
def looks_up(state, have, R):
    """Whether windows of the site are looked up for each job: where nodes are counted atom by atom.

    A window of all nodes is in the profile. No job runs on into it, so none delays a job that waits for its end.
    """
    return len(state.planned) > 0 and len(have.words) == 0 and n_counted(state, R) > 0


@allocating_kernel
def started_by_end(state):
    """The starts among the actions of this decision so far, by expected end."""
    n = min(state.counts[0]["n_actions"], len(state.actions))
    ends, ties, actions = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    n_starts = 0
    for a in range(n):
        if state.actions[a]["verb"] == Verb.START:
            ends[n_starts] = end_if_now(state, state.actions[a]["job"])
            ties[n_starts] = actions[n_starts] = a
            n_starts += 1
    sort_smallest(ends, ties, actions, n_starts, n_starts)
    return actions[:n_starts]


@kernel
def end_if_now(state, j):
    """When job `j` is expected to end its waiting leg if it starts now."""
    return state.clock[0]["now"] + state.legs[state.jobs[j]["leg"]]["walltime"]


@kernel
def planned_ahead(state):
    """Whether nodes are reserved from some later time on. Those of reservations that last are out of sight already."""
    if len(state.planned) == 0:
        return False
    soon = after(state.clock[0]["now"])
    for p in range(len(state.planned)):
        if state.planned[p]["start"] > soon:
            return True
    return False


@kernel
def _next_planned(state, soon, passed):
    """When, behind `passed`, the next reservation begins or ends of those that are to come; inf if none does."""
    time = np.inf
    for p in range(len(state.planned)):
        plan = state.planned[p]
        if plan["start"] > soon:
            if plan["start"] > passed:
                time = min(time, plan["start"])
            if plan["end"] > passed:
                time = min(time, plan["end"])
    return time


@kernel
def _close_inside(state, plan, row, R):
    """Take away what is in the nodes of a reservation, which jobs share: all of it is free while that lasts."""
    inside = state.inside
    for a in range(len(inside.atoms) - 1):
        if (plan["atoms"] >> a) & 1:
            node, count = inside.atoms[a], inside.atoms[a + 1] - inside.atoms[a]
            for d in range(DIMENSIONS):
                r = inside.counted[node, d]
                if 0 <= r < R:
                    row[r] = max(row[r] - count * inside.full[node, d], 0)


@kernel
def _close(state, plan, times, ahead, n, R, S, W):
    """Take the nodes of a reservation away while it lasts."""
    atoms, counted = state.nodes.atoms, n_counted(state, R) > 0
    for i in range(n):
        width = instant_width(times[i])
        if times[i] < plan["start"] - width or times[i] >= plan["end"] - width:
            continue
        words = ahead[i, R + S : R + S + W]
        if len(atoms) == 0 and plan["atoms"] != -1:
            _close_inside(state, plan, ahead[i], R)
        elif len(atoms) == 0:
            ahead[i, 0] = 0
            for w in range(W):
                words[w] = 0
        for a in range(len(atoms)):
            if (plan["atoms"] >> a) & 1:
                column = atoms[a, COLUMN]
                gone = nodes_in(state, a)
                if counted and column >= 0:
                    gone = ahead[i, column]
                    ahead[i, column] = 0
                ahead[i, 0] = max(ahead[i, 0] - gone, 0)
                if W > 0:
                    wipe(words, atoms[a, FIRST], nodes_in(state, a))


@kernel
def close_windows(state, times, ahead, n, R, S, W):
    """Take the nodes of windows of the site that are to come away while these last."""
    soon = after(state.clock[0]["now"])
    for p in range(len(state.planned)):
        if state.planned[p]["start"] > soon:
            _close(state, state.planned[p], times, ahead, n, R, S, W)


@allocating_kernel(types.Tuple((types.float64[::1], _FREE, _i8))(STATE, HAVE, _i8, _i8, _i8, _i8, types.boolean))
def _given_back(state, have, until_fits, R, S, W, every_edge):
    """What running legs leave when, from now until the demand of leg `until_fits` fits (-1: until all have ended).

    A segment begins at the start and at the end of each window; of windows under way only with `every_edge`.
    """
    counts, running = state.counts[0], state.running
    now, n_running = state.clock[0]["now"], counts["n_running"]
    started = started_by_end(state)
    n_late = 0
    soon = after(now)  # nothing that runs is over in this instant, however short its walltime
    while n_late < n_running and running[n_late]["end"] < soon:
        n_late += 1
    room_for = (
        n_running
        + counts["n_down"]
        + 2 * len(state.planned)
        + 3
        + (2 * (counts["queue_last"] - counts["queue_first"]) if until_fits < 0 else len(started))
    )
    times, ahead = np.empty(room_for), np.empty((room_for, R + S + 2 * W), np.int64)
    times[0] = now
    for r in range(R + S + W):
        ahead[0, r] = have.free[r] if r < R else have.room[r - R] if r < R + S else have.words[r - R - S]
    for r in range(R + S + W, ahead.shape[1]):
        ahead[0, r] = 0
    n, i, s, d, late, passed = 1, n_late, 0, 0, n_late > 0, soon
    while True:
        if until_fits >= 0:
            enough_yet = True
            for r in range(R):
                enough_yet = enough_yet and ahead[n - 1, r] >= state.demands[until_fits, r]
            if enough_yet and fits_atoms(state, ahead[n - 1, :R], until_fits):
                break
        time = np.inf
        if i < n_running:
            time = running[i]["end"]
        if s < len(started):
            time = min(time, max(end_if_now(state, state.actions[started[s]]["job"]), soon))
        if len(state.down) > 0 and d < counts["n_down"]:
            time = min(time, max(state.down[d]["until"], soon))
        if late:
            time = min(time, now + 1.0)
        if len(state.planned) > 0:
            time = min(time, next_edge(state.planned, passed) if every_edge else _next_planned(state, soon, passed))
        if time == np.inf:
            break
        width = instant_width(time)
        passed = max(passed, time + width)
        if time - times[n - 1] > width:
            times[n] = time
            for r in range(ahead.shape[1]):
                ahead[n, r] = ahead[n - 1, r]
            n += 1
        while i < n_running and running[i]["end"] <= time + width:
            give_back(state, ahead, n - 1, running[i]["job"], running[i]["leg"], 0, 0, R, S, W)
            i += 1
        while s < len(started) and end_if_now(state, state.actions[started[s]]["job"]) <= time + width:
            action = state.actions[started[s]]
            leg = state.jobs[action["job"]]["leg"]
            give_back(state, ahead, n - 1, action["job"], leg, action["first_pick"], action["n_picks"], R, S, W)
            return_taken(state, ahead, n - 1, action, R)
            s += 1
        while len(state.down) > 0 and d < counts["n_down"] and state.down[d]["until"] <= time + width:
            repair(state, ahead, n - 1, state.down[d]["node"], R, S, W)
            d += 1
        if late and now + 1.0 <= time + width:
            late = False
            for k in range(n_late):
                give_back(state, ahead, n - 1, running[k]["job"], running[k]["leg"], 0, 0, R, S, W)
    return times, ahead, n


@allocating_kernel(types.Tuple((types.float64[::1], _FREE, _i8))(STATE, HAVE, _i8, _i8, _i8, _i8))
def availability(state, have, until_fits, R, S, W):
    """What will be free when, with what windows of the site that are to come leave of it."""
    times, ahead, n = _given_back(state, have, until_fits, R, S, W, False)
    close_windows(state, times, ahead, n, R, S, W)
    return times, ahead, n


@allocating_kernel
def _held(state, have, reserved):
    """What is there, with no end to resources that a reservation of the first `reserved` does not hold."""
    free = have.free.copy()
    if reserved < n_held(state, have, reserved):
        for r in range(reserved, state.nodes.atoms[0, COLUMN]):
            free[r] = _PLENTY
    return Have(free, have.words, have.room, have.inside)


@allocating_kernel
def ahead_of(state, have, until_fits, reserved, S, W):
    """The same as a reservation sees it that holds the first `reserved` resources: it sees no end to others."""
    return availability(state, _held(state, have, reserved), until_fits, n_held(state, have, reserved), S, W)


@allocating_kernel
def given_back(state, have, reserved):
    """The same of amounts until all have ended, where windows are looked up for each job: see `site_windows`."""
    return _given_back(state, _held(state, have, reserved), -1, n_held(state, have, reserved), 0, 0, True)
