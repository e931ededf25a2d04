"""Small random workloads that move data, and machines for them, each the same for ever by its seed.

Transfers take minutes, computing hours; buffers hold a few jobs, so that demands meet on servers, links and in time.
"""

import math
import random

import polars as pl

from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import node_local, pfs, pool, shared_bb
from forebay.platforms.topologies import dragonfly, flat
from forebay.workload.workload import Workload, job_table
from twins.backfill import PRESETS

GB = 10**9
STEP = 1800.0
SHAPES = ((2, 2, 2, 2, 1), (3, 2, 3, 2, 1), (2, 1, 3, 2, 1), (1, 3, 2, 2, 1), (2, 2, 2, 3, 2), (2, 3, 2, 2, 1))
"""Groups, chassis, routers, ports, storage slots a chassis."""
NAMED = ((2, 2, 2, 2, 1), (3, 2, 3, 2, 1), (3, 2, 3, 1, 1), (2, 3, 2, 1, 1), (2, 2, 2, 2, 2), (3, 1, 3, 2, 1))
"""Where far servers go by name: those of some group stand on slots 2 to 9 and on later ones ("12" < "8")."""
FAMILIES = ("flat pooled", "flat chunked", "dragonfly chunked", "dragonfly chunked", "dragonfly pooled", "node_local")
PHASES = PHASE_SCHEMA | {"bytes": pl.Float64}


def workload(jobs, legs=(), phases=(), name="random"):
    """A Workload of rows as dicts; what they leave out is neutral."""
    jobs = [{"run_time": row["walltime"], **row} for row in sorted(jobs, key=lambda row: (row["submit"], row["id"]))]
    frame = job_table({key: [row[key] for row in jobs] for key in jobs[0]})
    pools = {key: pl.Int64 for key in frame.columns if frame[key].dtype == pl.Int64}
    pools = {key: kind for key, kind in pools.items() if key in ("burst_buffer", "licences")}
    neutral = {"kind": "compute", "seconds": 0.0, "flop": 0.0, "communication": 0.0, "release": None, "bytes": 0.0}
    return Workload(
        name,
        frame,
        legs=pl.DataFrame(list(legs), schema=LEG_SCHEMA | pools) if legs else None,
        phases=pl.DataFrame([neutral | row for row in phases], schema=PHASES) if phases else None,
    )


