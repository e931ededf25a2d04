"""Jobs laid into a profile, against sums made anew at every point: pooled, in chunks, pinned, and both."""

import random
from itertools import pairwise

import numpy as np
import pytest

from forebay.algorithms.availability import layout
from forebay.engine.allocation.build import seats_of
from twins import lay
from twins.plan import Plan
from twins.times import before, width

pytestmark = pytest.mark.small

ROOM, NODES = 120, 40  # of the nodes' two words


class Pair:
    """A profile in arrays and its twin."""

    def __init__(self, rng, servers, pinned):
        self.rng, self.S, self.W, self.R = rng, servers, 2 if pinned else 0, rng.randint(1, 3)
        self.n_nodes = NODES if pinned else 0
        self.site = np.array([rng.randrange(3) for _ in range(64)])
        orders = [rng.sample(range(servers), servers) for _ in range(3)]
        if rng.random() < 0.5:
            orders[1] = orders[0]
        self.near = np.array(orders, np.int64).reshape(3, servers)
        self.seats = seats_of(self.site, self.near)
        self.shape = lay.Shape(self.R, servers, self.n_nodes, lambda node: orders[self.site[node]])
        clock = rng.choice((lambda: float(rng.randint(1, 20)), lambda: rng.randint(1, 200) / 10))
        self.clock = clock
        held = set(rng.sample(range(NODES), rng.randint(0, 30)))
        free = self.row(rng.randint(0, 20), [rng.randint(0, 30) for _ in range(servers)], set(range(NODES)) - held)
        self.twin = Plan(0.0, free)
        while held:
            some = {held.pop() for _ in range(min(len(held), rng.randint(1, 6)))}
            self.twin.returns.append((clock(), np.array(self.row(rng.randint(0, 3), [5] * servers, some))))
        times = sorted({0.0, *(time for time, _ in self.twin.returns)})
        kept = [times[0]]
        kept += [b for a, b in pairwise(times) if before(a, b)]
        self.times, self.free, self.n = np.zeros(ROOM), np.zeros((ROOM, self.columns() + self.W), np.int64), len(kept)
        self.times[: self.n] = kept
        for i, time in enumerate(kept):
            self.free[i, : self.columns()] = self.packed(self.twin.at(time))

    def columns(self):
        return self.R + self.S + self.W

    def row(self, count, servers, nodes):
        return [*[count] * self.R, *servers, *(int(node in nodes) for node in range(self.n_nodes))]

    def packed(self, row):
        """A row of the twin with its nodes as words of bits."""
        words = [0] * self.W
        for node in range(self.n_nodes):
            words[node // 32] |= int(row[self.R + self.S + node]) << node % 32
        return [*(int(amount) for amount in row[: self.R + self.S]), *words]

    def lay(self):
        rng = self.rng
        demand = [rng.randint(0, 8), *(rng.randint(0, 6) for _ in range(self.R - 1))]
        size = rng.choice((0, 3, 7)) if self.S else 0
        chunks = max(demand[0], 1) if size else 0
        duration = rng.choice((self.clock(), self.clock(), float("inf")) if rng.random() < 0.2 else (self.clock(),))
        expected = lay.lay(self.shape, self.twin, demand, duration, size, chunks)
        scratch = np.zeros(self.columns(), np.int64), np.zeros(self.columns(), np.int64)
        at, self.n = layout.lay(
            self.times, self.free, self.n, np.array(demand, np.int64), duration, size, chunks, self.R, self.S, self.W,
            self.seats, self.near, *scratch, np.zeros((0, 2), np.int64), -1,
        )  # fmt: skip
        if at < 0:
            assert expected == float("inf")
        else:
            assert self.times[at] == pytest.approx(expected, abs=1e-9)

    def check(self):
        """Counts and servers at every point; nodes are seen by the next job that is laid."""
        for time in sorted({0.0, *(t for t in self.twin.changes() if t < float("inf"))}):
            i = max(k for k in range(self.n) if self.times[k] <= time + width(time))
            counted = self.packed(self.twin.at(time))[: self.R + self.S]
            assert self.free[i, : self.R + self.S].tolist() == counted


@pytest.mark.parametrize("pinned", [False, True], ids=["counted", "pinned"])
@pytest.mark.parametrize("servers", [0, 4], ids=["pooled", "chunked"])
@pytest.mark.parametrize("seed", range(8))
def test_jobs_go_where_the_twin_puts_them(servers, pinned, seed):
    pair = Pair(random.Random(f"{seed} {servers} {pinned}"), servers, pinned)
    for _ in range(12):
        pair.lay()
        pair.check()
