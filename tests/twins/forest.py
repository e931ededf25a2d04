"""The index over a long line as plain lists: who was put where. Who fits is looked for job by job."""

import math


def n_rows(n_places):
    """A head; for each 64 places as many rows of jobs, and 16 for a tree of 8 leaves."""
    return 1 + sum(64 + 16 for _ in range(0, n_places, 64))


def most_parts(counts, atoms, cores):
    """How many parts of so many cores there may be on nodes of which so many have 0, 1, 2, ... cores or more."""
    n = 0
    for a, row in enumerate(counts):
        exactly = [int(more) - int(next_more) for more, next_more in zip(row, [*row[1:], 0], strict=True)]
        n += sum(many * (free // cores) for free, many in enumerate(exactly)) if atoms >> a & 1 else 0
    return n


class Line:
    """Jobs as they were put into rows: (place, seconds, demand), and of nodes (amounts, atoms, parts)."""

    def __init__(self):
        self.rows, self.stretches, self.inside = {}, {}, {}

    def put(self, at, place, seconds, demand):
        self.rows[at] = place, seconds, demand

    def put_inside(self, at, ask, atoms, parts):
        self.inside[self.rows[at][0]] = ask, atoms, parts

    def grow(self, begin, n_jobs):
        self.stretches[begin] = [self.rows[at] for at in range(begin, begin + n_jobs)]

    def find(self, begin, line, place, sought):
        """The first who fits, whole seconds counted; infinity if none does."""

        def held(place, boxes, counts):
            if sought.inside == 0:
                return True
            ask, atoms, parts = self.inside[place]
            fits = any(atom & atoms and all(a <= b for a, b in zip(ask, box, strict=True)) for atom, *box in boxes)
            return fits and (parts == 1 or parts <= most_parts(counts, atoms, ask[0]))

        def fits(place, seconds, demand):
            if not all(a <= b for a, b in zip(demand, sought.free, strict=True)) or not held(
                place, sought.now, sought.now_counts
            ):
                return False
            if math.floor(min(seconds, 2.0**62)) <= sought.longest:
                return True
            return all(a <= b for a, b in zip(demand, sought.spare, strict=False)) and held(
                place, sought.beside, sought.beside_counts
            )

        who = (p for p, s, d in self.stretches[begin] if p >= place and line[p] >= 0 and fits(p, s, d))
        return min(who, default=math.inf)
