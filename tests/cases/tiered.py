"""Small random workloads and machines with slow and fast storage, each the same for ever by its seed: many ties."""

import random

import polars as pl

from forebay.core.schemas import PHASE_SCHEMA
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import fast, slow
from forebay.workload.workload import Workload, job_table

POLICIES = ("sas", "sas-contention", "sas", "tier-slow", "tier-fast", "tier-random")
NAMES = ("fast", "faster", "fastest")


def machine(nodes, slow_rate, *fasts):
    """Nodes, the rate of the slow tier, and (capacity, rate, staging rate) of each fast one."""
    tiers = [slow.Tier(name="slow", bandwidth=float(slow_rate))]
    for name, (capacity, rate, stage) in zip(NAMES, fasts, strict=False):
        tiers.append(fast.Tier(name=name, capacity=capacity, bandwidth=float(rate), stage=float(stage)))
    return Platform(name="tiers", nodes=nodes, tiers=tuple(tiers))


def workload(jobs, phases=(), name="tiers"):
    """Jobs as dicts; phases as (job, kind, seconds or bytes)."""
    jobs = [{"run_time": row["walltime"], **row} for row in sorted(jobs, key=lambda row: (row["submit"], row["id"]))]
    rows = [
        (
            job,
            0,
            kind,
            float(size) if kind == "compute" else 0.0,
            0.0,
            0.0,
            0.0 if kind == "compute" else float(size),
            None,
        )
        for job, kind, size in phases
    ]
    frame = job_table({key: [row[key] for row in jobs] for key in jobs[0]})
    return Workload(name, frame, phases=pl.DataFrame(rows, PHASE_SCHEMA, orient="row") if rows else None)


class _Maker:
    def __init__(self, seed):
        self.rng = rng = random.Random(f"tiers {seed}")
        # In whole numbers over powers of two sums are exact, so that ties are ties; else nothing ties.
        self.whole = rng.random() < 0.6
        self.nodes = rng.randint(2, 8)
        rate = 2 ** rng.randint(0, 4) if self.whole else rng.uniform(1, 20)
        self.rate, self.capacity = rate, []
        fasts = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            times, stage = (rng.choice((1, 2, 4, 8, 16)), rng.choice((0.5, 1, 2, 4, 8)))
            if not self.whole:
                times, stage = times * rng.uniform(0.7, 1.3), stage * rng.uniform(0.7, 1.3)
            self.capacity.append(0 if rng.random() < 0.05 else rng.randint(20, 400))
            fasts.append((self.capacity[-1], times * rate, stage * rate))
        self.platform = machine(self.nodes, rate, *fasts)
        self.phases = []

    def time(self, low, high):
        return float(self.rng.randint(low, high)) if self.whole else self.rng.uniform(low, high)

    def size(self):
        """Bytes to move: now and then none; about 40 s on slow storage at most."""
        if self.rng.random() < 0.25:
            return 0
        return self.rng.randint(1, 8) * max(1, int(self.rate)) * self.rng.choice((1, 1, 5)) + (
            0 if self.whole else self.rng.randint(0, 9)
        )

    def request(self, capacity):
        draw = self.rng.random()
        if draw < 0.15:
            return 0
        if draw < 0.25:
            return capacity + self.rng.randint(1, 9)
        if draw < 0.4:
            return capacity
        return self.rng.randint(1, max(1, capacity // 2))

    def job(self, number, submit):
        rng = self.rng
        row = {"id": number, "submit": submit, "nodes": rng.randint(1, max(1, self.nodes // rng.choice((1, 2, 3))))}
        if rng.random() < 0.02:
            row["nodes"] = self.nodes + 1
        row |= {name: self.request(size) for name, size in zip(NAMES, self.capacity, strict=False)}
        length, moved, steps = 0.0, 0.0, []
        for kind in ("read", *rng.choices(("compute", "checkpoint", "fetch"), k=rng.randint(1, 4)), "write"):
            size = self.time(1, 30) if kind == "compute" else self.size()
            if kind != "compute" and size == 0 and rng.random() < 0.5:
                continue
            steps.append((number, kind, size))
            length += size if kind == "compute" else 0.0
            moved += 0 if kind == "compute" else size
        row["run_time"] = length
        alone = length + moved / self.rate
        draw = rng.random()
        if not steps or draw < 0.08:  # without phases it only computes
            row["run_time"] = self.time(1, 30)
            row["walltime"] = row["run_time"] + self.time(0, 20)
            return row
        self.phases += steps
        if draw < 0.4:
            row["walltime"] = max(alone, 1.0)
        elif draw < 0.85:
            row["walltime"] = max(alone + self.time(0, 20), 1.0)
        else:  # nobody is killed; expected ends lie in the past
            row["walltime"] = max(alone * rng.choice((0.25, 0.5)), 0.5)
        return row

    def told(self, rows):
        """Users who are wrong, each in one of several ways."""
        true = {}
        for job, kind, size in self.phases:
            name = {"read": "told_input", "write": "told_output", "compute": None}.get(kind, "told_data")
            true[job, name] = true.get((job, name), 0) + int(size)
        names = self.rng.choice((("told_input", "told_output", "told_data"), ("told_input",), ("told_data",)))
        for row in rows:
            for name in names:
                right = true.get((row["id"], name), 0)
                row[name] = self.rng.choice((right, 0, 2 * right, right // 2, self.size()))

    def make(self):
        rng, submit, jobs = self.rng, 0.0, []
        n = rng.randint(6, 25)
        for number in rng.sample(range(1, 3 * n), n):  # not in order of arrival: ties go by id, not by row
            jobs.append(self.job(number, submit))
            if rng.random() < 0.7:
                submit += self.time(0, 15)
        if rng.random() < 0.5:
            self.told(jobs)
        return workload(jobs, self.phases), self.platform


def make(seed):
    """A workload of 6 to 25 jobs, and a machine with one slow and one to three fast tiers."""
    return _Maker(seed).make()


def policy(seed):
    """(name, parameters, whether nodes are free while data is staged): all of them within a few dozen seeds."""
    rng = random.Random(f"policy {seed}")
    name = POLICIES[seed % len(POLICIES)]
    params = {"slot": "stay"} if seed // len(POLICIES) % 2 else {}
    if name == "tier-random":
        params["p"] = rng.choice((0.0, 0.3, 0.5, 1.0))
    return name, params, seed // (2 * len(POLICIES)) % 3 == 1


def spec(name, params):
    """A policy as users write it."""
    return name + (":" + ",".join(f"{key}={value}" for key, value in params.items()) if params else "")
