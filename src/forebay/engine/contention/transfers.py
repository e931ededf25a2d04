"""What a phase moves, and over which routes: from a job, its nodes and its chunks to transfers on the network."""

from numba import types

from forebay._numba.jit import kernel
from forebay.core.codes import PhaseKind
from forebay.core.tables import STATE
from forebay.engine.contention.kernels import join, leave
from forebay.engine.contention.made_routes import cross, open_route
from forebay.engine.contention.routes import CHECKPOINT, FILES, INSIDE, READ, STAGE_IN, STAGE_OUT, STAGING, WRITE
from forebay.engine.malleable.steps import amounts, flags_of, members
from forebay.engine.malleable.tables import BESIDE, SERVED, UNCOUPLED
from forebay.engine.truth import TRUTH

_f8, _i8 = types.float64, types.int64


_NOTHING = -2
"""The next route of what moves no bytes."""


@kernel
def moves(truth):
    """Whether anything is moved in this run."""
    return len(truth.network.transfers) > 0


@kernel
def _new_transfer(truth, j, beside):
    """A row for a transfer of job `j`: one of its phase, or one that runs beside its phases."""
    net, activity = truth.network, truth.activities[j]
    f = net.state[0]["blank_transfer"]
    transfer = net.transfers[f]
    net.state[0]["blank_transfer"] = transfer["sibling"]
    transfer["job"] = j
    transfer["beside"] = beside
    transfer["sibling"] = -1
    transfer["next_route"] = -1
    if beside == 0:
        transfer["sibling"] = activity["first"]
        activity["first"] = f
        activity["streams"] += 1
    else:
        activity["drains"] += 1
        if len(truth.rounds.progress) > 0:
            transfer["sibling"] = truth.rounds.progress[j]["beside"]
            truth.rounds.progress[j]["beside"] = f
    return f


@kernel(_i8(TRUTH, _i8, _i8, _i8, _f8, _f8, _i8))
def _send(truth, j, c, weight, amount, time, beside):
    """One transfer of job `j` over route `c`; returns 1, or 0 if nothing holds it up: no link, no cap and no delay."""
    net = truth.network
    route = net.routes[c]
    if route["entry"] < 0 and route["cap"] == float("inf") and route["delay"] == 0.0:
        return 0
    f = _new_transfer(truth, j, beside)
    if route["delay"] > 0.0:
        transfer = net.transfers[f]
        transfer["next_amount"] = amount
        transfer["next_weight"] = weight
        transfer["next_route"] = c
        join(net, f, net.state[0]["waiting_route"], 1, route["delay"], time)
    else:
        join(net, f, c, weight, amount, time)
    return 1


@kernel
def _pause(truth, j, seconds, time, beside):
    """Let a phase of job `j` take so long, whatever else it moves; returns how many transfers that is."""
    if seconds <= 0.0:
        return 0
    net, f = truth.network, _new_transfer(truth, j, beside)
    net.transfers[f]["next_route"] = _NOTHING
    join(net, f, net.state[0]["waiting_route"], 1, seconds, time)
    return 1


@kernel
def go_under_way(net, f):
    """Let a transfer move its bytes if its delay is what has just ended; whether it was."""
    transfer = net.transfers[f]
    c = transfer["next_route"]
    if c < 0:
        return False
    transfer["next_route"] = -1
    join(net, f, c, transfer["next_weight"], transfer["next_amount"], transfer["end"])
    return True


@kernel
def leave_beside(truth, j, f):
    """Take a transfer that has ended from those that run beside the phases of job `j`."""
    truth.activities[j]["drains"] -= 1
    if len(truth.rounds.progress) > 0:
        transfers, progress = truth.network.transfers, truth.rounds.progress[j]
        if progress["beside"] == f:
            progress["beside"] = transfers[f]["sibling"]
        else:
            before = progress["beside"]
            while transfers[before]["sibling"] != f:
                before = transfers[before]["sibling"]
            transfers[before]["sibling"] = transfers[f]["sibling"]
    free_transfer(truth.network, f)


