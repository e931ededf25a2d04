"""The slow twin of plan-based scheduling: every plan made from nothing, every score summed anew.

Written from Kopański & Rządca (2021), Algorithm 2, and from the rules for ties: orders are tried in lexicographic
order, candidates in theirs, and of equal scores the first counts. Random numbers are drawn three a move: two places,
then whether to accept; with insertions a fourth, the kind of move, before the last.
"""

import math
from itertools import permutations

import numpy as np

from twins.backfill import Backfill

DEFAULTS = {
    "alpha": 2.0, "exhaustive": 5, "rate": 0.9, "steps": 30, "moves": 6, "floor": 1.0, "heat": 1.0,
    "insertions": 0.0, "keep": False, "objective": "wait",
}  # fmt: skip


class Planner(Backfill):
    """A run that plans."""

    def __init__(self, workload, platform, params, job_model="alloc-only", seed=0, limits=None):
        super().__init__(workload, platform, {}, job_model, limits=limits)
        self.params = DEFAULTS | params
        self.rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
        self.ranks = {}
        self.scores = []  # (jobs, score) of each search

    def decide(self, now):
        allowed = self.allowed()
        if not any(self.fits_now(job) for job in allowed):
            return
        order = self.best_order(allowed, now) if len(allowed) > 1 else allowed
        if len(allowed) > 1:
            self.ranks |= {job.id: rank for rank, job in enumerate(order)}
        plan = self.plan(now)
        for job in order:
            if not self.start_beside(job, now, plan):
                self.reserve(job, plan)

    def costs(self, order, now):
        """Job -> its wait to the power alpha, of jobs laid out in this order.

        Who could not start even alone counts nothing, whom others keep out for ever counts ten years.
        """
        plan, costs = self.plan(now), {}
        for job in order:
            importance = self.importance(job)
            start, waited = self.reserve(job, plan), now - job.submit
            if start < math.inf:
                costs[job] = max(start - now + waited, 0.0) ** self.params["alpha"] * importance
            else:
                ever = self.reserve(job, self.plan(now)) < math.inf
                costs[job] = (3.2e8 + waited) ** self.params["alpha"] * importance if ever else 0.0
        return costs

    def importance(self, job):
        """Slowdowns are waits over lengths, of ten minutes at least."""
        if self.params["objective"] == "slowdown":
            return (600 / max(job.walltime, 600)) ** self.params["alpha"]
        return 1.0

    def score(self, order, now):
        """What all of them cost."""
        return float(np.rint(sum(self.costs(order, now).values())))

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
        orders += [sorted(jobs, key=lambda job: job.walltime)]
        orders += [sorted(jobs, key=lambda job: -job.walltime)]
        if self.params["keep"]:
            orders.append(sorted(jobs, key=lambda job: self.ranks.get(job.id, math.inf)))
        return orders

    def best_order(self, jobs, now):
        params, n = self.params, len(jobs)
        if n <= params["exhaustive"]:
            best = min(map(list, permutations(jobs)), key=lambda order: self.score(order, now))
            self.scores.append((n, self.score(best, now)))
            return best
        orders = self.candidates(jobs)
        scores = [self.score(order, now) for order in orders]
        best_score, worst = min(scores), max(scores)
        best = orders[scores.index(best_score)]
        if best_score == worst:
            return best
        order, score, temperature = list(best), best_score, params["heat"] * (worst - best_score)
        for _ in range(params["steps"]):
            for _ in range(params["moves"]):
                i, j = int(self.rng.random() * n), int(self.rng.random() * n)
                inserts = params["insertions"] > 0 and self.rng.random() < params["insertions"]
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
            temperature = max(params["rate"] * temperature, params["floor"])
        self.scores.append((n, best_score))
        return best


def simulate(workload, platform, params, job_model="alloc-only", seed=0, limits=None):
    """The finished run."""
    return Planner(workload, platform, params, job_model, seed, limits).finished()
