"""The slow twin of failures for jobs in rounds: loops of tasks, some of them beside others, on sets of nodes.

Written from the specification. What a job does is a list of steps that its size gives the amounts; where it is safe is
the number of a step and the part of it that is done, whatever its size is next. What a job does for a new size stands
among its steps only while it has that size: it is no place to be safe in, the step after it is.
"""

import math
from dataclasses import dataclass, field

from twins import flexible
from twins.careful import LEAST
from twins.times import before, width

NEVER = math.inf


@dataclass(eq=False)
class Job(flexible.Job):
    """A job with what it has saved."""

    nodes: list = field(default_factory=list)  # in the order in which they were taken
    steps: list = field(default_factory=list)
    detour: tuple = (0, 0)  # those for its size: the first, and how many
    at: tuple = (0, 0.0)  # step, part of it that is done
    safe: tuple | None = None
    saved: float = 0.0  # of its walltime
    safe_since: float = 0.0  # when it started, or went on after a checkpoint or a recovery
    worked: float = 0.0  # since then, up to the piece under way and without waiting
    doing: str = ""  # compute, move, settle, point, save or recover
    began: float = 0.0  # that piece
    deadline: float = NEVER
    asked: str = ""
    attempts: int = 0
    urgency: int = 0
    period: float = NEVER
    save: float = 0.0
    recover: float = 0.0
    goal: int = 0  # its size from its point on; 0 = as it is

    @property
    def place(self):
        """Where it would go on at any size."""
        first, n = self.detour
        index, part = self.at
        if index < first:
            return index, part
        return (index - n, part) if index >= first + n else (first, 0.0)


