"""The slow twin of an instant in which much happens at once: jobs of whole seconds that wait for others, first come,
first served.

Written from the page on how a run works alone. Nothing is kept from one moment to the next but what has become of each
job: whether one may start is found again, from all its parents, whenever anything has changed.
"""

import math
from dataclasses import dataclass, field

WELL, LATE, REJECTED, CANCELLED, KILLED = "well", "late", "rejected", "cancelled", "killed"


@dataclass(eq=False)
class Job:
    """A job, and what has become of it."""

    row: int
    submit: int
    seconds: int
    nodes: int
    walltime: int
    cancel: float
    edges: list = field(default_factory=list)  # (parent, kind, delay)
    any: bool = False
    number: int | None = None  # by which it was submitted
    joined: int | None = None
    start: int | None = None
    over: int | None = None
    state: str | None = None

    @property
    def end(self):
        """When it ends unless it is stopped."""
        return self.start + min(self.seconds, self.walltime)


class Ties:
    """A run on so many nodes; jobs as (submit, seconds, nodes, walltime, cancel), edges as (job, parent, kind, delay,
    any), by row."""

    def __init__(self, nodes, jobs, edges):
        self.nodes, self.jobs = nodes, [Job(row, *one) for row, one in enumerate(jobs)]
        for job, parent, kind, delay, any_ in edges:
            self.jobs[job].edges.append((self.jobs[parent], kind, delay))
            self.jobs[job].any = any_
        self.queue, self.n_submitted = [], 0
        for job in self.jobs:
            if self.thinks(job):
                job.submit = None

    def finished(self):
        """The run when nothing more happens."""
        now = -1
        for _ in range(10_000):
            now = min((time for time in map(self.next_of, self.jobs) if time is not None), default=None)
            if now is None:
                return self
            self.instant(now)
        raise AssertionError("it never ends")

    def next_of(self, job):
        """When something happens to the job next, as far as is known."""
        if job.state is not None:
            return None
        if job.number is None:
            return self.submitted_at(job)
        times = [job.submit + job.cancel] if job.cancel < math.inf else []
        if job.start is not None:
            times.append(job.end)
        elif job.joined is None and self.free_at(job) is not None:
            times.append(self.free_at(job))
        return min(times, default=None)

    def instant(self, now):
        for job in self.jobs:
            if job.start is not None and job.state is None and job.end <= now:
                self.close(job, now, WELL if job.seconds <= job.walltime else LATE)
        while self.submit_one(now) or self.withdraw_one(now):
            pass
        for job in sorted((job for job in self.jobs if job.number is not None), key=lambda job: job.number):
            if job.state is None and job.joined is None and (self.free_at(job) or 0) <= now and self.may(job):
                job.joined = max(job.submit, self.free_at(job))
                self.queue.append(job)
        while self.queue and self.queue[0].nodes <= self.idle():
            job = self.queue.pop(0)
            job.start = now

    def submit_one(self, now):
        """The first of those due, by row; whether there was one."""
        for job in self.jobs:
            if job.number is None and self.submitted_at(job) is not None and self.submitted_at(job) <= now:
                job.submit, job.number = self.submitted_at(job), self.n_submitted
                self.n_submitted += 1
                if job.nodes > self.nodes:
                    self.close(job, now, REJECTED)
                self.reject_hopeless(now)
                return True
        return False

    def withdraw_one(self, now):
        for job in self.jobs:
            if job.state is None and job.number is not None and job.submit + job.cancel <= now:
                if job in self.queue:
                    self.queue.remove(job)
                self.close(job, now, CANCELLED if job.start is None else KILLED)
                return True
        return False

    def close(self, job, now, state):
        job.state, job.over = state, now
        self.reject_hopeless(now)

    def reject_hopeless(self, now):
        """Those submitted that can never start, and those that cannot because of them."""
        for job in self.jobs:
            if job.state is None and job.number is not None and not self.hopes(job):
                self.close(job, now, REJECTED)

    def idle(self):
        return self.nodes - sum(job.nodes for job in self.jobs if job.start is not None and job.state is None)

    def thinks(self, job):
        return [edge for edge in job.edges if edge[1] == "think"]

    def waits(self, job):
        return [edge for edge in job.edges if edge[1] != "think"]

    def submitted_at(self, job):
        """When the job is submitted, if that is known."""
        thinks = self.thinks(job)
        if job.number is not None or not thinks:
            return job.submit
        if any(parent.over is None for parent, _, _ in thinks):
            return None
        return max(parent.over + delay for parent, _, delay in thinks)

    def met(self, edge):
        """When a parent has done what is waited for, and the delay is over; infinity: never; None: who knows."""
        parent, kind, delay = edge
        if kind == "after" and parent.start is not None:
            return parent.start + delay
        if parent.over is None:
            return None
        bad = {"afterok": parent.state != WELL, "afternotok": parent.state == WELL}
        return math.inf if bad.get(kind) else parent.over + delay

    def free_at(self, job):
        """From when on the job may start: -1 if always; None if that is not known, or never."""
        times = [self.met(edge) for edge in self.waits(job)]
        if not times:
            return -1
        known = [time for time in times if time is not None and time < math.inf]
        if job.any:
            return min(known, default=None)
        return max(known) if len(known) == len(times) else None

    def may(self, job):
        return self.free_at(job) is not None

    def hopes(self, job):
        """Whether the job may ever start, as far as is known."""
        times = [self.met(edge) for edge in self.waits(job)]
        return not times or (any if job.any else all)(time != math.inf for time in times)
