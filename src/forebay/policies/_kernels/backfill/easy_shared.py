"""EASY on nodes that jobs share, exactly: the head holds a reservation of particular nodes and of what is in them.

The *shadow* is the first expected end, or repair of a node, at which the head finds room. There it is placed by the
rule, on what is then free; what is left beside it is *spare*. A job that ends by then may use all that is free now; any
other, on each node, what is free now and spare then.

Where the site has reserved nodes, room counts on those alone that are not kept from the head at that time, and the end
of a reservation is a time to look at too. A head that reservations leave too few nodes now is not seen in the queue; it
is the head all the same, if it was seen before, so that what it was promised is kept.
"""

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, apart_kernel, kernel
from forebay.algorithms.availability.site_windows import next_edge
from forebay.algorithms.nodes.shared_nodes import (
    BLOCK,
    all_of,
    count_parts,
    give_amounts,
    held_in,
    holds,
    place_parts,
    take_parts,
    taken_by,
)
from forebay.algorithms.queues.forest import Sought
from forebay.core.codes import LogReason
from forebay.core.inside import ASK, DIMENSIONS
from forebay.core.tables import PARAMS, PICK, STATE, after, instant_width
from forebay.core.verbs import act_start, interrupted, take_picks_from
from forebay.policies._families.backfill import Param
from forebay.policies._kernels.availability.node_sets import charge
from forebay.policies._kernels.availability.outline import no_outline, outline_of
from forebay.policies._kernels.availability.profile import HAVE, end_if_now, started_by_end
from forebay.policies._kernels.availability.shared_nodes import fits_inside, pick_inside, start_inside, take_picked
from forebay.policies._kernels.availability.site_windows import opens, unseen
from forebay.policies._kernels.backfill.shared_memo import (
    NOTES,
    PLANNED_FOR,
    PLENTY,
    copy_room,
    fits_again,
    is_allowed,
    keep_notes,
    keep_plan,
    refuse_again,
    was_refused,
)
from forebay.policies._kernels.queue.index import inside_at, longest_until, next_of
from forebay.policies._kernels.queue.keyed_index import (
    LINE,
    behind_place,
    everybody,
    has_to_ask,
    last_before,
    next_by_key,
    take_out,
)
from forebay.policies._kernels.queue.ordering import behind


@kernel
def _give(state, ahead, node, amounts, head):
    """Something has left a node; returns how many parts more of the head find room there."""
    full = state.inside.full
    if not is_allowed(state.inside, head, node):
        give_amounts(ahead, full, node, amounts)
        return 0
    before = holds(ahead, full, node, head)
    give_amounts(ahead, full, node, amounts)
    return holds(ahead, full, node, head) - before


@kernel
def _end_running(state, ahead, free, running, head):
    """A running job ends: what it holds is free; returns how many parts more of the head find room."""
    more, row, shares = 0, state.inside.head[running["job"]], state.inside.shares
    for r in range(1, len(free)):
        free[r] += state.releases[running["leg"], r]
    while row >= 0:
        share = shares[row]
        more += _give(state, ahead, share["node"], held_in(share), head)
        row = share["next"]
    return more


@kernel
def _end_started(state, ahead, free, action, head):
    """The same of a job that this decision has started."""
    leg, more = state.jobs[action["job"]]["leg"], 0
    ask = state.inside.asks[leg]
    for r in range(1, len(free)):
        free[r] += state.demands[leg, r]
    for i in range(action["first_pick"], action["first_pick"] + action["n_picks"]):
        node = state.picks[i]["low"]
        more += _give(state, ahead, node, taken_by(state.inside.full, node, ask, state.picks[i]["count"]), head)
    return more


@kernel
def copy_ask(state, leg, ask):
    """Write down what a leg asks of nodes."""
    shown = state.inside.asks[leg]
    ask["parts"], ask["cores"], ask["memory"] = shown["parts"], shown["cores"], shown["memory"]
    ask["gpus"], ask["local"], ask["allowed"] = shown["gpus"], shown["local"], shown["allowed"]
    ask["spread"], ask["exclusive"] = shown["spread"], shown["exclusive"]


@allocating_kernel
def asks_of(state, leg):
    """What a leg asks of nodes, in a table of its own: where it may lie changes with the time at which it would.

    Hand on the table, not its row: compiled code frees a table as soon as nobody names it any more.
    """
    asks = np.empty(1, ASK)
    copy_ask(state, leg, asks[0])
    return asks


@kernel
def _moved(state, leg, time, ask):
    """Show where a leg may lie that starts at `time`; returns whether that has changed."""
    before = ask["allowed"]
    ask["allowed"] = opens(state, leg, before, time)
    return ask["allowed"] != before


