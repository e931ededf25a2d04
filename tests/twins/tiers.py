"""The slow twin of runs on slow and fast storage, and of the policies that choose between them.

Written from the specification alone. At each instant what is through ends, the policy decides once, and every link is
divided anew among the jobs on it.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from twins.times import Profile, before, width

READ, WRITE, BETWEEN = ("read",), ("write",), ("checkpoint", "fetch")


@dataclass(frozen=True)
class Level:
    """A tier of storage: the slow one has neither an end nor a staging link."""

    name: str
    rate: float
    capacity: float = math.inf
    stage: float = math.inf


@dataclass(frozen=True)
class Step:
    """What a leg does next: `amount` bytes over `link`, or so many seconds where there is none."""

    link: tuple | None
    amount: float
    frees_nodes: bool = False


@dataclass(frozen=True)
class Leg:
    """What the scheduler starts at once: what it takes, what it does, and how long that is expected to last."""

    nodes: int
    request: int  # of its fast tier, taken at its start
    walltime: float
    steps: tuple
    last: bool = True  # else the next leg carries the request on


@dataclass(eq=False)
class Job:
    """A job; `ways` has the legs of each tier it can run on."""

    id: int
    submit: float
    nodes: int
    walltime: float
    told: tuple  # input, output, data in between, in bytes
    ways: dict[int, list[Leg]]
    largest: int  # its largest request that a fast tier can hold
    tier: int | None = None
    drawn: int | None = None
    leg: int = 0
    step: int = 0
    leg_start: float = 0.0
    holds: list = field(default_factory=list)
    state: str = "COMPLETED_SUCCESSFULLY"
    start: float | None = None
    finish: float | None = None

    @property
    def staged(self):
        return self.told[0] + self.told[1]

    @property
    def moved(self):
        return sum(self.told)


@dataclass(eq=False)
class Stream:
    """A transfer: one a job, whatever its nodes."""

    job: Job
    link: tuple
    left: float
    rate: float = 0.0


def levels_of(platform):
    """The slow tier, then the fast ones that have room at all; none on other machines."""
    slow = [tier for tier in platform.tiers if tier.kind == "slow"]
    fast = [tier for tier in platform.tiers if tier.kind == "fast" and tier.capacity > 0]
    return [Level(tier.name, tier.bandwidth) for tier in slow] + [
        Level(tier.name, tier.bandwidth, tier.capacity, tier.stage) for tier in fast
    ]


def volume(phases, kinds):
    return sum(phase["bytes"] for phase in phases if phase["kind"] in kinds)


def legs_on(row, phases, level, v, told_input, free):
    """The legs of a job that runs on tier `v`."""
    own = tuple(
        Step(None, phase["seconds"]) if phase["kind"] == "compute" else Step(("nodes", v), phase["bytes"])
        for phase in phases
    )
    if v == 0:
        return [Leg(row["nodes"], 0, row["walltime"], own)]
    stage_in = tuple(Step(("staging", v), size) for size in [volume(phases, READ)] if size > 0)
    stage_out = tuple(Step(("staging", v), size) for size in [volume(phases, WRITE)] if size > 0)
    request = row[level.name]
    if not free:
        return [Leg(row["nodes"], request, row["walltime"], stage_in + own + stage_out)]
    if stage_out:
        own = (*own[:-1], Step(own[-1].link, own[-1].amount, frees_nodes=True))
    if not stage_in:
        return [Leg(row["nodes"], request, row["walltime"], own + stage_out)]
    first = Leg(0, request, max(told_input / level.stage, 1.0), stage_in, last=False)
    return [first, Leg(row["nodes"], 0, row["walltime"], own + stage_out)]


def jobs_of(workload, levels, free):
    """The workload's jobs, each with its legs on every tier that can hold its request."""
    written, jobs = {}, []
    for phase in [] if workload.phases is None else workload.phases.to_dicts():
        written.setdefault(phase["job"], []).append(phase)
    for row in workload.jobs.to_dicts():
        phases = written.get(row["id"]) or [{"kind": "compute", "seconds": row["run_time"], "bytes": 0.0}]
        true = [volume(phases, kinds) for kinds in (READ, WRITE, BETWEEN)]
        names = ("told_input", "told_output", "told_data")
        told = tuple(row.get(name, size) for name, size in zip(names, true, strict=True))
        can = [v for v, level in enumerate(levels) if v > 0 and 0 < (row.get(level.name) or 0) <= level.capacity]
        ways = {v: legs_on(row, phases, levels[v] if levels else None, v, told[0], free) for v in [0, *can]}
        largest = max((row[levels[v].name] for v in can), default=0)
        jobs.append(Job(row["id"], row["submit"], row["nodes"], row["walltime"], told, ways, largest))
    return jobs