@kernel
def _moved(net, f, time):
    """Stop a transfer; returns the bytes that it has moved."""
    transfer = net.transfers[f]
    moved = transfer["amount"] if transfer["route"] < 0 else leave(net, f, time)
    return moved if transfer["next_route"] == -1 else 0.0


@kernel
def free_transfer(net, f):
    """Hand a row back."""
    net.transfers[f]["job"] = -1
    net.transfers[f]["sibling"] = net.state[0]["blank_transfer"]
    net.state[0]["blank_transfer"] = f


@kernel
def _first_server(routes, row, s):
    """The first server with the route of server `s`."""
    return 0 if routes[row, s] == routes[row, 0] else s


@kernel
def _column(state, truth, j):
    """Where the routes of the store begin that job `j` runs on: the buffer, unless a way to run has another."""
    return truth.paths.column[state.legs[state.jobs[j]["leg"]]["way"]]


@kernel(_i8(STATE, TRUTH, _i8, _f8, _f8, _i8, _i8))
def _staging(state, truth, j, amount, time, row, beside):
    """Between file system and store: a stream a chunk; a pool, or nodes' own devices, a stream a node or one a job."""
    job, routes, n = state.jobs[j], truth.paths.routes, 0
    streams = max(job["nodes"], 1)
    if job["chunk"] < 0:
        at = _column(state, truth, j)
        weight = 1 if truth.paths.whole[STAGING, at] else streams
        return _send(truth, j, routes[row, at], weight, amount, time, beside)
    # Servers behind the same route count together.
    weights = truth.paths.by_server
    i = job["chunk"]
    while i >= 0:
        weights[_first_server(routes, row, state.servers.chunks[i]["server"])] += state.servers.chunks[i]["count"]
        i = state.servers.chunks[i]["next"]
    i = job["chunk"]
    while i >= 0:
        s = _first_server(routes, row, state.servers.chunks[i]["server"])
        if weights[s] > 0:
            n += _send(truth, j, routes[row, s], weights[s], amount * weights[s] / streams, time, beside)
            weights[s] = 0
        i = state.servers.chunks[i]["next"]
    return n


@kernel(_i8(STATE, TRUTH, _i8, _f8, _f8, _i8))
def _inside(state, truth, j, amount, time, row):
    """Between compute nodes and store: a stream a node, to or from the server of its chunk; or one a job.

    The route of a node at site x stands in row `row` + x.
    """
    job, routes, n = state.jobs[j], truth.paths.routes, 0
    count = 0
    h = job["piece"]
    while h >= 0:
        count += state.nodes.pieces[h]["high"] - state.nodes.pieces[h]["low"] + 1
        h = state.nodes.pieces[h]["next"]
    if count == 0:
        return 0
    at = _column(state, truth, j)
    if truth.paths.whole[INSIDE, at]:  # only where it matters not at which sites nodes are, and no chunks
        return _send(truth, j, routes[row, at], 1, amount, time, 0)
    each = amount / count
    # Nodes and chunks are chained in the same order; neighbours on one route go together.
    c, weight = -1, 0
    i, left = job["chunk"], -count  # chunks without a node come first
    while i >= 0:
        left += state.servers.chunks[i]["count"]
        i = state.servers.chunks[i]["next"]
    i = job["chunk"]
    while i >= 0 and left >= state.servers.chunks[i]["count"]:
        left -= state.servers.chunks[i]["count"]
        i = state.servers.chunks[i]["next"]
    left = state.servers.chunks[i]["count"] - left if i >= 0 else 0
    h = job["piece"]
    while h >= 0:
        for node in range(state.nodes.pieces[h]["high"], state.nodes.pieces[h]["low"] - 1, -1):
            while i >= 0 and left == 0:
                i = state.servers.chunks[i]["next"]
                if i >= 0:
                    left = state.servers.chunks[i]["count"]
            s = at
            if i >= 0:
                s = state.servers.chunks[i]["server"]
                left -= 1
            to = routes[row + state.nodes.site[node], s]
            if to != c:
                if weight > 0:
                    n += _send(truth, j, c, weight, each * weight, time, 0)
                c = to
                weight = 0
            weight += 1
        h = state.nodes.pieces[h]["next"]
    return n + _send(truth, j, c, weight, each * weight, time, 0)


