"""One compiled kernel for the whole family of queue policies: order x reserve x fit.

Jobs start in queue order until one does not fit. It, and up to `depth` jobs that cannot start, get a reservation at
the earliest time their resources will be free; the jobs behind may start now if they delay no reservation. This is
Algorithm 1 of Kopański & Rządca (2021); a preset is a row of numbers:

- depth 0 reserves nothing (filler; fcfs if nobody may pass), 1 is EASY, all is conservative;
- `reserved` counts the resources that a reservation holds. With nodes alone, a head that waits for burst buffer holds
  idle nodes from now on: the barrier of that paper's Fig. 1.

Expected ends are start + walltime. A leg past its estimate is taken to end a second from now.

Where a tier lies in chunks on servers, or reservations pin nodes, places matter beside amounts: see `placement`. Where
nodes are not all alike, a job takes what is free for its whole time of each atom in turn, and reservations count
nodes of each: see algorithms.nodes.atoms. Where jobs share nodes, a start has room in particular nodes (see
`shared_nodes`), and so have reservations: one (`easy_shared`) or several (`deep_shared`).
"""

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, apart_kernel, kernel
from forebay.core.codes import LogReason
from forebay.core.tables import MEMORY, PARAMS, STATE, instant_width, policy_kernel
from forebay.core.verbs import interrupted
from forebay.policies._families.backfill import Param
from forebay.policies._kernels.availability.node_sets import charge, earliest_open, share_beside, share_free, spare_head
from forebay.policies._kernels.availability.placement import fits_now, have_inside, start_fitting, what_is_there
from forebay.policies._kernels.availability.profile import HAVE, ahead_of, given_back, looks_up, n_held, planned_ahead
from forebay.policies._kernels.availability.site_windows import opens, unseen
from forebay.policies._kernels.backfill.deep_queue import deep_by_sets, sets_for_deep
from forebay.policies._kernels.backfill.deep_shared import deep_inside
from forebay.policies._kernels.backfill.easy_shared import easy_inside
from forebay.policies._kernels.backfill.kept_reservations import kept_promises, no_promises, promise_rows
from forebay.policies._kernels.backfill.reservations import deep, shallow
from forebay.policies._kernels.backfill.shared_memo import index_rows, kept_notes, look_again, new_notes
from forebay.policies._kernels.queue.index import (
    MANY,
    is_long,
    longest_until,
    next_place,
    of_amounts,
    take_in_new,
    write_down,
)
from forebay.policies._kernels.queue.keyed_index import (
    LINE,
    Line,
    all_by_key,
    behind_place,
    everybody,
    has_to_ask,
    last_before,
    next_by_key,
    take_out,
)
from forebay.policies._kernels.queue.keys import AS_IS, KEYED, key_by, lift_of
from forebay.policies._kernels.queue.ordering import behind, none_has_begun, queue_by

_i8 = types.int64


@kernel
def start_now(state, have, j, reason):
    """Start job `j`, which fits: where places matter on the lowest nodes, servers near first, as the engine would."""
    share_free(state, have.free, state.jobs[j]["leg"])
    start_fitting(state, have, j, reason)


@allocating_kernel
def _shadow(state, have, leg, reserved, R):
    """When the head finds room, the latest time looked at if never; what is free then, and where it may be then."""
    if not looks_up(state, have, R):
        times, ahead, n = ahead_of(state, have, leg, reserved, 0, 0)
        return times[n - 1], ahead[n - 1], state.legs[leg]["allowed"]
    times, ahead, n = given_back(state, have, reserved)
    at = earliest_open(state, times, ahead, n, n, 0, R, leg, state.legs[leg]["walltime"])
    if at < 0:
        ahead[n - 1, 0] = -1  # never
        at = n - 1
    return times[at], ahead[at], opens(state, leg, state.legs[leg]["allowed"], times[at])


@allocating_kernel
def _reserve(state, have, leg, reserved, R, spare):
    """Reserve for the head: returns when a job that takes what it needs has to end; `spare` is what it leaves then."""
    shadow, then, allowed = _shadow(state, have, leg, reserved, R)
    for r in range(R):
        spare[r] = then[r] - state.demands[leg, r]
        if spare[r] < 0:  # it will never fit: there is nothing to delay
            shadow = np.inf
    spare_head(state, spare, then, leg, allowed)
    return shadow + instant_width(shadow)


