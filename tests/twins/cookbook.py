"""The recipes of the cookbook a second time, on a simulator of their own: nothing here is forebay's.

Jobs are rigid, times whole seconds, and nobody takes longer than its walltime. A decision begins with who waits, in
order of arrival, and who runs; what is free over time is counted from intervals, anew for each question.
"""

import itertools
import math
from dataclasses import dataclass


@dataclass(eq=False)
class Job:
    """A job; `demand` is nodes and bytes of burst buffer."""

    id: int
    submit: float
    walltime: float
    run_time: float
    demand: tuple
    user: int
    start: float = math.inf
    end: float = math.inf

    @property
    def nodes(self):
        return self.demand[0]


class Schedule:
    """What is taken when: intervals of (begin, end, demand)."""

    def __init__(self, capacity, now):
        self.capacity, self.now, self.taken = capacity, now, []

    def free(self, time):
        """What is free at a time: who ends then has left."""
        free = list(self.capacity)
        for begin, end, demand in self.taken:
            if begin <= time < end:
                free = [a - b for a, b in zip(free, demand, strict=True)]
        return free

    def fits(self, demand, begin, seconds):
        times = {begin} | {time for taken in self.taken for time in taken[:2] if begin < time < begin + seconds}
        return all(need <= left for time in times for need, left in zip(demand, self.free(time), strict=True))

    def earliest(self, demand, seconds):
        """The first time at which a demand is free for so long; one of now and the ends."""
        for time in sorted({self.now} | {end for _, end, _ in self.taken if end > self.now}):
            if self.fits(demand, time, seconds):
                return time
        return math.inf

    def take(self, demand, begin, seconds):
        if begin < math.inf:
            self.taken.append((begin, begin + seconds, demand))


class Simulator:
    """A run; subclasses say whom to start."""

    def __init__(self, jobs, capacity, **options):
        self.jobs, self.capacity, self.now = jobs, capacity, 0.0
        self.waiting, self.running, self.ended = [], [], []
        vars(self).update(options)

    def run(self):
        """The start of each job, by id."""
        coming = sorted((job for job in self.jobs if self.possible(job)), key=lambda job: (job.submit, job.id))
        while coming or self.running or self.waiting:
            times = [job.end for job in self.running] + [job.submit for job in coming[:1]]
            self.now = min(times)
            self.left = sorted((job for job in self.running if job.end == self.now), key=lambda job: job.id)
            self.running = [job for job in self.running if job.end > self.now]
            self.ended += self.left
            while coming and coming[0].submit == self.now:
                self.waiting.append(coming.pop(0))
            self.plan = self.schedule()
            self.decide(list(self.waiting))
        return {job.id: job.start for job in self.jobs}

    def possible(self, job):
        return all(need <= there for need, there in zip(job.demand, self.capacity, strict=True))

    def seconds(self, job):
        """How long a job is expected to take, in all."""
        return job.walltime

    def schedule(self):
        plan = Schedule(self.capacity, self.now)
        for job in self.running:
            plan.take(job.demand, job.start, self.seconds(job))
        return plan

    def start(self, job):
        job.start, job.end = self.now, self.now + job.run_time
        self.waiting.remove(job)
        self.running.append(job)
        self.plan.take(job.demand, self.now, self.seconds(job))

    def fits(self, job):
        """Whether a job can start now and delay nothing in the plan."""
        return self.plan.fits(job.demand, self.now, self.seconds(job))

    def backfill(self, line, n_reserved):
        """In order: start, or reserve for the first so many who cannot."""
        for job in line:
            if self.fits(job):
                self.start(job)
            elif n_reserved > 0:
                n_reserved -= 1
                seconds = self.seconds(job)
                self.plan.take(job.demand, self.plan.earliest(job.demand, seconds), seconds)

    def in_order(self, line):
        """Start from the first on; who is left."""
        while line and self.fits(line[0]):
            self.start(line.pop(0))
        return line


class Easy(Simulator):
    def decide(self, line):
        self.backfill(sorted(line, key=self.key), 1)

    def key(self, job):
        return 0


class Conservative(Simulator):
    def decide(self, line):
        self.backfill(line, math.inf)


class SmallestArea(Easy):
    def key(self, job):
        return job.nodes * job.walltime, job.id


class ExpansionFactor(Easy):
    def key(self, job):
        waited = self.now - job.submit
        return -((waited + job.walltime) / job.walltime + 0.02 * waited / 3600)


class Wfp3(Easy):
    def key(self, job):
        return -job.nodes * ((self.now - job.submit) / job.walltime) ** 3


