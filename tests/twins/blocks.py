"""The index over a long line as plain lists: who was counted in which block and group. Minima are taken when asked."""

import math

BLOCK, GROUP, CLASSES = 64, 4096, 32


def n_rows(n_places):
    """A row for whoever keeps the index; for each group, and each of its 64 blocks, a row a class."""
    return 1 + sum(CLASSES + 64 * CLASSES for _ in range(0, n_places + 1, GROUP))


def walltime_class(seconds):
    """0 up to 1 s, 1 up to 2 s, 2 up to 4 s, ...; the last for all that are longer."""
    return next((c for c in range(CLASSES - 1) if seconds <= 2.0**c), CLASSES - 1)


class Line:
    """Jobs as they were counted: (seconds, demand)."""

    def __init__(self):
        self.blocks, self.groups = {}, {}

    def begin_block(self, place):
        self.blocks[place // BLOCK] = []
        if place // BLOCK % 64 == 0:
            self.groups[place // GROUP] = []

    def begin_group(self, place):
        self.blocks[place // BLOCK] = []
        self.groups[place // GROUP] = []

    def add(self, place, seconds, demand):
        self.blocks[place // BLOCK].append((seconds, demand))
        self.groups[place // GROUP].append((seconds, demand))

    def n_counted(self, place):
        return len(self.blocks[place // BLOCK])

    def sum_up(self, place, first, last):
        group = place // GROUP
        numbers = {p // BLOCK for p in range(first, last) if p // GROUP == group}
        self.groups[group] = [job for number in sorted(numbers) for job in self.blocks[number]]

    def following(self, place, end, c, free, spare):
        while place < end:
            if place % GROUP == 0 and not self._possible(self.groups[place // GROUP], c, free, spare):
                place += GROUP
            elif not self._possible(self.blocks[place // BLOCK], c, free, spare):
                place += BLOCK
            else:
                break
        return place

    @staticmethod
    def _possible(jobs, c, free, spare):
        def least(some):
            return [min((demand[r] for _, demand in some), default=math.inf) for r in range(len(free))]

        short = least([job for job in jobs if walltime_class(job[0]) <= c])
        every = least(jobs)
        return all(a <= b for a, b in zip(short, free, strict=True)) or (
            all(a <= b for a, b in zip(every, free, strict=True))
            and all(every[r] <= spare[r] for r in range(len(spare)))
        )