class Run:
    """One run, instant by instant."""

    def __init__(self, workload, platform, policy, params, free_nodes, seed, script):
        self.levels = levels_of(platform)
        self.policy, self.params, self.nodes = policy, params, platform.nodes
        self.by_stay = params.get("slot") == "stay"
        self.script = script  # {(job id, leg): (time, tier's name)}: what to do instead of deciding; see `simulate`
        self.rates = {("nodes", v): level.rate for v, level in enumerate(self.levels)}
        self.rates |= {("staging", v): level.stage for v, level in enumerate(self.levels) if v > 0}
        self.carried = dict.fromkeys(self.rates, 0.0)  # bytes by link
        self.jobs = jobs_of(workload, self.levels, free_nodes)
        self.rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
        self.free = [platform.nodes, *(level.capacity for level in self.levels[1:])]
        self.queue, self.running, self.streams = [], [], []
        self.clock, self.decisions = 0.0, []
        self.starts = []  # (time, job id, leg)
        self.timers = []  # (time, count, "step" or "submit", job); of equal times the one made first goes first
        self.count = 0
        for job in sorted(self.jobs, key=lambda job: (job.submit, job.id)):
            self.timer(job.submit, "submit", job)

    def timer(self, time, kind, job):
        self.count += 1
        self.timers.append((time, self.count, kind, job))

    def instant(self):
        """All that counts as simultaneous with what comes next; then one decision; then all rates anew."""
        ends = {stream: self.clock + stream.left / stream.rate for stream in self.streams}
        first = min([time for time, *_ in self.timers] + list(ends.values()))
        limit = first + width(first)
        for stream in [stream for stream in self.streams if ends[stream] <= limit]:
            self.streams.remove(stream)
            self.timer(ends[stream], "step", stream.job)
        now, decide = first, False
        for kind, happen in (("step", self.end_step), ("submit", self.submit)):
            while due := [event for event in self.timers if event[2] == kind and event[0] <= limit]:
                event = min(due)
                self.timers.remove(event)
                now = max(now, event[0])
                decide |= happen(event[3], event[0])
        for stream in self.streams:
            stream.left -= stream.rate * (now - self.clock)
        self.clock = now
        if decide:
            self.decisions.append(now)
            self.decide(now) if self.script is None else self.follow(now)
        for stream in self.streams:
            stream.rate = self.rates[stream.link] / sum(other.link == stream.link for other in self.streams)

    def submit(self, job, _):
        if job.nodes > self.nodes:
            job.state = "REJECTED"
            return False
        self.queue.append(job)
        return True

    def leg(self, job):
        return job.ways[job.tier][job.leg]

    def begin_step(self, job, time):
        """Begin the next step of a leg, or end the leg; True in the latter case."""
        steps = self.leg(job).steps
        if job.step == len(steps):
            self.end_leg(job, time)
            return True
        step = steps[job.step]
        if step.link is not None and step.amount > 0:
            self.streams.append(Stream(job, step.link, step.amount))
            self.carried[step.link] += step.amount
        else:
            self.timer(time + (step.amount if step.link is None else 0.0), "step", job)
        return False

    def end_step(self, job, time):
        """True if something is given back or the leg is over."""
        frees = self.leg(job).steps[job.step].frees_nodes
        if frees:
            self.give_back(job, 0)
        job.step += 1
        return self.begin_step(job, time) or frees

    def give_back(self, job, resource):
        self.free[resource] += job.holds[resource]
        job.holds[resource] = 0

    def end_leg(self, job, time):
        self.running.remove(job)
        self.give_back(job, 0)
        if self.leg(job).last:
            for resource in range(1, len(self.free)):
                self.give_back(job, resource)
            job.finish = time
            return
        job.leg += 1
        # ahead of every job that has not begun, behind those that wait for their second leg already
        self.queue.insert(sum(other.leg > 0 for other in self.queue), job)

    def demand(self, job, v):
        leg = job.ways[v][job.leg]
        return [leg.nodes, *(leg.request if v == u else 0 for u in range(1, len(self.levels)))]

    def start(self, job, v, now):
        job.tier = v
        needs = self.demand(job, v)
        self.free = [have - need for have, need in zip(self.free, needs, strict=True)]
        assert min(self.free) >= 0, (job.id, v, now)
        held = job.holds or [0] * len(self.free)
        job.holds = [a + b for a, b in zip(held, needs, strict=True)]
        self.queue.remove(job)
        self.running.append(job)
        self.starts.append((now, job.id, job.leg))
        job.start = now if job.leg == 0 else job.start
        job.leg_start, job.step = now, 0
        self.begin_step(job, now)

    # The policies

    def stay(self, job, v, left=(1.0, 1.0)):
        """Expected time on tier `v` from start to end, with these shares of its links to nodes and slow tier."""
        if not self.levels:
            return job.walltime
        level, slow = self.levels[v], self.levels[0]
        staging = job.staged / (level.stage * left[1]) if v > 0 else 0.0
        return job.walltime + staging + job.moved * (1 / (level.rate * left[0]) - 1 / slow.rate)

    def length(self, job, v):
        """How long room is kept for a job on a tier."""
        return max(self.stay(job, v), 1.0) if self.by_stay else job.walltime

    def profile(self, now):
        """What is free over time, as far as is known of the running jobs."""
        profile = Profile(now, self.free)
        for job in self.running:
            end = job.leg_start + (self.stay(job, job.tier) if self.by_stay else job.walltime)
            profile.returns.append((end if before(now, end) else now + 1.0, list(job.holds)))
        return profile

    def left_of(self, v, kind):
        """The share of a tier's link that one more job gets beside those found there on average.

        A job that would use the link for a share u of its time alone is there for u s / (1 - u + u s) of it where all
        are s times as slow; and s is one more than those who are there.
        """
        alone = []
        for job in self.running:
            if job.tier == v:
                size = job.moved if kind == "nodes" else job.staged
                alone.append(min(size / self.rates[kind, v] / max(self.stay(job, v), 1.0), 1.0))
        slower = 1.0
        for _ in range(20):
            slower = 1.0 + sum(u * slower / (1.0 - u + u * slower) for u in alone)
        return 1.0 / slower

    def expected(self, job, v):
        """What `stay` gives with the links that the policy counts on."""
        if self.policy != "sas-contention" or not self.levels:
            return self.stay(job, v)
        return self.stay(job, v, (self.left_of(v, "nodes"), self.left_of(v, "staging") if v > 0 else 1.0))

    def draw(self):
        """A tier for each job that has none yet, in order of the queue."""
        p, fast = self.params.get("p", 0.5), len(self.levels) - 1
        for job in self.queue:
            if job.drawn is None:
                u = self.rng.random()
                job.drawn = 1 + int(u / p * fast) if u < p else 0

    def alternatives(self, job):
        only = {"tier-slow": 0, "tier-fast": self.params.get("tier", 1), "tier-random": job.drawn}.get(self.policy)
        if only is not None:
            return [only if only in job.ways else 0]
        return sorted(job.ways)

    def choose(self, job, profile, now):
        """(tier, time) of the alternative that ends the job soonest; of equal ones the first."""
        best = None
        for v in self.alternatives(job):
            time = profile.earliest(self.demand(job, v), self.length(job, v))
            total = time - now + self.expected(job, v)
            if best is None or total < best[0]:
                best = (total, v, time)
        return best[1:]

    def decide(self, now):
        """Algorithm 1 of the paper, for jobs of one leg."""
        if self.policy == "tier-random" and self.levels:
            self.draw()
        profile, waiting = self.profile(now), list(self.queue)
        head = None
        while waiting and head is None:
            head = waiting.pop(0)
            v, time = self.choose(head, profile, now)
            profile.reserve(self.demand(head, v), time, self.length(head, v))
            if time == now:
                self.start(head, v, now)
                head = None
        able = [job for job in waiting if any(self.fits(job, v) for v in self.alternatives(job))]
        for job in sorted(able, key=lambda job: (job.walltime, job.largest, job.id)):
            v, time = self.choose(job, profile, now)
            if time == now:
                profile.reserve(self.demand(job, v), now, self.length(job, v))
                self.start(job, v, now)

    def follow(self, now):
        """Start what the script says, in its order; what does not fit yet waits for jobs that end as they begin."""
        names = [level.name for level in self.levels]
        for (number, leg), (time, tier) in self.script.items():
            for job in [job for job in self.queue if (job.id, job.leg) == (number, leg) and not before(now, time)]:
                if not self.fits(job, names.index(tier)):
                    return
                self.start(job, names.index(tier), now)

    def fits(self, job, v):
        return all(need <= have for need, have in zip(self.demand(job, v), self.free, strict=True))


def simulate(workload, platform, policy, params=None, free_nodes=False, seed=0, script=None):
    """The finished Run: `jobs` with start, finish and tier, `starts`, `decisions`, `carried`, and `queue` if it stalls.

    A `script` of starts takes the place of the policy's decisions, to check what jobs do once they are started. Where
    nodes are free while data is staged there must be one: the policies above know jobs of one leg only.
    """
    assert script is not None or not free_nodes
    run = Run(workload, platform, policy, params or {}, free_nodes, seed, script)
    while run.timers or run.streams:
        run.instant()
    return run
