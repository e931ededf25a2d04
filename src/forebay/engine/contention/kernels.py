"""Transfers over shared links. Those that cross the same links progress alike, so a route keeps ONE virtual clock.

The clock of a route counts progress per unit of weight. A transfer's end is fixed in virtual time when it joins, and
stays fixed whatever joins or leaves later: only the clock's speed changes. So an instant costs what its routes cost,
not what its transfers do, and an end is decided in virtual time: at day 333 one ulp of real time is 19 bytes at 5 GB/s,
and a comparison of clocks would go round for ever.

Links are shared out anew once an instant, and only where it can matter: a link that its routes could not overfill even
at their caps couples nobody.

A route without links has nothing to share: each of its transfers runs at the cap from beginning to end. There a key is
the end itself, in seconds, rounded once; a clock of bytes would round at every join.
"""

from forebay._numba.jit import kernel
from forebay.algorithms.maxmin import share_bandwidth
from forebay.algorithms.queues.heap import push, remove
from forebay.algorithms.queues.pairing import push_member, remove_member
from forebay.engine.contention.made_routes import close_route

_CAPACITY, _LOAD, _CAP, _RATE, _USED, _WANTED = range(6)
_ROUTES, _LINKS, _FIRST, _CROSSED = range(4)


@kernel
def _turn(route, now):
    """Bring a route's clock to `now`."""
    if now > route["at"]:
        route["clock"] += route["rate"] * (now - route["at"])
        route["at"] = now


@kernel
def _mark(net, c):
    """Route `c` has changed, and with it all its links."""
    state, route = net.state[0], net.routes[c]
    if route["changed"] == 0:
        route["changed"] = 1
        net.pending[1, state["n_routes"]] = c
        state["n_routes"] += 1
    e = route["entry"]
    while e >= 0:
        k = net.entries[e]["link"]
        link = net.links[k]
        if link["changed"] == 0:
            link["changed"] = 1
            net.pending[0, state["n_links"]] = k
            state["n_links"] += 1
        e = net.entries[e]["next"]


@kernel
def _wake_route(net, c, now):
    """Route `c` gets its first transfer: it now counts on its links."""
    route = net.routes[c]
    route["clock"] = 0.0
    route["rate"] = 0.0
    route["at"] = now
    e = route["entry"]
    while e >= 0:
        entry = net.entries[e]
        link = net.links[entry["link"]]
        entry["before"] = -1
        entry["after"] = link["entry"]
        if link["entry"] >= 0:
            net.entries[link["entry"]]["before"] = e
        link["entry"] = e
        e = entry["next"]


@kernel
def _rest_route(net, c):
    """Route `c` has lost its last transfer."""
    state, route = net.state[0], net.routes[c]
    e = route["entry"]
    while e >= 0:
        entry = net.entries[e]
        if entry["before"] >= 0:
            net.entries[entry["before"]]["after"] = entry["after"]
        else:
            net.links[entry["link"]]["entry"] = entry["after"]
        if entry["after"] >= 0:
            net.entries[entry["after"]]["before"] = entry["before"]
        e = entry["next"]
    if net.where[c] >= 0:
        state["n_timers"] = remove(net.timers, net.where, state["n_timers"], c)
    if c >= state["n_static"]:
        close_route(net, c)


@kernel
def _add_weight(route, more):
    """Add to the weight of a route, or take off; `rest` is what rounding leaves, so that nothing adds up."""
    before = route["weight"]
    after = before + more
    grown = after - before
    route["rest"] += (before - (after - grown)) + (more - grown)
    route["weight"] = after
    if route["root"] < 0:
        route["weight"] = route["rest"] = 0.0


@kernel
def weight_of(route):
    """What the transfers of a route count as together."""
    return route["weight"] + route["rest"]


@kernel
def join(net, f, c, weight, amount, now):
    """Transfer `f` of `amount` bytes on the route's most loaded link, in `weight` streams, begins on route `c`."""
    state, route, transfer = net.state[0], net.routes[c], net.transfers[f]
    if route["root"] < 0:
        _wake_route(net, c, now)
    _turn(route, now)
    transfer["amount"] = amount
    transfer["base"] = c
    transfer["earlier"] = 0.0
    if route["entry"] < 0:
        transfer["key"] = now + amount / (weight * route["cap"])
    else:
        transfer["key"] = route["clock"] + amount / (weight * route["scale"])
    transfer["seq"] = state["seq"]
    transfer["weight"] = weight
    transfer["share"] = 1.0
    transfer["route"] = c
    state["seq"] += 1
    route["root"] = push_member(net.transfers, route["root"], f)
    route["streams"] += weight
    _add_weight(route, float(weight))
    _mark(net, c)


