"""The index over a long line as plain lists: who was put where. Who fits is looked for job by job."""

import math


def n_rows(n_places):
    """A head; for each 64 places as many rows of jobs, and 16 for a tree of 8 leaves."""
    return 1 + sum(64 + 16 for _ in range(0, n_places, 64))


class Line:
    """Jobs as they were put into rows: (place, seconds, demand), and what they ask of a node: (amounts, atoms)."""

    def __init__(self):
        self.rows, self.stretches, self.inside = {}, {}, {}

    def put(self, at, place, seconds, demand):
        self.rows[at] = place, seconds, demand

    def put_inside(self, at, ask, atoms):
        self.inside[self.rows[at][0]] = ask, atoms

    def grow(self, begin, n_jobs):
        self.stretches[begin] = [self.rows[at] for at in range(begin, begin + n_jobs)]

    def find(self, begin, line, place, sought):
        """The first who fits, whole seconds counted; infinity if none does."""

        def held(place, boxes):
            if sought.inside == 0:
                return True
            ask, atoms = self.inside[place]
            return any(atom & atoms and all(a <= b for a, b in zip(ask, box, strict=True)) for atom, *box in boxes)

        def fits(place, seconds, demand):
            if not all(a <= b for a, b in zip(demand, sought.free, strict=True)) or not held(place, sought.now):
                return False
            if math.floor(min(seconds, 2.0**62)) <= sought.longest:
                return True
            return all(a <= b for a, b in zip(demand, sought.spare, strict=False)) and held(place, sought.beside)

        who = (p for p, s, d in self.stretches[begin] if p >= place and line[p] >= 0 and fits(p, s, d))
        return min(who, default=math.inf)
