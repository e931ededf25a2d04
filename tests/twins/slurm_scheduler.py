"""The slow twin of the policies slurm and multifactor, in plain Python, from Slurm's documentation.

Every job that is tested is laid into one calendar, in order, whether that can matter now or not. Usage is added up anew
from the starts and ends of all jobs, period by period.
"""

import math

from forebay import Policy
from forebay.core.codes import LogReason, Trigger
from forebay.core.tables import after, instant_width


class Calendar:
    """What is free of each resource: free[i] from times[i] on."""

    def __init__(self, now, free):
        self.times, self.free = [now], [list(free)]

    def give(self, time, amounts):
        """Something comes free; times come in order."""
        if time > self.times[-1]:
            self.times.append(time)
            self.free.append(list(self.free[-1]))
        self.free[-1] = [a + b for a, b in zip(self.free[-1], amounts, strict=True)]

    def coarsen(self, linear):
        """Ends within 30 s of the first are one, at the last of them; then within 60 s, and so on."""
        times, free, width, i = self.times[:1], self.free[:1], 30.0, 1
        while i < len(self.times):
            together = [k for k in range(i, len(self.times)) if self.times[k] <= self.times[i] + width]
            times.append(self.times[together[-1]])
            free.append(self.free[together[-1]])
            i = together[-1] + 1
            width = width + linear if linear else 2 * width
        self.times, self.free = times, free

    def round_down(self, slot):
        """Segments begin at multiples of a slot; what comes free in the present one does so just behind its begin."""
        first = math.floor(self.times[0] / slot) * slot
        rounded = {first: self.free[0]}
        for time, free in zip(self.times[1:], self.free[1:], strict=True):
            rounded[max(math.floor(time / slot) * slot, after(first))] = free
        self.times, self.free = list(rounded), list(rounded.values())

    def fits(self, i, until, demand):
        """Whether a demand is free from segment i until a time."""
        until -= instant_width(until)
        parts = [self.free[k] for k in range(i, len(self.times)) if k == i or self.times[k] < until]
        return all(have >= need for part in parts for have, need in zip(part, demand, strict=True))

    def _cut(self, time):
        """Let a segment begin at a time, if none does in that instant; returns when it begins."""
        for one in self.times:
            if abs(one - time) <= instant_width(time):
                return one
        k = max(i for i, one in enumerate(self.times) if one < time)
        self.times.insert(k + 1, time)
        self.free.insert(k + 1, list(self.free[k]))
        return time

    def take(self, begin, until, demand):
        """Take a demand away from a time to another."""
        begin, until = self._cut(begin), self._cut(until) if until < math.inf else until
        for i, time in enumerate(self.times):
            if begin <= time < until:
                self.free[i] = [a - b for a, b in zip(self.free[i], demand, strict=True)]


