"""Small random workloads, each the same for ever by its seed: many ties, every shape of job that a run must survive."""

import dataclasses
import itertools
import math
import random

import polars as pl

from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.platforms import NodeClass, Partition
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import node_local, pool
from forebay.workload.workload import Workload, job_table

NAMES = ("nodes", "burst_buffer", "ssd", "licences")
KINDS = ("compute", "stage_in", "stage_out", "write")
CLOCKS = {
    "integer": lambda rng, low, high: float(rng.randint(low, high)),
    # Tenths do not add up exactly in floats: 0.1 + 0.2 and 0.3 are two ends that must be one instant.
    "tenths": lambda rng, low, high: rng.randint(10 * low, 10 * high) / 10,
    "any": lambda rng, low, high: rng.uniform(low, high),
}


def platform(*capacities):
    """A machine with these capacities, nodes first."""
    tiers = [pool.Tier(name=name, capacity=size) for name, size in zip(NAMES[1:], capacities[1:], strict=False)]
    return Platform(name="random", nodes=capacities[0], tiers=tuple(tiers))


def workload(jobs, legs=(), phases=(), name="random"):
    """A Workload of rows as dicts; what they leave out is neutral."""
    jobs = [{"run_time": row["walltime"], **row} for row in sorted(jobs, key=lambda row: (row["submit"], row["id"]))]
    frame = job_table({key: [row[key] for row in jobs] for key in jobs[0]})
    if not legs:
        return Workload(name, frame)
    pools = {key: pl.Int64 for key in legs[0] if key not in LEG_SCHEMA}
    phases = [
        {"kind": "compute", "flop": 0.0, "communication": 0.0, "bytes": 0.0, "release": None, **row} for row in phases
    ]
    return Workload(
        name,
        frame,
        legs=pl.DataFrame(list(legs), schema=LEG_SCHEMA | pools),
        phases=pl.DataFrame(phases, schema=PHASE_SCHEMA),
    )