class Unicef(Easy):
    def key(self, job):
        return -(self.now - job.submit) / (job.walltime * math.log2(max(job.nodes, 2)))


class Learned(Easy):
    function = 1

    def key(self, job):
        r, n, s = job.walltime, job.nodes, math.log10(max(job.submit, 1))
        if self.function == 1:
            return math.log10(r) * n + 870 * s
        if self.function == 2:
            return math.sqrt(r) * n + 25_600 * s
        if self.function == 3:
            return r * n + 6_860_000 * s
        return r * math.sqrt(n) + 530_000 * s


class EasyPlusPlus(Simulator):
    longer = (60, 300, 900, 1800, 3600, 7200, 18000, 36000, 72000, 180000, 360000)

    def seconds(self, job):
        guess = job.guess
        ran = 0 if job.start == math.inf else self.now - job.start
        for more in self.longer:
            if guess > ran:
                break
            guess += more
        return min(guess, job.walltime)

    def decide(self, line):
        for job in line:
            past = [one.run_time for one in self.ended if one.user == job.user][-2:]
            job.guess = min(job.walltime, max(1, sum(past) / len(past))) if past else job.walltime
        line = self.in_order(line)
        self.backfill(line[:1] + sorted(line[1:], key=self.seconds), 1)


class Selective(Simulator):
    def decide(self, line):
        slowdowns = [(job.end - job.submit) / job.run_time for job in self.ended]
        threshold = sum(slowdowns) / len(slowdowns) if slowdowns else 1
        chosen = [job for job in line if 1 + (self.now - job.submit) / job.walltime > threshold]
        self.backfill(chosen, math.inf)
        self.backfill([job for job in line if job not in chosen], 0)


class Relaxed(Simulator):
    slack = 0.5

    def decide(self, line):
        line = self.in_order(line)
        if not line:
            return
        head = line[0]
        begin = self.plan.earliest(head.demand, head.walltime)
        if not hasattr(head, "latest"):
            head.latest = begin + self.slack * (begin - head.submit)
        head.latest = max(head.latest, begin)
        # As if it were to begin as late as it may: nobody may take what it will need then.
        self.plan.take(head.demand, head.latest, math.inf)
        self.backfill(line[1:], 0)


class Lookahead(Simulator):
    def decide(self, line):
        line = self.in_order(line)
        if not line:
            return
        head = line[0]
        self.plan.take(head.demand, self.plan.earliest(head.demand, head.walltime), math.inf)
        jobs = [job for job in line[1:] if self.fits(job)]
        sets = [some for size in range(len(jobs) + 1) for some in itertools.combinations(range(len(jobs)), size)]
        possible = [some for some in sets if self.together([jobs[place] for place in some])]
        used = {some: sum(jobs[place].nodes for place in some) for some in possible}
        # The most nodes; then the first in which the earliest jobs are, compared one by one.
        most = max(used.values())
        chosen = min((some for some in possible if used[some] == most), default=())
        for place in chosen:
            self.start(jobs[place])

    def together(self, jobs):
        plan = Schedule(self.capacity, self.now)
        plan.taken = list(self.plan.taken)
        for job in jobs:
            if not plan.fits(job.demand, self.now, job.walltime):
                return False
            plan.take(job.demand, self.now, job.walltime)
        return True


class SlackBased(Simulator):
    slack, least = 0.5, 600.0

    def decide(self, line):
        latest, planned = vars(self).setdefault("latest", {}), self.begins(line)
        for job in line:
            slack = max(self.slack * (planned[job] - self.now), self.least)
            latest.setdefault(job, planned[job] + slack)
        bound = {job: max(latest[job], planned[job]) for job in line}
        for job in [job for job in line if self.fits(job)]:
            begins = self.begins([job, *(other for other in self.waiting if other is not job)])
            late = [other for other in begins if other is not job and begins[other] > bound[other]]
            if begins[job] == self.now and not late:
                self.start(job)

    def begins(self, line):
        """When each would begin if they held reservations in this order."""
        plan, found = self.schedule_of(self.plan), {}
        for job in line:
            found[job] = plan.earliest(job.demand, job.walltime)
            plan.take(job.demand, found[job], job.walltime)
        return found

    def schedule_of(self, plan):
        copy = Schedule(self.capacity, self.now)
        copy.taken = plan.taken.copy()
        return copy


class Heft(Simulator):
    """No job waits for others here, so the longest goes first."""

    def decide(self, line):
        self.backfill(sorted(line, key=lambda job: (-job.walltime, job.id)), math.inf)