class Priorities:
    """Multifactor priorities of jobs, from what has run so far."""

    def __init__(self, weights, period=300.0, half_life=604800.0, max_age=604800.0, fair_tree=True):
        self.weights, self.period, self.fair_tree, self.max_age = weights, period, fair_tree, max_age
        self.kept = (1 - 0.693 / half_life) ** period if half_life else 1.0
        self.usage, self.factor, self.known, self.calculated = {}, {}, {}, 0.0

    def _used(self, view, begin, end):
        used = {}
        for job in view.jobs[view.jobs["start"] >= 0]:
            finish = job["finish"] if job["finish"] >= 0 else math.inf
            seconds = max(0.0, min(finish, end) - max(job["start"], begin))
            used[int(job["user"])] = used.get(int(job["user"]), 0.0) + int(job["nodes"]) * seconds
        return used

    def order(self, view):
        """The queue by priority."""
        due = False
        while view.now >= self.calculated + self.period:
            due = True
            used = self._used(view, self.calculated, self.calculated + self.period)
            for user in set(self.usage) | set(used):
                self.usage[user] = (self.usage.get(user, 0.0) + used.get(user, 0.0)) * self.kept
            self.calculated += self.period
        if due:
            self._share(set(self.factor))
        for job in view.queue.tolist():
            user = int(view.jobs["user"][job])
            self.factor.setdefault(user, 1.0)
            if job not in self.known or due:
                self.known[job] = self._priority(view, job, view.now if job not in self.known else self.calculated)
        return sorted(view.queue.tolist(), key=lambda job: (-self.known[job], int(view.jobs["id"][job])))

    def _share(self, users):
        total = sum(self.usage.get(user, 0.0) for user in users)
        over = {user: self.usage.get(user, 0.0) / total * len(users) if total else 0.0 for user in users}
        for user in users:
            ahead = sum(over[other] < over[user] for other in users)
            self.factor[user] = (len(users) - ahead) / len(users) if self.fair_tree else 2.0 ** -over[user]

    def _priority(self, view, job, now):
        row, weights = view.jobs[job], self.weights
        age = min(1.0, max(0.0, now - row["submit"]) / self.max_age)
        size = int(row["nodes"]) / int(view.capacity[0])
        total = weights["age"] * age + weights["share"] * self.factor[int(row["user"])] + weights["size"] * size
        return max(1, math.floor(total))