class _Maker:
    def __init__(self, seed, legs):
        self.rng = rng = random.Random(seed)
        self.parts = random.Random(f"parts {seed}")
        self.legs_allowed = legs
        self.clock = rng.choice(list(CLOCKS))
        self.capacities = [rng.randint(2, 12), *(rng.randint(3, 20) for _ in range(rng.randint(0, 3)))]
        self.names = NAMES[: len(self.capacities)]
        self.legs, self.phases = [], []

    def time(self, low, high):
        return CLOCKS[self.clock](self.rng, low, high)

    def demand(self):
        """Small demands mostly; now and then exactly all of a resource, or none of it."""
        amounts = {}
        for name, capacity in zip(self.names, self.capacities, strict=True):
            most = capacity if self.rng.random() < 0.3 else max(1, capacity // 2)
            amounts[name] = 0 if self.rng.random() < 0.2 else self.rng.randint(0, most)
        return amounts

    def walltime(self, length, nodes=0):
        """Above, equal to or below the true length, or no limit (with nodes: 0 times infinity is no area)."""
        kind = self.rng.random()
        if kind < 0.05 and nodes:
            return math.inf
        if kind < 0.4:
            return max(length, 0.1)
        if kind < 0.85:
            return length + self.time(1, 10)
        return max(length * self.rng.choice((0.5, 0.75)), 0.1)

    def leg(self, job, number):
        """A leg with one to three phases; returns its walltime and nodes."""
        rng, length, demand = self.rng, 0.0, self.demand()
        held, left = [name for name, amount in demand.items() if amount], dict(demand)
        for _ in range(rng.randint(1, 3)):
            seconds = 0.0 if rng.random() < 0.15 else self.time(1, 12)
            flop = 1e9 * rng.randint(0, 2)
            release = held.pop(rng.randrange(len(held))) if held and rng.random() < 0.25 else None
            row = {"job": job, "leg": number, "kind": rng.choice(KINDS), "seconds": seconds}
            self.phases.append(row | {"flop": flop, "release": self.part(release, left)})
            length += seconds + flop / 1e9
        carry = " ".join(name for name in self.names if rng.random() < 0.5) if number else ""
        row = {"job": job, "leg": number, "walltime": self.walltime(length), "carry": carry, **demand}
        self.legs.append(row)
        return row["walltime"], row["nodes"]

    def part(self, release, left):
        """A release as it is, or of a part of what is left; now and then of a part where there was none."""
        draw, rest = self.parts.random(), [name for name, amount in left.items() if amount]
        if release is None and rest and draw < 0.15:
            release = self.parts.choice(rest)
        elif release not in rest or draw < 0.5:
            left.pop(release, None)
            return release
        amount = self.parts.randint(1, left[release])
        left[release] -= amount
        return f"{release}={amount}"

    def job(self, job, submit):
        rng = self.rng
        length = 0.0 if rng.random() < 0.05 else self.time(1, 20)
        row = {"id": job, "submit": submit, "run_time": length, **self.demand()}
        row["walltime"] = self.walltime(length, row["nodes"])
        row |= {name: rng.randint(0, 3) for name in ("user", "group", "queue")}
        row["priority"] = float(rng.randint(0, 3))
        if rng.random() < 0.04:
            row[rng.choice(self.names)] += max(self.capacities)  # too large
        if self.legs_allowed and rng.random() < 0.4:
            legs = [self.leg(job, number) for number in range(rng.randint(1, 3))]
            row |= {"walltime": sum(walltime for walltime, _ in legs), "nodes": max(nodes for _, nodes in legs)}
        return row

    def make(self):
        rng = self.rng
        n = rng.randint(5, 40)
        ids = rng.sample(range(1, 3 * n), n)  # not in order of arrival: ties go by id, not by row
        submit, jobs = 0.0, []
        for job in ids:
            jobs.append(self.job(job, submit))
            if rng.random() < 0.6:  # else the next one arrives at the same time
                submit += self.time(0, 6)
        return workload(jobs, self.legs, self.phases), platform(*self.capacities)


def make(seed, legs=True):
    """A workload of 5 to 40 jobs and the machine that it fits."""
    return _Maker(seed, legs).make()


def with_kinds(w, machine, seed):
    """The same jobs with a local device to fill, on a machine where some nodes have a larger one than the others."""
    rng = random.Random(f"kinds {seed}")
    small = rng.randint(2, 9)
    device = node_local.Tier(
        name="ssd", capacity=small, large=small + rng.randint(1, 9), large_nodes=rng.randint(1, machine.nodes - 1)
    )
    tiers = [tier for tier in machine.tiers if tier.name != "ssd"]

    def a_node():
        kind = rng.random()
        low, high = (0, 0) if kind < 0.15 else (1, small) if kind < 0.6 else (small + 1, device.large)
        return rng.randint(low, high) + (device.large if kind > 0.98 else 0)  # too large, now and then

    def asking(frame):
        # A job's bytes need not be a multiple of its nodes.
        asked = [max(n * a_node() - rng.randint(0, 1), 0) for n in frame["nodes"].to_list()]
        return frame.with_columns(ssd=pl.Series(asked, dtype=pl.Int64))

    changes = {"jobs": asking(w.jobs)}
    if w.legs is not None:
        carried = pl.col("carry").str.replace_all(r"\bnodes\b", "").str.replace_all(r"\bssd\b", "")
        changes["legs"] = asking(w.legs.with_columns(carry=carried.str.strip_chars()))
        of_ssd = pl.col("release").str.starts_with("ssd")
        changes["phases"] = w.phases.with_columns(release=pl.when(of_ssd).then(None).otherwise("release"))
    return dataclasses.replace(w, **changes), Platform(name="kinds", nodes=machine.nodes, tiers=(*tiers, device))


def with_classes(w, machine, seed):
    """The same jobs in partitions, some asking for features, on a machine whose nodes classes and partitions divide."""
    rng, nodes = random.Random(f"classes {seed}"), machine.nodes
    cuts = sorted(rng.sample(range(1, nodes), min(rng.randint(0, 2), nodes - 1)))
    sizes = [end - begin for begin, end in itertools.pairwise((0, *cuts, nodes))]
    classes = tuple(
        NodeClass(name=f"c{k}", nodes=n, memory=rng.choice((None, 4, 8)), features=rng.sample("xy", rng.randint(0, 2)))
        for k, n in enumerate(sizes)
    )
    partitions = [Partition(name="all", nodes="all", default=True)]
    for k in range(rng.randint(0, 3)):
        first = rng.randrange(nodes)
        some = {"nodes": f"{first}-{rng.randrange(first, nodes)}"}
        if rng.random() < 0.4:
            some = {"classes": [one.name for one in rng.sample(classes, rng.randint(1, len(classes)))]}
        partitions.append(Partition(name=f"p{k}", **some))
    known = [one.name for one in partitions]
    queues = known + [",".join(rng.sample(known, 2)) for _ in range(2) if len(known) > 1]
    features = ("x", "y", "x&y")
    names = {"queue": dict(enumerate(queues)), "features": dict(enumerate(features))}

    def column(low, high):
        return pl.Series([rng.randint(low, high) for _ in range(len(w))], dtype=pl.Int64)

    some = {"features": pl.when(column(0, 9) < 7).then(-1).otherwise(column(0, len(features) - 1))}
    some["memory"] = pl.when(column(0, 9) < 7).then(0).otherwise(column(1, 9) * pl.col("nodes"))
    changes = {"jobs": w.jobs.with_columns(queue=column(-1, len(queues) - 1), **some), "names": names}
    if w.legs is not None:
        carried = pl.col("carry").str.replace_all(r"\bnodes\b", "").str.strip_chars()
        changes["legs"] = w.legs.with_columns(carry=carried)
    own = {"classes": classes} if rng.random() < 0.7 else {}
    if not own:
        partitions = [one for one in partitions if not one.classes]
        left = {one.name for one in partitions}
        queues = [",".join(word for word in queue.split(",") if word in left) for queue in queues]
        changes["names"] = {"queue": {k: queue or "all" for k, queue in enumerate(queues)}}
        changes["jobs"] = changes["jobs"].drop("features", "memory")
    return dataclasses.replace(w, **changes), Platform(
        name="classes", nodes=nodes, tiers=machine.tiers, partitions=tuple(partitions), **own
    )


def without(w, unwanted):
    """The same jobs but for those with such ids."""
    return dataclasses.replace(w, jobs=w.jobs.filter(~pl.Series([unwanted(job) for job in w.jobs["id"]])))


def with_cancels(w, seed):
    """The same jobs; a third of them are withdrawn, soon or late."""
    rng = random.Random(f"cancel {seed}")
    cancel = [rng.choice((0.5, 1.0, 3.0, 7.0, 15.0, 40.0)) if rng.random() < 0.35 else math.inf for _ in range(len(w))]
    return dataclasses.replace(w, jobs=w.jobs.with_columns(cancel=pl.Series(cancel, dtype=pl.Float64)))


def limits(seed):
    """Random limits, tight enough to bind."""
    rng = random.Random(f"limits {seed}")
    return {
        "run_time": rng.choice((math.inf, math.inf, 15.0)),
        "user_jobs": rng.choice((1, 2, 3, 2**53)),
        "user_nodes": rng.choice((2, 4, 8, 2**53)),
        "over": rng.choice(("hold", "hold", "reject")),
    }


def policy(seed, unlimited):
    """Random parameters of the family; `unlimited` is what stands for 'all'."""
    rng = random.Random(-1 - seed)
    columns = ("walltime", "priority", "nodes", "area", "user", "group", "queue")
    by_column = rng.random() < 0.5
    return {
        "order": rng.choice(columns) if by_column else "arrival",
        "descending": by_column and rng.random() < 0.5,
        "backfill_order": rng.choice(("as-queued", *columns)),
        "depth": rng.choice((0, 1, 1, 2, 3, 5, unlimited)),
        "max_backfill": rng.choice((0, 1, 2, 4, 8, unlimited, unlimited)),
        "reserve": rng.choice(("nodes", "all")),
    }
