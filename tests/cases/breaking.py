"""Small random workloads on machines whose nodes fail, each the same for ever by its seed."""

import random

import numpy as np

import forebay as fb
from cases import transfers
from cases.pooled import CLOCKS
from forebay.core.failures import Failures, Outages
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import pfs, pool, shared_bb
from forebay.platforms.topologies import dragonfly, flat

GB = 10**9
HORIZON = 200
KINDS = ("start", "end", "queue", "node_down", "node_up")  # of the log, beside checkpoints and recoveries


class _Maker:
    def __init__(self, seed, chunked):
        self.chunked = chunked
        self.rng = rng = random.Random(f"failing {seed}")
        self.clock = rng.choice(list(CLOCKS))
        self.flat = rng.random() < 0.7
        self.nodes = rng.randint(1, 5) if self.flat else 6
        self.n = rng.randint(1, 7)
        self.legs, self.phases = [], []

    def time(self, low, high):
        return CLOCKS[self.clock](self.rng, low, high)

    def size(self):
        """Whole gigabytes with whole seconds, else any number of bytes."""
        return float(self.rng.randint(1, 20) * GB if self.clock == "integer" else self.rng.randint(1, 20 * GB))

    def platform(self):
        """Ports and the file system limit what is read and written; there is mostly room for every job's buffer."""
        rng = self.rng
        rates = {"bandwidth": rng.choice((1.0, 2.0, 3.7)) * GB}
        if rng.random() < 0.3:
            rates = {"read": 2.0 * GB, "write": 1.0 * GB}
        tiers = (
            pfs.Tier(name="pfs", **rates),
            self.buffer(rng.choice((30, 1000, 1000)) * GB),
            pool.Tier(name="licences", capacity=rng.randint(3, 8)),
        )
        topology = flat.Topology(bandwidth=rng.choice((None, 1.25 * GB)))
        if not self.flat:
            topology = dragonfly.Topology(groups=1, chassis=2, routers=2, ports=2, storage=1, bandwidth=1.25 * GB)
        return Platform(name="failing", nodes=self.nodes, topology=topology, tiers=tiers)

    def buffer(self, capacity):
        """One room for all, or chunks on one to three servers."""
        if not self.chunked:
            return shared_bb.Tier(name="burst_buffer", capacity=capacity)
        servers = self.rng.randint(1, 3) if self.flat else None
        return shared_bb.Tier(name="burst_buffer", capacity=capacity, placement="chunked", servers=servers)

    def job(self, number, submit):
        rng = self.rng
        row = {"id": number, "submit": submit, "nodes": rng.randint(1, self.nodes), "run_time": 0.0, "flop": 0.0}
        row |= {"burst_buffer": 0, "licences": rng.choice((0, 0, 1, 3)), "communication": 0.0, "walltime": 0.0}
        row["cancel"] = self.time(1, 150) if rng.random() < 0.15 else float("inf")
        kind = rng.choice(("plain", "plain", "phases", "phases", "phases", "staged", "legs"))
        if kind == "plain":
            row["run_time"] = self.time(1, 40)
            row["walltime"] = self.walltime(row["run_time"])
        elif kind == "legs":
            self.in_legs(row)
        else:
            row["burst_buffer"] = rng.randint(1, 20) * GB if kind == "staged" else 0
            row["walltime"] = self.walltime(self.works(row, 0, staged=kind == "staged"))
        return row

    def walltime(self, length):
        """Ample, just enough, or too short."""
        kind = self.rng.random()
        if kind < 0.1:
            return float("inf")
        if kind < 0.25:
            return max(length * self.rng.choice((0.5, 0.9)), 1.0)
        return max(length, 1.0) if kind < 0.45 else length + self.time(5, 60)

    def phase(self, row, leg, kind, **values):
        self.phases.append({"job": row["id"], "leg": leg, "kind": kind, **values})

    def works(self, row, leg, staged=False):
        """Phases of a leg; about how long they take."""
        rng, length = self.rng, 0.0
        if staged:
            self.phase(row, leg, "stage_in", bytes=float(row["burst_buffer"]))
        for _ in range(rng.randint(1, 4)):
            kind = rng.choice(("compute", "compute", "read", "write", "talk"))
            if kind in ("read", "write"):
                amount = self.size()
                self.phase(row, leg, kind, bytes=amount)
                length += amount / GB
                continue
            seconds = 0.0 if rng.random() < 0.05 else self.time(1, 25)
            each = float(rng.randint(1, 9) * GB) if kind == "talk" else 0.0
            self.phase(row, leg, "compute", seconds=seconds, communication=each)
            length += seconds + row["nodes"] * each / GB
            if rng.random() < 0.1:
                self.gives_back(row)
            if staged and rng.random() < 0.4:
                self.phase(row, leg, "checkpoint", bytes=self.size())
                self.phase(row, leg, "drain", bytes=self.size())
        return length

    def gives_back(self, row):
        """Its last phase so far gives a licence back at its end, if the leg still has one."""
        leg = self.phases[-1]["leg"]
        given = [one for one in self.phases if (one["job"], one["leg"]) == (row["id"], leg) and one.get("release")]
        if len(given) < row["licences"]:
            self.phases[-1]["release"] = "licences=1"

    def in_legs(self, row):
        """The data is staged in and out without nodes; the buffer is carried along."""
        row["burst_buffer"] = D = self.rng.randint(1, 20) * GB
        pools = {"job": row["id"], "burst_buffer": D, "licences": row["licences"]}
        self.phase(row, 0, "stage_in", bytes=float(D))
        length, rest = self.works(row, 1), D
        if self.rng.random() < 0.2 and not self.phases[-1].get("release"):
            given = D if self.chunked else self.rng.randint(1, D - 1)  # chunks go back all at once, and are taken anew
            rest = D if self.chunked else D - given
            self.phases[-1]["release"] = f"burst_buffer={given}"
            length += self.works(row, 1)
        self.phase(row, 2, "stage_out", bytes=self.size())
        for leg, (nodes, carry, walltime) in enumerate(
            ((0, "", 1e6), (row["nodes"], "burst_buffer", self.walltime(length)), (0, "burst_buffer", 1e6))
        ):
            self.legs.append(pools | {"leg": leg, "nodes": nodes, "carry": carry, "walltime": walltime})
        self.legs[-1]["burst_buffer"] = rest
        row["walltime"] = 3e6

    def failures(self):
        """A trace or draws; checkpoints in seconds, in bytes or none."""
        rng = self.rng
        rules = {"max_attempts": rng.choice((1, 2, 3, 100, 100))}
        saves = rng.choice(("none", "seconds", "seconds", "bytes", "bytes"))
        if saves == "seconds":
            rules["checkpoint"] = self.time(1, 4)
            rules["recovery"] = rng.choice((-1.0, -1.0, 0.0, self.time(1, 4)))
        elif saves == "bytes":
            rules["checkpoint_bytes"] = int(self.size()) // 4 + 1
        rules["known"] = rng.random() < 0.8
        drawn = rng.random() < 0.4
        if saves != "none" and (not drawn or rng.random() < 0.5):
            rules["period"] = self.time(2, 15)
        if drawn:
            rules["downtime"] = self.time(1, 30)
            rules |= {"mtbf": rng.choice((20.0, 40.0, 100.0)), "shape": rng.choice((1.0, 0.7, 1.5))}
        else:
            rules["outages"] = self.outages()
        return Failures(**rules)

    def outages(self):
        """Up to ten, one after the other or not."""
        down = sorted(self.time(0, HORIZON // 2) for _ in range(self.rng.randint(0, 10)))
        node = [self.rng.randrange(self.nodes) for _ in down]
        up = [time + self.time(1, 30) for time in down]
        return Outages("random", "", np.array(node, np.int64), np.array(down, float), np.array(up, float))

    def make(self):
        rng, submit, jobs = self.rng, 0.0, []
        for number in rng.sample(range(1, 3 * self.n + 1), self.n):
            jobs.append(self.job(number, submit))
            if rng.random() < 0.6:
                submit += self.time(0, 20)
        return transfers.workload(jobs, self.legs, self.phases), self.platform(), self.failures()


def make(seed, chunked=False):
    """A workload of up to seven jobs, a machine for it, and how that fails; its buffer may be one of chunks."""
    return _Maker(seed, chunked).make()


class Fate:
    """Interrupts at times that are drawn; whom and how is told by numbers, so that both simulators do the same."""

    def __init__(self, seed):
        rng = random.Random(f"fate {seed}")
        times = sorted(rng.choice((float(rng.randint(1, HORIZON)), rng.uniform(0, HORIZON))) for _ in range(20))
        self.due = [(time, rng.random(), rng.choice(("last", "now", "next"))) for time in times]
        self.pending = {}  # job -> what it was asked

    def started(self, job):
        """A leg starts: nothing is asked of it."""
        self.pending.pop(job, None)

    def strike(self, now, running):
        """(job, how) for each interrupt that is due, of the ids that run and do so since before now; `running` tells
        whether they write checkpoints."""
        found = []
        while self.due and self.due[0][0] <= now:
            _, u, how = self.due.pop(0)
            left = sorted(set(running) - {job for job, _ in found})
            if not left:
                continue
            job = left[int(u * len(left))]
            if not running[job]:
                how = "last"
            if how != "last" and self.pending.get(job) in (how, "now"):
                continue
            self.pending[job] = how
            found.append((job, how))
        return found

    def next(self):
        """When it strikes next; None if never."""
        return self.due[0][0] if self.due else None


def simulate(workload, platform, policy, failures, seed, job_model):
    """The engine's run: jobs, log and the number of decisions."""
    result = fb.simulate(workload, platform, policy, seed, job_model=job_model, failures=failures)
    return result.jobs, result.log, result.facts["decisions"]


def lines(log):
    """Rows of the log by job, None for those of nodes: (time, kind, reason, amount)."""
    found = {}
    for time, job, kind, reason, amount in log.select("time", "job", "kind", "reason", "amount").rows():
        if kind in KINDS or reason in ("save", "recover"):
            told = "start" if kind == "start" else reason
            found.setdefault(job, []).append((time, kind, told, 0 if kind.endswith("phase") else amount))
    return found


def same_times(ours, theirs):
    """Whether times are the same within a millionth of a second."""
    return abs(ours - theirs) <= 1e-6 or ours == theirs


def check_balance(log):
    """Nobody gives back what it does not hold, and at the end nobody holds anything."""
    held = {}
    for job, kind, resource, amount in log.select("job", "kind", "resource", "amount").rows():
        if resource not in (None, "nodes") and kind in ("acquire", "release"):
            now = held[job, resource] = held.get((job, resource), 0) + (amount if kind == "acquire" else -amount)
            assert now >= 0, (job, resource, now)
    assert not any(held.values()), held


def check_log(log, slow):
    """Every start, end, checkpoint, recovery and failure, job by job."""
    check_balance(log)
    rows, ours = {}, lines(log)
    for time, kind, job, reason, amount in slow:
        rows.setdefault(job, []).append((time, kind, reason, amount))
    for job in {*rows, *ours}:
        mine, other = ours.get(job, []), rows.get(job, [])
        assert [row[1:] for row in mine] == [row[1:] for row in other], (job, mine, other)
        assert all(same_times(a[0], b[0]) for a, b in zip(mine, other, strict=True)), (job, mine, other)
