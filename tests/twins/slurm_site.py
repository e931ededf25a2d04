"""A slow simulator of Slurm's two schedulers on machines with classes, partitions and shared nodes.

Written from docs/reference/policies/slurm.md alone, with sets of nodes and lists of reservations; what is free at a
time is added up from all jobs whenever it is asked for. Jobs have one leg that computes; times are whole numbers; every
node has the same weight. Jobs are those of `classes`, and have the nodes `within` their partitions.
"""

import math

DEFAULTS = {
    "default_queue_depth": 100, "sched_interval": 60, "batch_sched_delay": 3, "bf_interval": 30, "bf_window": 1440,
    "bf_resolution": 60, "bf_window_linear": 0, "bf_max_job_test": 500, "bf_max_job_start": 0, "bf_min_age_reserve": 0,
}  # fmt: skip


def runs_of(nodes):
    """Neighbours, as lists, by their lowest node."""
    runs = []
    for n in sorted(nodes):
        if runs and runs[-1][-1] == n - 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return runs


class Slurm:
    """A run of jobs on a machine of `classes.Inside`, with shared nodes or not."""

    def __init__(self, machine, jobs, shared, **params):
        self.machine, self.shared, self.p = machine, shared, DEFAULTS | params
        self.coming = sorted(jobs, key=lambda job: (job.submit, job.id))
        self.waiting, self.running = [], []
        self.atoms = [node.atom for node in machine.nodes]

    def run(self):
        """Sets the jobs' starts and places."""
        self.batched = self.cycled = -math.inf
        self.batch_due, self.full_due, self.changed, self.rested = math.inf, None, False, True
        while self.coming or self.running or self.waiting:
            times = [job.start + min(job.run_time, job.walltime) for job in self.running]
            times += [job.submit for job in self.coming[:1]]
            if self.waiting:
                times += [self.batch_due, self.full_due, self._cycle(self.now) if self.changed else math.inf]
            self.now = min(time for time in times)
            over = [job for job in self.running if job.start + min(job.run_time, job.walltime) == self.now]
            new = [job for job in self.coming if job.submit == self.now]
            self.running = [job for job in self.running if job not in over]
            self.coming = [job for job in self.coming if job not in new]
            self.waiting += new
            self._decide(bool(over or new))

    def _cycle(self, now):
        """When backfilling is due from a time on."""
        if self.rested or self.cycled == -math.inf:
            return max(self.cycled + self.p["bf_interval"], now)
        cycles = max(math.ceil((now - self.cycled) / self.p["bf_interval"]), 1)
        return self.cycled + cycles * self.p["bf_interval"]

    def _decide(self, event):
        now, p = self.now, self.p
        if self.full_due is None:
            self.full_due = now + p["sched_interval"]
        if self.waiting:
            if event:
                self.changed, self.batch_due = (
                    True,
                    min(self.batch_due, max(now, self.batched + p["batch_sched_delay"])),
                )
            depth = None
            if self.batch_due <= now:
                self.batched, self.batch_due, depth = now, math.inf, p["default_queue_depth"]
            if self.full_due <= now:
                depth = len(self.waiting)
            if depth is not None:
                self._main(depth)
            if self.changed and self._cycle(now) <= now:
                self.cycled, self.changed, self.rested = now, self._backfill(), False
        while self.full_due <= now:
            self.full_due += p["sched_interval"]
        self.rested = self.rested or not self.waiting

    # What is free.

    def _free(self, time, without=()):
        """What is free in each node at a time, if no other job starts; now: what is free now."""
        free = self.machine.all_free()
        for job in self.running:
            if (time == self.now or self._expected(job) > time) and job not in without:
                free = self.machine.without(free, job.places)
        return free

    def _expected(self, job):
        return job.expected if job.expected > self.now else self.now + 1

    def _holds(self, free, n, job):
        """How many parts of a job a node holds; one that jobs have to themselves holds one or none."""
        return self.machine.holds(free, n, job) if self.atoms[n] in job.allowed else 0

    def _room(self, free, nodes, job):
        return sum(self._holds(free, n, job) for n in nodes)

    def _pick(self, free, nodes, job):
        """Parts on nodes: the tightest run that holds all, else the largest and so on."""
        if self.shared and self.machine.placement != "best-fit":
            hidden = [have if n in nodes else tuple(0 for _ in have) for n, have in enumerate(free)]
            return self.machine.place(hidden, job)
        left, places, usable = job.parts, {}, {n for n in nodes if self._holds(free, n, job)}
        while left and usable:
            runs = runs_of(usable)
            size = {run[0]: sum(free[n][0] if self.shared else 1 for n in run) for run in runs}
            enough = [run for run in runs if self._room(free, run, job) >= left]
            best = min(enough, key=lambda run: size[run[0]]) if enough else max(runs, key=lambda run: size[run[0]])
            alone = [n for n in best if self._holds(free, n, job) >= left]
            order = [min(alone, key=lambda n: (free[n][0], n))] if alone and self.shared else best
            for n in order:
                some = min(left, self._holds(free, n, job))
                if some:
                    places[n] = self.machine.nodes[n].has if job.exclusive else tuple(some * want for want in job.part)
                    left -= some
            usable -= set(best)
        return places if left == 0 else None

    def _start(self, job, places):
        job.start, job.places = self.now, places
        self.waiting.remove(job)
        self.running.append(job)

    # The main scheduler.

    def _main(self, depth):
        blocked, everything = set(), set(range(len(self.atoms)))
        for job in self.waiting[:depth]:
            if job.within <= blocked:
                continue
            open_to_it = everything - blocked
            places = self._pick(self._free(self.now), open_to_it, job)
            if places is not None:
                self._start(job, places)
                self.changed = True
                continue
            left = {n for n in open_to_it if self.atoms[n] in job.allowed}
            if job.spread or not blocked:
                blocks = bool(left)
            else:
                blocks = self._room(self.machine.all_free(), left, job) >= job.parts
            if blocks:
                blocked |= job.within

    # Backfilling.

    def _backfill(self):
        p, now, started = self.p, self.now, 0
        self.reserved, last = [], now + 60 * p["bf_window"]
        for job in self.waiting[: p["bf_max_job_test"]]:
            if p["bf_max_job_start"] and started == p["bf_max_job_start"]:
                break
            begin, free, nodes = self._find(job, last)
            if begin == now:
                self._start(job, self._pick(free, nodes, job))
                started += 1
            elif begin is not None:
                first, end = self._slots(begin, job.walltime)
                self.reserved.append((max(first, now), end, set(self._pick(free, nodes, job))))
        return started > 0

    def _slots(self, begin, walltime):
        slot = self.p["bf_resolution"]
        first = begin // slot * slot
        return first, max((begin + walltime) // slot * slot, first + slot)

    def _spans(self, last):
        cuts = {self.now} | {time for begin, end, _ in self.reserved for time in (begin, end)}
        cuts = sorted(cut for cut in cuts if self.now <= cut < last)
        return list(zip(cuts, [*cuts[1:], last], strict=True))

    def _left(self, time):
        gone = [held for begin, end, held in self.reserved if begin <= time < end]
        return set(range(len(self.atoms))) - set().union(*gone)

    def _unreserved(self, start, until, last):
        nodes, later, spans = set(range(len(self.atoms))), None, self._spans(last)
        for i, (begin, over) in enumerate(spans):
            if over <= start:
                continue
            here = self._left(begin)
            if later is None and i + 1 < len(spans) and not self._left(over) <= nodes & here:
                later = over
            if begin > until:
                break
            nodes &= here
        return nodes, later

    def _given_back(self, nodes, job):
        """When the job finds room on some nodes as others end, and what is free then."""
        free = self._free(self.now)
        if self._room(free, nodes, job) >= job.parts:
            return self.now, free
        times = sorted({self._expected(one) for one in self.running})
        ends = {time: [one for one in self.running if self._expected(one) == time] for time in times}
        concerned = {time: any(set(one.places) & nodes for one in ends[time]) for time in times}
        barrier, window, i, gone = None, 30, 0, []
        while i < len(times):
            last = None
            while i < len(times):
                time = times[i]
                i += 1
                gone += ends[time]
                if not concerned[time]:
                    continue
                last, barrier = time, barrier or (time // 30 + 1) * 30
                if i < len(times) and times[i] > barrier + window:
                    break
            free = self._free(self.now, gone)
            if last is not None and self._room(free, nodes, job) >= job.parts:
                return last, free
            while True:
                window = window + self.p["bf_window_linear"] if self.p["bf_window_linear"] else 2 * window
                if i == len(times) or times[i] <= barrier + window:
                    break
        return None, free

    def _find(self, job, last):
        """When a job begins, given the reservations, what is free then, and on which nodes it may be."""
        young, later = self.now - job.submit < self.p["bf_min_age_reserve"], self.now
        within = {n for n, atom in enumerate(self.atoms) if atom in job.allowed}
        while later is not None and later <= last:
            start = later
            nodes, later = self._unreserved(start, start + job.walltime, last)
            nodes &= within
            later = None if young else later
            if len(nodes) < (job.parts if job.spread else 1):
                continue
            begin, free = self._given_back(nodes, job)
            if begin is None:
                continue
            begin = max(begin, start)
            if begin == self.now:
                return begin, free, nodes
            if young or (later is not None and later < begin):
                continue
            if begin > last:
                break
            first, end = self._slots(begin, job.walltime)
            picked = set(self._pick(free, nodes, job))
            if any(held & picked for since, over, held in self.reserved if since < end and over > first):
                later = begin if begin > start else begin + self.p["bf_resolution"]
                continue
            return begin, free, nodes
        return None, None, None