@kernel
def reweigh(net, f, share, now):
    """From now on each stream of transfer `f` counts as `share` of them on its route, which has no cap."""
    transfer = net.transfers[f]
    c, before = transfer["route"], transfer["share"]
    if share == before:
        return
    route = net.routes[c]
    _turn(route, now)
    route["root"] = remove_member(net.transfers, route["root"], f)
    _add_weight(route, -transfer["weight"] * before)  # not the difference, which would be rounded
    transfer["key"] = route["clock"] + (transfer["key"] - route["clock"]) * (before / share)
    transfer["share"] = share
    route["root"] = push_member(net.transfers, route["root"], f)
    _add_weight(route, transfer["weight"] * share)
    _mark(net, c)


@kernel
def _drop(net, f, time, moved):
    """Take a transfer off its route, having moved so many bytes."""
    transfer = net.transfers[f]
    c = transfer["route"]
    route = net.routes[c]
    _mark(net, c)
    e = route["entry"]
    while e >= 0:
        entry = net.entries[e]
        net.links[entry["link"]]["bytes"] += entry["unit"] * (moved - transfer["earlier"]) / route["scale"]
        e = entry["next"]
    route["root"] = remove_member(net.transfers, route["root"], f)
    route["streams"] -= transfer["weight"]
    _add_weight(route, -transfer["weight"] * transfer["share"])
    transfer["route"] = -1
    transfer["end"] = time
    if route["root"] < 0:
        _rest_route(net, c)


@kernel
def leave(net, f, now):
    """Transfer `f` stops before its end; returns the bytes it has moved."""
    transfer = net.transfers[f]
    route = net.routes[transfer["route"]]
    if route["entry"] < 0:
        left = (transfer["key"] - now) * route["cap"]
    else:
        _turn(route, now)
        left = transfer["key"] - route["clock"]
    moved = transfer["amount"] - left * (transfer["weight"] * transfer["share"] * route["scale"])
    moved = min(max(moved, 0.0), transfer["amount"])
    _drop(net, f, now, moved)
    return moved


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
        while route["root"] >= 0:
            f = route["root"]
            transfer = net.transfers[f]
            ahead = transfer["key"] - route["clock"]
            if ahead > 0.0:
                time = transfer["key"] if route["entry"] < 0 else time + ahead / route["rate"]
                if time > until:
                    break
                route["clock"] = transfer["key"]
                route["at"] = time
            ended[n] = f
            n += 1
            _drop(net, f, time, transfer["amount"])
    return n


@kernel
def _choose(net, c, n):
    """Add route `c` to the routes to be shared out, unless it is there; returns how many there are."""
    route = net.routes[c]
    if route["slot"] < 0 and route["root"] >= 0:
        route["slot"] = n
        net.chosen[_ROUTES, n] = c
        return n + 1
    return n


@kernel
def _choose_along(net, k, n):
    """Add every active route over link `k`."""
    e = net.links[k]["entry"]
    while e >= 0:
        n = _choose(net, net.entries[e]["route"], n)
        e = net.entries[e]["after"]
    return n


@kernel
def _is_tight(net, k):
    """Whether the routes over link `k` would overfill it, each at its cap."""
    most = 0.0
    e = net.links[k]["entry"]
    while e >= 0:
        entry = net.entries[e]
        route = net.routes[entry["route"]]
        most += route["cap"] * (entry["unit"] * weight_of(route))
        e = entry["after"]
    return most > net.links[k]["capacity"]


@kernel
def _choose_changed(net):
    """The routes whose rate may change: those that did change, and all over a link that is tight or just was."""
    state = net.state[0]
    n = 0
    for i in range(state["n_routes"]):
        n = _choose(net, net.pending[1, i], n)
    for i in range(state["n_links"]):
        k = net.pending[0, i]
        link = net.links[k]
        was = link["tight"]
        link["tight"] = _is_tight(net, k)
        link["changed"] = 0
        if was or link["tight"]:
            n = _choose_along(net, k, n)
    state["n_links"] = 0
    return n


