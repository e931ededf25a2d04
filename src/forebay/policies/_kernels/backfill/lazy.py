"""Reservations, put off until somebody may be in their way.

A decision needs to know what is taken up to its horizon alone, so who cannot begin by then is put off. One who begins
by then may end later, and clash with those before it in line: of them, the ones that begin before it ends are needed
too. One of these may end later still, and needs those before itself; and so on. As there are fewer before each, and
these begin early, most jobs of a long line are never laid.

Times have *levels*, each twice as far from now as the one below, the last for ever. `settled` counts, for
each level, how many jobs from the first on are laid if they begin within it. Nobody is laid who ends outside a level
that is settled for all before it in line. So all of those who are still put off begin behind its end, and find the same
place as if they had been laid in line.

In a long queue in order of arrival, places are the queue's, and each level has a set of those that are *open*: a
job that asks for as much as one that cannot begin is struck out, by the sets of `thresholds`, and never looked at.

Room only shrinks during a decision. So who asks for as much as somebody who cannot begin within a level, for as long,
cannot either; nor can one that asks for as much and runs longer than as much is free at a stretch. Of each level a few
who cannot are kept in mind, none of whom asks for more than another one: most jobs are put off by these.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.availability.layout import lay
from forebay.algorithms.availability.profile import longest_run
from forebay.algorithms.queues.thresholds import MOST, Thresholds, next_in, strike_out, thresholds_in
from forebay.core.tables import after
from forebay.core.verbs import interrupted
from forebay.policies._kernels.availability.node_sets import earliest_for, earliest_open, n_counted, reserve_shared
from forebay.policies._kernels.availability.placement import chunks_of

LEVELS = 24
LAID = -1
_KEPT = 16  # of a level
_WIDTH = 1e-5  # seconds by which a window may be shorter: see tables.instant_width
_LONGEST = 2.0**53  # seconds that an index tells apart


class PutOff(NamedTuple):
    """The jobs that are put off, in line, and what is known of them; scratch for laying them."""

    jobs: NDArray[np.int64]
    legs: NDArray[np.int64]  # that they wait for: rows of jobs lie far apart, and in a long line out of the cache
    until: NDArray[np.float64]  # the levels' ends
    settled: NDArray[np.int64]  # a row a level: how many jobs are settled, how many shall be, and for which level;
    # how many are kept who cannot begin within it
    walltimes: NDArray[np.float64]  # of these
    demands: NDArray[np.int64]
    allowed: NDArray[np.int64]  # the atoms that they may run on
    mine: NDArray[np.int64]  # windows of the site that are for them
    least_free: NDArray[np.int64]
    taken: NDArray[np.int64]
    slot: NDArray[np.float64]  # one number: seconds by which reservations are longer than walltimes
    looks: NDArray[np.bool_]  # one: whether where they may run is looked up for when they begin, see `site_windows`
    sets: Thresholds  # places by what is asked there, from the first of an index on
    open: NDArray[np.int64]  # a set a level: places that are not known to be settled
    shift: NDArray[np.int64]  # one: places of the index before the first of the line


N_SETTLED, WANTED, FOR, _REFUSED, _SHOWN = range(5)


@allocating_kernel
def nobody_put_off(room, now, horizon, n_columns, slot, last):
    """No jobs yet, of up to `room`. Who cannot begin by `last` is never laid."""
    until = np.empty(LEVELS)
    for level in range(LEVELS):
        until[level] = min(now + (horizon - now) * 2.0**level, last)
    until[LEVELS - 1] = last
    settled, walltimes = np.zeros((LEVELS, 5), np.int64), np.empty(LEVELS * _KEPT)
    allowed, mine = np.empty(LEVELS * _KEPT, np.int64), np.empty(LEVELS * _KEPT, np.int64)
    demands, scratch = np.empty((LEVELS * _KEPT, n_columns), np.int64), np.empty((2, n_columns), np.int64)
    longer = np.full(1, slot)
    return PutOff(
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        until,
        settled,
        walltimes,
        demands,
        allowed,
        mine,
        scratch[0],
        scratch[1],
        longer,
        np.zeros(1, np.bool_),
        thresholds_in(settled[:0, 0].copy(), 0, 0),
        np.empty((LEVELS, 0), np.int64),
        np.zeros(1, np.int64),
    )


@allocating_kernel
def with_sets(later, sets, line, shift):
    """The same, with sets of the places of a line: all who stand there may be asked for."""
    shifts = np.full(1, shift)
    return PutOff(
        line.copy(), later.legs, later.until, later.settled, later.walltimes, later.demands, later.allowed,
        later.mine, later.least_free, later.taken, later.slot, later.looks,
        sets, np.empty((LEVELS, sets.rows.shape[1]), np.int64), shifts,
    )  # fmt: skip


@inlined_kernel
def has_sets(later):
    """Whether it is known which places are open."""
    return later.sets.rows.shape[1] > 0


@inlined_kernel
def next_open(later, level, place):
    """The next place from `place` on whose job may begin within a level."""
    if not has_sets(later):
        return place
    words = later.open[level]
    if later.settled[level, _SHOWN] == 0:
        later.settled[level, _SHOWN] = 1
        for w in range(len(words)):
            words[w] = later.sets.rows[0, w]
    return next_in(words, place + later.shift[0]) - later.shift[0]


@kernel
def _strike(state, later, level, R, demand, walltime, allowed):
    """Jobs that ask for as much as one that cannot begin within a level, and may run nowhere else, are settled."""
    n_atoms = len(state.nodes.atoms)
    if not has_sets(later) or (allowed >= 0 and allowed != (1 << n_atoms) - 1) or walltime > _LONGEST:
        return
    least = later.least_free  # scratch
    for c in range(MOST):
        least[c] = demand[c - 1] if 1 <= c <= R else 0
    least[0] = int(np.ceil(walltime))
    for r in range(MOST - 1, R):
        if demand[r] > 0:
            return
    strike_out(later.sets, later.open[level], later.settled[level, N_SETTLED] + later.shift[0], least)


@kernel
def reserve_for(state, times, ahead, n, R, S, W, j, later):
    """Reserve the earliest time at which all is free for job `j`; returns the profile's new length."""
    leg, n_chunks = state.jobs[j]["leg"], chunks_of(state, j)
    demand, size, walltime = state.demands[leg], state.legs[leg]["chunk"], state.legs[leg]["walltime"] + later.slot[0]
    _, n = lay(
        times, ahead, n, demand, walltime, size, n_chunks, R, S, W, state.nodes.seats, state.servers.near,
        later.least_free, later.taken, state.nodes.atoms[: n_counted(state, R)], state.legs[leg]["allowed"],
    )  # fmt: skip
    return n


