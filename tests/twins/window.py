"""A slow, obvious twin of the window policies: every set of jobs is tried, then the twin of a run backfills."""

from itertools import product
from types import SimpleNamespace

import numpy as np

from twins import pareto
from twins.backfill import ALL, Backfill


class Window(Backfill):
    """A run whose queue is put in a new order at each decision. `window` has the policy's parameters."""

    def __init__(self, workload, platform, window, weights):
        super().__init__(workload, platform, {"depth": 1}, watch=self.promise)
        self.window, self.weights, self.ages, self.new = window, weights, {}, None
        self.local = None if platform.kinds is None else platform.resources.index(platform.kinds.name)
        self.promised = {}  # job id -> the first reservation that it got since its bound

    def promise(self, now, reservations):
        for job in self.queue:
            if job.id in reservations and self.ages.get(job, 0) >= self.window.bound:
                self.promised.setdefault(job.id, reservations[job.id])

    def in_line(self):
        return self.new

    def decide(self, now):
        if not self.queue:
            return
        line = sorted(self.queue, key=lambda job: self.base(job, now))
        window = line[: self.window.window]
        forced = [job for job in window if self.ages.get(job, 0) >= self.window.bound]
        chosen = self.choose([job for job in window if job not in forced], forced, now)
        first = [*forced, *chosen]
        self.new = first + [job for job in line if job not in first]
        depth = {"easy": 1, "conservative": ALL, "none": 0}[self.window.backfill]
        self.policy.depth = depth + len(forced)
        super().decide(now)
        for job in window:
            self.ages[job] = self.ages.get(job, 0) + 1

    def base(self, job, now):
        walltime = job.walltime
        if self.window.order == "sjf":
            return walltime
        if self.window.order == "wfp":
            share = (now - job.submit) / walltime
            return -share * share * share * max(job.needs()[0], 1)
        return 0

    def choose(self, jobs, forced, now):
        """Those to start, of the jobs of the window that are not forced."""
        if self.window.method == "in-order":
            return []
        plan, left = self.plan(now), self.free()[: self.space.R]
        for job in forced:
            time, row, _ = self.space.reserve(job, plan, *self.rules)
            if time == now:
                left = [have - need for have, need in zip(left, row, strict=False)]
            if row is not None:
                plan.take(row, time, job.walltime)
        some = [job for job in jobs if self.fits_beside(job, plan) and fits(job.needs(), left)]
        if self.window.method == "packing":
            return self.packed(some, left)
        points = front([job.needs() for job in some], left)
        if self.space.kinds is not None:
            points = self.front_of_kinds(some, left)
        if not some or not points:
            return []
        chosen = points[self.rule([loads for loads, _ in points], left)][1]
        return [job for job, taken in zip(some, chosen, strict=True) if taken]

    def front_of_kinds(self, jobs, left):
        """Large nodes are a mere limit. What is wasted is one more objective, unless it weighs nothing."""
        rows, more = [job.needs() for job in jobs], ()
        if self.weights[-1] > 0:
            kinds, local = self.space.kinds, self.local
            waste = [max(n * (kinds.large if big else kinds.capacity) - row[local], 0) for row in rows
                     for n, big in [(row[0], row[-1])]]  # fmt: skip
            more = waste, [row[0] - row[-1] for row in rows], left[0] - left[-1], kinds.large - kinds.capacity
        points = pareto.front(rows, left, *more, limits=1)
        return [(loads, [bits >> i & 1 for i in range(len(rows))]) for loads, bits in points]

    def use(self, loads, left):
        """Shares in use of each resource, what is in use already included; minus what is wasted of all devices."""
        if self.space.kinds is not None:
            wasted = loads[-1] / self.capacities[self.local] if len(loads) == len(left) else 0.0
            triples = zip(self.capacities[:-1], left[:-1], loads[: len(left) - 1], strict=True)
            return [*((capacity - free + load) / capacity for capacity, free, load in triples), wasted]
        triples = zip(self.capacities, left, loads, strict=True)
        return [(capacity - free + load) / capacity if capacity else 0.0 for capacity, free, load in triples]

    def rule(self, points, left):
        uses = [self.use(loads, left) for loads in points]
        if self.window.has_own_rule:
            values = [eval(self.window.rule, {}, dict(zip(("nodes", "burst_buffer"), use))) for use in uses]  # noqa: B905
            return next(k for k in range(len(values)) if all(values[k] > one - 1e-12 for one in values))
        rest = [sum(u for u, w in zip(use[1:], self.weights[1:], strict=True) if w > 0) for use in uses]
        total = [sum(u * w for u, w in zip(use, self.weights, strict=True)) for use in uses]
        best, most = 0, 0.0
        for k in range(1, len(points)):
            gain, loss = rest[k] - rest[0], uses[0][0] - uses[k][0]
            if self.window.rule == "weights":
                gain = total[k] - total[0]
            elif self.window.rule == "coded":
                gain = gain if rest[k] > 1.3 * rest[0] and loss < 0.1 else 0.0
            else:
                gain = gain if gain > self.window.factor * loss else 0.0
            if gain > most + 1e-12:
                best, most = k, gain
        return best

    def packed(self, jobs, left):
        chosen, left = [], list(left)
        while True:
            fitting = [job for job in jobs if job not in chosen and fits(job.needs(), left)]
            if not fitting:
                return [job for job in jobs if job in chosen]
            scores = [self.score(job.needs(), left) for job in fitting]
            taken = fitting[scores.index(max(scores))]
            chosen.append(taken)
            needs = self.space.needs(taken, [left])
            left = [have - need for have, need in zip(left, needs, strict=True)]

    def score(self, needs, left):
        score, n = 0.0, len(needs) - (self.space.kinds is not None)
        for weight, need, free, capacity in zip(
            self.weights[:n], needs[:n], left[:n], self.capacities[:n], strict=True
        ):
            score += weight * (need / max(capacity, 1)) * (free / max(capacity, 1))
        return score


