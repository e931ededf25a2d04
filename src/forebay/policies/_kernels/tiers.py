"""Which tier of storage a job runs on, compiled: wait for the fast one, or run now on the slow one.

SAS (Lackner, Fard & Wolf 2019), Algorithms 1 and 2, for any number of tiers: each way to run a job has an earliest time
at which its nodes and its room on the tier are free, and a turnaround that follows from it; the shortest counts, and of
equal ones that on the slower tier. Jobs start in order of arrival until one cannot; then the others, shortest walltime
first, may pass it as long as they do not delay it. Random and fixed choices of the tier go through the same.

    turnaround = wait + walltime + staged / stage rate + moved x (1 / rate - 1 / rate of the slow tier)

The paper's equation (2) is missing from its text; this follows from what it says of it. With `left` the rates are what
running jobs, as their users describe them, leave of a link, instead of the whole link.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.availability.profile import earliest, fits, reserve, split
from forebay.algorithms.queues.sorting import sort_smallest
from forebay.core.codes import LogReason
from forebay.core.tables import after, instant_width, policy_kernel
from forebay.core.verbs import act_start, interrupted
from forebay.policies._families.tiers import CHOICES, EASY, Param
from forebay.policies._kernels.availability.node_sets import return_node
from forebay.policies._kernels.availability.placement import what_is_there
from forebay.policies._kernels.backfill.backfill import decide_with

_SHORTEST, _DRAWN, _FIXED = range(len(CHOICES))
_ROUNDS = 20  # of the fixed point; it closes in by half or better each time unless the link is full
_EASY = EASY.params()


@kernel
def _storage(state, j):
    """The most room that job `j` would take on a tier of storage."""
    leg, most = state.jobs[j]["leg"], 0
    while leg >= 0:
        r = state.tiers.rates[state.legs[leg]["way"]]["resource"]
        if r >= 0:
            most = max(most, state.demands[leg, r])
        leg = state.legs[leg]["other"]
    return most


@kernel
def stay(state, leg, left):
    """Seconds that a job will take from leg `leg` on, on its tier; `left` has the share of each link that it can have.

    The slow tier's rate is in the walltime already, so on that tier nothing is added, not even a rounding error.
    """
    row = state.legs[leg]
    last, tier = row["last"], state.tiers.rates[row["way"]]
    seconds = state.legs[last]["walltime"]
    moved, staged = state.tiers.stated[last, 0], state.tiers.stated[leg, 1]
    seconds += staged / (tier["stage_rate"] * left[1, row["way"]])
    return seconds + moved * (1.0 / (tier["rate"] * left[0, row["way"]]) - 1.0 / state.tiers.rates[0]["rate"])


class Links(NamedTuple):
    """Shares of each way's links, the one to the nodes and the one for staging: all of it, and what a job can have."""

    whole: np.ndarray  # float64[2, way]
    left: np.ndarray  # the same


@allocating_kernel
def all_links(state):
    """As long as nobody counts who else is on them."""
    n = len(state.tiers.rates)
    return Links(np.ones((2, n)), np.ones((2, n)))


@allocating_kernel
def count_users(state, started, n_started, links):
    """Set what one more job can count on beside those that run, as their users describe them.

    A job alone on its links would spend a share u of its time on one of them. Sharing makes it s times slower there, so
    it is found there for u s / (1 - u + u s) of the time; and s is one more than the others found there on average.
    """
    n_running = state.counts[0]["n_running"]
    n = n_running + n_started
    alone, tier = np.zeros((2, n)), np.zeros(n, np.int64)
    for i in range(n):
        leg = state.running[i]["leg"] if i < n_running else started[i - n_running]
        row = state.legs[leg]
        tier[i] = row["way"]
        seconds = max(stay(state, leg, links.whole), 1.0)
        alone[0, i] = min(state.tiers.stated[leg, 0] / state.tiers.rates[tier[i]]["rate"] / seconds, 1.0)
        alone[1, i] = min(state.tiers.stated[leg, 1] / state.tiers.rates[tier[i]]["stage_rate"] / seconds, 1.0)
    for link in range(2):
        for v in range(len(state.tiers.rates)):
            slower = 1.0
            for _ in range(_ROUNDS):
                others = 0.0
                for i in range(n):
                    if tier[i] == v:
                        u = alone[link, i]
                        others += u * slower / (1.0 - u + u * slower)
                slower = 1.0 + others
            links.left[link, v] = 1.0 / slower


@kernel
def slot(state, leg, params, whole):
    """How long room is kept for leg `leg` and those after it: the walltime, or what the job is expected to stay."""
    if params[Param.STAY] > 0:
        return max(stay(state, leg, whole), 1.0)  # what users say may leave less than nothing
    seconds = 0.0
    for k in range(leg, state.legs[leg]["last"] + 1):
        seconds += state.legs[k]["walltime"]
    return seconds


