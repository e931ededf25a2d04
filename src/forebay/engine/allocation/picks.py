"""Where a start goes: on the nodes and servers that it picks, or where the engine puts it."""

from forebay._numba.jit import kernel
from forebay.algorithms.nodes.nodeset import find
from forebay.algorithms.nodes.placement import count_chunks, place
from forebay.core.codes import Refusal
from forebay.engine.allocation.node_sets import may_have, settle_atoms
from forebay.engine.placing.kernels import is_placing, place_by_rule
from forebay.engine.shared_nodes.kernels import settle_inside


@kernel
def _check_picks(state, truth, action):
    """What is wrong with the nodes and servers picked for a start, if anything. Nodes must ascend."""
    j, first_pick, n_picks, room = action["job"], action["first_pick"], action["n_picks"], truth.room
    idle, n_idle, leg = state.nodes.idle, state.counts[0]["n_idle"], state.jobs[j]["leg"]
    size, n_nodes, n_chunks, following = state.legs[leg]["chunk"], 0, 0, 0
    if n_picks < 0 or n_picks > len(state.picks) or first_pick < 0 or first_pick > len(state.picks) - n_picks:
        return Refusal.WRONG_NODES.value
    for s in range(len(room)):
        room[s] = state.servers.room[s]
    for i in range(first_pick, first_pick + n_picks):
        pick = state.picks[i]
        if pick["count"] < 1 or pick["count"] > max(state.jobs[j]["nodes"], 1):  # sums below cannot wrap around
            return Refusal.WRONG_NODES.value
        if pick["low"] >= 0:
            at = find(idle, n_idle, pick["low"])
            last = pick["low"] + pick["count"] - 1
            if pick["low"] < following or at < 0 or idle[at]["high"] < last:
                return Refusal.WRONG_NODES.value
            if not may_have(state, leg, pick["low"], pick["count"]):
                return Refusal.WRONG_NODES.value
            n_nodes += pick["count"]
            following = last + 1
        if size > 0:
            if pick["server"] < 0 or pick["server"] >= len(room):
                return Refusal.NO_ROOM.value
            n_chunks += pick["count"]
            room[pick["server"]] -= size * pick["count"]
            if room[pick["server"]] < 0:
                return Refusal.NO_ROOM.value
    if n_nodes != state.demands[leg, 0]:
        return Refusal.WRONG_NODES.value
    if size > 0 and n_chunks != max(state.jobs[j]["nodes"], 1):
        return Refusal.NO_ROOM.value
    return Refusal.NONE.value


@kernel
def _place(state, truth, j):
    """Pick nodes and servers for a job that takes chunks and names none; returns how many picks, -1 without room."""
    job, servers, room = state.jobs[j], state.servers, truth.room
    leg, n_chunks = job["leg"], max(job["nodes"], 1)
    size = state.legs[leg]["chunk"]
    if len(room) == 0 or count_chunks(servers.room, size, n_chunks) < n_chunks:
        return -1
    for s in range(len(room)):
        room[s] = servers.room[s]
    nodes, n_idle = state.nodes, state.counts[0]["n_idle"]
    n_nodes = state.demands[leg, 0]
    return place(nodes.idle, n_idle, nodes.site, servers.near, room, n_nodes, n_chunks, size, truth.picks, 0)


@kernel
def settle_places(state, truth, action):
    """Where a start goes whose amounts are free: why it cannot, and what is short; then its picks: the first, how many,
    and whether they are the engine's. Without picks, it has the lowest nodes.
    """
    n_picks, first, leg = action["n_picks"], action["first_pick"], state.jobs[action["job"]]["leg"]
    chunked = state.machine[0]["chunked"]
    if is_placing(truth):
        n = place_by_rule(state, truth, action["job"])
        return Refusal.NO_ROOM.value if n < 0 else Refusal.NONE.value, chunked, 0, n, True
    if state.machine[0]["placement"] >= 0:
        refusal, n = settle_inside(state, truth, action)
        if n_picks > 0:
            return refusal, 0, first, n, False
        return refusal, 0, 0, n, True
    if n_picks != 0:
        refusal = _check_picks(state, truth, action)
        if refusal != Refusal.NONE:
            return refusal, 0 if refusal == Refusal.WRONG_NODES else chunked, 0, 0, False
    if not settle_atoms(state, leg, action):
        return Refusal.OVERSUBSCRIBED.value, 0, 0, 0, False
    if n_picks > 0:
        return Refusal.NONE.value, 0, first, n_picks, False
    if state.legs[leg]["chunk"] == 0:
        return Refusal.NONE.value, 0, 0, 0, False
    n = _place(state, truth, action["job"])
    return Refusal.NO_ROOM.value if n < 0 else Refusal.NONE.value, chunked, 0, n, True
