"""One compiled kernel for the whole family of queue policies: order x reserve x fit.

Jobs start in queue order until one does not fit. It, and up to `depth` jobs that cannot start, get a reservation at
the earliest time their resources will be free; the jobs behind may start now if they delay no reservation. This is
Algorithm 1 of Kopański & Rządca (2021); a preset is a row of numbers:

- depth 0 reserves nothing (filler; fcfs if nobody may pass), 1 is EASY, all is conservative;
- `reserved` counts the resources that a reservation holds. With nodes alone, a head that waits for burst buffer holds
  idle nodes from now on: the barrier of that paper's Fig. 1.

Expected ends are start + walltime. A leg past its estimate is taken to end a second from now.

Where a tier lies in chunks on servers, or reservations pin nodes, places matter beside amounts: see `places`. Where
nodes are not all alike, a job takes what is free for its whole time of each atom in turn, and reservations count
nodes of each: see algorithms.atoms. Where jobs share nodes, a start has room in particular nodes (see `inside`), and so
have reservations: one (`easy_inside`) or several (`deep_inside`).
"""

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, kernel
from forebay.core.codes import LogReason
from forebay.core.tables import PARAMS, STATE, instant_width, policy_kernel
from forebay.core.verbs import interrupted
from forebay.policies._families.backfill import Param
from forebay.policies._kernels.ahead import HAVE, ahead_of, given_back, looks_up, n_held, planned_ahead
from forebay.policies._kernels.atoms import charge, earliest_open, share_beside, share_free, spare_head
from forebay.policies._kernels.deep_inside import deep_inside
from forebay.policies._kernels.easy_inside import easy_inside
from forebay.policies._kernels.long_line import MANY, SHORT, bring_up_to_date, next_place, write_down
from forebay.policies._kernels.notes import index_rows, kept_notes, look_again, new_notes
from forebay.policies._kernels.ordering import AS_IS, behind, queue_by
from forebay.policies._kernels.places import fits_now, have_inside, start_fitting, what_is_there
from forebay.policies._kernels.promises import kept_promises, no_promises, promise_rows
from forebay.policies._kernels.reservations import deep, shallow
from forebay.policies._kernels.windows import opens, unseen

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
def _easy(state, have, head, rest, limit, reserved, index, first):
    """One reservation of amounts: only what is free now and at its beginning matters, as running legs only release.

    Nodes that the site has reserved are looked up: a job that starts may keep its nodes for as long as it runs.

    With an index, `rest` is the queue from place `first` on.
    """
    head_leg, now = state.jobs[head]["leg"], state.clock[0]["now"]
    known, R = False, n_held(state, have, reserved)
    shadow, latest = np.inf, np.inf
    spare, at, in_vain = have.free[:R].copy(), 0, 0
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
            shadow, then, allowed = _shadow(state, have, head_leg, reserved, R)
            for r in range(R):
                spare[r] = then[r] - state.demands[head_leg, r]
                if spare[r] < 0:  # it will never fit: there is nothing to delay
                    shadow = np.inf
            latest = shadow + instant_width(shadow)
            spare_head(state, spare, then, head_leg, allowed)
        leg = state.jobs[j]["leg"]
        harmless = share_free(state, have.free, leg)
        if now + state.legs[leg]["walltime"] > latest:
            harmless = share_beside(state, have.free, spare, leg)
            for r in range(R):
                harmless = harmless and state.demands[leg, r] <= spare[r]
            if not harmless:
                continue
            charge(state, spare, leg)
        start_fitting(state, have, j, LogReason.BACKFILLED)
        in_vain = 0


@kernel
def _fill(state, have, rest, limit, index, first):
    """Start whoever fits."""
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


@allocating_kernel(types.void(STATE, HAVE, _i8[::1], PARAMS))
def serve(state, have, line, params):
    """Start jobs of `line` in order until one does not fit; reserve for it, and let those behind pass."""
    if params[Param.DEPTH] == 1 and len(have.inside) > 0:
        easy_inside(state, have, line, params, np.empty((0, 0), np.int64), 0, new_notes(state, have.inside))
    elif params[Param.DEPTH] > 1 and len(have.inside) > 0:
        notes = new_notes(state, have.inside)
        deep_inside(state, have, line, params, np.empty((0, 0), np.int64), 0, notes, no_promises(state))
    else:
        _serve(state, have, line, params, np.empty((0, 0), np.int64), 0)


