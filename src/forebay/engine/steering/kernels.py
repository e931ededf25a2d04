"""Weigh, hold and cap transfers: one that is steered takes a route of its own, a copy of that which it would share.

So the solver knows nothing of it, and transfers that nobody steers keep their routes, their clocks and their bits.
"""

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, Refusal, Status, Verb
from forebay.engine.checkpoints.kernels import stands_still
from forebay.engine.contention.kernels import join, leave, reweigh
from forebay.engine.contention.made_routes import cross, open_route
from forebay.engine.refusal import refuse
from forebay.engine.steering.tables import CENTURY


@kernel
def _kind_of(truth, f):
    """The kind of phase that a transfer is a part of."""
    transfer = truth.network.transfers[f]
    if transfer["beside"] > 0:
        return transfer["beside"] - 1
    return truth.phases[truth.activities[transfer["job"]]["phase"]]["kind"]


@kernel
def _reroute(net, f, c, now):
    """Transfer `f` goes on over route `c`."""
    transfer = net.transfers[f]
    if transfer["route"] == c:
        return
    amount, weight, base = transfer["amount"], transfer["weight"], transfer["base"]
    moved = leave(net, f, now)
    join(net, f, c, weight, amount - moved, now)
    transfer["amount"] = amount
    transfer["base"] = base
    transfer["earlier"] = moved


@kernel
def _own_route(net, base, weight, cap):
    """A route like `base`, on which a stream counts as `weight` of them and gets at most `cap`.

    Its clock counts bytes for each unit of that share. One without links crosses the last link, which is without end.
    """
    limit = min(net.routes[base]["cap"], cap)
    c = open_route(net, limit / weight)
    net.routes[c]["scale"] = weight
    e = net.routes[base]["entry"]
    if e < 0:
        cross(net, c, len(net.links) - 1, weight)
    while e >= 0:
        cross(net, c, net.entries[e]["link"], net.entries[e]["unit"] * weight)
        e = net.entries[e]["next"]
    return c


@kernel
def _copy_for(net, base, weight):
    """A route like `base` on which a stream counts as `weight` of them: the one that others have who want it, too."""
    copies, blank = net.copies[base], -1
    for i in range(len(copies)):
        route = net.routes[copies[i]]
        if route["like"] != base or route["root"] < 0:
            blank = i
        elif route["scale"] == weight:
            return copies[i]
    c = _own_route(net, base, weight, float("inf"))
    if blank >= 0:
        copies[blank] = c
        net.routes[c]["like"] = base
    return c


@kernel
def steer(net, f, weight, cap, now):
    """Transfer `f` goes on with a weight; `cap` is that of each of its streams, and 0 holds it.

    On a route without a cap of its own it stays among the others: these progress alike by weight, and share one clock.
    One with a cap would give a stream its cap for each unit of weight: there each weight has a route. What is held
    waits on one on which nothing moves. So an instant costs what its routes do.
    """
    transfer = net.transfers[f]
    base, weighs = transfer["base"], 1.0
    if cap == 0.0:
        c = net.state[0]["held_route"]
    elif cap < float("inf"):
        c = _own_route(net, base, weight, cap)
    elif weight == 1.0:
        c = base
    elif net.routes[base]["cap"] < float("inf") or net.routes[base]["entry"] < 0:
        c = _copy_for(net, base, weight)
    else:
        c, weighs = base, weight
    _reroute(net, f, c, now)
    reweigh(net, f, weighs, now)


@kernel
def _steer(truth, f, streams, time):
    """Let a transfer, of so many streams in its phase, run as it was decided."""
    net = truth.network
    transfer = net.transfers[f]
    base = transfer["base"]
    if transfer["route"] < 0 or base >= net.state[0]["n_static"] or base == net.state[0]["waiting_route"]:
        return
    rule = truth.steering.rules[transfer["job"], _kind_of(truth, f)]
    cap = 0.0 if rule["held"] else rule["cap"] / streams
    steer(net, f, rule["weight"], cap, time)


