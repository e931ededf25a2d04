"""The slow twin of the policy slurm where reservations are of certain nodes: sets of nodes, and a list of reservations.

What is left at a time is worked out anew from all reservations, whenever it is asked for.
"""

import math

from forebay.core.codes import LogReason
from forebay.core.tables import after
from twins import blocks
from twins.slurm_scheduler import Slurm


class PinnedSlurm(Slurm):
    """Parameters as in slurm.conf, all of them required."""

    def decide(self, view, act):
        """Run whatever is due."""
        self.idle = {int(node) for node in view.idle_nodes}
        self.given = []  # what this decision starts: expected end, nodes, licences
        super().decide(view, act)

    def _start(self, view, act, job, reason, within=None):
        need = [int(x) for x in view.demand(job)]
        nodes = blocks.pick(self.idle if within is None else self.idle & within, need[0])
        act.start(job, reason, nodes=sorted(nodes))
        self.idle -= nodes
        self.given.append((view.now + view.walltime(job), nodes, need))

    def _running(self, view, gone=()):
        """Jobs that run as (expected end, nodes, what they give back), by end; some of them do not count."""
        found = list(self.given)
        for row in view.running:
            if row["job"] in gone:
                continue
            end = float(row["end"]) if row["end"] > view.now else view.now + 1.0
            nodes = {int(node) for node in view.nodes_of(int(row["job"]))}
            found.append((end, nodes, [int(x) for x in view.releases[row["leg"]]]))
        return sorted(found, key=lambda one: one[0])

    def _left(self, time):
        """The nodes that no reservation has at a time, and the licences that are there then."""
        licences = list(self.licences)
        for end, _, amounts in self.ends:
            if self._slot(end) <= time:
                licences = [a + b for a, b in zip(licences, amounts, strict=True)]
        nodes = set(self.nodes)
        for begin, end, held, amounts in self.reserved:
            if begin <= time < end:
                nodes -= held
                licences = [a - b for a, b in zip(licences, amounts, strict=True)]
        return nodes, licences

    def _slot(self, time):
        return max(math.floor(time / self.p["bf_resolution"]) * self.p["bf_resolution"], after(self.now))

    def _spans(self):
        cuts = {self.now} | {time for begin, end, _, _ in self.reserved for time in (begin, end)}
        if self._holds_licences():
            cuts |= {self._slot(end) for end, _, _ in self.ends}
        cuts = sorted(cut for cut in cuts if self.now <= cut < self.window_end)
        return list(zip(cuts, [*cuts[1:], self.window_end], strict=True))

    def _holds_licences(self):
        """Whether reservations are of more than nodes; then the ends of running jobs change what is left."""
        return self.p["bf_licenses"] and len(self.licences) > 1

    def _enough(self, licences, need):
        return not self.p["bf_licenses"] or all(a >= b for a, b in zip(licences[1:], need[1:], strict=True))

    def _unreserved(self, start, until, need):
        nodes, later, licensed, spans = set(self.nodes), None, True, self._spans()
        for i, (begin, over) in enumerate(spans):
            if over <= start:
                continue
            here, licences = self._left(begin)
            if later is None and i + 1 < len(spans) and not self._left(over)[0] <= nodes & here:
                later = over
            if begin > until:
                break
            nodes &= here
            if not self._enough(licences, need):
                licensed, later = False, over
        return later, licensed, nodes

    def _given_back(self, nodes, count, running, idle):
        """When so many of some nodes are free of running jobs, and which are then."""
        free, barrier, window = idle & nodes, None, 30.0
        if len(free) >= count:
            return self.now, free
        times = sorted({end for end, _, _ in running})
        back = {time: set().union(*(held for end, held, _ in running if end == time)) & nodes for time in times}
        i = 0
        while i < len(times):
            last = None
            while i < len(times):
                time = times[i]
                i += 1
                if not back[time]:
                    continue
                last, free = time, free | back[time]
                barrier = barrier or (time // 30 + 1) * 30
                if i < len(times) and math.floor(times[i]) > barrier + window:
                    break
            if last is not None and len(free) >= count:
                return last, free
            while True:
                window = window + self.p["bf_window_linear"] if self.p["bf_window_linear"] else 2 * window
                if i == len(times) or math.floor(times[i]) <= barrier + window:
                    break
        return math.inf, free

    def _begin_cycle(self, view, act):
        self.now, self.nodes, self.reserved = view.now, set(range(int(view.capacity[0]))), []
        self.window_end = self.now + 60.0 * self.p["bf_window"]
        self.licences, self.ends = [int(x) for x in act.free], self._running(view)

    def _backfill(self, view, act, line):
        p, tested, started = self.p, self._tested(view, act, line), []
        self._begin_cycle(view, act)
        for job in tested:
            if p["bf_max_job_start"] and len(started) == p["bf_max_job_start"]:
                break
            if not p["bf_licenses"] and not self._licensed(view, act, job):
                continue
            begin, free = self._find(view, job, self._running(view), self.idle, act.fits(job))
            if begin is not None and begin <= self.now and act.fits(job):
                self._start_now(view, act, job, free)
                started.append(job)
            elif begin is not None:
                self._reserve(view, job, begin, free)
        return [job for job in line if job not in started]

    def _start_now(self, view, act, job, free):
        slot, need = self.p["bf_resolution"], [int(x) for x in view.demand(job)]
        self._start(view, act, job, LogReason.BACKFILLED, free)
        if self._holds_licences():
            self.reserved.append((self.now, math.floor((self.now + view.walltime(job)) / slot) * slot, set(), need))

    def _reserve(self, view, job, begin, free):
        need = [int(x) for x in view.demand(job)]
        first, end = self._slots(begin, view.walltime(job))
        self.reserved.append((max(first, self.now), end, blocks.pick(free, need[0]), need))

    def _slots(self, begin, walltime):
        slot = self.p["bf_resolution"]
        first = math.floor(begin / slot) * slot
        return first, max(math.floor((begin + walltime) / slot) * slot, first + slot)

    def _find(self, view, job, running, idle, fits):
        """When a job begins beside the reservations, and of which nodes it gets some then; None = never."""
        p, need, walltime = self.p, [int(x) for x in view.demand(job)], view.walltime(job)
        young, later = self.now - view.jobs["submit"][job] < p["bf_min_age_reserve"], self.now
        while later is not None and later <= self.window_end:
            start = later
            later, licensed, nodes = self._unreserved(start, start + walltime, need)
            later = None if young else later
            if not licensed or len(nodes) < need[0]:
                continue
            begin, free = self._given_back(nodes, need[0], running, idle)
            begin, picked = max(begin, start), blocks.pick(free, need[0])
            if begin == math.inf:
                continue
            if begin <= self.now and fits:
                return begin, free
            if young or (later is not None and later < begin):
                continue
            if begin > self.window_end:
                break
            if self._clashes(*self._slots(begin, walltime), picked, need):
                later = begin if begin > start else begin + p["bf_resolution"]
                continue
            return begin, free
        return None, set()

    def _clashes(self, first, end, picked, need):
        for begin, over in self._spans():
            nodes, licences = self._left(begin)
            if begin < end and over > first and not (picked <= nodes and self._enough(licences, need)):
                return True
        return False