def fits(needs, room):
    return all(need <= have for need, have in zip(needs, room, strict=True))


def front(rows, room):
    """(loads, set) of all choices that none betters, by loads, most nodes first; of equals the earliest jobs."""
    if not rows:
        return []
    found = {}
    for chosen in product((1, 0), repeat=len(rows)):  # those with the first jobs come first
        loads = tuple(sum(row[r] for row, taken in zip(rows, chosen, strict=True) if taken) for r in range(len(room)))
        if fits(loads, room):
            found.setdefault(loads, chosen)
    best = [
        (loads, chosen)
        for loads, chosen in found.items()
        if not any(other != loads and fits(loads, other) for other in found)
    ]
    return sorted(best, reverse=True)


def simulate(workload, platform, window, weights):
    """The finished run."""
    return Window(workload, platform, window, weights).finished()


class Ranked(Window):
    """The same in the order of priorities, computed as in twins.slurm_scheduler from what has run so far."""

    def __init__(self, workload, platform, window, weights, priorities):
        super().__init__(workload, platform, window, weights)
        self.priorities, self.began, self.rows, self.ended = priorities, {}, {}, {}
        self.users = dict(workload.jobs.select("id", "user").rows())

    def decide(self, now):
        """Who runs, and who no longer does, shows at each event, and nothing starts or ends in between."""
        running = {job.id for job in self.running}
        for job in self.running:
            self.began.setdefault(job.id, now)
        for one in self.began.keys() - running:
            self.ended.setdefault(one, now)
        for job in [*self.queue, *self.running]:
            self.rows.setdefault(job.id, (job.needs()[0], job.submit))
        self.ranks = {job: rank for rank, job in enumerate(self.priorities.order(self.view(now)))}
        super().decide(now)
        for job in self.running:
            self.began.setdefault(job.id, now)

    def view(self, now):
        """What the twin of priorities reads; jobs by id, the first 1."""
        kinds = [("id", int), ("user", int), ("nodes", int), ("submit", float), ("start", float), ("finish", float)]
        table = np.zeros(max(self.rows) + 1, kinds)
        table["start"] = -1
        for one, row in self.rows.items():
            table[one] = one, self.users[one], *row, self.began.get(one, -1), self.ended.get(one, -1)
        queue = np.array([job.id for job in self.queue], int)
        return SimpleNamespace(now=now, jobs=table, queue=queue, capacity=self.capacities)

    def base(self, job, now):
        return self.ranks[job.id]
