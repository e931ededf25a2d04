"""Slow twins of sharing links: exact fractions, transfer by transfer."""

import math
from fractions import Fraction


def share_bandwidth(capacity, transfers):
    """The rate per unit of weight of each (weight, cap, {link: load}), in exact fractions, transfer by transfer.

    All rise together; at each step one looks for the next that must stop, and stops it.
    """
    capacity = [Fraction(c) for c in capacity]
    rates = {}
    while len(rates) < len(transfers):
        rising = [i for i in range(len(transfers)) if i not in rates]
        levels = {i: Fraction(transfers[i][1]) if transfers[i][1] < math.inf else None for i in rising}
        for k, room in enumerate(capacity):
            crossing = [i for i in rising if transfers[i][2].get(k, 0) > 0]
            taken = sum(rates[i] * transfers[i][0] * Fraction(transfers[i][2].get(k, 0)) for i in rates)
            wanted = sum(transfers[i][0] * Fraction(transfers[i][2][k]) for i in crossing)
            for i in crossing:
                level = (room - taken) / wanted
                levels[i] = level if levels[i] is None else min(levels[i], level)
        lowest = min(level for level in levels.values() if level is not None)
        rates |= {i: lowest for i in rising if levels[i] == lowest}
    return [rates[i] for i in range(len(transfers))]


def transfers(capacity, routes, events):
    """When each transfer ends, in exact fractions: every remaining byte counted down, transfer by transfer.

    Routes are (cap per unit of weight, {link: load}); events (time, "join", name, route, weight, amount) or
    (time, "leave", name), by time. Ends come before what happens at the same time.
    """
    left, ends, now, events = {}, {}, Fraction(0), list(events)
    while left or events:
        names = list(left)
        rates = share_bandwidth(capacity, [(left[name][1], *routes[left[name][0]]) for name in names])
        speed = {name: rate * left[name][1] for name, rate in zip(names, rates, strict=True)}
        first = min((now + left[name][2] / speed[name] for name in names if speed[name] > 0), default=None)
        if first is None and not events:
            return ends
        upcoming = Fraction(events[0][0]) if events else None
        then = min(time for time in (first, upcoming) if time is not None)
        for name in names:
            route, weight, amount = left[name]
            left[name] = (route, weight, amount - speed[name] * (then - now))
        now = then
        ended = [name for name in names if left[name][2] == 0]
        for name in ended:
            ends[name] = now
            del left[name]
        while not ended and events and Fraction(events[0][0]) == now:
            _, kind, name, *rest = events.pop(0)
            if kind == "join":
                left[name] = (rest[0], rest[1], Fraction(rest[2]))
            else:
                left.pop(name, None)
    return ends


def steered(capacity, routes, events):
    """The same where transfers have shares of their own and caps, which (time, "steer", name, share, cap) changes.

    A transfer of `weight` streams and share s rises as s x weight of them, up to `cap` bytes/s in all; 0 holds it.
    """
    left, ends, now, events = {}, {}, Fraction(0), list(events)
    while left or events:
        names = [name for name in left if left[name]["cap"] > 0]
        rows = []
        for name in names:
            own, (limit, loads) = left[name], routes[left[name]["route"]]
            weight = own["weight"] * own["share"]
            most = min(limit * own["weight"], own["cap"])
            rows.append((weight, most if most == math.inf else Fraction(most) / weight, loads))
        rates = share_bandwidth(capacity, rows)
        speed = {name: rate * row[0] for name, rate, row in zip(names, rates, rows, strict=True)}
        first = min((now + left[name]["amount"] / speed[name] for name in names), default=None)
        if first is None and not events:
            return ends
        upcoming = Fraction(events[0][0]) if events else None
        then = min(time for time in (first, upcoming) if time is not None)
        for name in names:
            left[name]["amount"] -= speed[name] * (then - now)
        now = then
        ended = [name for name in names if left[name]["amount"] == 0]
        ends |= dict.fromkeys(ended, now)
        left = {name: own for name, own in left.items() if name not in ended}
        while not ended and events and Fraction(events[0][0]) == now:
            _, kind, name, *rest = events.pop(0)
            if kind == "join":
                own = {"route": rest[0], "weight": rest[1], "amount": Fraction(rest[2])}
                left[name] = own | {"share": Fraction(1), "cap": math.inf}
            elif name in left:
                left[name] |= {"share": Fraction(rest[0]), "cap": rest[1]}
    return ends
