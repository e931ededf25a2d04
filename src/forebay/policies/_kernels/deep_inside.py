"""Any number of reservations on nodes that jobs share, node by node: see `calendar` and `find_room`.

A decision is about who starts now. So the line is read from one who may to the next: who finds room in what is free
now, beside the reservations that are laid so far. It starts if it still does once all of those before it that begin
before it would end are laid. Who is not needed for that is put off, mostly for good: see `put_off`. Level 0 is now.

A job that reservations of the site leave too few nodes now is not seen in the queue. It holds its place in line all the
same, if it was seen before, so that what it was promised is kept.
"""

import numpy as np

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.inside import BLOCK, place_parts
from forebay.core.codes import LogReason
from forebay.core.inside import DIMENSIONS
from forebay.core.verbs import act_start, interrupted, take_picks_from
from forebay.policies._families.backfill import Param
from forebay.policies._kernels.atoms import charge
from forebay.policies._kernels.calendar import clear_now, n_pools, new_calendar, no_calendar, roomy, take_places
from forebay.policies._kernels.find_room import begins, ever_open, lay
from forebay.policies._kernels.inside import fits_inside, start_inside, take_picked
from forebay.policies._kernels.long_line import asks_within
from forebay.policies._kernels.ordering import behind
from forebay.policies._kernels.places import fits_now
from forebay.policies._kernels.put_off import (
    FOR,
    LAID,
    LEVELS,
    N_SETTLED,
    WANTED,
    cannot_begin,
    keep_in_mind,
    nobody_put_off,
)
from forebay.policies._kernels.windows import unseen

_ASKS = 7  # what a leg asks for, beside pools


@kernel
def _write_asks(state, leg, asked):
    """What a leg asks for: one that asks for as much of each has room nowhere that this one has not."""
    ask = state.inside.asks[leg]
    asked[0], asked[1], asked[2], asked[3] = ask["parts"], ask["cores"], ask["memory"], ask["gpus"]
    asked[4], asked[5], asked[6] = ask["local"], ask["spread"], ask["exclusive"]
    for r in range(_ASKS, len(asked)):
        asked[r] = state.demands[leg, r - _ASKS + 1]


