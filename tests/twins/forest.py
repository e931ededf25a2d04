"""The index over a long line as plain lists: who was put where. Who fits is looked for job by job."""

import math


def n_rows(n_places):
    """A head; for each 64 places as many rows of jobs, and 16 for a tree of 8 leaves."""
    return 1 + sum(64 + 16 for _ in range(0, n_places, 64))


class Line:
    """Jobs as they were put into rows: (place, seconds, demand)."""

    def __init__(self):
        self.rows, self.stretches = {}, {}

    def put(self, at, place, seconds, demand):
        self.rows[at] = place, seconds, demand

    def grow(self, begin, n_jobs):
        self.stretches[begin] = [self.rows[at] for at in range(begin, begin + n_jobs)]

    def find(self, begin, line, place, longest, free, spare):
        """The first who fits, whole seconds counted; infinity if nobody does."""

        def fits(seconds, demand):
            return all(a <= b for a, b in zip(demand, free, strict=True)) and (
                math.floor(min(seconds, 2.0**62)) <= longest or all(demand[r] <= spare[r] for r in range(len(spare)))
            )

        able = [p for p, s, d in self.stretches[begin] if p >= place and line[p] >= 0 and fits(s, d)]
        return min(able, default=math.inf)