@kernel
def _begins_within(times, n, end):
    """How many segments begin before a level's end, or so little behind it that they may be one instant."""
    bound, low, high = after(after(end)), 0, n
    while low < high:
        middle = (low + high) >> 1
        if times[middle] <= bound:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _asks_as_much(later, k, R, demand, walltime, allowed, mine):
    as_much = walltime >= later.walltimes[k]
    for r in range(R):  # all at once: which of them tells, no processor guesses
        as_much &= demand[r] >= later.demands[k, r]
    return as_much and allowed & ~later.allowed[k] == 0 and mine & ~later.mine[k] == 0


@kernel
def _swap(later, a, b, R):
    later.walltimes[a], later.walltimes[b] = later.walltimes[b], later.walltimes[a]
    later.allowed[a], later.allowed[b] = later.allowed[b], later.allowed[a]
    later.mine[a], later.mine[b] = later.mine[b], later.mine[a]
    for r in range(R):
        later.demands[a, r], later.demands[b, r] = later.demands[b, r], later.demands[a, r]


@kernel
def cannot_begin(later, level, R, demand, walltime, allowed, mine):
    """Whether a job asks for as much as one that cannot begin within a level, and may run nowhere else.

    What decides it comes one place forward: the first then decides for most jobs.
    """
    first = level * _KEPT
    for k in range(first, first + later.settled[level, _REFUSED]):
        if _asks_as_much(later, k, R, demand, walltime, allowed, mine):
            if k > first:
                _swap(later, k - 1, k, R)
            return True
    return False