@kernel
def _note(state, times, changes, n, time, leg, sign):
    """Another change of what is free: what leg `leg` gives back (+1) or takes (-1), at `time`."""
    times[n] = time
    for r in range(changes.shape[1]):
        changes[n, r] = state.releases[leg, r] if sign > 0 else -state.demands[leg, r]
    return n + 1


@allocating_kernel
def ahead_of(state, free, params, whole):
    """What will be free when: running jobs end in time, and go on to their next legs at once."""
    counts, R = state.counts[0], len(free)
    now, n_legs, n_begun = state.clock[0]["now"], 0, 0
    for i in range(counts["n_running"]):
        n_legs += state.legs[state.running[i]["leg"]]["last"] - state.running[i]["leg"] + 1
    for i in range(counts["queue_first"], counts["queue_begun"]):
        n_begun += state.queue[i] >= 0
    most = 2 * n_legs + n_begun + counts["n_down"]
    when, changes = np.empty(most), np.zeros((most, R), np.int64)
    n = 0
    for i in range(counts["n_down"]):
        if state.down[i]["until"] < np.inf:
            when[n] = max(state.down[i]["until"], after(now))
            return_node(state, changes, n, state.down[i]["node"], R)
            n += 1
    for i in range(counts["n_running"]):
        job, leg = state.jobs[state.running[i]["job"]], state.running[i]["leg"]
        last = state.legs[leg]["last"]
        end = state.running[i]["end"]
        if params[Param.STAY] > 0 and leg == last:
            end = job["leg_start"] + stay(state, leg, whole)
        # What is not back yet is not free now, however soon it is due.
        end = end if end > now + instant_width(now) else now + 1.0
        n = _note(state, when, changes, n, end, leg, 1)
        for following in range(leg + 1, last + 1):
            n = _note(state, when, changes, n, end, following, -1)
            end += state.legs[following]["walltime"]
            n = _note(state, when, changes, n, end, following, 1)
    for i in range(counts["queue_first"], counts["queue_begun"]):
        j = state.queue[i]
        if j >= 0:  # holds what it carries until it has run
            leg = state.jobs[j]["leg"]
            n = _note(state, when, changes, n, now + max(slot(state, leg, params, whole), 1.0), leg, 1)
            for r in range(R):
                changes[n - 1, r] -= state.demands[leg, r]
    keys, ties, order = when[:n].copy(), np.arange(n), np.arange(n)
    sort_smallest(keys, ties, order, n, n)
    times, ahead = np.empty(n + 4 * counts["n_queued"] + 3), np.zeros((n + 4 * counts["n_queued"] + 3, R), np.int64)
    times[0], m = now, 1
    ahead[0] = free
    for k in order:
        if when[k] - times[m - 1] > instant_width(when[k]):
            times[m] = when[k]
            ahead[m] = ahead[m - 1]
            m += 1
        for r in range(R):
            ahead[m - 1, r] += changes[k, r]
    return times, ahead, m


@kernel
def find(state, leg, times, ahead, n, params, whole):
    """The earliest segment in which a job can begin with leg `leg` (-1: never), and the time at which it runs its last.

    Where nodes are taken after staging, it is the later leg that needs them, from when the data is there.
    """
    length, R = slot(state, leg, params, whole), ahead.shape[1]
    first = earliest(times, ahead, n, 0, R, state.demands[leg], length)
    last = state.legs[leg]["last"]
    if first < 0 or leg == last:
        return first, times[max(first, 0)]
    staged = times[first] + state.legs[leg]["walltime"]
    there, seconds = first, state.legs[last]["walltime"]
    while there + 1 < n and times[there + 1] <= staged:
        there += 1
    if fits(times, ahead, n, there, R, state.demands[last], staged + seconds):
        return first, staged
    runs = earliest(times, ahead, n, there + 1, R, state.demands[last], seconds)
    return (first, times[runs]) if runs >= 0 else (-1, times[0])


@kernel
def turnaround(state, leg, times, first, runs, left):
    """Seconds from now until a job ends that begins with leg `leg` in segment `first`, and runs from time `runs` on."""
    wait = times[first] - times[0]
    if leg < state.legs[leg]["last"]:  # staged, it waits for nodes
        wait += max(runs - times[first] - state.legs[leg]["walltime"], 0.0)
    return wait + stay(state, leg, left)


@kernel
def _allowed(state, j, leg, params, memory):
    """Whether the policy lets job `j` run on the tier of leg `leg` at all, whatever the times say."""
    if params[Param.CHOICE] == _SHORTEST or state.legs[leg]["number"] > 0:
        return True
    wanted = int(params[Param.TIER]) if params[Param.CHOICE] == _FIXED else memory[0][0, j] - 1
    other = state.jobs[j]["leg"]
    while other >= 0 and state.legs[other]["way"] != wanted:
        other = state.legs[other]["other"]
    return leg == (other if other >= 0 else state.jobs[j]["leg"])