class Run:
    """A run under `policy(run)`, which calls start, interrupt and resize. `failures` are (time, node, until)."""

    def __init__(self, jobs, n_nodes, rate, failures, policy):
        self.jobs, self.n_nodes, self.rate, self.rules, self.policy = jobs, n_nodes, rate, failures, policy
        self.repeats = False  # whether the policy decides once more before anybody goes on
        self.idle, self.down = set(range(n_nodes)), {}
        known = failures.outages
        self.outages = [
            (float(time), int(node), float(until))
            for node, time, until in zip(known.node, known.down, known.up, strict=True)
        ]
        self.now, self.log, self.n_decisions, self.called, self.wakes = 0.0, [], 0, False, []

    def run(self):
        """From the beginning to the last end."""
        while self.open():
            time = self.next()
            assert time < NEVER, "nothing happens any more"
            self.flow(time)
            self.instant(time + width(time))
        return self

    def open(self):
        return any(job.state in ("unsubmitted", "queued", "running") for job in self.jobs)

    def running(self):
        return [job for job in self.jobs if job.state == "running"]

    def queue(self):
        """By urgency and submission; those that have not begun come last."""
        return sorted(
            (job for job in self.jobs if job.state == "queued"), key=lambda job: (-job.urgency, job.submit, job.id)
        )

    def note(self, kind, job, reason="none", amount=0):
        self.log.append((self.now, kind, None if job is None else job.id, reason, amount))

    def next(self):
        """When something happens next."""
        times = [job.submit for job in self.jobs if job.state == "unsubmitted"]
        times += [job.timer for job in self.running()] + [self.kill_time(job) for job in self.running()]
        times += list(self.down.values()) + [time for time, *_ in self.outages] + self.wakes
        times += [self.now + one[0] / rate for one, rate in self.rates()]
        return max(min(times), self.now)

    def rates(self):
        """Each (bytes left, streams) that flows, and how fast: checkpoints are read back past all that is written."""
        read = [job.stream for job in self.running() if job.stream and job.doing == "recover"]
        written = [job.stream for job in self.running() if job.stream and job.doing != "recover"]
        written += [one for job in self.running() for one in job.beside]
        return [
            (one, self.rate * one[1] / sum(count for _, count in alike)) for alike in (read, written) for one in alike
        ]

    def flow(self, time):
        for one, rate in self.rates():
            one[0] -= rate * (time - self.now)
        self.now = time

    def kill_time(self, job):
        """The walltime stands still while it saves itself or recovers."""
        return NEVER if job.doing in ("save", "recover") else job.deadline

    def instant(self, until):
        """All that happens now, in its order, and then the policy."""
        small = self.rate * 1e-9  # bytes that no clock tells from none
        for job in self.running():
            job.beside = [one for one in job.beside if one[0] > small]
            if job.stream and job.stream[0] <= small:
                job.stream, job.timer = None, self.now
            if job.doing == "settle" and not job.beside:
                job.timer = self.now
            if job.timer <= until:
                self.through(job)
        for job in self.running():
            if self.kill_time(job) <= until:
                self.stop(job, "walltime")
                self.end(job)
        for node in [node for node, back in self.down.items() if back <= until and self.open()]:
            del self.down[node]
            self.idle.add(node)
            self.note("node_up", None, amount=node)
            self.called = True
        while self.outages and self.outages[0][0] <= until and self.open():
            self.fail(*self.outages.pop(0)[1:])
        for job in self.jobs:
            if job.state == "unsubmitted" and job.submit <= until:
                job.state, self.called = "queued", True
        due = [time for time in self.wakes if time <= until]
        self.wakes = [time for time in self.wakes if time > until]
        self.called |= bool(due)
        self.flow(max([self.now, *due]))
        while self.called:
            self.called, self.repeats, self.freed, self.n_decisions = False, False, False, self.n_decisions + 1
            self.policy(self)
            self.called |= self.repeats or self.freed
            if not self.repeats:
                self.leave_points()

    def points(self):
        return [job for job in self.running() if job.doing == "point"]

    def leave_points(self):
        """Go on, with the size that was asked for."""
        for job in self.points():
            if job.goal not in (0, job.size):
                self.take_detour(job)
            job.goal = 0
            job.at = (job.at[0] + 1, 0.0)
            self.go_on(job)

    def take_detour(self, job):
        """What there is to do for its new size comes next."""
        index, _ = job.place
        grows = job.goal - job.size
        job.size = job.goal
        detour = [*job.stage("reconfiguration", job.size), *(job.stage("expansion", grows) if grows > 0 else ())]
        steps = list(job.life(visits=True))
        job.steps, job.at = [*steps[: index + 1], *detour, *steps[index + 1 :]], (index, 0.0)
        job.detour = (index + 1, len(detour))
        self.set_rule(job)

    def resize(self, job, goal):
        """Of a job at a point, which takes or gives back nodes at once; for what it gives back the policy is asked."""
        self.freed |= goal < len(job.nodes)
        self.change(job, goal - len(job.nodes))
        job.goal = goal

    def change(self, job, n):
        """The lowest nodes are taken, those taken last are given back."""
        if n > 0:
            taken = sorted(self.idle)[:n]
            assert len(taken) == n
            self.idle -= set(taken)
            job.nodes += taken
        for _ in range(-n):
            self.idle.add(job.nodes.pop())

    def fail(self, node, until):
        if node in self.down:
            self.down[node] = max(self.down[node], until)
            return
        for job in [job for job in self.running() if node in job.nodes]:
            self.again(job, "node_down")
        self.idle.remove(node)
        self.down[node] = until
        self.note("node_down", None, amount=node)
        self.called = True

    # What a job does

    def start(self, job, n):
        """On the lowest idle nodes."""
        job.size = n
        self.change(job, n)
        job.state, job.steps, job.detour, job.goal = "running", list(job.life(visits=True)), (0, 0), 0
        self.note("start", job, "start", n)
        self.set_rule(job)
        job.period = self.rules.period if self.rules.writes else NEVER
        job.start = self.now if job.start is None else job.start
        job.since, job.safe_since, job.at = self.now, self.now, job.safe or (0, 0.0)
        job.worked, job.asked = 0.0, ""
        left = max(job.walltime - job.saved, LEAST)
        saves = 0 if left == NEVER else max(math.ceil(left / job.period - 1e-9) - 1, 0)
        job.deadline = self.now + left + saves * job.save + (job.recover if job.safe else 0.0)
        if job.safe:
            self.move(job, "recover")
        else:
            self.go_on(job)

    def set_rule(self, job):
        """Costs at this size."""
        rules, n = self.rules, job.size
        job.save = rules.checkpoint_bytes * n / self.rate if rules.checkpoint_bytes else rules.checkpoint
        job.recover = job.save if rules.recovery < 0 else rules.recovery

    def move(self, job, what):
        """Write a checkpoint, or read it back."""
        self.note("begin_phase", job, what)
        job.doing, job.began = what, self.now
        if self.rules.checkpoint_bytes:
            job.stream, job.timer = [self.rules.checkpoint_bytes * job.size, job.size], NEVER
        else:
            job.timer = self.now + (job.save if what == "save" else job.recover)

    def go_on(self, job):
        """Begin what comes next; a checkpoint, if it is time for one and nothing runs beside."""
        while job.at[0] < len(job.steps):
            due = not before(job.worked, job.period) or (job.asked == "now" and job.worked > 0)
            index, part = job.at
            what, amount, streams = job.steps[index]
            if due and what not in ("settle", "point") and not job.beside and before(self.now, job.deadline):
                self.move(job, "save")
                return
            job.doing, job.began, job.timer = what, self.now, NEVER
            if what == "compute":
                rest = job.period - job.worked
                job.timer = self.now + min(amount * (1 - part), rest if rest > 0 else NEVER)
                return
            if what == "move" and amount > 0:
                job.stream = [amount, streams]
                return
            if what == "settle" and job.beside:
                return
            if what == "point":
                self.called = True
                return
            if what == "beside" and amount > 0:
                job.beside.append([amount, streams])
            job.at = (index + 1, 0.0)
        self.stop(job, "completed")
        self.end(job)

    def through(self, job):
        """The piece is over: of computing perhaps not all of it."""
        took, job.timer = self.now - job.began, NEVER
        if job.doing in ("save", "recover"):
            self.note("end_phase", job, job.doing)
            job.deadline += took - (job.save if job.doing == "save" else job.recover)
            saved, job.doing = job.doing == "save", ""
            if saved:
                job.safe, job.worked, job.attempts = job.place, 0.0, 0
                job.saved += job.began - job.safe_since
            job.safe_since = self.now
            if saved and job.asked:
                self.again(job, "interrupted")
            else:
                self.go_on(job)
            return
        self.count(job, took)
        if job.doing == "compute" and job.at[1] > 0 and job.beside:
            # It is time for a checkpoint, but something runs beside: the rest of the phase goes first.
            job.began, job.timer = self.now, self.now + job.steps[job.at[0]][1] * (1 - job.at[1])
            return
        self.go_on(job)

    def count(self, job, took):
        """Work done, and where that leads."""
        index, part = job.at
        what, amount, _ = job.steps[index]
        job.worked += took if what != "settle" else 0.0
        done = part + took / amount if what == "compute" and amount > 0 else 1.0
        job.at = (index, done) if before(done * amount, amount) else (index + 1, 0.0)

    def interrupt(self, job, how):
        """What the policy asks for."""
        assert job.since < self.now
        self.repeats = True
        worked = job.worked + (self.now - job.began if job.doing in ("compute", "move") else 0.0)
        worth_saving = job.doing == "save" or (job.doing != "recover" and worked > 0)
        if how == "last" or (how == "now" and not worth_saving):
            self.again(job, "interrupted")
            return
        job.asked = how
        if how == "now" and job.doing == "compute" and not job.beside:
            self.count(job, self.now - job.began)
            self.go_on(job)

    def stop(self, job, reason):
        """Everything that it does ends, and its nodes are free."""
        if job.doing in ("save", "recover"):
            self.note("end_phase", job, job.doing)
        job.stream, job.beside, job.timer, job.doing = None, [], NEVER, ""
        self.idle |= set(job.nodes)
        self.note("end", job, reason, len(job.nodes))
        job.nodes, self.called = [], True
        job.killed = reason == "walltime"

    def end(self, job):
        job.state, job.end = "ended", self.now

    def again(self, job, reason):
        """It waits once more, unless it has failed too often."""
        self.stop(job, reason)
        job.attempts += reason == "node_down"
        if reason == "node_down" and job.attempts >= self.rules.max_attempts:
            job.state, job.end = "failed", self.now
            return
        job.state, job.urgency = "queued", {"interrupted": 1, "node_down": 2}[reason]
        self.note("queue", job)
