"""Any number of reservations on nodes that jobs share, node by node: see `calendar` and `earliest_start`.

A decision is about who starts now. So the line is read from one who may to the next: who finds room in what is free
now, beside the reservations that are laid so far. It starts if it still does once all of those before it are laid, in
line; laying ends as soon as it does not. What was laid is kept, and who is behind the last one who may start is not
looked at: see `kept_reservations` for what that takes, and why it changes nothing.

Who found no room at the last decision, whatever is reserved, finds some where something was given back alone: see
`shared_memo`. Of those whom reservations keep from starting a few are kept in mind, and who asks for as much is passed
over.

A job that reservations of the site leave too few nodes now is not seen in the queue. It holds its place in line all the
same, if it was seen before, so that what it was promised is kept.
"""

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, apart_kernel, inlined_kernel, kernel
from forebay.algorithms.nodes.shared_nodes import BLOCK, count_parts, holds
from forebay.core.codes import LogReason
from forebay.core.inside import DIMENSIONS
from forebay.core.tables import PARAMS, STATE
from forebay.core.verbs import interrupted
from forebay.policies._families.backfill import Param
from forebay.policies._kernels.availability.calendar import (
    clear_now,
    is_roomy,
    n_pools,
    new_calendar,
    no_calendar,
    roomy,
)
from forebay.policies._kernels.availability.earliest_start import begins, lay, place_at, start_clear
from forebay.policies._kernels.availability.node_sets import charge
from forebay.policies._kernels.availability.placement import fits_now
from forebay.policies._kernels.availability.profile import HAVE
from forebay.policies._kernels.availability.shared_nodes import start_inside
from forebay.policies._kernels.availability.site_windows import unseen
from forebay.policies._kernels.backfill.kept_reservations import (
    PROMISES,
    has_started,
    hold_now,
    is_promised,
    keep_promises,
    note_base,
    promise,
    stand,
    withdraw,
)
from forebay.policies._kernels.backfill.lazy import (
    LAID,
    N_SETTLED,
    cannot_begin,
    keep_in_mind,
    nobody_put_off,
)
from forebay.policies._kernels.backfill.moved_reservations import find_again, takes_pools
from forebay.policies._kernels.backfill.shared_memo import NOTES, no_more, refuse_again
from forebay.policies._kernels.queue.index import asks_within
from forebay.policies._kernels.queue.ordering import behind

_i8 = types.int64

_ASKS = 7  # what a leg asks for, beside pools
# How far a decision has read: the next place in line, those begun in order, how many have a reservation and may have
# one, how many may be tried, and the next one behind.
_AT, _BEGUN, _RESERVED, _DEPTH, _LIMIT, _NEXT = range(6)


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


@kernel
def _lay_next(state, calendar, kept, j, leg, n_pooled):
    """Job `j`, the next of the line, holds a place: where it was promised one, unless it moves.

    Returns when it begins, and on how many nodes; these are in `calendar.picks`.
    """
    now, pooled = state.clock[0]["now"], takes_pools(state, leg, n_pooled)
    if is_promised(kept, j, leg, now):
        begin, n, moved = find_again(state, calendar, kept, j, leg, n_pooled)
        if not moved:
            stand(kept, j)
            lay(state, calendar, leg, n_pooled, n, begin)
            return begin, n
        withdraw(kept, j)
    else:
        begin = begins(state, calendar, leg, n_pooled, now, np.inf)
        n = place_at(state, calendar, leg, begin)
    key, end = calendar.least[calendar.picks[0]["low"], 0] if n == 1 else 0, begin + state.legs[leg]["walltime"]
    lay(state, calendar, leg, n_pooled, n, begin)
    promise(kept, j, leg, calendar.picks[:n], begin, end, pooled, key)
    return begin, n


@inlined_kernel
def _in_way(state, have, picks, ask):
    """Whether one of the places that were picked is on a node with room now."""
    for i in range(len(picks)):
        if holds(have.inside, state.inside.full, picks[i]["low"], ask) > 0:
            return True
    return False


