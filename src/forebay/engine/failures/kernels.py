"""Nodes that fail and come back. A job on a node that fails is interrupted; see `legs.interrupt`."""

import numpy as np

from forebay._numba.bridge import call_address
from forebay._numba.jit import kernel
from forebay.algorithms.nodes.nodeset import find, holder, put_back, take_these
from forebay.core.codes import LogKind, LogReason, Trigger, Urgency
from forebay.engine.allocation.node_sets import count_node
from forebay.engine.legs import interrupt
from forebay.engine.log import write_node
from forebay.engine.shared_nodes.kernels import are_shared, close_node, first_on, open_node


@kernel
def next_failure(truth):
    """When the next node fails; inf if none ever does."""
    cursor, failures = truth.cursor[0], truth.resilience.failures
    if len(failures) == 0:
        return float("inf")
    if cursor["next_failure"] == len(failures):
        call_address(cursor["draw"])
    return failures[cursor["next_failure"]]["time"]


@kernel
def next_repair(state, truth):
    """When the next node is back; inf if none is down."""
    return truth.resilience.repairs[0]["time"] if state.counts[0]["n_down"] > 0 else float("inf")


@kernel
def next_of_nodes(state, truth, time):
    """When a node fails or is back, while anything else may happen: at `time`, at a wake, or because it is back."""
    cursor = truth.cursor[0]
    if len(state.down) == 0 or cursor["n_ended"] == len(state.jobs):
        return np.inf
    repair = next_repair(state, truth)
    goes_on = time < np.inf or cursor["n_wakes"] > 0 or repair < np.inf
    return min(repair, next_failure(truth)) if goes_on else np.inf


@kernel
def _struck(state, truth, failure):
    """The node that fails; -1 if none is up."""
    if failure["node"] >= 0:
        return failure["node"]
    n_down = state.counts[0]["n_down"]
    n_up = (len(state.inside.full) if are_shared(state) else len(state.nodes.site)) - n_down
    if n_up == 0:
        return -1
    node = min(int(failure["u"] * n_up), n_up - 1)
    for k in range(n_down):
        if truth.resilience.down[k] <= node:
            node += 1
    return node


@kernel
def _owner(state, node):
    """The running job that has this node; -1 if none has."""
    for i in range(state.counts[0]["n_running"]):
        j = state.running[i]["job"]
        if state.jobs[j]["held"] > 0 and holder(state.nodes.pieces, state.jobs[j]["piece"], node) >= 0:
            return j
    return -1


@kernel
def _insert(times, values, n, time, value):
    """Keep two columns sorted by the first; those alike in the order in which they came."""
    at = n
    while at > 0 and times[at - 1] > time:
        times[at] = times[at - 1]
        values[at] = values[at - 1]
        at -= 1
    times[at] = time
    values[at] = value


@kernel
def _drop(times, values, n, value):
    """Take a value out of two columns; returns what stood beside it."""
    at = 0
    while values[at] != value:
        at += 1
    time = times[at]
    for i in range(at, n - 1):
        times[i] = times[i + 1]
        values[i] = values[i + 1]
    return time


@kernel
def _note_down(state, truth, node, until):
    """Write down that a node is down, for the engine and for policies."""
    n, resilience = state.counts[0]["n_down"], truth.resilience
    _insert(resilience.repairs["time"], resilience.repairs["node"], n, until, node)
    expected = until if resilience.rule[0]["known"] else float("inf")
    _insert(state.down["until"], state.down["node"], n, expected, node)
    at = n
    while at > 0 and resilience.down[at - 1] > node:
        resilience.down[at] = resilience.down[at - 1]
        at -= 1
    resilience.down[at] = node
    state.counts[0]["n_down"] = n + 1


@kernel
def _note_up(state, truth, node):
    """Forget that a node is down; returns until when it was."""
    n, resilience = state.counts[0]["n_down"], truth.resilience
    until = _drop(resilience.repairs["time"], resilience.repairs["node"], n, node)
    _drop(state.down["until"], state.down["node"], n, node)
    at = 0
    while resilience.down[at] != node:
        at += 1
    for i in range(at, n - 1):
        resilience.down[i] = resilience.down[i + 1]
    state.counts[0]["n_down"] = n - 1
    return until


@kernel
def _is_down(state, truth, node):
    for k in range(state.counts[0]["n_down"]):
        if truth.resilience.down[k] == node:
            return True
    return False


@kernel
def _clear(state, truth, node, time):
    """Interrupt whoever runs on a node: one job, or all that share it."""
    if are_shared(state):
        j = first_on(state, node)
        while j >= 0:
            interrupt(state, truth, j, time, Urgency.FAILED, LogReason.NODE_DOWN)
            j = first_on(state, node)
    elif find(state.nodes.idle, state.counts[0]["n_idle"], node) < 0:
        interrupt(state, truth, _owner(state, node), time, Urgency.FAILED, LogReason.NODE_DOWN)


@kernel
def _fail(state, truth, node, time, until):
    counts, nodes = state.counts[0], state.nodes
    if _is_down(state, truth, node):
        _note_down(state, truth, node, max(until, _note_up(state, truth, node)))
        return
    _clear(state, truth, node, time)
    low, count = close_node(state, node) if are_shared(state) else (node, 1)
    n_idle, blank, head = take_these(nodes.idle, counts["n_idle"], nodes.pieces, counts["blank_piece"], -1, low, count)
    nodes.pieces[head]["next"] = blank  # nobody has it
    counts["n_idle"] = n_idle
    counts["blank_piece"] = head
    count_node(state, node, -1)
    _note_down(state, truth, node, until)
    write_node(truth, time, LogKind.NODE_DOWN, node)
    state.clock[0]["triggers"] |= Trigger.NODE_DOWN


@kernel
def _repair(state, truth, node, time):
    counts, nodes = state.counts[0], state.nodes
    _note_up(state, truth, node)
    low, count = open_node(state, node) if are_shared(state) else (node, 1)
    counts["n_idle"] = put_back(nodes.idle, counts["n_idle"], low, low + count - 1)
    count_node(state, node, 1)
    write_node(truth, time, LogKind.NODE_UP, node)
    state.clock[0]["triggers"] |= Trigger.NODE_UP


@kernel
def fail_and_repair(state, truth, until):
    """Let every node come back, and every one fail, that is due by `until`; returns the latest time seen."""
    latest, cursor = float("-inf"), truth.cursor[0]
    if len(state.down) == 0 or cursor["n_ended"] == len(state.jobs):
        return latest
    while next_repair(state, truth) <= until:
        latest = max(latest, truth.resilience.repairs[0]["time"])
        _repair(state, truth, truth.resilience.repairs[0]["node"], truth.resilience.repairs[0]["time"])
    while next_failure(truth) <= until:
        failure = truth.resilience.failures[cursor["next_failure"]]
        time, downtime = failure["time"], failure["downtime"]
        cursor["next_failure"] += 1
        latest = max(latest, time)
        node = _struck(state, truth, failure)
        if node >= 0:
            _fail(state, truth, node, time, time + downtime)
    return latest
