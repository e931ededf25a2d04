"""Transfers over shared links. Those that cross the same links progress alike, so a route keeps ONE virtual clock.

The clock of a route counts progress per unit of weight. A transfer's end is fixed in virtual time when it joins, and
stays fixed whatever joins or leaves later: only the clock's speed changes. So an instant costs what its routes cost,
not what its transfers do, and an end is decided in virtual time: at day 333 one ulp of real time is 19 bytes at 5 GB/s,
and a comparison of clocks would go round for ever.
"""

from typing import NamedTuple

import numpy as np

from forebay._jit import kernel
from forebay.algorithms.heap import TIMER, push, remove
from forebay.algorithms.maxmin import share_bandwidth
from forebay.algorithms.pairing import MEMBER, push_member, remove_member

ROUTE = np.dtype(
    [
        ("clock", "f8"),  # progress per unit of weight, at time `at`
        ("at", "f8"),
        ("rate", "f8"),  # of the clock
        ("cap", "f8"),  # the fastest it may run
        ("weight", "i8"),  # of all its transfers
        ("root", "i8"),  # the transfer that ends first, see algorithms.pairing; -1 = none
        ("place", "i8"),  # among the active routes; -1 = idle
    ],
    align=True,
)
TRANSFER = np.dtype(
    [*((name, MEMBER[name]) for name in MEMBER.names or ()), ("weight", "i8"), ("route", "i8")], align=True
)
NETWORK = np.dtype([("n_timers", "i8"), ("n_active", "i8"), ("seq", "i8"), ("changed", "i1")], align=True)


class Network(NamedTuple):
    """Links, routes over them, and the transfers under way. Route c crosses links[first[c]:first[c + 1]]."""

    state: np.ndarray  # NETWORK, one row
    capacity: np.ndarray  # float64[link], bytes per second
    routes: np.ndarray  # ROUTE
    first: np.ndarray  # int64[route + 1]
    links: np.ndarray  # int64
    unit: np.ndarray  # float64: load that a unit of weight puts on the link of the same place; 1 on the most loaded
    transfers: np.ndarray  # TRANSFER, the caller's rows
    active: np.ndarray  # int64: routes with transfers, the first n_active
    timers: np.ndarray  # TIMER heap, slot = route
    where: np.ndarray  # int64[route]
    share: np.ndarray  # float64[4, ...] scratch for the solver, by entry or route
    entry: np.ndarray  # int64[2, ...] scratch for the solver


def make_network(capacity: list[float], routes: list[tuple[float, dict[int, float]]], n_transfers: int) -> Network:
    """An idle network. A route is (cap, {link: load}); loads are relative to its most loaded link."""
    n, n_entries = len(routes), sum(len(loads) for _, loads in routes)
    table = np.zeros(n, ROUTE)
    table["cap"], table["root"], table["place"] = [cap for cap, _ in routes], -1, -1
    most = max(n_entries, n, len(capacity)) + 1
    return Network(
        state=np.zeros(1, NETWORK),
        capacity=np.array(capacity, float),
        routes=table,
        first=np.cumsum([0, *(len(loads) for _, loads in routes)]).astype(np.int64),
        links=np.array([k for _, loads in routes for k in loads], np.int64),
        unit=np.array([load for _, loads in routes for load in loads.values()], float),
        transfers=np.zeros(n_transfers, TRANSFER),
        active=np.zeros(n, np.int64),
        timers=np.zeros(n + 1, TIMER),
        where=np.full(n, -1, np.int64),
        share=np.zeros((5, most)),
        entry=np.zeros((2, most + 1), np.int64),
    )


@kernel
def _turn(route, now):
    """Bring a route's clock to `now`."""
    route["clock"] += route["rate"] * (now - route["at"])
    route["at"] = now


