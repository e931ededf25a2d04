"""The slow twin of plan-based scheduling: every plan made from nothing, every score summed anew.

Written from Kopański & Rządca (2021), Algorithm 2, and from the rules for ties: orders are tried in lexicographic
order, candidates in theirs, and of equal scores the first counts. Random numbers are drawn three a move: two places,
then whether to accept; with insertions a fourth, the kind of move, before the last.
"""

import math
from itertools import permutations

import numpy as np

from twins import run as naive

DEFAULTS = {
    "alpha": 2.0, "exhaustive": 5, "rate": 0.9, "steps": 30, "moves": 6, "floor": 1.0, "heat": 1.0,
    "insertions": 0.0, "keep": False,
}  # fmt: skip


class Run(naive.Run):
    """A run that plans, on pooled resources."""

    def __init__(self, workload, platform, params, kill=True, seed=0, limits=None):
        super().__init__(workload, platform, {}, kill, limits=limits)
        self.plan = DEFAULTS | params
        self.rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
        self.ranks = {}
        self.scores = []  # (jobs, score) of each search

    def decide(self, now):
        allowed = [job for job in self.queue if job.leg > 0 or not self.over_limit(job)]
        self.beside = {}
        if not any(self.fits_now(job) for job in allowed):
            return
        order = self.best_order(allowed, now) if len(allowed) > 1 else allowed
        if len(allowed) > 1:
            self.ranks |= {job.id: rank for rank, job in enumerate(order)}
        reservations = []
        for job in order:
            if self.can_start(job, now, reservations):
                self.start_beside(job, now, reservations)
            else:
                reservations.append((job, self.earliest(self.profile(now, reservations), job)))

    def score(self, order, now):
        """Waits to the power alpha, of all jobs laid out in this order.

        Who could not start even alone counts nothing, whom others keep out for ever counts ten years.
        """
        profile, total = self.profile(now, []), 0.0
        for job in order:
            start = self.earliest(profile, job)
            if start < math.inf:
                self.reserve(profile, job, start)
                total += max(start - now + (now - job.submit), 0.0) ** self.plan["alpha"]
            elif self.earliest(self.profile(now, []), job) < math.inf:
                total += (3.2e8 + (now - job.submit)) ** self.plan["alpha"]
        return float(np.rint(total))

    def candidates(self, jobs):
        """Arrival; nodes and the two ratios down and up; walltimes up and down; the last plan's."""

        def per_node(job):
            return job.needs()[1] / max(job.needs()[0], 1) if len(job.needs()) > 1 else 0.0

        keys = (
            lambda job: job.needs()[0],
            per_node,
            lambda job: per_node(job) / max(job.needs()[0], 1),
        )
        orders = [list(jobs)]
        for key in keys:
            orders += [sorted(jobs, key=lambda job, key=key: -key(job)), sorted(jobs, key=key)]
        orders += [sorted(jobs, key=lambda job: job.legs[job.leg].walltime)]
        orders += [sorted(jobs, key=lambda job: -job.legs[job.leg].walltime)]
        if self.plan["keep"]:
            orders.append(sorted(jobs, key=lambda job: self.ranks.get(job.id, math.inf)))
        return orders

    def best_order(self, jobs, now):
        plan, n = self.plan, len(jobs)
        if n <= plan["exhaustive"]:
            best = min(map(list, permutations(jobs)), key=lambda order: self.score(order, now))
            self.scores.append((n, self.score(best, now)))
            return best
        orders = self.candidates(jobs)
        scores = [self.score(order, now) for order in orders]
        best_score, worst = min(scores), max(scores)
        best = orders[scores.index(best_score)]
        if best_score == worst:
            return best
        order, score, temperature = list(best), best_score, plan["heat"] * (worst - best_score)
        for _ in range(plan["steps"]):
            for _ in range(plan["moves"]):
                i, j = int(self.rng.random() * n), int(self.rng.random() * n)
                inserts = plan["insertions"] > 0 and self.rng.random() < plan["insertions"]
                u = self.rng.random()
                tried = list(order)
                if inserts:
                    tried.insert(j, tried.pop(i))
                else:
                    tried[i], tried[j] = tried[j], tried[i]
                new = self.score(tried, now)
                if new <= score or (temperature > 0 and u < math.exp((score - new) / temperature)):
                    order, score = tried, new
                    if score < best_score:
                        best, best_score = list(order), score
            temperature = max(plan["rate"] * temperature, plan["floor"])
        self.scores.append((n, best_score))
        return best


def simulate(workload, platform, params, kill=True, seed=0, limits=None):
    """The finished Run of `workload`."""
    run = Run(workload, platform, params, kill, seed, limits)
    while run.events:
        run.instant()
    return run