@allocating_kernel
def _serve(state, have, line, params, index, first):
    """The same, but for reservations of nodes that jobs share; with an index, `line` is the queue from `first` on."""
    i, head, reserved = 0, -1, min(len(have.free), int(params[Param.RESERVED]))  # of those that no atom has
    looks = params[Param.DEPTH] > 0 and params[Param.MAX_BACKFILL] > 0  # otherwise a hidden job would block all
    looks = looks and looks_up(state, have, n_held(state, have, reserved))
    while i < len(line) and head < 0:
        j = line[i]
        if j >= 0 and fits_now(state, have, j):
            start_now(state, have, j, LogReason.IN_ORDER)
        elif j >= 0 or looks:
            head = j if j >= 0 else unseen(state, j)
        i += head < 0
    if i == len(line) or params[Param.MAX_BACKFILL] == 0:
        return
    n_words = len(have.words)
    pinned = n_words > 0 and params[Param.PINNED] > 0 and params[Param.DEPTH] > 0
    limit = int(params[Param.MAX_BACKFILL])
    # With nodes that will be gone, what is free does not only grow: the closed form for one reservation fails.
    beyond_amounts = n_words > 0 or (planned_ahead(state) and not looks)
    if params[Param.DEPTH] > 1 or (params[Param.DEPTH] == 1 and beyond_amounts):
        S = len(have.room) if state.machine[0]["chunked"] < reserved else 0
        W = n_words if pinned else 0
        if params[Param.DEPTH] > 1:
            deep(state, have, line[i:], params, (reserved, S, W), index, first + i)
        else:
            shallow(state, have, line[i:], params, (reserved, S, W), index, first + i)
        return
    rest = line[i + 1 :]
    if params[Param.BACKFILL_ORDER] != AS_IS:
        rest = behind(state, have, rest, params, limit)
    if params[Param.DEPTH] == 1:
        _easy(state, have, head, rest, limit, reserved, index, first + i + 1)
    else:
        _fill(state, have, rest, limit, index, first + i + 1)


@allocating_kernel
def _line(state, have, params):
    """The queue in its order."""
    counts = state.counts[0]
    if params[Param.ORDER] == AS_IS:
        return state.queue[counts["queue_first"] : counts["queue_last"]]
    return queue_by(state, have, int(params[Param.ORDER]), -1.0 if params[Param.DESCENDING] > 0 else 1.0)


@allocating_kernel
def _index_of(state, params, rows):
    """The index over the queue, up to date; empty if the queue is short, or there is none."""
    if state.counts[0]["n_queued"] <= SHORT or len(rows) == 0:
        return rows[:0]
    if params[Param.DEPTH] > 1:
        write_down(state, rows)
    else:
        bring_up_to_date(state, rows)
    return rows


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
    line, index = _line(state, have, params), _index_of(state, params, memory[0][:n_rows])
    easy_inside(state, have, line, params, index, state.counts[0]["queue_first"], notes)


@allocating_kernel
def _decide_deep(state, params, memory):
    """The same for several."""
    n_rows = promise_rows(state, memory)
    kept, (n_rows, notes) = kept_promises(state, memory, n_rows), _notes_of(state, memory, n_rows)
    have = have_inside(state, notes.room)
    line, index = _line(state, have, params), _index_of(state, params, memory[0][:n_rows])
    deep_inside(state, have, line, params, index, state.counts[0]["queue_first"], notes, kept)


@allocating_kernel
def _decide(state, params, memory):
    """The decision of one instant; `memory` has an index over the queue in order of arrival, and notes, if any."""
    counts = state.counts[0]
    if counts["n_queued"] == 0:
        return
    if state.machine[0]["placement"] >= 0 and params[Param.DEPTH] == 1:
        _decide_inside(state, params, memory)
        return
    if state.machine[0]["placement"] >= 0 and params[Param.DEPTH] > 1:
        _decide_deep(state, params, memory)
        return
    have = what_is_there(state, params[Param.PINNED] > 0 and params[Param.DEPTH] > 0)
    line, index = (
        state.queue[counts["queue_first"] : counts["queue_last"]],
        memory[0][: index_rows(state, memory, len(memory[0]))],
    )
    if params[Param.ORDER] != AS_IS:
        line = _line(state, have, params)
    if counts["n_queued"] <= SHORT:
        index = index[:0]
    elif len(index) > 0 and params[Param.DEPTH] > 1:
        write_down(state, index)
    elif len(index) > 0:
        bring_up_to_date(state, index)
    _serve(state, have, line, params, index, counts["queue_first"])


@allocating_kernel
def decide(state, params, index):
    """The same with an index, or none, and no notes."""
    _decide(state, params, (index, np.empty((0, 0))))


@policy_kernel
def backfill(state, params, memory, rng):
    """The decision of one instant."""
    _decide(state, params, memory)
