"""Routes that are made and unmade on the way, for one transfer or for some that are alike."""

from forebay._numba.jit import kernel


@kernel
def open_route(net, cap):
    """A route of its own for one transfer: add its links with `cross`. It goes when its transfer does."""
    state = net.state[0]
    c = state["blank_route"]
    route = net.routes[c]
    state["blank_route"] = route["entry"]
    route["entry"] = -1
    route["cap"] = cap
    route["scale"] = 1.0
    route["like"] = -1
    return c


@kernel
def cross(net, c, k, unit):
    """Let route `c` cross link `k`, with `unit` of load for each unit of progress."""
    state = net.state[0]
    e = state["blank_entry"]
    entry = net.entries[e]
    state["blank_entry"] = entry["next"]
    entry["unit"] = unit
    entry["route"] = c
    entry["link"] = k
    entry["next"] = net.routes[c]["entry"]
    net.routes[c]["entry"] = e


@kernel
def close_route(net, c):
    """Route `c`, made on the way, has lost its transfer: hand back its rows."""
    state, route = net.state[0], net.routes[c]
    e = route["entry"]
    while e >= 0:
        following = net.entries[e]["next"]
        net.entries[e]["next"] = state["blank_entry"]
        state["blank_entry"] = e
        e = following
    route["entry"] = state["blank_route"]
    state["blank_route"] = c