@kernel
def _is_harmless(state, have, leg, R, spare, latest):
    """Whether a leg, which fits, leaves the head what it needs; its share of each atom is worked out."""
    if state.clock[0]["now"] + state.legs[leg]["walltime"] <= latest:
        share_free(state, have.free, leg)
        return True
    harmless = share_beside(state, have.free, spare, leg)
    for r in range(R):
        harmless = harmless and state.demands[leg, r] <= spare[r]
    return harmless


@kernel
def _passes(state, have, j, R, spare, latest):
    """Start job `j`, which fits, if it does not delay the head; whether it did."""
    leg = state.jobs[j]["leg"]
    if not _is_harmless(state, have, leg, R, spare, latest):
        return False
    if state.clock[0]["now"] + state.legs[leg]["walltime"] > latest:
        charge(state, spare, leg)
    start_fitting(state, have, j, LogReason.BACKFILLED)
    return True


@allocating_kernel
def _easy(state, have, head, line, i, params, reserved):
    """One reservation of amounts: only what is free now and at its beginning matters, as running legs only release.

    Nodes that the site has reserved are looked up: a job that starts may keep its nodes for as long as it runs.
    """
    rest, index, first, limit = _behind(state, have, line, i, params)
    leg, known, R = state.jobs[head]["leg"], False, n_held(state, have, reserved)
    latest, spare, at, in_vain = np.inf, have.free[:R].copy(), 0, 0
    while True:
        if in_vain % MANY == 0:
            at = next_place(state, index, first + at, have.free, spare, latest) - first
            if interrupted(state):
                return
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
            latest = _reserve(state, have, leg, reserved, R, spare)
        if _passes(state, have, j, R, spare, latest):
            in_vain = 0


@allocating_kernel
def _easy_asking(state, have, head, line, reserved):
    """The same where jobs pass the head in another order than they have come, asked for one by one."""
    R, free = n_held(state, have, reserved), have.free
    found = next_by_key(state, line, last_before(line, head), _who_fits(have, line))
    if found[0] < 0:
        return
    spare = free[:R].copy()
    latest = _reserve(state, have, state.jobs[head]["leg"], reserved, R, spare)
    sought = of_amounts(longest_until(state, latest), free, spare, line.lookup)
    while found[0] >= 0 and not interrupted(state):
        if fits_now(state, have, found[0]) and _passes(state, have, found[0], R, spare, latest):
            take_out(state, line, found)
        found = next_by_key(state, line, found[0], sought)


@allocating_kernel
def _who_fits(have, line):
    """Anybody who does."""
    return of_amounts(np.inf, have.free, have.free, line.lookup)


@allocating_kernel
def _behind(state, have, line, i, params):
    """Those behind the i-th in the order in which they may pass it; an index and its first place; how many may try."""
    limit, rest = int(params[Param.MAX_BACKFILL]), line.jobs[i + 1 :]
    if params[Param.BACKFILL_ORDER] == AS_IS:
        return rest, line.lookup, line.first + i + 1, limit
    return behind(state, have, rest, params, limit), line.lookup[:0], 0, limit


@allocating_kernel
def _fill(state, have, line, i, params):
    """Start each job that fits."""
    rest, index, first, limit = _behind(state, have, line, i, params)
    at = 0
    while True:
        at = next_place(state, index, first + at, have.free, have.free, np.inf) - first
        if at >= len(rest) or limit == 0 or interrupted(state):
            return
        j = rest[at]
        at += 1
        if j >= 0:
            limit -= 1
            if fits_now(state, have, j):
                start_now(state, have, j, LogReason.BACKFILLED)


@allocating_kernel
def _fill_asking(state, have, head, line):
    """The same where jobs are asked for one by one."""
    sought = _who_fits(have, line)
    found = next_by_key(state, line, last_before(line, head), sought)
    while found[0] >= 0 and not interrupted(state):
        if fits_now(state, have, found[0]):
            start_now(state, have, found[0], LogReason.BACKFILLED)
            take_out(state, line, found)
        found = next_by_key(state, line, found[0], sought)