@kernel
def _solve(net, n):
    """Rates of the first `n` chosen routes and of all they are coupled with; returns how many those are."""
    routes, links, first, crossed = net.chosen[_ROUTES], net.chosen[_LINKS], net.chosen[_FIRST], net.chosen[_CROSSED]
    capacity, load, cap, rate = net.share[_CAPACITY], net.share[_LOAD], net.share[_CAP], net.share[_RATE]
    n_links, n_entries, a = 0, 0, 0
    while a < n:
        route = net.routes[routes[a]]
        first[a] = n_entries
        cap[a] = route["cap"]
        e = route["entry"]
        while e >= 0:
            entry = net.entries[e]
            k = entry["link"]
            link = net.links[k]
            if link["tight"]:
                if link["slot"] < 0:
                    link["slot"] = n_links
                    links[n_links] = k
                    capacity[n_links] = link["capacity"]
                    n_links += 1
                    n = _choose_along(net, k, n)
                crossed[n_entries] = link["slot"]
                load[n_entries] = entry["unit"] * weight_of(route)
                n_entries += 1
            e = entry["next"]
        a += 1
    first[n] = n_entries
    share_bandwidth(
        capacity[:n_links],
        first[: n + 1],
        crossed[:n_entries],
        load[:n_entries],
        cap[:n],
        rate[:n],
        net.share[_USED][:n_links],
        net.share[_WANTED][:n_links],
    )
    for i in range(n_links):
        net.links[links[i]]["slot"] = -1
    return n


@kernel
def settle(net, now):
    """After all joins and leaves of an instant: share the links anew, and say when each route's next transfer ends."""
    state = net.state[0]
    if state["n_routes"] == 0:
        return
    n = _solve(net, _choose_changed(net))
    rate = net.share[_RATE]
    for a in range(n):
        c = net.chosen[_ROUTES, a]
        route = net.routes[c]
        route["slot"] = -1
        if route["rate"] == rate[a] and route["changed"] == 0:
            continue  # neither its speed nor its first transfer has changed
        _turn(route, now)
        route["rate"] = rate[a]
        if net.where[c] >= 0:
            state["n_timers"] = remove(net.timers, net.where, state["n_timers"], c)
        if rate[a] > 0.0:
            key = net.transfers[route["root"]]["key"]
            end = max(key, now) if route["entry"] < 0 else now + max(key - route["clock"], 0.0) / rate[a]
            state["n_timers"] = push(net.timers, net.where, state["n_timers"], end, c, c)
    for i in range(state["n_routes"]):
        net.routes[net.pending[1, i]]["changed"] = 0
    state["n_routes"] = 0


@kernel
def glance(net):
    """Solve for the rates at which routes will run if nothing else begins now; `rate_at` reads them.

    For who asks in the middle of an instant: nothing is shared out, and `look_away` leaves everything as it was.
    Sharing out a second time would round the ends of transfers anew. Returns how many routes were solved for.
    """
    state, n = net.state[0], 0
    if state["n_routes"] == 0:
        return 0
    for i in range(state["n_routes"]):
        n = _choose(net, net.pending[1, i], n)
    for i in range(state["n_links"]):
        k = net.pending[0, i]
        link = net.links[k]
        was = link["tight"]
        link["tight"] = _is_tight(net, k)
        link["changed"] = 3 if was else 1  # where `look_away` finds it
        if was or link["tight"]:
            n = _choose_along(net, k, n)
    return _solve(net, n)


@kernel
def rate_at(net, c):
    """The speed of the clock of route `c`, at a glance."""
    slot = net.routes[c]["slot"]
    return net.share[_RATE, slot] if slot >= 0 else net.routes[c]["rate"]


@kernel
def look_away(net, n):
    """Forget the rates of `n` routes that a glance has found."""
    for a in range(n):
        net.routes[net.chosen[_ROUTES, a]]["slot"] = -1
    for i in range(net.state[0]["n_links"]):
        link = net.links[net.pending[0, i]]
        link["tight"] = link["changed"] >> 1
        link["changed"] = 1


@kernel
def bytes_left(net, f, now):
    """Bytes that transfer `f` has still to move, which reading changes nothing of."""
    transfer = net.transfers[f]
    if transfer["route"] < 0:
        return 0.0
    route = net.routes[transfer["route"]]
    if route["entry"] < 0:
        left = (transfer["key"] - now) * route["cap"]
    else:
        left = transfer["key"] - route["clock"] - route["rate"] * max(now - route["at"], 0.0)
    return min(max(left * (transfer["weight"] * transfer["share"] * route["scale"]), 0.0), transfer["amount"])