@kernel
def _streams_along(truth, f):
    """All streams of a chain of transfers, also those whose delay is not over."""
    net, streams = truth.network, 0
    while f >= 0:
        transfer = net.transfers[f]
        streams += transfer["next_weight"] if transfer["next_route"] >= 0 else transfer["weight"]
        f = transfer["sibling"]
    return max(streams, 1)


@kernel
def steer_phase(state, truth, j, time):
    """The phase of job `j` has begun: its transfers run as it was decided before."""
    if len(truth.steering.rules) == 0 or stands_still(state, truth, j):  # checkpoints against failures are not steered
        return
    f = truth.activities[j]["first"]
    streams = _streams_along(truth, f)
    while f >= 0:
        _steer(truth, f, streams, time)
        f = truth.network.transfers[f]["sibling"]


@kernel
def steer_beside(state, truth, j, time):
    """The same of what runs beside the phases of job `j`."""
    if len(truth.steering.rules) == 0 or truth.activities[j]["drains"] == 0:
        return
    net, streams, left = truth.network, 0, truth.activities[j]["drains"]
    for f in range(len(net.transfers)):
        if left == 0:
            break
        if net.transfers[f]["job"] == j and net.transfers[f]["beside"] > 0:
            streams += net.transfers[f]["weight"]
            left -= 1
    left = truth.activities[j]["drains"]
    for f in range(len(net.transfers)):
        if left == 0:
            break
        if net.transfers[f]["job"] == j and net.transfers[f]["beside"] > 0:
            _steer(truth, f, max(streams, 1), time)
            left -= 1


@kernel
def steer_late(state, truth, f):
    """The delay of a transfer is over, and it moves its bytes from now on."""
    if len(truth.steering.rules) == 0:
        return
    transfer = truth.network.transfers[f]
    j, time = transfer["job"], transfer["end"]
    if transfer["beside"] > 0:
        steer_beside(state, truth, j, time)
    else:
        _steer(truth, f, _streams_along(truth, truth.activities[j]["first"]), time)


@kernel
def _most_bytes(truth, j):
    """The most bytes that a phase of job `j` moves."""
    most, last = 0.0, truth.jobs[j]["last_leg"]
    for p in range(truth.scripts[truth.jobs[j]["leg"]]["first_phase"], truth.scripts[last]["last_phase"]):
        most = max(most, truth.phases[p]["bytes"])
    return most


@kernel
def steer_as_asked(state, truth, action):
    """Carry out a verb of I/O; the last one of several counts."""
    j, verb, value = action["job"], action["verb"], action["time"]
    if j < 0 or j >= len(state.jobs):
        return refuse(truth, Refusal.UNKNOWN_JOB, j, -1)
    if len(truth.steering.rules) == 0:
        return refuse(truth, Refusal.DOES_NOT_STEER, j, -1)
    if state.jobs[j]["state"] != JobState.QUEUED and state.jobs[j]["state"] != JobState.RUNNING:
        return refuse(truth, Refusal.CANNOT_STEER, j, -1)
    most = _most_bytes(truth, j)
    if most == 0.0 and verb == Verb.IO_HOLD:
        return refuse(truth, Refusal.NO_IO, j, -1)
    if verb == Verb.IO_CAP and most > value * CENTURY:
        return refuse(truth, Refusal.CAP_TOO_LOW, j, -1)
    rules = truth.steering.rules
    for kind in range(rules.shape[1]):
        if action["way"] != 0 and action["way"] != 1 + kind:
            continue
        if verb == Verb.IO_WEIGHT:
            rules[j, kind]["weight"] = value
        elif verb == Verb.IO_CAP:
            rules[j, kind]["cap"] = value
        else:
            rules[j, kind]["held"] = verb == Verb.IO_HOLD
    if state.jobs[j]["state"] == JobState.RUNNING:
        steer_phase(state, truth, j, state.clock[0]["now"])
        steer_beside(state, truth, j, state.clock[0]["now"])
    return Status.DECIDE.value