@kernel
def keep_in_mind(later, level, R, demand, walltime, allowed, mine):
    """Who cannot begin within a level takes the place of those who ask for as much, or of any if all are taken."""
    first, n = level * _KEPT, later.settled[level, _REFUSED]
    k = first
    while k < first + n:
        as_much = later.walltimes[k] >= walltime and later.allowed[k] & ~allowed == 0 and later.mine[k] & ~mine == 0
        for r in range(R):
            as_much = as_much and later.demands[k, r] >= demand[r]
        if as_much:
            n -= 1
            later.walltimes[k] = later.walltimes[first + n]
            later.allowed[k], later.mine[k] = later.allowed[first + n], later.mine[first + n]
            for r in range(R):
                later.demands[k, r] = later.demands[first + n, r]
        else:
            k += 1
    k = first + (n if n < _KEPT else later.settled[level, N_SETTLED] % _KEPT)
    later.walltimes[k] = walltime
    later.allowed[k], later.mine[k] = allowed, mine
    for r in range(R):
        later.demands[k, r] = demand[r]
    later.settled[level, _REFUSED] = min(n + 1, _KEPT)


@inlined_kernel
def _where(state, later, leg):
    """The atoms on which a leg may ever be, and the windows of the site that are for it, as bits."""
    row = state.legs[leg]
    return (row["later"], row["mine"]) if later.looks[0] else (row["allowed"], np.int64(0))


@inlined_kernel
def put_off(state, later, place, R, j, leg):
    """Put job `j` off, whose place follows those that are settled; whether that settles it too.

    It mostly does, as others who ask for no more cannot begin either. Handing all of it to `settle` would take longer.
    """
    later.jobs[place], later.legs[place] = j, leg
    walltime = state.legs[leg]["walltime"] + later.slot[0]
    allowed, mine = _where(state, later, leg)
    if not cannot_begin(later, 0, R, state.demands[leg], walltime, allowed, mine):
        return False
    later.settled[0, N_SETTLED] = place + 1
    return True


@kernel
def settle(state, times, ahead, n, R, S, later, n_later):
    """Lay whom it takes to know who begins within the first level; returns the profile's new length."""
    settled, until = later.settled, later.until
    # Who is put off does not start now: on shared nodes that may be for want of room that amounts do not tell.
    soonest = 1 if state.machine[0]["placement"] >= 0 else 0
    level = 0
    settled[0, WANTED] = n_later
    while True:
        place = next_open(later, level, settled[level, N_SETTLED])
        if place & 63 == 63 and interrupted(state):
            return n
        if place >= settled[level, WANTED]:
            settled[level, N_SETTLED] = settled[level, WANTED]
            if level == 0:
                return n
            level = settled[level, FOR]
            continue
        j, settled[level, N_SETTLED] = later.jobs[place], place
        if j < 0:  # it is laid, has started or is held back
            settled[level, N_SETTLED] += 1
            continue
        leg = state.jobs[j]["leg"] if has_sets(later) else later.legs[place]
        demand, (allowed, mine) = state.demands[leg], _where(state, later, leg)
        walltime = state.legs[leg]["walltime"] + later.slot[0]
        if cannot_begin(later, level, R, demand, walltime, allowed, mine):
            settled[level, N_SETTLED] += 1
            continue
        first = _begins_within(times, n, until[settled[level, FOR]]) if level > 0 else soonest
        begins = _begins_within(times, n, until[level])
        if later.looks[0]:
            at = earliest_open(state, times, ahead, n, begins, first, R, leg, walltime)
        else:
            at = earliest_for(state, times, ahead, n, begins, first, R, leg, walltime)
        if at >= 0:
            end, needed = times[at] + walltime, level
            while needed < LEVELS - 1 and until[needed] < end:
                needed += 1
            if S > 0:  # where they matter, places may put it off further
                needed = LEVELS - 1
            if settled[needed, N_SETTLED] < place:
                settled[needed, WANTED], settled[needed, FOR] = place, level
                level = needed
                continue
            if S == 0:
                n = reserve_shared(state, times, ahead, n, R, leg, at, end, later.taken)
            else:
                n = reserve_for(state, times, ahead, n, R, S, 0, j, later)
            later.jobs[place] = LAID
        else:
            if n_counted(state, R) == 0 and not later.looks[0]:
                walltime = min(walltime, longest_run(times, ahead, n, begins, soonest, R, demand) + _WIDTH)
            keep_in_mind(later, level, R, demand, walltime, allowed, mine)
            _strike(state, later, level, R, demand, walltime, allowed)
        settled[level, N_SETTLED] += 1
