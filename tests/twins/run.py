"""The slow, obvious twin of a whole run: every stream of every node an activity of its own, every rate made anew.

Written from the specification alone. At each instant all activities are counted down, those that are through end, one
decision is made, and the rates of all that is left are filled in from nothing. Subclasses say how to decide. One with
more kinds of events adds them to `turns`.
"""

import math
from dataclasses import dataclass
from types import SimpleNamespace

from twins.jobs import CANCELLED, COMPLETED, KILLED, REJECTED, TOO_LONG, Job, jobs_of
from twins.network import Network, fill
from twins.site import Site
from twins.space import Space
from twins.times import before, width

TRANSFERS = ("stage_in", "fetch", "checkpoint", "drain", "read", "write", "stage_out")
NO_LIMITS = {"run_time": math.inf, "user_jobs": math.inf, "user_nodes": math.inf, "over": "hold"}


class OverLimitError(Exception):
    """A decision would start more than its user may have; what it has started so far stands."""


@dataclass(eq=False)
class Event:
    """Something that happens to a job, or to one of its phases; ties go to the one made first."""

    time: float
    count: int
    kind: str
    job: Job
    phase: int | None = None


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


class Run:
    """One run, event by event."""

    kind_of_job = Job

    def __init__(self, workload, platform, job_model="alloc-only", limits=None, rules=(), planned=()):
        self.job_model, self.planned, self.anywhere = job_model, planned, {}
        self.site, self.now = Site(rules, platform.resources), 0.0
        model, _, option = job_model.partition(":")
        self.kill, self.limits = option != "kill=false", SimpleNamespace(**NO_LIMITS | (limits or {}))
        self.network = Network(platform)
        self.space = Space(platform, self.network)
        self.capacities = list(platform.capacities)
        self.idle = set(range(platform.nodes))
        self.pools = self.capacities[1:]  # free of each resource in space.pooled
        self.room = [self.network.server_size] * self.space.S  # bytes free on each server
        self.jobs = jobs_of(workload, platform, model, self.kind_of_job)
        self.queue, self.running, self.streams = [], [], []
        self.sent_away = []  # jobs that users submit again, in the order in which they first came
        self.starts = []  # (time, job id, leg, node ids taken)
        self.chunks = {}  # (job id, leg) -> server of each chunk held by that leg
        self.decisions = []  # times
        self.pfs_bytes = 0.0
        self.clock, self.events, self.count = 0.0, [], 0
        self.turns = {  # what happens in an instant, in this order: to an event, whether that calls for a decision
            "phase": self.end_phase, "kill": self.end_at_walltime, "submit": self.submit, "cancel": self.cancel,
            "planned": lambda event: True,
        }  # fmt: skip
        for job in sorted(self.jobs, key=lambda job: (job.submit, job.id)):
            self.event(job.submit, "submit", job)
        for one in planned:
            for time in (one["start"], one["end"]):
                self.event(time, "planned", None)
        for job in self.jobs:
            if job.columns["cancel"] < math.inf:
                self.event(job.submit + job.columns["cancel"], "cancel", job)

    def decide(self, now):
        """Start what is to start."""
        raise NotImplementedError

    def finished(self):
        """The run when nothing more happens in it; who still waits then, waits for ever."""
        while (self.events or self.streams) and any(not job.state for job in self.jobs):
            self.instant()
        return self

    def event(self, time, kind, job, phase=None):
        self.count += 1
        self.events.append(Event(time, self.count, kind, job, phase))

    def instant(self):
        """All that counts as simultaneous with what comes next, then one decision, then all rates anew."""
        ends = {stream: self.clock + stream.left / stream.rate for stream in self.streams if stream.rate > 0}
        first = min([event.time for event in self.events] + list(ends.values()))
        limit = first + width(first)
        for stream in [stream for stream in self.streams if ends.get(stream, math.inf) <= limit]:
            self.drop(stream, stream.total)
            self.event(ends[stream], "phase", stream.job, stream.phase)
        now, decide = self.happen(first, limit)
        decide |= self.let_in(now)
        for stream in self.streams:
            stream.left -= stream.rate * (now - self.clock)
        self.clock = self.now = now
        while decide:
            self.decisions.append(now)
            held = self.held_back()
            try:
                self.decide(now)
                decide = self.again(held)
            except OverLimitError:
                pass  # it decides again, on what is left
        rates = fill(self.network.of, [(stream.cap, stream.links) for stream in self.streams])
        for stream, rate in zip(self.streams, rates, strict=True):
            stream.rate = rate

    def happen(self, now, limit):
        """All that is due up to `limit`, in turn; the time of the last, and whether it calls for a decision."""
        decide = False
        for kind, happen in self.turns.items():
            while due := [event for event in self.events if event.kind == kind and event.time <= limit]:
                event = min(due, key=lambda event: (event.time, event.count))
                self.events.remove(event)
                now = max(now, event.time)
                decide |= happen(event)
        return now, decide

    def again(self, held):
        """Whether to decide once more: who stood in the line with those that are held back now was blocked by them."""
        return self.held_back() > held

    def drop(self, stream, moved):
        """A stream is no more; what it has moved over the file system's links is counted."""
        self.streams.remove(stream)
        self.pfs_bytes += moved * sum(load for link, load in stream.links.items() if link[0] == "pfs")

    def submit(self, event):
        before = self.let_in(event.time)
        return self.submit_job(event.job, event.time) or before

    def let_in(self, time):
        """Submit those outside that may be now, in their order; whether any was."""
        found = [
            job for job in list(self.sent_away) if not self.site.stays_outside(self, job) and self.come_in(job, time)
        ]
        return bool(found)

    def come_in(self, job, time):
        self.sent_away.remove(job)
        return self.submit_job(job, time)

    def submit_job(self, job, time):
        limits, known = self.limits, job.columns["user"] >= 0
        most = max(leg.demand[0] for leg in job.legs)
        if (
            not self.space.possible(job)
            or job.columns["walltime"] > limits.run_time
            or (known and most > limits.user_nodes)
            or (limits.over == "reject" and self.over_user(job))
            or self.site.turned_away(self, job)
        ):
            job.state = REJECTED
            return False
        if self.site.stays_outside(self, job):
            self.sent_away.append(job)
            return False
        job.queued = time
        self.queue.append(job)
        return True

    def held_back(self):
        """Waiting jobs that their users' limits keep from starting."""
        return {
            job.id for job in self.queue if (not job.begun and self.over_limit(job)) or self.kept_out(job, self.now)
        }

    def closed_at(self, job, time):
        """The nodes that reservations of others keep from a job that would start at a time."""
        closed = set()
        for one in self.planned:
            mine = str(job.columns["user"]) in one.get("users", ())
            if not before(one["start"], time + job.walltime) or not before(time, one["end"]):
                continue
            if before(time, one["start"]) or not mine:
                closed |= set(one.get("ids", range(self.capacities[0])))
        return closed

    def where_at(self, job, time):
        """The runs of nodes on which a job may start at a time."""
        closed, anywhere = self.closed_at(job, time), self.anywhere.setdefault(job.id, list(job.where))
        return [may and not closed.intersection(run) for may, run in zip(anywhere, self.space.park.runs, strict=True)]

    def kept_out(self, job, now):
        """Whether too few nodes are left that are not reserved, for others, before a leg that begins now would end."""
        if job.needs()[0] == 0 or not self.planned:
            return False
        job.where, runs = self.where_at(job, now), self.space.park.runs
        room = sum(len(run) for may, run in zip(job.where, runs, strict=True) if may)
        return bool(self.closed_at(job, now)) and room < job.needs()[0]

    def over_limit(self, job):
        """Whether what has begun leaves no room for this job to begin beside it."""
        return self.over_user(job) or self.site.over(self, job)

    def over_user(self, job):
        """Whether the user has begun too much already for this job to begin beside it."""
        user, limits = job.columns["user"], self.limits
        if user < 0 or limits.user_jobs == limits.user_nodes == math.inf:
            return False
        begun = [one for one in self.jobs if one.columns["user"] == user and one.start == one.start and not one.state]
        nodes = sum(max(leg.demand[0] for leg in one.legs) for one in [*begun, job])
        return len(begun) + 1 > limits.user_jobs or nodes > limits.user_nodes

    def allowed(self):
        """The queue without those that may not begin now."""
        held = self.held_back()
        return [job for job in self.queue if job.id not in held]

    def free(self):
        """What is free, as a row."""
        return self.space.amounts(self.idle, self.pools, self.room)

    def start(self, job, now, place):
        """Start a leg on nodes and servers that are free."""
        if job.id in self.held_back():
            raise OverLimitError
        leg, needs, size = job.legs[job.leg], job.needs(), self.space.chunk_size(job)
        assert set(place.nodes) <= self.idle
        assert len(place.nodes) == needs[0]
        self.idle -= set(place.nodes)
        for r in self.space.pooled:
            self.pools[r - 1] -= needs[r]
        for server in place.servers:
            self.room[server] -= size
        assert min([0, *self.room, *self.pools]) >= 0
        if place.servers:
            job.chunks, job.size = place.servers, size
        job.nodes, job.pools = job.nodes + place.nodes, leg.demand[1:]
        self.chunks[job.id, job.leg] = list(job.chunks)
        self.queue.remove(job)
        self.running.append(job)
        self.starts.append((now, job.id, job.leg, set(place.nodes)))
        job.start = job.start if job.begun else now
        job.waited += now - job.queued
        job.leg_start, job.phase, job.active = now, 0, {}
        self.begin_phases(job, now)
        if self.kill and job.walltime < math.inf:
            self.event(now + job.walltime, "kill", job)

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

    def to_do(self, job, index):
        """What a phase of the running leg does."""
        return job.legs[job.leg].phases[index]

    def begin(self, job, index, time):
        phase = self.to_do(job, index)
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

    def end_phase(self, event):
        """One stream or timer of a phase is over."""
        job, index = event.job, event.phase
        job.active[index] -= 1
        if job.active[index]:
            return False
        del job.active[index]
        amount = self.release(job, job.legs[job.leg].phases[index].release)
        if index == job.blocking:
            job.phase += 1
            over = self.begin_phases(job, event.time)
        else:
            over = job.blocking is None and not job.active
        if over:
            self.end_leg(job, event.time)
        return amount > 0 or over

    def release(self, job, release):
        """Give back what a phase does at its end; how much that was."""
        if release is None:
            return 0
        resource, amount = release
        amount = job.held()[resource] if amount is None else amount
        self.give_back(job, resource, amount)
        return amount

    def end_at_walltime(self, event):
        return self.stop(event.job, event.time, TOO_LONG)

    def cancel(self, event):
        """Its user withdraws the job, whatever it is doing."""
        job = event.job
        if job in self.running:
            return self.stop(job, event.time, KILLED)
        if job in self.sent_away:
            self.sent_away.remove(job)
            job.state = CANCELLED
            return True
        if job not in self.queue:
            return False
        self.queue.remove(job)
        job.waited += event.time - job.queued
        for r, held in enumerate(job.held()):
            self.give_back(job, r, held)
        job.state = KILLED if job.begun else CANCELLED
        job.finish = event.time if job.begun else job.finish
        return True

    def stop(self, job, time, state):
        """Stop the phase that blocks; drains run on, and the job has what it holds until then."""
        if job.blocking is None:
            return False
        for stream in [stream for stream in self.streams if (stream.job, stream.phase) == (job, job.blocking)]:
            self.drop(stream, stream.total - stream.left + stream.rate * (time - self.clock))
        self.events = [event for event in self.events if (event.job, event.phase) != (job, job.blocking)]
        del job.active[job.blocking]
        job.blocking, job.stopped = None, state
        if job.active:
            return False
        self.end_leg(job, time)
        return True

    def end_leg(self, job, time):
        """All but what the next leg carries is given back; the next leg queues, or the job is over."""
        self.events = [event for event in self.events if event.job is not job or event.kind == "cancel"]
        self.running.remove(job)
        keeps = [0] * self.space.R if job.stopped else job.legs[job.leg].keeps
        for r, kept in enumerate(keeps):
            self.give_back(job, r, job.held()[r] - kept)
        if not job.stopped and job.leg + 1 < len(job.legs):
            job.leg += 1
            self.enqueue(job, time)
        else:
            job.finish, job.state = time, job.stopped or COMPLETED

    def enqueue(self, job, time):
        """Ahead of every job that has not begun, behind those that wait for a later leg already."""
        job.queued = time
        self.queue.insert(sum(other.begun for other in self.queue), job)

    def give_back(self, job, resource, amount):
        if amount == 0:
            return
        if resource == 0:
            for _ in range(amount):
                self.idle.add(job.nodes.pop())  # the nodes taken last go first
            return
        job.pools[resource - 1] -= amount
        if resource in self.space.pooled:
            self.pools[resource - 1] += amount
        elif resource == self.space.tier:
            assert job.pools[resource - 1] == 0, "chunks go back all at once"
            for server in job.chunks:
                self.room[server] += job.size
            job.chunks, job.size = [], 0
