"""Slow twins of time: which times count as equal, what is free when, and which nodes are."""

import math


def width(time):
    """How far apart two times may be and still count as equal."""
    return min(1e-9 * max(1.0, abs(time)), 1e-6)


def before(a, b):
    """Whether `a` is truly earlier than `b`."""
    return a < b and (b - a > 1e-6 or b - a > width(b))  # no width is larger, and most gaps are


class Profile:
    """What will be free when: what is free now, what comes back when, and what is reserved from when until when."""

    def __init__(self, now, free):
        self.now, self.free = now, list(free)
        self.returns = []  # (time, amounts)
        self.taken = []  # (from, until, amounts)

    def points(self):
        """Every time at which something changes, and now."""
        times = [time for time, _ in self.returns]
        times += [time for start, until, _ in self.taken for time in (start, until)]
        return sorted({self.now, *(time for time in times if self.now < time < math.inf)})

    def at(self, time):
        """What is free at `time`, added up."""
        left = list(self.free)
        for back, amounts in self.returns:
            if not before(time, back):
                left = [a + b for a, b in zip(left, amounts, strict=True)]
        for start, until, amounts in self.taken:
            if not before(time, start) and before(time, until):
                left = [a - b for a, b in zip(left, amounts, strict=True)]
        return left

    def fits(self, demand, start, duration):
        """Whether `demand` is free at every point of [start, start + duration)."""
        inside = [point for point in self.points() if before(start, point) and before(point, start + duration)]
        return all(need <= have for time in [start, *inside] for need, have in zip(demand, self.at(time), strict=True))

    def earliest(self, demand, duration):
        """The first point from which `demand` is free for `duration`; infinity if there is none."""
        for point in self.points():
            if self.fits(demand, point, duration):
                return point
        return math.inf

    def reserve(self, demand, start, duration):
        """Take `demand` away over [start, start + duration)."""
        self.taken.append((start, start + duration, list(demand)))


class Calendar:
    """Which nodes are free when, as sets; see Profile."""

    def __init__(self, now, nodes):
        self.now, self.nodes = now, set(nodes)
        self.returns = []  # (time, nodes)
        self.taken = []  # (from, until, nodes)
        self.closed = []  # (time, nodes)

    def at(self, time):
        """The nodes that are free at `time`."""
        free = self.nodes.union(*(nodes for back, nodes in self.returns if not before(time, back)))
        gone = (nodes for start, until, nodes in self.taken if not before(time, start) and before(time, until))
        return free.difference(*gone)

    def points(self):
        """Every time at which something changes, and now."""
        times = [time for time, _ in self.returns] + [time for *both, _ in self.taken for time in both]
        return sorted({self.now, *(time for time in times if self.now < time < math.inf)})

    def during(self, start, until):
        """The nodes that are free at all times from `start` until just before `until`, and may be held up to then."""
        inside = (point for point in self.points() if before(start, point) and before(point, until))
        free = self.at(start).intersection(*map(self.at, inside))
        return free.difference(*(nodes for t, nodes in self.closed if not before(t, until) and not before(until, t)))

    def take(self, nodes, start, until):
        """Take `nodes` away over [start, until)."""
        self.taken.append((start, until, set(nodes)))

    def close(self, nodes, time):
        """Close `nodes` to all that ends at `time`."""
        self.closed.append((time, set(nodes)))