@kernel
def _count_sites(state, truth, j):
    """How many of the job's nodes stand at each site: by_site[0] counts, by_site[1] lists. Returns (sites, nodes)."""
    by_site = truth.paths.by_site
    n_sites, n_nodes = 0, 0
    h = state.jobs[j]["piece"]
    while h >= 0:
        for node in range(state.nodes.pieces[h]["low"], state.nodes.pieces[h]["high"] + 1):
            x = state.nodes.site[node]
            if by_site[0, x] == 0:
                by_site[1, n_sites] = x
                n_sites += 1
            by_site[0, x] += 1
            n_nodes += 1
        h = state.nodes.pieces[h]["next"]
    return n_sites, n_nodes


@kernel
def _exchange(state, truth, j, compute, message, coupled, rest, time, beside):
    """A compute phase in which every node sends to every other: one activity over all the links between them.

    Only this `rest` of it is left to do. Returns (1, 0), or, where the nodes share no link, (0, the seconds that the
    whole takes).
    """
    paths = truth.paths
    n_sites, n = _count_sites(state, truth, j)
    by_site, n_touched = paths.by_site, 0
    all_sites = by_site.shape[1]
    most = n - 1.0  # on each node's own port, in messages
    for p in range(n_sites):
        for q in range(n_sites):
            a, b = by_site[1, p], by_site[1, q]
            if a != b:
                for e in range(paths.first[a * all_sites + b], paths.first[a * all_sites + b + 1]):
                    k = paths.links[e]
                    if paths.by_link[k] == 0.0:
                        paths.touched[n_touched] = k
                        n_touched += 1
                    paths.by_link[k] += by_site[0, a] * by_site[0, b]
                    most = max(most, paths.by_link[k])
    for p in range(n_sites):
        by_site[0, by_site[1, p]] = 0
    slowest = message * (n - 1) / paths.port[0]  # seconds that the ports need
    if n_touched == 0:
        latency = paths.port[1]
        return 0, latency + max(compute, slowest) if coupled else max(compute, latency + slowest)
    seconds = max(compute, slowest)
    c = open_route(truth.network, message * most / seconds if seconds > 0.0 else float("inf"))
    for i in range(n_touched):
        k = paths.touched[i]
        cross(truth.network, c, k, paths.by_link[k] / most)
        paths.by_link[k] = 0.0
    return _send(truth, j, c, 1, message * most * rest, time, beside), 0.0


@kernel
def _on_devices(state, truth, j, c, streams, nodes, amount, time, beside):
    """A transfer on the devices of some nodes of a job: one stream a device or, striped, several on each.

    All nodes are alike: where other transfers of the job may share the devices, that of its first node stands for all.
    """
    first, devices = truth.paths.device[0], min(streams, nodes)
    if first < 0:
        return _send(truth, j, c, devices, amount, time, beside)
    net = truth.network
    cap, device = net.routes[c]["cap"], first + 2 * state.nodes.pieces[state.jobs[j]["piece"]]["low"]
    own = open_route(net, cap)
    if cap < net.links[device]["capacity"]:  # the slower way
        cross(net, own, device + 1, 1.0 / devices)
    cross(net, own, device, 1.0 / devices)
    return _send(truth, j, own, streams, amount, time, beside)


@kernel
def move_files(truth, j, kind, streams, amount, time, beside):
    """Read from the file system, or write to it; returns how many transfers of job `j` that is."""
    paths = truth.paths
    c = paths.routes[READ if kind == PhaseKind.READ else WRITE, 0]
    return _send(truth, j, c, 1 if paths.whole[FILES, 0] else streams, amount, time, beside)


