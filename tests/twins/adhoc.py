"""The slow twin of jobs that bring a file system of their own.

Written from the specification alone. What a job does is a generator of steps; all bytes on the machine's file system
flow step by step, each stream with an equal share of its link. Only throughputs and the controller come from
forebay.adhoc, which has tests of its own.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property

import forebay as fb
from twins.times import width

NEVER = math.inf
READS, WRITES = ("read", "fetch"), ("write", "checkpoint")
WRITE_DELAY, READ_DELAY = 2.16e-4, 2.9e-6  # of a server, as docs/reference/adhoc.md has them
STREAM, LATENCY, FASTEST = 2.02e9, 8.5e-6, 12.5e9  # of a client, and of a link


@dataclass(frozen=True)
class Rules:
    """The parameters of the job model, by the names that it has for them."""

    servers: str = "fixed"
    nodes: str = "borrowed"
    start: float = 0.25
    most: float = 1.0
    recommended: float = 250e6
    tolerance: float = 0.1
    window: int = 3
    operations: int = 10
    grant: str = "free"
    redistribute: str = "partial"
    block: int = 2**20
    holds: float = NEVER
    write: float = 1e9
    read: float = 50e9
    slowdown: float = 0.0
    kill: bool = False

    def speed(self, clients, servers, reads):
        """Bytes a second between clients and servers."""
        return _speed(clients, servers, self.block, self.write, self.read, reads)

    def arrives(self):
        """Bytes a second that a server takes."""
        return self.block / (WRITE_DELAY + self.block / min(self.write, FASTEST))


@cache
def _speed(clients, servers, block, write, read, reads):
    device = fb.adhoc.Device(write=write, read=read, write_delay=WRITE_DELAY, read_delay=READ_DELAY)
    link = fb.adhoc.Link(bandwidth=FASTEST, stream=STREAM, latency=LATENCY)
    return float(fb.adhoc.steady_throughput(clients, servers, block, device, link, reads=reads))


def shares(how, old, new):
    """The share of all data that a change moves, and that of the busiest server."""
    lcm = math.lcm(old, new)
    if new > old:
        return {
            "partial": (0.0, 0.0),
            "total": (0.0, 0.0),
            "modulo": (1 - old / lcm, max(1 / old - 1 / lcm, 1 / new)),
            "consistent": ((new - old) / new, max(1 / old - 1 / new, 1 / new)),
        }[how]
    least = ((old - new) / old, max(1 / old, 1 / new - 1 / old))
    anew = (1 - new / lcm, max(1 / old, 1 / new - 1 / lcm))
    return {"partial": least, "total": anew, "modulo": anew, "consistent": least}[how]


def servers_for(share, nodes):
    """So many servers for each node, rounded up; 0.07 for 100 are 7, though 0.07 is stored as a little more."""
    return math.ceil(Fraction(str(share)) * nodes)


def phases_of(seconds, data):
    """What a job without phases does: (kind, seconds, bytes)."""
    if data == 0:
        return [("compute", seconds, 0)]
    k = min(max(round(seconds / 3600), 1), 10)
    computing = [("compute", seconds / k, 0), ("checkpoint", 0.0, data / 2)] * k
    return [("read", 0.0, data), *computing[:-1], ("write", 0.0, data)]


@dataclass(eq=False)
class Job:
    """A job, what it is doing, and what is known of it. Phases are (kind, seconds, bytes)."""

    id: int
    submit: float
    nodes: int
    phases: list
    walltime: float = NEVER
    rules: Rules = field(default_factory=Rules)
    at_first: int = 0  # servers
    most: int = 0
    fits: bool = True  # whether its data fit on all servers that it can have
    servers: int = 0  # that serve
    extra: int = 0  # nodes that it holds for servers alone
    holds: float = 0.0  # bytes that lie on the servers
    past: list = field(default_factory=list)  # whether each operation was a read
    redistributed: float = 0.0
    serving: float = 0.0  # servers x seconds
    state: str = "unsubmitted"
    start: float | None = None
    finish: float | None = None
    timer: float = NEVER
    turn: int = 0  # when it began what it does, among all
    stream: list | None = None  # direction, bytes left, streams

    def moves(self, *kinds):
        """All bytes of these phases."""
        return sum(amount for kind, _, amount in self.phases if kind in kinds)

    def settle(self, rules, machine):
        """How many servers it has at first, and at most, on a machine of so many nodes."""
        self.rules = rules
        if rules.servers == "none" or self.moves(*READS, *WRITES) == 0:
            return
        needed = 0 if rules.holds == NEVER else math.ceil(self.moves("read", *WRITES) / rules.holds)
        if rules.nodes == "own":
            self.at_first = self.most = self.nodes
            self.fits = needed <= self.nodes
            return
        room = machine - self.nodes
        self.fits = needed <= room or room <= 0
        self.at_first = min(max(servers_for(rules.start, self.nodes), needed), room)
        self.most = max(min(servers_for(rules.most, self.nodes), room), self.at_first)

    def life(self):
        """All it does, one step after the other."""
        if self.at_first == 0:
            for kind, seconds, amount in self.phases:
                if amount:
                    yield "read" if kind in READS else "write", amount, self.nodes
                else:
                    yield "wait", seconds
            return
        own = self.rules.nodes == "own"
        yield "read", self.moves("read"), self.servers
        self.holds = self.moves("read")
        for kind, seconds, amount in self.phases:
            if amount:
                yield from self.operations(kind in READS, amount)
            else:
                yield "wait", seconds * (1 + self.rules.slowdown if own and kind == "compute" else 1)
        yield "write", self.moves("write"), self.servers

    def operations(self, reads, amount):
        """Read from the servers, or write to them; they may change before each operation."""
        n = self.rules.operations if self.rules.servers == "malleable" else 1
        for _ in range(n):
            wanted = self.wanted(self.past, self.servers)
            if wanted != self.servers and (yield "ask", wanted):
                yield from self.change(wanted)
            yield "wait", amount / n / self.rules.speed(self.nodes, self.servers, reads)
            self.past.append(reads)
            self.holds += 0 if reads else amount / n

    def wanted(self, past, servers):
        """The servers that the controller asks for after these operations."""
        rules = self.rules
        if rules.servers != "malleable":
            return servers
        goal = rules.recommended * self.nodes
        rule = fb.adhoc.Controller(goal, rules.tolerance * goal, rules.window, self.most, self.at_first)
        return rule([rules.speed(self.nodes, servers, reads) for reads in past[-rules.window :]], servers)

    @cached_property
    def sizes(self):
        """All numbers of servers that it can come to have, whatever it is granted and starts with."""
        ops = [kind in READS for kind, _, amount in self.phases if amount for _ in range(self.rules.operations)]
        windows = {tuple(ops[:k][-self.rules.window :]) for k in range(len(ops))}
        found, new = set(), {self.at_first}
        while new:
            found |= new
            new = {self.wanted(window, servers) for window in windows for servers in new} - found
        return found

    def change(self, new):
        """Go over to another number of servers; the nodes of those that come are held already."""
        moved, busiest = shares(self.rules.redistribute, self.servers, new)
        yield "wait", busiest * self.holds / self.rules.arrives()
        self.redistributed += moved * self.holds  # a move that is cut off counts for nothing
        if new < self.servers:
            yield "shrink", new
        self.servers = new


class Run:
    """A run under fcfs or fcfs-malleable, where the first job that does not fit stops the queue, or under filler.

    fcfs-malleable starts a job with as many servers as it finds nodes for, of those that it can come to have.
    """

    def __init__(self, jobs, nodes, rate, policy="fcfs", rules=None):
        rules = rules or Rules()
        self.jobs = sorted(jobs, key=lambda job: (job.submit, job.id))
        self.nodes, self.free, self.policy, self.rules = nodes, nodes, policy, rules
        self.rate = {"read": rate, "write": rate}
        self.moved = {"read": 0.0, "write": 0.0}
        self.now, self.turns, self.asking, self.asked, self.resizes = 0.0, 0, [], [], []
        for job in self.jobs:
            job.settle(rules, nodes)

    def run(self):
        """From the first submission to the last end."""
        for job in self.jobs:
            job.state = "rejected" if job.nodes > self.nodes else job.state
        while any(job.state in ("unsubmitted", "queued", "running") for job in self.jobs):
            self.instant()
        return self

    def running(self):
        return [job for job in self.jobs if job.state == "running"]

    def queue(self):
        return [job for job in self.jobs if job.state == "queued"]

    def speed(self, job):
        """Bytes a second of a job's transfer: its streams have the same as all others."""
        way, _, streams = job.stream
        return self.rate[way] * streams / sum(one.stream[2] for one in self.moving() if one.stream[0] == way)

    def moving(self):
        return [job for job in self.running() if job.stream]

    def instant(self):
        """All that happens now, in its order: what ends, who is killed, who comes, who asks, who starts."""
        ends = {job: self.now + job.stream[1] / self.speed(job) for job in self.moving()}
        ends |= {job: job.timer for job in self.running() if not job.stream}
        kills = {job: job.start + job.walltime for job in self.running() if self.rules.kill}
        comes = {job: job.submit for job in self.jobs if job.state == "unsubmitted"}
        time = min([*ends.values(), *kills.values(), *comes.values()])
        assert time < NEVER, "nothing happens any more"
        until = time + width(time)
        self.flow(max(time, self.now))
        for job in sorted((job for job in ends if ends[job] <= until), key=lambda job: (ends[job], job.turn)):
            if job.stream:
                self.moved[job.stream[0]] += job.stream[1]  # what rounding has left
            job.stream, job.timer = None, NEVER
            self.go_on(job)
        for job, kill in kills.items():
            if kill <= until and job.state == "running":
                self.end(job, "killed")
        for job, come in comes.items():
            if come <= until:
                job.state = "queued"
        self.answer()
        self.decide()

    def flow(self, time):
        """Let bytes flow, and count servers, up to `time`."""
        rates = [(job, self.speed(job)) for job in self.moving()]
        for job, rate in rates:
            job.stream[1] -= rate * (time - self.now)
            self.moved[job.stream[0]] += rate * (time - self.now)
        for job in self.running():
            job.serving += job.extra * (time - self.now)
        self.now = time

    def go_on(self, job, answer=None):
        """The next step that takes time."""
        while job.state == "running":
            try:
                what, *much = job.steps.send(answer)
            except StopIteration:
                self.end(job, "completed")
                return
            answer, self.turns = None, self.turns + 1
            job.turn = self.turns
            if what == "ask":
                self.asking.append((job, *much))
                return
            if what == "shrink":
                self.take(job, *much)
            elif what == "wait" and much[0] > 0:
                job.timer = self.now + much[0]
                return
            elif what in self.rate and much[0] > 0:
                job.stream = [what, *much]
                return

    def take(self, job, servers):
        """Hold nodes for so many servers."""
        self.resizes.append((self.now, job.id, servers - job.extra))
        self.free -= servers - job.extra
        job.extra = servers

    def answer(self):
        """All that is asked for or nothing, in the order in which jobs ask; fewer servers always."""
        while self.asking:
            job, servers = self.asking.pop(0)
            if job.state != "running":
                continue
            more = servers - job.extra
            self.asked.append((self.now, job.id))
            free = self.policy == "fcfs-malleable" or self.rules.grant == "free"  # the policy answers by itself
            granted = more < 0 or (more <= self.free and (free or not self.queue()))
            if granted and more > 0:
                self.take(job, servers)
            self.go_on(job, granted)

    def decide(self):
        """Start what fits, in the order of arrival."""
        for job in self.queue():
            job.servers = job.at_first
            if self.policy == "fcfs-malleable" and job.at_first and self.rules.servers == "malleable":
                job.servers = max((s for s in job.sizes if job.nodes + s <= self.free), default=job.at_first)
            borrowed = job.servers if self.rules.nodes == "borrowed" else 0
            if job.nodes + borrowed <= self.free:
                self.free -= job.nodes + borrowed
                job.state, job.start, job.steps = "running", self.now, job.life()
                job.extra = borrowed
                self.go_on(job)
            elif self.policy != "filler":
                return

    def end(self, job, state):
        """All it holds is free."""
        self.free += job.nodes + job.extra
        job.state, job.finish, job.stream, job.timer = state, self.now, None, NEVER