@allocating_kernel
def finds_room(state, head_leg, R, ahead, free, asks):
    """When the head finds room, as walltimes tell; inf if never. `ahead` and `free` then have what is free by then.

    Whether it does is counted on, node by node as something leaves them; `asks` has what it asks of these.
    """
    counts, running, head = state.counts[0], state.running, asks[0]
    now, n_running = state.clock[0]["now"], counts["n_running"]
    started, soon = started_by_end(state), after(state.clock[0]["now"])
    n_late, s, d = 0, 0, 0
    while n_late < n_running and running[n_late]["end"] < soon:
        n_late += 1
    _moved(state, head_leg, now, head)
    n_fit = count_parts(ahead, state.inside.full, state.inside.atoms, head)
    i, late, time, passed = n_late, n_late > 0, now, soon
    while True:
        fits = n_fit >= head["parts"]
        for r in range(1, min(R, len(free))):
            fits = fits and free[r] >= state.demands[head_leg, r]
        if fits:
            return time
        time = np.inf
        if i < n_running:
            time = running[i]["end"]
        if s < len(started):
            time = min(time, max(end_if_now(state, state.actions[started[s]]["job"]), soon))
        if d < counts["n_down"]:
            time = min(time, max(state.down[d]["until"], soon))
        if late:
            time = min(time, now + 1.0)
        time = min(time, next_edge(state.planned, passed))
        if time == np.inf:
            return time
        width = instant_width(time)
        passed = time + width
        while i < n_running and running[i]["end"] <= time + width:
            n_fit += _end_running(state, ahead, free, running[i], head)
            i += 1
        while s < len(started) and end_if_now(state, state.actions[started[s]]["job"]) <= time + width:
            n_fit += _end_started(state, ahead, free, state.actions[started[s]], head)
            s += 1
        while d < counts["n_down"] and state.down[d]["until"] <= time + width:
            node = state.down[d]["node"]
            n_fit += _give(state, ahead, node, all_of(state.inside.full, node), head)
            d += 1
        if late and now + 1.0 <= time + width:
            late = False
            for k in range(n_late):
                n_fit += _end_running(state, ahead, free, running[k], head)
        if _moved(state, head_leg, time, head):
            n_fit = count_parts(ahead, state.inside.full, state.inside.atoms, head)


@allocating_kernel
def _reserve(state, asks, notes):
    """The head takes its places at the shadow: what is left of what is free then is spare.

    Elsewhere at least as much is spare as is free now: until then things are only given back.
    """
    inside, head, spare = state.inside, asks[0], notes.spare
    picks = np.empty(min(head["parts"], len(inside.room)), PICK)
    n = place_parts(spare, inside.full, inside.atoms, head, state.machine[0]["placement"], picks, 0)
    for i in range(n):
        node = picks[i]["low"]
        take_parts(spare, inside.full, node, head, picks[i]["count"])
        _both(notes, node)


@kernel
def _both(notes, row):
    """What a job that outlasts the shadow may use of a node; of a block, no more than either."""
    for d in range(DIMENSIONS):
        notes.both[row, d] = min(notes.room[row, d], notes.spare[row, d])


