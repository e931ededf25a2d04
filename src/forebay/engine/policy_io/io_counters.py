"""Tell a policy what running jobs do: see `core.running`. Filled before a decision, and only where it is asked for.

Clocks of routes are read, not turned: a run is the same to the last bit whether anybody looks or not.
"""

from forebay._numba.jit import kernel
from forebay.core.codes import JobState, PhaseKind
from forebay.core.running import NO_PHASE
from forebay.core.tables import flex_row
from forebay.engine.checkpoints.kernels import stands_still
from forebay.engine.checkpoints.tables import SAVING
from forebay.engine.contention.kernels import bytes_left, glance, look_away, rate_at, weight_of
from forebay.engine.malleable.steps import amounts


@kernel
def _is_outside(kind):
    """Whether a phase moves data between file system and store."""
    return kind in (PhaseKind.STAGE_IN, PhaseKind.STAGE_OUT, PhaseKind.DRAIN)


@kernel
def _is_inside(kind):
    """Whether it moves them between store and nodes."""
    return kind in (PhaseKind.CHECKPOINT, PhaseKind.FETCH)


@kernel
def _phase_of(state, truth, j):
    """The kind of phase that job `j` is in."""
    activity = truth.activities[j]
    if activity["final"] > 0:
        return PhaseKind.DRAIN.value
    if len(truth.rounds.progress) > 0 and truth.rounds.progress[j]["halted"] != 0:
        return NO_PHASE
    if stands_still(state, truth, j):
        return PhaseKind.SAVE.value if truth.resilience.safe[j]["doing"] == SAVING else PhaseKind.RECOVER.value
    return truth.phases[activity["phase"]]["kind"]


@kernel
def _phases_done(state, truth, j):
    """How many phases or rounds of job `j` are over. Of one that was killed the engine forgets it."""
    activity, row = truth.activities[j], flex_row(state, j)
    if row >= 0:
        return state.flexible.jobs[row]["done"]
    if activity["final"] > 0 and activity["final"] != JobState.COMPLETED:
        return -1
    return activity["phase"] - truth.scripts[state.jobs[j]["leg"]]["first_phase"]


@kernel
def _blank(row):
    row["moved"] = 0.0
    row["left"] = 0.0
    row["rate"] = 0.0
    row["beside_left"] = 0.0
    row["beside_rate"] = 0.0
    row["done"] = 0
    row["phase"] = NO_PHASE


@kernel
def _load_tier(io, t, rate, streams):
    if t >= 0:
        io.tiers[t]["load"] += rate
        io.tiers[t]["streams"] += streams


@kernel
def _measure(state, truth, f, kind):
    """Bytes that a transfer of a phase of this kind has left, and bytes/s; its tiers count it."""
    net, io, now = truth.network, state.io, state.clock[0]["now"]
    transfer = net.transfers[f]
    left, rate, streams = 0.0, 0.0, 0
    if transfer["next_route"] >= 0:  # its delay is not over
        left, streams = transfer["next_amount"], transfer["next_weight"]
    elif transfer["next_route"] == -1 and transfer["route"] >= 0:
        device = truth.paths.device[0]
        if device >= 0 and _is_inside(kind):
            # What nodes send one another is no traffic of storage.
            entry = net.routes[transfer["route"]]["entry"]
            if entry < 0 or net.entries[entry]["link"] < device:
                return 0.0, 0.0
        left = bytes_left(net, f, now)
        streams = transfer["weight"]
        rate = rate_at(net, transfer["route"]) * (streams * transfer["share"] * net.routes[transfer["route"]]["scale"])
    if streams > 0:
        if not _is_inside(kind):
            _load_tier(io, io.stores[0], rate, streams)
        if _is_outside(kind) or _is_inside(kind):
            way = state.legs[state.jobs[transfer["job"]]["leg"]]["way"]
            _load_tier(io, io.stores[1 + way], rate, streams)
    return left, rate


@kernel
def _tell_job(state, truth, j):
    """What the phase of job `j` does; returns how many transfers run beside it."""
    row, activity, net = state.io.jobs[j], truth.activities[j], truth.network
    kind = _phase_of(state, truth, j)
    row["phase"] = kind
    row["done"] = _phases_done(state, truth, j)
    if kind < 0 or kind == PhaseKind.COMPUTE or activity["final"] > 0:
        return activity["drains"]
    whole, f = 0.0, activity["first"]
    while f >= 0:
        left, rate = _measure(state, truth, f, kind)
        row["left"] += left
        row["rate"] += rate
        if net.transfers[f]["next_route"] == -1:
            whole += net.transfers[f]["amount"]
        elif net.transfers[f]["next_route"] >= 0:
            whole += net.transfers[f]["next_amount"]
        f = net.transfers[f]["sibling"]
    if kind not in (PhaseKind.SAVE, PhaseKind.RECOVER):
        whole = amounts(state, truth, j, activity["phase"])[1]
    row["moved"] = max(whole - row["left"], 0.0)
    return activity["drains"]


@kernel
def _tell_links(state, truth):
    """The load of each link that the machine has a name for."""
    net, links = truth.network, state.io.links
    for k in range(len(links)):
        load, streams = 0.0, 0
        e = net.links[k]["entry"] if k < len(net.links) else -1
        while e >= 0:
            entry = net.entries[e]
            route = net.routes[entry["route"]]
            load += entry["unit"] * weight_of(route) * rate_at(net, entry["route"])
            streams += route["streams"]
            e = entry["after"]
        links[k]["load"] = min(load, links[k]["capacity"])  # the last bit of a sum of shares
        links[k]["streams"] = streams


@kernel
def tell_io(state, truth):
    """Fill the tables of `state.io` as of now."""
    if len(state.io.jobs) == 0:
        return
    io, net, n_beside, f = state.io, truth.network, 0, 0
    for i in range(io.n[0]):
        _blank(io.jobs[io.rows[i]])
    for t in range(len(io.tiers)):
        io.tiers[t]["load"] = 0.0
        io.tiers[t]["streams"] = 0
    io.n[0] = state.counts[0]["n_running"]
    n_solved = glance(net)
    _tell_links(state, truth)
    for i in range(io.n[0]):
        io.rows[i] = state.running[i]["job"]
        n_beside += _tell_job(state, truth, io.rows[i])
    # Rows of transfers are handed out from the first on, so those in use are near it.
    while n_beside > 0:
        transfer = net.transfers[f]
        if transfer["job"] >= 0 and transfer["beside"] > 0:
            left, rate = _measure(state, truth, f, transfer["beside"] - 1)
            row = io.jobs[transfer["job"]]
            row["beside_left"] += left
            row["beside_rate"] += rate
            n_beside -= 1
        f += 1
    look_away(net, n_solved)