@kernel
def _settle(state, have, calendar, kept, later, place, leg_now, n_pooled):
    """Lay those before `place`; returns whether that is over: it is as soon as `leg_now` cannot start now any more.

    It is not where the calendar has no rows left.
    """
    ask, end = state.inside.asks[leg_now], state.clock[0]["now"] + state.legs[leg_now]["walltime"]
    settled = later.settled[1]
    while settled[N_SETTLED] < place:
        if not is_roomy(calendar):
            return False
        at = settled[N_SETTLED]
        settled[N_SETTLED] += 1
        if later.jobs[at] == LAID:
            continue
        leg = later.legs[at]
        begin, n = _lay_next(state, calendar, kept, later.jobs[at], leg, n_pooled)
        later.jobs[at] = LAID
        if interrupted(state):
            return True
        if begin >= end or not (takes_pools(state, leg, n_pooled) or _in_way(state, have, calendar.picks[:n], ask)):
            continue
        if not clear_now(state, have, calendar, leg_now, n_pooled, False):
            return True
    return is_roomy(calendar)


@kernel
def _start(state, have, calendar, kept, j, leg, n_pooled):
    """Start job `j`, for which `calendar.least` has the room, by the rule."""
    now = state.clock[0]["now"]
    first = start_clear(state, have, calendar, j, leg, n_pooled)
    picks = state.picks[first : state.counts[0]["n_picks"]]
    has_started(kept, j)
    hold_now(kept, picks, now, now + state.legs[leg]["walltime"], takes_pools(state, leg, n_pooled))


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
def _fits(state, have, notes, later, most, j, leg):
    """Whether a leg, of which there is enough in all, finds room now, reservations aside; if not, that is noted."""
    ask, asked = state.inside.asks[leg], later.taken
    count = no_more(state, have, notes, j, ask)
    if count >= ask["parts"]:
        _write_asks(state, leg, asked)
        if cannot_begin(later, 0, len(asked), asked, state.legs[leg]["walltime"], ask["allowed"], 0):
            return False
        count = 0
        if _may_fit(most, ask):
            count = count_parts(have.inside, state.inside.full, state.inside.atoms, ask)
        if count >= ask["parts"]:
            return True
        if len(notes.marks) == 0:  # otherwise its own note tells it, and others the next time
            keep_in_mind(later, 0, len(asked), asked, 0.0, ask["allowed"], 0)  # for however short a time
            later.settled[0, N_SETTLED] += 1
    refuse_again(notes, j, count)
    return False


@kernel
def _refuse(state, later, leg):
    """A leg cannot start now."""
    _write_asks(state, leg, later.taken)
    allowed = state.inside.asks[leg]["allowed"]
    keep_in_mind(later, 0, len(later.taken), later.taken, state.legs[leg]["walltime"], allowed, 0)
    later.settled[0, N_SETTLED] += 1


@kernel
def _try_start(state, have, calendar, kept, later, most, j, leg, place, n_pooled):
    """Start job `j`, which finds room now, if that delays no job before `place`.

    Returns whether it does; -1 if the calendar needs rows before that is known.
    """
    if clear_now(state, have, calendar, leg, n_pooled, False):
        if not _settle(state, have, calendar, kept, later, place, leg, n_pooled):
            return -1
        if clear_now(state, have, calendar, leg, n_pooled, True):
            _start(state, have, calendar, kept, j, leg, n_pooled)
            _bound_atoms(state, have, most)
            return 1
    _refuse(state, later, leg)
    return 0


@allocating_kernel
def _open_calendar(state, have, kept, R):
    """What running jobs leave free from now on, and where that has changed."""
    calendar = new_calendar(state, have, R)
    note_base(calendar.lines, kept, state.clock[0]["now"])
    return calendar


