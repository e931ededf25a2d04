"""A job that begins its I/O waits, interrupts those that move, or shares with them: whatever costs least.

After CALCioM (Dorier, Antoniu, Ross, Kimpe & Ibrahim, 2014). What it costs is node-seconds: the nodes of each job x the
time until its I/O is over, as if nothing else came. A job that disturbs no other shares. Those that move are taken
together: so many nodes, and what they need of the busiest link. Where costs are equal a job waits, or else interrupts.
Who was interrupted goes on before those that wait.
"""

from forebay._numba.jit import kernel
from forebay.engine.io_scheduling.amounts import left_alone

_FULL = 1.0 + 1e-9  # of a link, beside what sums round


@kernel
def cost(nodes, left, share, more_nodes, more_left, more_share):
    """Node-seconds of jobs that move and of one more, where that waits, interrupts them, and shares."""
    waits = nodes * left + more_nodes * (left + more_left)
    interrupts = more_nodes * more_left + nodes * (left + more_left)
    part = nodes / (nodes + more_nodes)
    rate = min(share, max(part, 1.0 - more_share))  # of the link, where the whole is 1
    more_rate = min(more_share, max(1.0 - part, 1.0 - share))
    ends, more_ends = left * share / rate, more_left * more_share / more_rate
    if ends < more_ends:
        more_ends = ends + (more_left * more_share - ends * more_rate) / more_share
    else:
        ends = more_ends + (left * share - more_ends * rate) / share
    return waits, interrupts, nodes * ends + more_nodes * more_ends


@kernel
def _moving(state, truth, now):
    """Of the requests that move: their nodes, the seconds that they need together, and their share of the link."""
    io, nodes, work, share, longest = truth.io, 0.0, 0.0, 0.0, 0.0
    for i in range(io.plan[0]["n"]):
        if io.requests[i]["known"] and io.requests[i]["grant"] > 0.0:
            j = io.requests[i]["job"]
            left, part = left_alone(truth, j, now)
            nodes += max(state.jobs[j]["nodes"], 1)
            work += left * part
            share += part
            longest = max(longest, left)
    share = min(share, 1.0)
    return nodes, max(work / share, longest) if share > 0.0 else longest, share


@kernel
def _first_waiting(truth):
    """The request whose turn comes next; -1 if none waits."""
    io, best = truth.io, -1
    for i in range(io.plan[0]["n"]):
        request = io.requests[i]
        if request["known"] and request["grant"] == 0.0 and (best < 0 or request["turn"] < io.requests[best]["turn"]):
            best = i
    return best


@kernel
def _interrupt(truth):
    """Hold what moves; it goes on before all that wait."""
    io, first = truth.io, _first_waiting(truth)
    turn = (io.requests[first]["turn"] if first >= 0 else io.plan[0]["turn"]) - 1
    for i in range(io.plan[0]["n"] - 1, -1, -1):
        request = io.requests[i]
        if request["known"] and request["grant"] > 0.0:
            request["grant"] = 0.0
            request["turn"] = turn
            turn -= 1


@kernel
def _let_on(state, truth, now):
    """Where bandwidth is left, those that wait move in their turn, as far as they disturb no other."""
    while True:
        i = _first_waiting(truth)
        if i < 0:
            return
        nodes, _, share = _moving(state, truth, now)
        if nodes > 0.0 and share + left_alone(truth, truth.io.requests[i]["job"], now)[1] > _FULL:
            return
        truth.io.requests[i]["grant"] = 1.0


@kernel
def arrange(state, truth, now):
    """Let those on that wait, then decide on each that has come, in order of arrival."""
    io = truth.io
    _let_on(state, truth, now)
    for i in range(io.plan[0]["n"]):
        request = io.requests[i]
        if request["known"]:
            continue
        nodes, left, share = _moving(state, truth, now)
        own_left, own_share = left_alone(truth, request["job"], now)
        request["grant"] = 1.0
        if nodes > 0.0 and share + own_share > _FULL:
            own_nodes = float(max(state.jobs[request["job"]]["nodes"], 1))
            waits, interrupts, shares = cost(nodes, left, share, own_nodes, own_left, own_share)
            if waits <= interrupts and waits <= shares:
                request["grant"] = 0.0
            elif interrupts <= shares:
                _interrupt(truth)
        request["known"] = 1