@kernel
def join(net, f, c, weight, amount, now):
    """Transfer `f` of `amount` bytes on the route's most loaded link, in `weight` streams, begins on route `c`."""
    state, route, transfer = net.state[0], net.routes[c], net.transfers[f]
    if route["place"] < 0:
        route["place"] = state["n_active"]
        net.active[state["n_active"]] = c
        state["n_active"] += 1
        route["clock"] = 0.0
        route["rate"] = 0.0
        route["at"] = now
    _turn(route, now)
    transfer["key"] = route["clock"] + amount / weight
    transfer["seq"] = state["seq"]
    transfer["weight"] = weight
    transfer["route"] = c
    state["seq"] += 1
    route["weight"] += weight
    route["root"] = push_member(net.transfers, route["root"], f)
    state["changed"] = 1


@kernel
def _drop(net, f):
    """Take a transfer off its route; a route without any is idle."""
    state, transfer = net.state[0], net.transfers[f]
    c = transfer["route"]
    route = net.routes[c]
    route["root"] = remove_member(net.transfers, route["root"], f)
    route["weight"] -= transfer["weight"]
    state["changed"] = 1
    if route["root"] < 0:
        state["n_active"] -= 1
        last = net.active[state["n_active"]]
        net.active[route["place"]] = last
        net.routes[last]["place"] = route["place"]
        route["place"] = -1
        if net.where[c] >= 0:
            state["n_timers"] = remove(net.timers, net.where, state["n_timers"], c)


@kernel
def leave(net, f, now):
    """Transfer `f` stops before its end."""
    _turn(net.routes[net.transfers[f]["route"]], now)
    _drop(net, f)


@kernel
def finish(net, until, ended):
    """Take off every transfer that ends by `until`; their rows go to `ended`. Returns how many.

    The clock is set to the key of the one that ends, exactly; those with the same key end with it.
    """
    state = net.state[0]
    n = 0
    while state["n_timers"] > 0 and net.timers[0]["time"] <= until:
        c, time = net.timers[0]["slot"], net.timers[0]["time"]
        state["n_timers"] = remove(net.timers, net.where, state["n_timers"], c)
        route = net.routes[c]
        route["clock"] = net.transfers[route["root"]]["key"]
        route["at"] = time
        while route["root"] >= 0 and net.transfers[route["root"]]["key"] <= route["clock"]:
            ended[n] = route["root"]
            n += 1
            _drop(net, route["root"])
    return n


@kernel
def _solve(net):
    """The rate of every active route, into the scratch row of rates."""
    n, n_entries = net.state[0]["n_active"], 0
    first, links = net.entry[0], net.entry[1]
    load, cap, rate = net.share[0], net.share[1], net.share[2]
    for a in range(n):
        c = net.active[a]
        route = net.routes[c]
        first[a] = n_entries
        cap[a] = route["cap"]
        for e in range(net.first[c], net.first[c + 1]):
            links[n_entries] = net.links[e]
            load[n_entries] = net.unit[e] * route["weight"]
            n_entries += 1
    first[n] = n_entries
    share_bandwidth(
        net.capacity,
        first[: n + 1],
        links[:n_entries],
        load[:n_entries],
        cap[:n],
        rate[:n],
        net.share[3][: len(net.capacity)],
        net.share[4][: len(net.capacity)],
    )


@kernel
def settle(net, now):
    """After all joins and leaves of an instant: share the links anew, and say when each route's next transfer ends."""
    state = net.state[0]
    if state["changed"] == 0:
        return
    state["changed"] = 0
    _solve(net)
    rate = net.share[2]
    for a in range(state["n_active"]):
        c = net.active[a]
        route = net.routes[c]
        if route["rate"] == rate[a] and net.where[c] >= 0 and route["at"] < now:
            continue  # neither its speed nor its first transfer has changed
        _turn(route, now)
        route["rate"] = rate[a]
        if net.where[c] >= 0:
            state["n_timers"] = remove(net.timers, net.where, state["n_timers"], c)
        if rate[a] > 0.0:
            left = max(net.transfers[route["root"]]["key"] - route["clock"], 0.0)
            state["n_timers"] = push(net.timers, net.where, state["n_timers"], now + left / rate[a], c, c)
