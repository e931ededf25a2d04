"""The slow twin of a run with jobs whose size changes: each job's life is a generator, and all bytes flow step by step.

Written from the specification: what a job does is told by its parts (see cases.flexible), on a machine of nodes and one
file system that every stream gets an equal share of.
"""

import math
from dataclasses import dataclass, field

NEVER = math.inf
RESIZED_BY_POLICY = ("malleable", "adaptive")
ASKS = ("evolving", "adaptive")


@dataclass(eq=False)
class Job:
    """A job, what it is doing, and what is known of it."""

    id: int
    kind: str
    submit: float
    sizes: list
    parts: list
    size: int
    walltime: float = NEVER
    start: float | None = None
    end: float | None = None
    held: int = 0
    asked: int | None = None
    wants: int = 0
    state: str = "unsubmitted"
    timer: float = NEVER  # when what it does by itself ends
    turn: int = 0  # when it began that, among all
    stream: list | None = None  # bytes left and streams of the transfer that it waits for
    beside: list = field(default_factory=list)
    waits: str = ""  # for "beside", or at a "point"
    since: float = 0.0
    killed: bool = False

    def life(self, visits):
        """All it does, one thing after the other."""
        loops = [part for part in self.parts if part["stage"] == "run"]
        yield from self.stage("init", self.size)
        begun = False
        for loop in loops:
            wants = {(over, n): goal for over, n, goal in loop["requests"](self.sizes)}
            for over in range(loop["rounds"]):
                asks = bool(wants) and self.kind in ASKS
                may = begun and visits and (asks or (loop["point"] and self.kind in RESIZED_BY_POLICY))
                if loop["barrier"] or may:
                    yield "settle", 0, 0
                if may:
                    self.wants = wants.get((over, self.size), wants.get((-1, self.size), 0)) if asks else 0
                    if self.wants == self.size:
                        self.wants = 0
                    if not asks or self.wants:
                        before = self.size
                        yield "point", 0, 0
                        if self.size != before:
                            yield from self.stage("reconfiguration", self.size)
                            if self.size > before:
                                yield from self.stage("expansion", self.size - before)
                begun = True
                for task in loop["tasks"]:
                    yield self._task(task, self.size)
        yield "settle", 0, 0

    def stage(self, name, n):
        """Its tasks, on so many nodes."""
        for part in self.parts:
            if part["stage"] == name:
                for task in part["tasks"]:
                    yield self._task(task, n)

    def _task(self, task, n):
        seconds, amount = task["amount"](n)
        if task["kind"] == "compute":
            return "compute", seconds, 0
        return ("beside" if task["beside"] else "move"), amount, n


class Run:
    """A run under `policy(run, now)`, which calls start, resize and kill; it is called once an instant in which a job
    came, ended, gave nodes back or stands at a point."""

    def __init__(self, jobs, nodes, rate, policy, visits=True):
        self.jobs, self.free, self.rate, self.policy, self.visits = jobs, nodes, rate, policy, visits
        self.nodes, self.n_timers = nodes, 0
        self.now, self.called, self.resizes, self.n_ended, self.points = 0.0, False, [], 0, []

    def run(self):
        """From the first submit to the last end."""
        while any(job.state in ("unsubmitted", "running", "queued") for job in self.jobs):
            time = self._next()
            assert time < NEVER, "nothing happens any more"
            self._flow(time)
            width = min(1e-9 * max(1.0, time), 1e-6)
            for job in self._in_turn(time + width):
                self._happen(job, time + width)
            for job in self.jobs:
                if job.state == "unsubmitted" and job.submit <= time + width:
                    job.state, self.called = "queued", True
            while self.called:
                self.called = False
                self.policy(self, time)
                self._resume()
        return self

    def _in_turn(self, until):
        """The jobs as what they do ends: first transfers, then what ends by itself, ties as it began."""
        return sorted(self.jobs, key=lambda job: (job.timer, job.turn) if job.timer <= until else (-1.0, job.id))

    def _streams(self):
        moving = [job.stream for job in self.jobs if job.state == "running" and job.stream]
        return moving + [one for job in self.jobs if job.state == "running" for one in job.beside]

    def _next(self):
        """When something happens next."""
        times = [job.submit for job in self.jobs if job.state == "unsubmitted"]
        for job in self.jobs:
            if job.state == "running":
                times += [job.timer, job.start + job.walltime]
        streams = self._streams()
        total = sum(count for _, count in streams)
        times += [self.now + left / (self.rate * count / total) for left, count in streams]
        return max(min(times, default=NEVER), self.now)

    def _flow(self, time):
        streams = self._streams()
        total = sum(count for _, count in streams)
        for one in streams:
            one[0] -= self.rate * one[1] / total * (time - self.now)
        self.now = time

    def _happen(self, job, until):
        """Let a running job go on as far as it can by this instant."""
        if job.state != "running":
            return
        small = self.rate * 1e-9  # bytes that no clock tells from none
        job.beside = [one for one in job.beside if one[0] > small]
        if job.waits == "point":
            pass
        elif job.stream is not None:
            if job.stream[0] <= small:
                job.stream = None
                self._go_on(job)
        elif job.waits == "beside":
            if not job.beside:
                job.waits = ""
                self._go_on(job)
        elif job.timer <= until:
            job.timer = NEVER
            self._go_on(job)
        if job.state == "running" and job.start + job.walltime <= until:
            self._end(job)
            job.killed = True

    def _go_on(self, job):
        for what, amount, streams in job.steps:
            if what == "compute" and amount > 0:
                self.n_timers += 1
                job.timer, job.turn = self.now + amount, self.n_timers
                return
            if what == "move" and amount > 0:
                job.stream = [amount, streams]
                return
            if what == "beside" and amount > 0:
                job.beside.append([amount, streams])
            if what == "settle" and job.beside:
                job.waits = "beside"
                return
            if what == "point":
                job.waits, self.called = "point", True
                self.points.append(job)
                return
        self._end(job)

    def _end(self, job):
        job.state, job.end, job.stream, job.beside, job.waits = "ended", self.now, None, [], ""
        self.free += job.held
        job.held = 0
        self.called = True
        self.n_ended += 1

    def _resume(self):
        """Let jobs at points go on."""
        points, self.points = self.points, []
        for job in points:
            if job.state != "running":
                continue
            job.waits, job.wants = "", 0
            if job.asked is not None:
                if job.held > job.asked:
                    self._change(job, job.asked - job.held)
                    self.called = True
                job.size, job.asked = job.asked, None
            self._go_on(job)

    def _change(self, job, nodes):
        self.free -= nodes
        job.held += nodes
        self.resizes.append((self.now, job.id, nodes))

    def start(self, job, nodes):
        """Start a job that waits."""
        assert nodes in job.sizes
        assert nodes <= self.free
        self.free -= nodes
        job.state, job.start, job.size, job.held = "running", self.now, nodes, nodes
        job.steps = job.life(self.visits)
        self._go_on(job)

    def resize(self, job, nodes):
        """Give a running job another size: now if it stands at a point, else at its next."""
        keeps = nodes if job.waits == "point" else max(nodes, job.size)
        assert nodes in job.sizes
        assert keeps - job.held <= self.free
        if keeps < job.held and job.waits == "point":
            self.called = True
        if keeps != job.held:
            self._change(job, keeps - job.held)
        job.asked = nodes if nodes != job.size else None