@kernel
def _read_on(state, have, calendar, known, line, index, first, reads, n_pooled):
    """Go on along the line from where `reads` says; returns whether that is over: else the calendar needs rows.

    That has none before a job needs it. Nothing is counted yet of the one at which reading stops.
    """
    (kept, later, most, notes), begun, depth = known, reads[_BEGUN], reads[_DEPTH]
    while reads[_AT] < len(line) and reads[_RESERVED] < depth and (reads[_RESERVED] == 0 or reads[_LIMIT] > 0):
        i = reads[_AT]
        j = line[i] if line[i] >= 0 else unseen(state, line[i])
        later.jobs[i] = j if j >= 0 else LAID
        if interrupted(state):
            reads[_AT] = len(line)
            return True
        if j < 0:
            reads[_AT] += 1
            continue
        seen, started = line[i] >= 0, 0
        leg, enough = asks_within(state, index, first + i, j, have.free)
        later.legs[i] = leg
        if i > begun and seen and enough and _fits(state, have, notes, later, most, j, leg):
            if not is_roomy(calendar):
                return False
            started = _try_start(state, have, calendar, kept, later, most, j, leg, i, n_pooled)
            if started < 0:
                return False
        if seen and reads[_RESERVED] > 0:
            reads[_LIMIT] -= 1
        if started > 0:
            later.jobs[i] = LAID
        else:
            reads[_RESERVED] += 1
        reads[_AT] += 1
    return True


@kernel
def _read_rest(state, have, calendar, known, rest, reads, place, n_pooled):
    """The same of those behind the last one with a reservation, from `reads[_NEXT]` on."""
    kept, later, most, notes = known
    while reads[_NEXT] < len(rest):
        j = rest[reads[_NEXT]]
        if j >= 0:
            if reads[_LIMIT] == 0 or interrupted(state):
                return True
            leg, enough = asks_within(state, have.inside[:0], 0, j, have.free)
            if enough and _fits(state, have, notes, later, most, j, leg):
                if not is_roomy(calendar):
                    return False
                if _try_start(state, have, calendar, kept, later, most, j, leg, place, n_pooled) < 0:
                    return False
            reads[_LIMIT] -= 1
        reads[_NEXT] += 1
    return True


@allocating_kernel
def _with_rows(state, have, kept, calendar, R):
    """The calendar with more rows; a first one if there is none."""
    if len(calendar.bits) > 0:
        return roomy(calendar)
    return roomy(_open_calendar(state, have, kept, R))


@apart_kernel(types.void(STATE, HAVE, _i8[::1], PARAMS, _i8[:, ::1], _i8, NOTES, PROMISES))
def deep_inside(state, have, line, params, index, first, notes, kept):
    """Start whoever delays no reservation; with an index, `line` is the queue from place `first` on."""
    limit = int(params[Param.MAX_BACKFILL])
    begun = _line_inside(state, have, line, limit)
    R, now = min(len(have.free), int(params[Param.RESERVED])), state.clock[0]["now"]
    n_pooled = n_pools(state, R)
    later = nobody_put_off(len(line), now, now, _ASKS + state.machine[0]["first_inside"] - 1, 0.0, np.inf)
    most = np.empty((len(state.inside.atoms) - 1, DIMENSIONS), np.int64)
    _bound_atoms(state, have, most)
    calendar, reads = no_calendar(), np.zeros(6, np.int64)
    reads[_AT], reads[_BEGUN], reads[_DEPTH], reads[_LIMIT] = begun, begun, int(params[Param.DEPTH]), limit
    for i in range(begun):
        later.jobs[i] = LAID
        if line[i] >= 0:
            has_started(kept, line[i])
    known = kept, later, most, notes
    while not _read_on(state, have, calendar, known, line, index, first, reads, n_pooled):
        calendar = _with_rows(state, have, kept, calendar, R)
    if interrupted(state):
        return
    place = reads[_AT]
    rest = behind(state, have, line[place:], params, reads[_LIMIT])
    while not _read_rest(state, have, calendar, known, rest, reads, place, n_pooled):
        calendar = _with_rows(state, have, kept, calendar, R)
    if len(calendar.bits) > 0:
        keep_promises(kept)