class Slurm(Policy):
    """Slurm's two schedulers; parameters as in slurm.conf, all of them required."""

    def __init__(self, priorities=None, **params):
        self.p, self.priorities = params, priorities

    def setup(self, view):
        """Forget the last run."""
        self.batched = self.backfilled = -math.inf
        self.batch_due, self.full_due, self.changed, self.rested = math.inf, None, False, True

    def decide(self, view, act):
        """Run whatever is due."""
        now, p = view.now, self.p
        if self.full_due is None:
            self.full_due = now + p["sched_interval"]
        event = any(view.because(one) for one in (Trigger.SUBMIT, Trigger.JOB_ENDED, Trigger.LEG_ENDED))
        calculated = self.priorities.calculated if self.priorities else 0.0
        line = self._line(view)
        hidden = len(view.queue) - len(line)
        if self.priorities and self.priorities.calculated > calculated:
            self.changed = True
        if not line and not hidden:
            self.rested = True
            return
        if event:
            self.changed = True
            self.batch_due = min(self.batch_due, max(now, self.batched + p["batch_sched_delay"]))
        depth, self.started = None, []
        if self.batch_due <= now:
            self.batched, self.batch_due, depth = now, math.inf, p["default_queue_depth"]
        if self.full_due <= now:
            depth = len(line)
            while self.full_due <= now:
                self.full_due += p["sched_interval"]
        if depth is not None:
            line = self._main(view, act, line, depth)
        if self.changed and self._cycle_from(now) <= now:
            left = self._backfill(view, act, line)
            self.backfilled, self.changed, self.rested, line = now, self._goes_on(line, left), False, left
        self.rested = self.rested or not (line or hidden)
        if line or hidden:
            times = [self.batch_due, self.full_due, self._cycle_from(now) if self.changed else math.inf]
            for time in times:
                if now < time < math.inf:
                    act.wake(time)

    def _cycle_from(self, now):
        """When a backfill cycle may run from a time on: while jobs wait, at multiples of the interval."""
        if self.rested or self.backfilled == -math.inf:
            return max(self.backfilled + self.p["bf_interval"], now)
        cycles = 1
        while self.backfilled + cycles * self.p["bf_interval"] < now - instant_width(now):
            cycles += 1
        return self.backfilled + cycles * self.p["bf_interval"]

    def _line(self, view):
        """The queue in the order in which jobs are tried; who may not be tried yet is left out."""
        return self.priorities.order(view) if self.priorities else view.queue.tolist()

    def _licensed(self, view, act, job):
        return all(need <= have for need, have in zip(view.demand(job)[1:], act.free[1:], strict=True))

    def _main(self, view, act, line, depth):
        left, tried, blocked, by_part = [], 0, False, {}
        for job in line:
            if blocked or tried == depth:
                left.append(job)
                continue
            tried += 1
            if not self.p["bf_licenses"] and not self._licensed(view, act, job):
                left.append(job)
                continue
            part = int(view.jobs["queue"][job])
            by_part[part] = by_part.get(part, 0) + 1
            if self.p["partition_job_depth"] and by_part[part] > self.p["partition_job_depth"]:
                left.append(job)
                continue
            if act.fits(job):
                self._start(view, act, job, LogReason.IN_ORDER)
                self.changed = True
                self.started.append(job)
            else:
                self._in_vain(view, act, job)
                blocked = True
                left.append(job)
        return left

    def _goes_on(self, line, left):
        """Whether a cycle has changed anything, so that another one has something to do."""
        return len(left) < len(line)

    def _in_vain(self, view, act, job):
        """The main scheduler has tried a job that does not fit."""

    def _start(self, view, act, job, reason):
        act.start(job, reason)

    def _calendar(self, view, free, gone=()):
        """What will be free when, if some jobs did not run."""
        ends = []
        for row in view.running:
            if row["job"] in gone:
                continue
            end = float(row["end"]) if row["end"] > view.now else view.now + 1.0
            ends.append((end, [int(x) for x in view.releases[row["leg"]]]))
        for job in self.started:
            ends.append((view.now + view.walltime(job), [int(x) for x in view.demand(job)]))
        free = [int(x) for x in free]
        for job in gone:
            free = [have + int(x) for have, x in zip(free, view.releases[view.jobs["leg"][job]], strict=True)]
        calendar = Calendar(view.now, free)
        for end, amounts in sorted(ends, key=lambda pair: pair[0]):
            calendar.give(end, amounts)
        calendar.coarsen(self.p["bf_window_linear"])
        calendar.round_down(self.p["bf_resolution"])
        return calendar

    def _tested(self, view, act, line):
        p, tested, users, parts = self.p, [], {}, {}
        for job in line:
            user, part = int(view.jobs["user"][job]), int(view.jobs["queue"][job])
            if len(tested) == p["bf_max_job_test"]:
                break
            if p["bf_max_job_part"] and parts.get(part, 0) >= p["bf_max_job_part"]:
                continue
            parts[part] = parts.get(part, 0) + 1
            if p["bf_max_job_user"] and user >= 0 and users.get(user, 0) >= p["bf_max_job_user"]:
                continue
            users[user] = users.get(user, 0) + 1
            if p["bf_licenses"] or self._licensed(view, act, job):
                tested.append(job)
        return tested

    def _backfill(self, view, act, line):
        p, now, slot, tested = self.p, view.now, self.p["bf_resolution"], self._tested(view, act, line)
        calendar, started = self._calendar(view, act.free), []
        window_end = math.floor((now + 60.0 * p["bf_window"]) / slot) * slot
        for job in tested:
            if p["bf_max_job_start"] and len(started) == p["bf_max_job_start"]:
                break
            if not p["bf_licenses"] and not self._licensed(view, act, job):
                continue
            demand = [int(x) if r == 0 or p["bf_licenses"] else 0 for r, x in enumerate(view.demand(job))]
            if act.fits(job) and calendar.fits(0, now + view.walltime(job), demand):
                calendar.take(calendar.times[0], now + view.walltime(job), demand)
                act.start(job, LogReason.BACKFILLED)
                started.append(job)
            elif now - view.jobs["submit"][job] >= p["bf_min_age_reserve"]:
                for i, time in enumerate(calendar.times):
                    if calendar.fits(i, time + view.walltime(job) + slot, demand):
                        if time <= window_end:
                            calendar.take(time, time + view.walltime(job) + slot, demand)
                        break
        return [job for job in line if job not in started]
