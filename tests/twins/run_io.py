"""The slow twin of a whole run with I/O: every stream of every node an activity of its own, every rate made anew.

Written from the specification alone. At each instant all activities are counted down, those that are through end, one
decision is made, and the rates of all that is left are filled in from nothing.
"""

import math
from dataclasses import dataclass, field
from types import SimpleNamespace

from twins import run as naive
from twins.network import Network, fill
from twins.plan import Plan, Space
from twins.run import COMPLETED, DEFAULTS, PRESETS, REJECTED, TOO_LONG
from twins.times import width

TRANSFERS = ("stage_in", "fetch", "checkpoint", "drain", "read", "write", "stage_out")


@dataclass
class Phase:
    """A step of a leg; `bytes` are those of all nodes together."""

    kind: str
    seconds: float = 0.0
    communication: float = 0.0
    bytes: float = 0.0
    release: tuple | None = None  # see naive.given_back


@dataclass(eq=False)
class Job(naive.Job):
    """A job, and the chunks that it holds."""

    n: int = 1  # the most nodes that any leg holds
    chunks: list[int] = field(default_factory=list)  # server of the chunk of each node, by ascending node
    size: int = 0  # bytes of each of them
    active: dict[int, int] = field(default_factory=dict)  # phase -> streams or timers that are still to end
    blocking: int | None = None  # the phase that the next one waits for
    killed: bool = False

    def chunk_size(self, tier):
        """Bytes of each chunk that the current leg has to get."""
        return 0 if tier is None else -(-self.needs()[tier] // self.n)


@dataclass(eq=False)
class Stream:
    """An activity on the network."""

    job: Job
    phase: int
    left: float
    total: float
    cap: float
    links: dict
    rate: float = 0.0


def aware(row, T, D):
    """The phases of a job under io-aware."""
    k = min(max(round(T / 3600), 1), 10)
    compute = Phase("compute", T / k, row["communication"])
    if D == 0:
        return [compute] * k
    between = [Phase("checkpoint", bytes=D / 2), Phase("drain", bytes=D / 2), compute]
    return [Phase("stage_in", bytes=D), compute, *between * (k - 1), Phase("stage_out", bytes=D)]


def jobs_of(workload, platform, model, buffer):
    """The workload's jobs, each with its legs and phases."""
    names = list(platform.resources)
    leg_rows = [] if workload.legs is None else workload.legs.sort("job", "leg").to_dicts()
    phase_rows = [] if workload.phases is None else workload.phases.to_dicts()
    jobs = []
    for row in workload.jobs.to_dicts():
        own = [leg for leg in leg_rows if leg["job"] == row["id"]] or [{**row, "leg": 0, "carry": ""}]
        written = [phase for phase in phase_rows if phase["job"] == row["id"]]
        legs = []
        for leg in own:
            phases = [
                Phase(
                    p["kind"],
                    p["seconds"] + p["flop"] / platform.speed,
                    p["communication"],
                    (p.get("bytes") or 0.0) if model == "io-aware" else 0.0,
                    naive.given_back(p["release"], names),
                )
                for p in written
                if p["leg"] == leg["leg"]
            ]
            T = row["run_time"] + row["flop"] / platform.speed
            if not written and model == "io-aware":
                phases = aware(row, T, row.get(buffer) or 0)
            elif not written:
                phases = [Phase("compute", T, row["communication"])]
            demand = [leg.get(name) or 0 for name in names]
            legs.append(naive.Leg(leg["walltime"], demand, [name in leg["carry"].split() for name in names], phases))
        for leg, after in zip(legs, [*legs[1:], None], strict=True):
            held = naive.kept(leg.demand, [phase.release for phase in leg.phases if phase.release])
            leg.keeps = [min(held[r], after.demand[r]) if after and after.carry[r] else 0 for r in range(len(names))]
        n = max(1, *(leg.demand[0] for leg in legs)) if legs else 1
        jobs.append(Job(row["id"], row["submit"], row, legs, pools=[0] * (len(names) - 1), n=n))
    return jobs


class Run:
    """One run, event by event."""

    def __init__(self, workload, platform, policy, model, kill):
        self.policy, self.kill = SimpleNamespace(**DEFAULTS | {"reservations": "counted"} | policy), kill
        self.network = Network(platform)
        self.space = Space(platform, self.network)
        self.free = list(self.space.empty)
        buffer = self.network.buffer.name if self.network.buffer else None
        self.jobs = jobs_of(workload, platform, model, buffer)
        self.queue, self.running, self.streams = [], [], []
        self.starts = []  # (time, job id, leg, node ids taken)
        self.chunks = {}  # (job id, leg) -> server of each chunk held by that leg
        self.decisions = []  # times
        self.pfs_bytes = 0.0
        self.clock, self.count = 0.0, 0
        self.events = []  # dicts: time, count (ties go to the one made first), kind, job, phase
        for job in sorted(self.jobs, key=lambda job: (job.submit, job.id)):
            self.event(job.submit, "submit", job)

    def event(self, time, kind, job, phase=None):
        self.count += 1
        self.events.append({"time": time, "count": self.count, "kind": kind, "job": job, "phase": phase})

    def instant(self):
        """All that counts as simultaneous with what comes next, then one decision, then all rates anew."""
        ends = {stream: self.clock + stream.left / stream.rate for stream in self.streams if stream.rate > 0}
        first = min([event["time"] for event in self.events] + list(ends.values()))
        limit = first + width(first)
        for stream in [stream for stream in self.streams if ends.get(stream, math.inf) <= limit]:
            self.streams.remove(stream)
            self.moved(stream, stream.total)
            self.event(ends[stream], "phase", stream.job, stream.phase)
        now, decide = first, False
        for kind, happen in (("phase", self.end_phase), ("kill", self.end_at_walltime), ("submit", self.submit)):
            while due := [e for e in self.events if e["kind"] == kind and e["time"] <= limit]:
                event = min(due, key=lambda e: (e["time"], e["count"]))
                self.events.remove(event)
                now = max(now, event["time"])
                decide |= happen(event["job"], event["phase"], event["time"])
        for stream in self.streams:
            stream.left -= stream.rate * (now - self.clock)
        self.clock = now
        if decide:
            self.decisions.append(now)
            self.decide(now)
        rates = fill(self.network.of, [(stream.cap, stream.links) for stream in self.streams])
        for stream, rate in zip(self.streams, rates, strict=True):
            stream.rate = rate

    def moved(self, stream, amount):
        """Count what a stream that leaves has moved over the file system's links."""
        self.pfs_bytes += amount * sum(load for link, load in stream.links.items() if link[0] == "pfs")

    def submit(self, job, _, time):
        if not self.space.possible(job):
            job.state = REJECTED
            return False
        job.queued = time
        self.queue.append(job)
        return True

    def begin_phases(self, job, time):
        """Begin the current phase, and while they do not block, those after it; True if the leg is over."""
        phases = job.legs[job.leg].phases
        job.blocking = None
        while job.phase < len(phases):
            self.begin(job, job.phase, time)
            if phases[job.phase].kind != "drain":
                job.blocking = job.phase
                return False
            job.phase += 1
        return not job.active

    def begin(self, job, index, time):
        phase = job.legs[job.leg].phases[index]
        if phase.kind == "compute" and phase.communication > 0 and len(job.nodes) > 1:
            streams = [self.network.talk(phase.communication, job.nodes, phase.seconds)]
        elif phase.kind in TRANSFERS and phase.bytes > 0:
            streams = self.network.streams(phase.kind, phase.bytes, job.nodes, job.n, job.chunks)
        else:
            streams = []
            self.event(time + phase.seconds, "phase", job, index)
        job.active[index] = max(1, len(streams))
        for total, cap, links in streams:
            if links:
                self.streams.append(Stream(job, index, total, total, cap, links))
            else:
                self.event(time + total / cap, "phase", job, index)

    def end_phase(self, job, index, time):
        """One stream or timer of a phase is over; True if that calls for a decision."""
        job.active[index] -= 1
        if job.active[index]:
            return False
        del job.active[index]
        release, amount = job.legs[job.leg].phases[index].release, 0
        if release:
            resource, amount = release
            amount = job.held()[resource] if amount is None else amount
            self.give_back(job, resource, amount)
        if index == job.blocking:
            job.phase += 1
            over = self.begin_phases(job, time)
        else:
            over = job.blocking is None and not job.active
        if over:
            self.end_leg(job, time)
        return amount > 0 or over

    def end_at_walltime(self, job, _, time):
        """Stop the phase that blocks; drains run on."""
        if job.blocking is None:
            return False
        for stream in [s for s in self.streams if s.job is job and s.phase == job.blocking]:
            self.streams.remove(stream)
            self.moved(stream, stream.total - stream.left + stream.rate * (time - self.clock))
        self.events = [e for e in self.events if (e["job"], e["phase"]) != (job, job.blocking)]
        del job.active[job.blocking]
        job.blocking, job.killed = None, True
        if job.active:
            return False
        self.end_leg(job, time)
        return True

    def end_leg(self, job, time):
        """All but what the next leg carries is given back; the next leg queues, or the job is over."""
        self.events = [event for event in self.events if event["job"] is not job]
        self.running.remove(job)
        keeps = [0] * self.space.R if job.killed else job.legs[job.leg].keeps
        for r, kept in enumerate(keeps):
            self.give_back(job, r, job.held()[r] - kept)
        if not job.killed and job.leg + 1 < len(job.legs):
            job.leg += 1
            job.queued = time
            # Ahead of every job that has not begun, behind those that wait for a later leg already.
            self.queue.insert(sum(1 for other in self.queue if other.leg > 0), job)
        else:
            job.finish, job.state = time, TOO_LONG if job.killed else COMPLETED

    def give_back(self, job, resource, amount):
        space = self.space
        if amount == 0:
            return
        if resource == 0:
            for _ in range(amount):
                self.free[space.R + space.S + job.nodes.pop()] += 1  # the nodes taken last go first
        else:
            job.pools[resource - 1] -= amount
        if resource != space.tier:
            self.free[resource] += amount
            return
        assert job.pools[resource - 1] == 0, "chunks go back all at once"
        for server in job.chunks:
            self.free[space.R + server] += job.size
        job.chunks, job.size = [], 0

    def start(self, job, now, row, ids, servers):
        leg = job.legs[job.leg]
        self.free = [have - need for have, need in zip(self.free, row, strict=True)]
        assert min(self.free) >= 0
        if servers:
            job.chunks, job.size = servers, job.chunk_size(self.space.tier)
        job.pools = leg.demand[1:]
        job.nodes = job.nodes + ids
        self.chunks[job.id, job.leg] = list(job.chunks)
        self.queue.remove(job)
        self.running.append(job)
        self.starts.append((now, job.id, job.leg, set(ids)))
        job.start = now if job.leg == 0 else job.start
        job.waited += now - job.queued
        job.leg_start, job.phase, job.active = now, 0, {}
        self.begin_phases(job, now)
        if self.kill and leg.walltime < math.inf:
            self.event(now + leg.walltime, "kill", job)

    def plan(self, now):
        """What is free over time as walltimes tell."""
        space, plan = self.space, Plan(now, self.free)
        for job in self.running:
            leg = job.legs[job.leg]
            end = job.leg_start + leg.walltime
            back = [a - b for a, b in zip(job.held(), leg.keeps, strict=True)]
            servers = [0] * space.S
            if space.tier is not None:
                for server in job.chunks if back[space.tier] else ():
                    servers[server] += job.size
                back[space.tier] = 0
            ids = job.nodes[len(job.nodes) - back[0] :]
            row = [*back, *servers, *(int(node in ids) for node in range(space.n_nodes))]
            plan.returns.append((end if end > now else now + 1, row))
        return plan

    def ordered(self, jobs, column, descending=False):
        if column in ("arrival", "as-queued"):
            return list(jobs)
        sign = -1 if descending else 1
        return sorted(jobs, key=lambda job: (sign * job.rank(column), job.id))

    def decide(self, now):
        """Algorithm 1 of Kopański & Rządca, with `depth` reservations in line 14."""
        policy, space = self.policy, self.space
        waiting = self.ordered(self.queue, policy.order, policy.descending)
        while waiting and (taken := space.start_now(waiting[0], self.free)):
            self.start(waiting.pop(0), now, *taken)
        if not waiting or policy.max_backfill == 0:
            return
        plan, rules = self.plan(now), (policy.reservations == "pinned", policy.reserve == "all")

        def started(job):
            taken = space.start_beside(job, self.free, plan, *rules)
            if taken:
                # It counts for its walltime, what it carries on included.
                self.start(job, now, *taken)
                plan.take(taken[0], now, job.legs[job.leg].walltime)
            return bool(taken)

        looks, reservations = policy.max_backfill + 1, 0  # the head's own look is free
        while waiting and reservations < policy.depth and looks > 0:
            job = waiting.pop(0)
            looks -= 1
            if not started(job):
                time, row, closed = space.reserve(job, plan, *rules)
                reservations += 1
                if row is not None:
                    plan.take(row, time, job.legs[job.leg].walltime, closed)
        if policy.depth == 0:
            waiting.pop(0)  # the head: it does not fit, that is why it is the head
            looks -= 1
        for job in self.ordered(waiting, policy.backfill_order):
            if looks <= 0:
                break
            looks -= 1
            started(job)


def simulate(workload, platform, preset, params=None, job_model="io-aware"):
    """The finished Run: `jobs` with start, finish and state, `starts`, `chunks`, `pfs_bytes`, and `queue` if it stalls.

    `preset` is a policy's name, `params` more of the family's parameters, `job_model` a name, perhaps with kill=false.
    """
    model, _, option = job_model.partition(":")
    run = Run(workload, platform, PRESETS[preset] | (params or {}), model, option != "kill=false")
    while run.events or run.streams:
        run.instant()
    return run