@kernel
def choose(state, j, times, ahead, n, params, memory, links):
    """The leg with which job `j` is to begin, the segment in which it does (-1: never), and the time when it runs."""
    leg, best, at, runs, shortest = state.jobs[j]["leg"], -1, -1, np.inf, np.inf
    while leg >= 0:
        if _allowed(state, j, leg, params, memory):
            first, then = find(state, leg, times, ahead, n, params, links.whole)
            if first >= 0:
                seconds = turnaround(state, leg, times, first, then, links.left)
                if best < 0 or seconds < shortest:
                    best, at, runs, shortest = leg, first, then, seconds
        leg = state.legs[leg]["other"]
    return best, at, runs


@kernel
def lay_out(state, leg, times, ahead, n, at, runs, params, whole):
    """Keep from others what a job needs that begins with leg `leg` in segment `at`; returns the profile's length."""
    last, R = state.legs[leg]["last"], ahead.shape[1]
    n = reserve(times, ahead, n, R, state.demands[leg], at, times[at] + slot(state, leg, params, whole))
    if leg < last:
        then, n = split(times, ahead, n, at, R, runs)
        n = reserve(times, ahead, n, R, state.demands[last], then, runs + state.legs[last]["walltime"])
    return n


@kernel
def start(state, j, leg, reason, free):
    """Start job `j` with leg `leg`, which fits."""
    for r in range(len(free)):
        free[r] -= state.demands[leg, r]
    act_start(state, j, reason)["way"] = state.legs[leg]["way"]


@kernel
def fits_somehow(state, j, free):
    """Whether job `j` could start now on any tier."""
    leg = state.jobs[j]["leg"]
    while leg >= 0:
        short = False
        for r in range(len(free)):
            short = short or state.demands[leg, r] > free[r]
        if not short:
            return True
        leg = state.legs[leg]["other"]
    return False


@kernel
def draw(state, params, memory, rng):
    """Draw a tier for each job that has just come, the same number of draws for any probability."""
    counts = state.counts[0]
    for i in range(counts["queue_begun"], counts["queue_last"]):
        j = state.queue[i]
        if j < 0 or memory[0][0, j] > 0:
            continue
        u, n_fast = rng.random(), len(state.tiers.rates) - 1
        tier = 1 + int(u / params[Param.P] * n_fast) if u < params[Param.P] and n_fast > 0 else 0
        memory[0][0, j] = 1 + tier


@allocating_kernel
def shortest_first(state, line, free):
    """Jobs of `line` that could start now, by walltime, then by the room they ask for, then by id."""
    n = len(line)
    keys, ties, items = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    by_room = np.empty(n)
    n = 0
    for j in line:
        if j >= 0 and fits_somehow(state, j, free):
            by_room[n], ties[n], items[n] = _storage(state, j), state.jobs[j]["id"], j
            n += 1
    # Room and id first: the second sort keeps their order where walltimes are equal.
    sort_smallest(by_room, ties, items, n, n)
    for k in range(n):
        keys[k], ties[k] = state.legs[state.jobs[items[k]]["leg"]]["walltime"], k
    sort_smallest(keys, ties, items, n, n)
    return items[:n]


@policy_kernel
def choose_tiers(state, params, memory, rng):
    """The decision of one instant."""
    counts = state.counts[0]
    if counts["n_queued"] == 0:
        return
    if len(state.tiers.rates) == 0:  # nothing to choose
        decide_with(state, _EASY.copy(), memory)
        return
    have = what_is_there(state, False)
    free, line = have.free, state.queue[counts["queue_first"] : counts["queue_last"]]
    if params[Param.CHOICE] == _DRAWN:
        draw(state, params, memory, rng)
    links, started, n_started = all_links(state), np.empty(counts["n_queued"], np.int64), 0
    if params[Param.LEFT] > 0:
        count_users(state, started, 0, links)
    times, ahead, n = ahead_of(state, free, params, links.whole)
    i, head, head_leg, at, runs = 0, -1, -1, -1, np.inf
    while i < len(line) and not interrupted(state):
        j = line[i]
        i += 1
        if j < 0:
            continue
        leg, at, runs = choose(state, j, times, ahead, n, params, memory, links)
        if at != 0:
            head, head_leg = j, leg
            break
        n = lay_out(state, leg, times, ahead, n, at, runs, params, links.whole)
        start(state, j, leg, LogReason.IN_ORDER, free)
        started[n_started] = leg
        n_started += 1
        if params[Param.LEFT] > 0:
            count_users(state, started, n_started, links)
    if head < 0:
        return
    candidates = shortest_first(state, line[i:], free)
    if len(candidates) == 0:
        return
    if at > 0:
        n = lay_out(state, head_leg, times, ahead, n, at, runs, params, links.whole)
    for j in candidates:
        if interrupted(state):
            return
        if not fits_somehow(state, j, free):
            continue
        leg, at, runs = choose(state, j, times, ahead, n, params, memory, links)
        if at == 0:
            n = lay_out(state, leg, times, ahead, n, at, runs, params, links.whole)
            start(state, j, leg, LogReason.BACKFILLED, free)
            started[n_started] = leg
            n_started += 1
            if params[Param.LEFT] > 0:
                count_users(state, started, n_started, links)