@allocating_kernel(types.void(STATE, HAVE, _i8[::1], PARAMS))
def serve(state, have, line, params):
    """Start jobs of `line` in order until one does not fit; reserve for it, and let those behind pass."""
    key = key_by(AS_IS, 1.0)
    whole = Line(line, np.empty((0, 0), np.int64), 0, key, lift_of(key, 0))
    if params[Param.DEPTH] > 1 and len(state.inside.full) > 0:
        notes = new_notes(state, have.inside)
        deep_inside(state, have, line, params, whole.lookup, 0, notes, no_promises(state))
    else:
        _serve(state, have, whole, params)


@allocating_kernel(types.void(STATE, HAVE, _i8[:, ::1], KEYED, _i8, PARAMS))
def serve_by_key(state, have, index, key, n_charges, params):
    """The same of the queue, of which none has begun, by the key of an index; `n_charges` if that is a priority.

    At most one reservation is laid, and all may pass.
    """
    own = params.copy()
    own[Param.ORDER] = key.order
    _serve(state, have, Line(state.queue[:0], index, 0, key, lift_of(key, n_charges)), own)


@kernel
def _start_in_order(state, have, line, looks):
    """Start jobs until one does not fit: its place in the line and itself, the line's length and -1 if all do."""
    i = 0
    while i < len(line.jobs):
        j = line.jobs[i]
        if j >= 0 and fits_now(state, have, j):
            start_now(state, have, j, LogReason.IN_ORDER)
        elif j >= 0 or looks:
            head = j if j >= 0 else unseen(state, j)
            if head >= 0:
                return i, head
        i += 1
    return i, -1


@allocating_kernel
def _start_by_key(state, have, line):
    """The same where jobs are asked for: the first that does not fit, -1 if all do."""
    anybody = everybody(state, line)
    found = next_by_key(state, line, -1, anybody)
    while found[0] >= 0 and fits_now(state, have, found[0]):
        start_now(state, have, found[0], LogReason.IN_ORDER)
        take_out(state, line, found)
        found = next_by_key(state, line, found[0], anybody)
    return found[0]


@allocating_kernel
def _deep(state, have, line, params, columns, index, first):
    """Any number of reservations, by sets of places where these are of use."""
    reserved, S, W = columns
    rules = int(params[Param.DEPTH]), int(params[Param.MAX_BACKFILL]), W
    sets = sets_for_deep(state, have, len(line), index, first, reserved, rules)
    if sets.rows.shape[1] > 0:
        deep_by_sets(state, have, line, reserved, S, index, first, sets)
    else:
        deep(state, have, line, params, columns, index, first)


@apart_kernel(types.void(STATE, HAVE, LINE, PARAMS))
def _serve(state, have, line, params):
    """The same, but for several reservations of nodes that jobs share."""
    if params[Param.DEPTH] == 1 and len(state.inside.full) > 0:
        easy_inside(state, have, line, params, new_notes(state, have.inside))
        return
    reserved = min(len(have.free), int(params[Param.RESERVED]))  # of those that no atom has
    looks = params[Param.DEPTH] > 0 and params[Param.MAX_BACKFILL] > 0  # otherwise a hidden job would block all
    looks = looks and looks_up(state, have, n_held(state, have, reserved))
    asks, i = has_to_ask(line, params), 0
    if asks and len(line.jobs) == 0:
        head = _start_by_key(state, have, line)
    else:
        i, head = _start_in_order(state, have, line, looks)
        line = behind_place(line, i) if asks else line
    if head < 0 or params[Param.MAX_BACKFILL] == 0:
        return
    # Places matter in these cases alone, whatever `have` tells: so a kernel that knows better leaves them out.
    n_words = len(have.words) if params[Param.PINNED] > 0 or state.machine[0]["chunked"] >= 0 else 0
    pinned = n_words > 0 and params[Param.PINNED] > 0 and params[Param.DEPTH] > 0
    # With nodes that will be gone, what is free does not only grow: the closed form for one reservation fails.
    beyond_amounts = n_words > 0 or (planned_ahead(state) and not looks)
    if params[Param.DEPTH] > 1 or (params[Param.DEPTH] == 1 and beyond_amounts):
        S = len(have.room) if state.machine[0]["chunked"] < reserved else 0
        W = n_words if pinned else 0
        if params[Param.DEPTH] > 1:
            _deep(state, have, line.jobs[i:], params, (reserved, S, W), line.lookup, line.first + i)
        elif asks:
            some = all_by_key(state, head, line, last_before(line, head), _who_fits(have, line))
            shallow(state, have, some, params, (reserved, S, W), line.lookup[:0], 0)
        else:
            shallow(state, have, line.jobs[i:], params, (reserved, S, W), line.lookup, line.first + i)
    elif params[Param.DEPTH] == 0 and asks:
        _fill_asking(state, have, head, line)
    elif params[Param.DEPTH] == 0:
        _fill(state, have, line, i, params)
    elif asks:
        _easy_asking(state, have, head, line, reserved)
    else:
        _easy(state, have, head, line, i, params, reserved)