@kernel
def launch(state, truth, j, rest, time):
    """Begin what the phase of job `j` does; returns (transfers begun, seconds that it takes if there are none).

    Of computing, only this `rest` is left to do.
    """
    paths, p = truth.paths, truth.activities[j]["phase"]
    kind, flags = truth.phases[p]["kind"], flags_of(truth, p)
    seconds, amount, message, streams = amounts(state, truth, j, p)
    nodes = members(state, truth, j, p)
    if nodes < state.jobs[j]["nodes"]:  # each sends to fewer: ports are as busy as if all sent smaller messages
        message *= (nodes - 1) / (state.jobs[j]["nodes"] - 1)
    if len(paths.routes) == 0:  # nothing is moved in this run
        return 0, seconds
    if kind == PhaseKind.COMPUTE:
        if message > 0.0 and state.jobs[j]["nodes"] > 1:
            return _exchange(state, truth, j, seconds, message, flags & UNCOUPLED == 0, rest, time, 0)
        return 0, seconds
    if amount <= 0.0 or flags & SERVED:
        return 0, seconds
    beside = 1 + kind if kind == PhaseKind.DRAIN or flags & BESIDE else 0
    if kind == PhaseKind.STAGE_IN:
        return _staging(state, truth, j, amount, time, STAGE_IN, beside), 0.0
    if kind in (PhaseKind.STAGE_OUT, PhaseKind.DRAIN):
        return _staging(state, truth, j, amount, time, STAGE_OUT, beside), 0.0
    if kind in (PhaseKind.CHECKPOINT, PhaseKind.FETCH):
        row = CHECKPOINT if kind == PhaseKind.CHECKPOINT else CHECKPOINT + paths.by_site.shape[1]
        if len(truth.rounds.steps) > 0:  # in rounds only where nodes have devices of their own
            n = _on_devices(state, truth, j, paths.routes[row, 0], streams, nodes, amount, time, beside)
            if message > 0.0 and state.jobs[j]["nodes"] > 1:
                more, seconds = _exchange(state, truth, j, seconds, message, True, 1.0, time, beside)
                n += more
            return n + _pause(truth, j, seconds, time, beside), 0.0
        return _inside(state, truth, j, amount, time, row), 0.0
    return move_files(truth, j, kind, streams, amount, time, beside), 0.0


@kernel
def clear_phase(truth, j):
    """The phase of job `j` is over: hand back the rows of its transfers."""
    net, activity = truth.network, truth.activities[j]
    f = activity["first"]
    while moves(truth) and f >= 0:
        following = net.transfers[f]["sibling"]
        free_transfer(net, f)
        f = following
    activity["first"] = -1
    activity["streams"] = 0


@kernel
def stop_beside(truth, j, time):
    """Break off what runs beside the phases of job `j`. Who has rounds has a list of it."""
    if not moves(truth):
        return
    if len(truth.rounds.progress) > 0:
        progress = truth.rounds.progress[j]
        while progress["beside"] >= 0:
            f = progress["beside"]
            _moved(truth.network, f, time)
            leave_beside(truth, j, f)
        return
    for f in range(len(truth.network.transfers)):
        transfer = truth.network.transfers[f]
        if truth.activities[j]["drains"] == 0:
            return
        if transfer["job"] == j and transfer["beside"] > 0:
            _moved(truth.network, f, time)
            leave_beside(truth, j, f)


@kernel
def stop_phase(truth, j, time):
    """Break off what the phase of job `j` moves; returns the bytes moved so far."""
    net = truth.network
    moved = 0.0
    f = truth.activities[j]["first"]
    while moves(truth) and f >= 0:
        transfer = net.transfers[f]
        moved += _moved(net, f, time)
        f = transfer["sibling"]
    clear_phase(truth, j)
    return moved
