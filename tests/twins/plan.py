"""What will be free when, for the slow twin of a run. Amounts are rows of numbers, see space.py."""

import math

import numpy as np

from twins.times import before


class Plan:
    """What is free now, what comes back when, and what is taken from when until when."""

    def __init__(self, now, free):
        self.now, self.free = now, np.array(free)
        self.returns = []  # (time, amounts)
        self.taken = []  # (from, until, amounts)
        self.shut = []  # (from, until, amounts, columns): of what these name, nothing is there; columns count its nodes
        self.closed = []  # (time, amounts): out of reach for who ends at that very time
        self.known = {}  # time, or start and duration -> what is free then, as long as nothing changes

    def take(self, amounts, start, duration, closed=None):
        """Take `amounts` away over [start, start + duration); those `closed`, from who ends at `start` as well."""
        self.known = {}
        if closed is not None:
            self.closed.append((start, np.array(closed)))
        if start < math.inf:
            self.taken.append((start, start + duration, np.array(amounts)))

    def at(self, time):
        """What is free at `time`, added up."""
        if time not in self.known:
            left = self.free.copy()
            for back, amounts in self.returns:
                if not before(time, back):
                    left += amounts
            for start, until, amounts, columns in self.shut:
                if not before(time, start) and before(time, until):
                    nodes = max(left[0] - sum(left[column] for column in columns), 0)
                    left = np.where(np.array(amounts) > 0, 0, left)
                    left[0] = nodes
            for start, until, amounts in self.taken:
                if not before(time, start) and before(time, until):
                    left -= amounts
            self.known[time] = left
        return self.known[time]

    def changes(self):
        """Every time at which something comes back, is taken or ends."""
        return [time for time, _ in self.returns] + [time for one in self.taken + self.shut for time in one[:2]]

    def during(self, start, duration):
        """What is free at each time of [start, start + duration) at which that changes."""
        if (start, duration) not in self.known:
            inside = {time for time in self.changes() if before(start, time) and before(time, start + duration)}
            self.known[start, duration] = [self.at(time) for time in (start, *inside)]
        return self.known[start, duration]

    def least(self, start, duration):
        """The least that is free of everything at any time of [start, start + duration)."""
        least, end = np.min(self.during(start, duration), axis=0), start + duration
        for time, amounts in self.closed:
            if not before(time, end) and not before(end, time):
                least = np.where(amounts > 0, 0, least)
        return least.tolist()

    def just_before(self, time):
        """What is free in the stretch of time that ends at `time`; for now, what is free now."""
        earlier = [point for point in (self.now, *self.changes()) if before(point, time)]
        return self.at(max(earlier, default=time)).tolist()

    def candidates(self):
        """When a job could start that cannot now: when something comes back. And now."""
        times = [time for time, _ in self.returns] + [one[1] for one in self.taken + self.shut]
        return sorted({self.now, *(time for time in times if self.now < time < math.inf)})