@kernel
def _bound_atoms(state, have, most):
    """The most that any node of an atom has free now, or a little more."""
    inside = state.inside
    for a in range(len(inside.atoms) - 1):
        for d in range(DIMENSIONS):
            most[a, d] = 0
        for block in range(inside.atoms[a] // BLOCK, (inside.atoms[a + 1] - 1) // BLOCK + 1):
            for d in range(DIMENSIONS):
                most[a, d] = max(most[a, d], have.inside[len(inside.full) + block, d])


@inlined_kernel
def _may_fit(most, ask):
    """Whether a node where a leg may lie now has room for a part, as far as bounds tell."""
    if ask["parts"] == 0:
        return True
    for a in range(len(most)):
        if not (ask["allowed"] >> a) & 1 or most[a, 0] < ask["cores"] or most[a, 1] < ask["memory"]:
            continue
        if most[a, 2] >= ask["gpus"] and most[a, 3] >= ask["local"]:
            return True
    return False


@allocating_kernel
def _settle(state, have, calendar, later, level, place, leg_now, n_pooled):
    """Lay whom it takes to know who of those before `place` begins within a level; returns the calendar.

    It ends as soon as `leg_now` cannot start now any more.
    """
    settled, until, now = later.settled, later.until, state.clock[0]["now"]
    settled[level, WANTED], settled[level, FOR] = place, -1
    n_laid = 0
    while True:
        at = settled[level, N_SETTLED]
        if at >= settled[level, WANTED]:
            if settled[level, FOR] < 0:
                return calendar
            level = settled[level, FOR]
            continue
        if later.jobs[at] == LAID:
            settled[level, N_SETTLED] += 1
            continue
        leg, where = later.legs[at], ever_open(state, later.legs[at])
        walltime, mine, asked = state.legs[leg]["walltime"], state.legs[leg]["mine"], later.taken
        _write_asks(state, leg, asked)
        if cannot_begin(later, level, len(asked), asked, walltime, where, mine):
            settled[level, N_SETTLED] += 1
            continue
        first = now
        for below in range(1, level):
            if settled[below, N_SETTLED] > at:
                first = until[below]
        begin = begins(state, calendar, leg, n_pooled, first, until[level], level)
        if begin == np.inf:
            keep_in_mind(later, level, len(asked), asked, walltime, where, mine)
            settled[level, N_SETTLED] += 1
            continue
        needed = level_of(later, begin + walltime, level)
        if settled[needed, N_SETTLED] < at:
            settled[needed, WANTED], settled[needed, FOR] = at, level
            level = needed
            continue
        calendar = lay(state, calendar, leg, n_pooled, begin, level)
        later.jobs[at] = LAID
        settled[level, N_SETTLED] += 1
        n_laid += 1
        if not clear_now(state, have, calendar, leg_now, n_pooled, False) or (n_laid & 63 == 0 and interrupted(state)):
            return calendar


@inlined_kernel
def level_of(later, end, level):
    """The first level from `level` on that ends no sooner."""
    while level < LEVELS - 1 and later.until[level] < end:
        level += 1
    return level


@allocating_kernel
def _start(state, have, calendar, j, leg, n_pooled):
    """Start job `j`, for which `calendar.least` has the room, by the rule; returns the calendar."""
    counts, inside, now = state.counts[0], state.inside, state.clock[0]["now"]
    ask, first, end = inside.asks[leg], counts["n_picks"], now + state.legs[leg]["walltime"]
    charge(state, have.free, leg)
    if ask["parts"] > 0:
        placement = state.machine[0]["placement"]
        counts["n_picks"] = place_parts(calendar.least, inside.full, inside.atoms, ask, placement, state.picks, first)
        take_picked(state, leg, have.inside, first)
    picks = state.picks[first : counts["n_picks"]]
    calendar = roomy(calendar, len(picks))
    take_places(state, calendar, leg, n_pooled, picks, now, end)
    take_picks_from(state, act_start(state, j, LogReason.BACKFILLED), first)
    return calendar


@allocating_kernel
def _put_off_list(state, n_columns, length):
    """Nobody put off yet of a line. Levels end now, and 1, 2, 4, ... seconds from now; the last one never."""
    now = state.clock[0]["now"]
    later = nobody_put_off(length, now, now + 1.0, n_columns, 0.0, np.inf)
    later.until[0] = now
    for level in range(1, LEVELS - 1):
        later.until[level] = now + 2.0 ** (level - 1)
    return later


@allocating_kernel
def _line_inside(state, have, line, limit):
    """Start jobs of `line` in order until one does not fit; returns its place. So many may pass it."""
    for i in range(len(line)):
        j = line[i]
        if j < 0:
            if unseen(state, j) >= 0 and limit > 0:  # where nobody may pass, it would block all
                return i
            continue
        if not fits_now(state, have, j):
            return i
        charge(state, have.free, state.jobs[j]["leg"])
        start_inside(state, have.inside, j, LogReason.IN_ORDER)
    return len(line)


@kernel
def _fits(state, have, later, most, leg):
    """Whether a leg, of which there is enough in all, finds room now, reservations aside."""
    ask = state.inside.asks[leg]
    if not _may_fit(most, ask):
        return False
    asked = later.taken
    _write_asks(state, leg, asked)
    if cannot_begin(later, 0, len(asked), asked, state.legs[leg]["walltime"], ask["allowed"], 0):
        return False
    if fits_inside(state.inside, have.inside, ask):
        return True
    keep_in_mind(later, 0, len(asked), asked, 0.0, ask["allowed"], 0)  # for however short a time
    later.settled[0, N_SETTLED] += 1
    return False


@kernel
def _refuse(state, later, leg):
    """A leg cannot start now."""
    _write_asks(state, leg, later.taken)
    allowed = state.inside.asks[leg]["allowed"]
    keep_in_mind(later, 0, len(later.taken), later.taken, state.legs[leg]["walltime"], allowed, 0)
    later.settled[0, N_SETTLED] += 1


@allocating_kernel
def _try_start(state, have, calendar, later, most, j, leg, place, n_pooled):
    """Start job `j`, which finds room now, if that delays nobody before `place`: whether it does, and the calendar."""
    if clear_now(state, have, calendar, leg, n_pooled, False):
        end = state.clock[0]["now"] + state.legs[leg]["walltime"]
        calendar = _settle(state, have, calendar, later, level_of(later, end, 1), place, leg, n_pooled)
        if clear_now(state, have, calendar, leg, n_pooled, True):
            calendar = _start(state, have, calendar, j, leg, n_pooled)
            _bound_atoms(state, have, most)
            return True, calendar
    _refuse(state, later, leg)
    return False, calendar


@allocating_kernel
def deep_inside(state, have, line, params, index, first):
    """Start whoever delays no reservation; with an index, `line` is the queue from place `first` on."""
    depth, limit = int(params[Param.DEPTH]), int(params[Param.MAX_BACKFILL])
    begun = _line_inside(state, have, line, limit)
    R = min(len(have.free), int(params[Param.RESERVED]))
    n_pooled = n_pools(state, R)
    later = _put_off_list(state, _ASKS + state.machine[0]["first_inside"] - 1, len(line))
    most = np.empty((len(state.inside.atoms) - 1, DIMENSIONS), np.int64)
    _bound_atoms(state, have, most)
    calendar, known = no_calendar(), False
    for i in range(begun):
        later.jobs[i] = LAID
    i, n_reserved = begun, 0
    while i < len(line) and n_reserved < depth and (n_reserved == 0 or limit > 0):
        j = line[i] if line[i] >= 0 else unseen(state, line[i])
        later.jobs[i] = j if j >= 0 else LAID
        i += 1
        if j < 0:
            continue
        seen = line[i - 1] >= 0
        if seen and n_reserved > 0:
            limit -= 1
        leg, enough = asks_within(state, index, first + i - 1, j, have.free)
        later.legs[i - 1] = leg
        if i > begun + 1 and seen and enough and _fits(state, have, later, most, leg):
            if not known:
                known, calendar = True, new_calendar(state, have, R)
            started, calendar = _try_start(state, have, calendar, later, most, j, leg, i - 1, n_pooled)
            if started:
                later.jobs[i - 1] = LAID
                continue
        n_reserved += 1
    for j in behind(state, have, line[i:], params, limit):
        if j < 0:
            continue
        if limit == 0:
            return
        limit -= 1
        leg = state.jobs[j]["leg"]
        if fits_now(state, have, j) and _fits(state, have, later, most, leg):
            if not known:
                known, calendar = True, new_calendar(state, have, R)
            _, calendar = _try_start(state, have, calendar, later, most, j, leg, i, n_pooled)
