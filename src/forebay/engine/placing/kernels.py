"""Where a start goes under a rule: nodes that the rule chooses, and servers near these."""

from forebay._numba.jit import kernel
from forebay.algorithms.nodes.bits import is_in
from forebay.algorithms.nodes.choice import choose
from forebay.algorithms.nodes.placement import pick_node
from forebay.core.codes import Refusal


@kernel
def is_placing(truth):
    """Whether a rule chooses nodes."""
    return len(truth.placing.rule) > 0


@kernel
def place_by_rule(state, truth, j):
    """Pick nodes and servers for job `j` by the rule; returns how many picks, -1 if servers have no room."""
    placing, nodes, servers, room, leg = truth.placing, state.nodes, state.servers, truth.room, state.jobs[j]["leg"]
    size, n_nodes = state.legs[leg]["chunk"], state.demands[leg, 0]
    for w in range(len(placing.words)):
        placing.words[w] = 0
    choose(nodes.idle, state.counts[0]["n_idle"], n_nodes, placing)
    for s in range(len(room)):
        room[s] = servers.room[s]
    n = 0
    for node in range(len(placing.group)):
        if is_in(placing.words, node):
            n = pick_node(truth.picks, n, 0, node, nodes.site, servers.near, room, size)
            if n < 0:
                return -1
    for _ in range(max(state.jobs[j]["nodes"], 1) - n_nodes if size > 0 else 0):
        n = pick_node(truth.picks, n, 0, -1, nodes.site, servers.near, room, size)
        if n < 0:
            return -1
    return n


@kernel
def put_off(state, truth, refusal):
    """Whether a start without room on servers is decided again: those before it went elsewhere than the policy thought.

    It was sure of the first start alone.
    """
    if not is_placing(truth) or refusal != Refusal.NO_ROOM or state.counts[0]["n_started"] == 0:
        return False
    truth.placing.at[1] = 1
    truth.cursor[0]["again"] = 1
    return True


@kernel
def was_put_off(truth):
    """Whether the rest of a decision is dropped."""
    if not is_placing(truth) or truth.placing.at[1] == 0:
        return False
    truth.placing.at[1] = 0
    return True