class _Machine:
    """A random machine; `room` is what a chunk may take at most, `per_node` what jobs ask for mostly."""

    def __init__(self, seed, rng, family):
        self.rng = rng
        self.far_order = random.Random(f"far {seed}").choice(("number", "name"))
        self.shape, _, self.kind = family.rpartition(" ")
        files = self.file_system()
        if family == "node_local":
            self.shape = rng.choice(("flat", "dragonfly"))
        if self.shape == "dragonfly":
            topology, nodes, slots = self.dragonfly(storage=family != "node_local")
        else:
            topology = flat.Topology(bandwidth=rng.choice((None, 1.25 * GB, rng.uniform(0.3, 3) * GB)))
            nodes, slots = rng.randint(3, 14), 4
        self.room = rng.choice((200, 400, 777)) * GB
        tiers = [self.buffer(nodes, slots), files]
        self.licences = rng.randint(2, 8) if rng.random() < 0.3 else 0
        if self.licences:
            tiers.append(pool.Tier(name="licences", capacity=self.licences))
        rng.shuffle(tiers)
        lanes = random.Random(f"lanes {seed}")
        if family == "flat pooled" and lanes.random() < 0.8:
            topology, tiers = flat.Topology(), _with_lanes(lanes, tiers)
        self.platform = Platform(name="random", nodes=nodes, topology=topology, tiers=tuple(tiers))

    def file_system(self):
        rng, through = self.rng, self.rng.random() < 0.6
        rates = (0.5 * GB, 2.0 * GB, 5.0 * GB, rng.uniform(0.2, 1) * GB, rng.uniform(1, 8) * GB)
        if rng.random() < 0.5:
            return pfs.Tier(name="pfs", bandwidth=rng.choice(rates), through_ports=through)
        read, write = rng.choice(rates), rng.choice(rates)
        return pfs.Tier(name="pfs", read=read, write=write, through_ports=through)

    def dragonfly(self, storage):
        rng = self.rng
        groups, chassis, routers, ports, slots = rng.choice(NAMED if self.far_order == "name" else SHAPES)
        slots *= storage
        shape = {"groups": groups, "chassis": chassis, "routers": routers, "ports": ports, "storage": slots}
        rate = rng.choice((1.25, 0.5, rng.uniform(0.4, 2))) * GB
        routing = rng.choice(("minimal", "simgrid"))
        topology = dragonfly.Topology(**shape, bandwidth=rate, routing=routing, far_order=self.far_order)
        return topology, groups * chassis * (routers * ports - slots), groups * chassis * slots

    def buffer(self, nodes, slots):
        rng = self.rng
        rate = rng.choice((None, rng.uniform(1, 6) * GB))
        if self.kind == "node_local":
            return node_local.Tier(name="burst_buffer", capacity=self.room, bandwidth=rate)
        servers = rng.choice((None, rng.randint(1, slots)))
        count = servers or (slots if self.shape == "dragonfly" else 1)
        if self.kind == "chunked":
            deep = rng.choice((1, 2, 4)) * max(1, nodes // (3 * count))
            capacity = count * deep * self.room + rng.choice((0, rng.randrange(count)))  # a rest that no server has
        else:
            capacity = rng.randint(2, max(2, nodes)) * self.room // 2
        return shared_bb.Tier(
            name="burst_buffer", capacity=capacity, placement=self.kind, servers=servers, bandwidth=rate
        )


def _with_lanes(rng, tiers):
    """The same tiers; file system, buffer or both have a bandwidth for each job, beside that for all or without."""
    which, rates = rng.choice((("pfs",), ("shared_bb",), ("pfs", "shared_bb"))), (0.5, 1.0, 2.0, rng.uniform(0.3, 3))
    made = []
    for tier in tiers:
        values = tier.model_dump()
        if tier.kind in which:
            values["per_job"] = rng.choice(rates) * GB
            if rng.random() < 0.6:
                values |= {name: None for name in ("bandwidth", "read", "write") if name in values}
        made.append(type(tier)(**values))
    return made


class _Maker:
    def __init__(self, seed, family):
        self.rng = rng = random.Random(seed)
        self.more = random.Random(f"more {seed}")
        self.machine = _Machine(seed, rng, family)
        self.whole = rng.random() < 0.4  # times and sizes in few steps: many things at once
        self.legs, self.phases, self.left = [], [], {}

    def time(self, low, high):
        if self.whole:
            return float(self.rng.randint(int(low // 300), int(high // 300)) * 300)
        return self.rng.uniform(low, high)

    def per_node(self):
        """Bytes of buffer for each node: none, some, now and then more than a server or node has."""
        room, draw = self.machine.room, self.rng.random()
        if draw < 0.15:
            return 0
        if draw < 0.2:
            return room + self.rng.randint(1, 5)
        if self.whole:
            return self.rng.choice((room // 4, room // 2, room))
        return self.rng.randint(room // 20, room // 2)

    def communication(self, nodes):
        """Enough, at times, to fill the links for longer than the computing takes."""
        if self.rng.random() < 0.4:
            return 0.0
        if self.whole:
            return self.rng.choice((50, 200)) * float(GB)
        return self.rng.uniform(10, 3000) * GB / nodes

    def walltime(self, length, moved):
        """Long enough mostly; else the kill falls into any of the phases."""
        draw, moving = self.rng.random(), moved / (2 * GB)
        if draw < 0.04:
            return math.inf
        if draw < 0.7:
            return length * self.rng.choice((1.0, 1.5, 2.0)) + 2 * moving + self.time(600, 6000)
        if draw < 0.78:
            return max(moving * self.rng.uniform(0.05, 0.6), 10.0)
        if draw < 0.88:  # a little after a checkpoint, if all goes well
            return min(length, 3600.0) * self.rng.randint(1, 3) + moving * self.rng.uniform(0.5, 4)
        return max((length + moving) * self.rng.uniform(0.2, 1.1), 10.0)

    def job(self, number, submit):
        rng, nodes = self.rng, self.machine.platform.nodes
        own = rng.randint(1, nodes if rng.random() < 0.2 else max(1, nodes // 2))
        if rng.random() < 0.02:
            own = nodes + 1
        each, length = self.per_node(), self.time(1800, 20000)
        odd = 0 if self.whole or each == 0 else rng.randint(0, 3)  # bytes that do not divide
        row = {"id": number, "submit": submit, "nodes": own, "burst_buffer": own * each - odd}
        row |= {name: rng.randint(0, 3) for name in ("user", "group", "queue")}
        row |= {"priority": float(rng.randint(0, 3)), "communication": self.communication(own)}
        if self.machine.licences:
            row["licences"] = rng.randint(0, max(1, self.machine.licences // 2))
        row |= {"run_time": length, "flop": 0.0, "walltime": self.walltime(length, row["burst_buffer"])}
        if rng.random() < 0.3:
            row |= {"run_time": 0.0, "flop": length * GB}
        if rng.random() < 0.3 and own <= nodes:
            self.written(row)
        return row

    def phase(self, row, leg, kind, **values):
        self.phases.append({"job": row["id"], "leg": leg, "kind": kind, **values})

    def computes(self, row, leg, release=None):
        """A few phases of computing and moving data, on all of the job's nodes."""
        rng, D = self.rng, row["burst_buffer"]
        for last in [False] * rng.randint(0, 2) + [True]:
            if D and self.more.random() < 0.5:
                self.phase(row, leg, "fetch", bytes=D * self.more.random(), release=self.part(row, leg))
            if rng.random() < 0.5:
                self.phase(row, leg, "read", bytes=self.amount(row))
            values = {"seconds": self.time(600, 5000), "communication": row["communication"]}
            self.phase(row, leg, "compute", **values, release=release if last else None)
            if not last and D and rng.random() < 0.7:
                self.phase(row, leg, "checkpoint", bytes=D * rng.random())
                self.phase(row, leg, "drain", bytes=D * rng.random())
            elif not last:
                self.phase(row, leg, "write", bytes=self.amount(row))
        if D and not release and rng.random() < 0.5:  # the leg waits for the drain alone
            self.phase(row, leg, "checkpoint", bytes=D * rng.random())
            self.phase(row, leg, "drain", bytes=D * rng.uniform(0.5, 4))

    def part(self, row, leg):
        """Some of the buffer, to be given back at the end of a phase; the next leg then asks for what is left."""
        if self.machine.kind == "chunked" or self.more.random() < 0.4:
            return None
        left = self.left.get((row["id"], leg), row["burst_buffer"])
        if left == 0:
            return None
        amount = self.more.randint(1, left)
        self.left[row["id"], leg] = left - amount
        for later in self.legs:
            if (later["job"], later["leg"]) == (row["id"], leg + 1) and self.more.random() < 0.8:
                later["burst_buffer"] = left - amount
        return f"burst_buffer={amount}"

    def amount(self, row):
        """Bytes to read or to write; sometimes none."""
        return 0.0 if self.rng.random() < 0.1 else row["nodes"] * self.rng.uniform(20, 300) * GB

    def written(self, row):
        """Legs and phases of its own: staged in three legs, or one leg that gives something back early."""
        rng, local = self.rng, self.machine.kind == "node_local"
        # Odd bytes: two legs that end in one instant would queue in an order that nothing decides.
        row["burst_buffer"] += row["id"] * 1_000_003 * (row["burst_buffer"] > 0)
        D = row["burst_buffer"]
        pools = {key: row[key] for key in ("burst_buffer", "licences") if key in row}
        if D and rng.random() < 0.6:
            idle = row["nodes"] if local else 0
            carry = (
                "nodes burst_buffer" if local else rng.choice(("burst_buffer", "burst_buffer", "nodes burst_buffer"))
            )
            out = row["nodes"] if local or ("nodes" in carry and rng.random() < 0.7) else 0
            for leg, (nodes, kept) in enumerate(((idle, ""), (row["nodes"], carry), (out, carry))):
                leg_row = {"job": row["id"], "leg": leg, "nodes": nodes, "carry": kept, **pools}
                length = row["run_time"] + row["flop"] / GB if leg == 1 else 0.0
                self.legs.append(leg_row | {"walltime": self.walltime(length, D)})
            if self.machine.kind != "chunked" and self.more.random() < 0.2:
                self.legs[-3]["burst_buffer"] = D // 2  # the next leg keeps that and takes the rest
            self.phase(row, 0, "stage_in", bytes=float(D))
            self.computes(row, 1)
            self.phase(row, 2, "stage_out", bytes=D * rng.random())
            return
        if rng.random() < 0.7:  # else phases without a table row of legs
            self.legs.append({"job": row["id"], "leg": 0, "nodes": row["nodes"], "carry": "", **pools})
            self.legs[-1]["walltime"] = row["walltime"]
        if D:
            self.phase(row, 0, "stage_in", bytes=float(D))
        early = rng.choice((None, "nodes", "burst_buffer"))
        self.computes(row, 0, release=early if early == "nodes" else None)
        if D:
            self.phase(row, 0, "stage_out", bytes=float(D), release=early if early == "burst_buffer" else None)
            self.phase(row, 0, "compute", seconds=self.time(0, 3000))

    def make(self):
        rng, submit, jobs = self.rng, 0.0, []
        n = rng.randint(5, 25)
        for number in rng.sample(range(1, 3 * n), n):  # not in order of arrival: ties go by id, not by row
            jobs.append(self.job(number, submit))
            if rng.random() < 0.8:
                submit += self.time(0, 3000)
        return workload(jobs, self.legs, self.phases), self.machine.platform


def make(seed):
    """A workload of 5 to 25 jobs and a machine for it; six seeds in a row have all kinds of machine."""
    return _Maker(seed, FAMILIES[seed % len(FAMILIES)]).make()


def tied(seed):
    """The jobs of `make`, in steps of half an hour, for alloc-only: what ends meets what begins everywhere.

    No legs: two that end in one instant would queue in an order that nothing decides.
    """
    made, platform = make(seed)
    rows = made.jobs.to_dicts()
    for row in rows:
        length = row["run_time"] + row["flop"] / platform.speed
        row |= {"submit": row["submit"] // STEP * STEP, "run_time": -(-length // STEP) * STEP, "flop": 0.0}
        row["walltime"] = row["walltime"] if math.isinf(row["walltime"]) else -(-row["walltime"] // STEP) * STEP
        row["communication"] = 0.0
    return workload(rows, name="tied"), platform


def policy(seed):
    """(preset, more parameters, job model): all presets with both kinds of reservation within 18 seeds."""
    rng, names = random.Random(-1 - seed), sorted(PRESETS)
    params = {"reservations": ("counted", "pinned")[seed // len(names) % 2]}
    if rng.random() < 0.3:
        params["max_backfill"] = rng.choice((1, 2, 4))
    if rng.random() < 0.3:
        params["depth"] = rng.choice((1, 2, 3))
    if rng.random() < 0.2:
        params["backfill_order"] = rng.choice(("walltime", "nodes", "area", "priority"))
    model = "alloc-only" if rng.random() < 0.2 else "io-aware"
    return names[seed % len(names)], params, model + (":kill=false" if rng.random() < 0.15 else "")


def spec(preset, params):
    """A policy as users write it."""
    return preset + ":" + ",".join(f"{name}={value}" for name, value in params.items())