@allocating_kernel
def _line(state, have, params, rows):
    """The queue in its order, with an index over it unless it is short."""
    counts = state.counts[0]
    index, jobs = rows[:0], state.queue[counts["queue_first"] : counts["queue_last"]]
    order, passing = int(params[Param.ORDER]), int(params[Param.BACKFILL_ORDER])
    sign = -1.0 if params[Param.DESCENDING] > 0 else 1.0
    # There is an index only where one of them is as it is.
    key = key_by(order, sign) if order != AS_IS else key_by(passing, 1.0)
    if is_long(state) and len(rows) > 0 and (key.order == AS_IS or none_has_begun(state)):
        index = rows
        if params[Param.DEPTH] > 1:
            write_down(state, rows)
        else:
            take_in_new(state, rows, key)
    if order != AS_IS:
        jobs = jobs[:0] if len(index) > 0 else queue_by(state, have, order, sign)
    return Line(jobs, index, counts["queue_first"], key, lift_of(key, 0))


@allocating_kernel
def _notes_of(state, memory, end):
    """The notes in a policy's first table, which end before a row, up to date; and the row where they begin."""
    n_rows = index_rows(state, memory, end)
    if n_rows == end:
        return n_rows, new_notes(state, state.inside.room.copy())
    notes = kept_notes(state, memory, n_rows)
    look_again(state, notes)
    return n_rows, notes


@allocating_kernel
def _decide_inside(state, params, memory):
    """The same for one reservation of particular nodes, which jobs share."""
    n_rows, notes = _notes_of(state, memory, len(memory[0]))
    have = have_inside(state, notes.room)
    easy_inside(state, have, _line(state, have, params, memory[0][:n_rows]), params, notes)


@allocating_kernel
def _decide_deep(state, params, memory):
    """The same for several."""
    n_rows = promise_rows(state, memory)
    kept, (n_rows, notes) = kept_promises(state, memory, n_rows), _notes_of(state, memory, n_rows)
    have = have_inside(state, notes.room)
    line = _line(state, have, params, memory[0][:n_rows])
    deep_inside(state, have, line.jobs, params, line.lookup, line.first, notes, kept)


@allocating_kernel(types.void(STATE, PARAMS, MEMORY))
def decide_with(state, params, memory):
    """The decision of one instant; `memory` has an index over the queue in order of arrival, and notes, if any."""
    if state.counts[0]["n_queued"] == 0:
        return
    if state.machine[0]["placement"] >= 0 and params[Param.DEPTH] == 1:
        _decide_inside(state, params, memory)
        return
    if state.machine[0]["placement"] >= 0 and params[Param.DEPTH] > 1:
        _decide_deep(state, params, memory)
        return
    have = what_is_there(state, params[Param.PINNED] > 0 and params[Param.DEPTH] > 0)
    rows = memory[0][: index_rows(state, memory, len(memory[0]))]
    _serve(state, have, _line(state, have, params, rows), params)


@allocating_kernel
def decide(state, params, index):
    """The same with an index, or none, and no notes."""
    decide_with(state, params, (index, np.empty((0, 0))))


@policy_kernel
def backfill(state, params, memory, rng):
    """The decision of one instant."""
    decide_with(state, params, memory)