@kernel
def _both_again(state, notes, first):
    """The same of the nodes that were picked from `first` on, and their blocks."""
    for i in range(first, state.counts[0]["n_picks"]):
        node = state.picks[i]["low"]
        _both(notes, node)
        _both(notes, len(state.inside.full) + node // BLOCK)


@kernel
def _start_beside(state, notes, j):
    """Start job `j`, which outlasts the shadow, on what is free now and spare then."""
    leg = state.jobs[j]["leg"]
    first = pick_inside(state, leg, notes.both)
    take_picked(state, leg, notes.room, first)
    take_picked(state, leg, notes.spare, first)
    take_picks_from(state, act_start(state, j, LogReason.BACKFILLED), first)
    _both_again(state, notes, first)


@kernel
def _start_short(state, notes, j):
    """Start job `j`, which ends by the shadow, on what is free now."""
    first = state.counts[0]["n_picks"]
    start_inside(state, notes.room, j, LogReason.BACKFILLED)
    _both_again(state, notes, first)


@allocating_kernel
def _make_plan(state, notes, head, R):
    """Work out the head's shadow, and what is spare beside it."""
    leg, amounts, tiers = state.jobs[head]["leg"], notes.spare_amounts, state.machine[0]["first_inside"]
    copy_room(notes.room, notes.spare)
    copy_room(notes.room, notes.both)
    # Of what is in nodes, the room there tells more than sums; these may be as large as can be.
    asks = asks_of(state, leg)
    shadow = finds_room(state, leg, R, notes.spare, amounts[:tiers], asks)
    notes.latest[0] = shadow + instant_width(shadow)
    for r in range(len(amounts)):
        if r == 0 or r >= tiers:
            amounts[r] = state.resources[r]["capacity"]
        amounts[r] -= state.demands[leg, r]
    if shadow < np.inf:  # else there is nothing to delay
        _reserve(state, asks, notes)
    keep_plan(state, notes, head, shadow)


@kernel
def _is_harmless(state, notes, leg, R):
    """Whether a leg that outlasts the shadow leaves the head what it needs."""
    for r in range(1, min(R, state.machine[0]["first_inside"])):
        if state.demands[leg, r] > notes.spare_amounts[r]:
            return False
    return fits_inside(state.inside, notes.both, state.inside.asks[leg])


@kernel
def passes_head(state, notes, j, R):
    """Whether job `j`, which fits, can start without delaying the head, if there is one."""
    leg = state.jobs[j]["leg"]
    if state.clock[0]["now"] + state.legs[leg]["walltime"] <= notes.latest[0]:
        return True
    return _is_harmless(state, notes, leg, R)


@kernel
def start_passing(state, have, notes, j):
    """Start job `j`, which passes the head."""
    leg = state.jobs[j]["leg"]
    charge(state, have.free, leg)
    if state.clock[0]["now"] + state.legs[leg]["walltime"] <= notes.latest[0]:
        _start_short(state, notes, j)
    else:
        charge(state, notes.spare_amounts, leg)
        _start_beside(state, notes, j)


@allocating_kernel
def _seek(state, have, notes, R, now, beside):
    """Whom the index is asked for: who fits into what is there, and ends by the shadow or leaves the head its own."""
    longest, spare = longest_until(state, notes.latest[0]), notes.spare_amounts[: min(R, len(notes.spare_amounts))]
    fits, passes, column = now.boxes[:0], now.boxes[:0], 0
    if len(now.boxes) > 0:
        fits, column = outline_of(state, notes.room, now), inside_at(state)
        if notes.latest[0] < np.inf:
            passes = outline_of(state, notes.both, beside)
    return Sought(longest, have.free, spare, column, fits, passes, now.counts, beside.counts)


@allocating_kernel
def _pass(state, have, notes, head, line, i, params, R):
    """Let jobs behind the i-th pass the head where they do not delay it.

    The shadow is worked out once somebody fits: mostly nobody does.
    """
    at, limit, index, first = 0, int(params[Param.MAX_BACKFILL]), line.lookup, line.first + i + 1
    amounts, now, beside = notes.spare_amounts, no_outline(state, index), no_outline(state, index)
    stands = notes.facts[PLANNED_FOR] == head + 1
    known = stands
    if not known:
        notes.facts[PLANNED_FOR] = 0  # what stood for another head is written over
        notes.latest[0] = np.inf
        for r in range(len(amounts)):
            amounts[r] = have.free[r]
    sought, asks, found = (
        _seek(state, have, notes, R, now, beside),
        has_to_ask(line, params),
        (last_before(line, head), 0, 0, 0),
    )
    if asks:
        line = behind_place(line, i) if len(line.jobs) > 0 else line
    rest = behind(state, have, line.jobs[i + 1 :], params, limit) if not asks else line.jobs
    while not interrupted(state):
        if asks:
            found = next_by_key(state, line, found[0], sought)
            if found[0] < 0:
                return
            j = found[0]
        else:
            at = next_of(state, index, first + at, sought) - first
            if at >= len(rest) or limit == 0:
                return
            j = rest[at]
            at += 1
        if j < 0:
            continue
        limit -= 1
        if stands and was_refused(notes, j):
            refuse_again(notes, j, notes.marks[j, 1])
            continue
        if not fits_again(state, have, notes, j):
            continue
        changes = not known
        if not known:
            known = True
            _make_plan(state, notes, head, R)
        if passes_head(state, notes, j, R):
            start_passing(state, have, notes, j)
            changes = True
            if asks:
                take_out(state, line, found)
        else:
            refuse_again(notes, j, PLENTY)
        if changes and len(index) > 0:
            sought = _seek(state, have, notes, R, now, beside)


@allocating_kernel
def _start_by_key(state, have, line, notes):
    """Start jobs that are asked for one by one until one does not fit: that one, -1 if all do."""
    anybody = everybody(state, line)
    found = next_by_key(state, line, -1, anybody)
    while found[0] >= 0 and fits_again(state, have, notes, found[0]) and not interrupted(state):
        _start_in_turn(state, have, notes, found[0])
        take_out(state, line, found)
        found = next_by_key(state, line, found[0], anybody)
    return found[0]


@kernel
def _start_in_turn(state, have, notes, j):
    """Start a job, which fits, before the head."""
    charge(state, have.free, state.jobs[j]["leg"])
    start_inside(state, have.inside, j, LogReason.IN_ORDER)
    notes.facts[PLANNED_FOR] = 0


@apart_kernel(types.void(STATE, HAVE, LINE, PARAMS, NOTES))
def easy_inside(state, have, line, params, notes):
    """Start jobs of `line` in order until one does not fit; let those behind pass where they do not delay it.

    What is there inside nodes is `notes.room`.
    """
    i, R, jobs = 0, min(len(have.free), int(params[Param.RESERVED])), line.jobs
    head, some_may_pass = -1, params[Param.MAX_BACKFILL] > 0
    while i < len(jobs) and not interrupted(state):
        j = jobs[i]
        head = unseen(state, j) if j < 0 else j
        if j < 0 and head >= 0 and some_may_pass:  # where no job may pass, it would block all
            break
        if j >= 0:
            if not fits_again(state, have, notes, j):
                break
            _start_in_turn(state, have, notes, j)
        i += 1
    asked = has_to_ask(line, params) and len(jobs) == 0
    if asked:
        head = _start_by_key(state, have, line, notes)
    if (i < len(jobs) or (asked and head >= 0)) and some_may_pass:
        _pass(state, have, notes, head, line, i, params, R)
    keep_notes(have, notes)
