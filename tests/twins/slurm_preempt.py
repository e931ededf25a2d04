"""The slow twin of the policy slurm with preemption: jobs that displace others, in both schedulers.

It is written from the documentation: who may be displaced is asked job by job, and whether victims are enough is added
up anew for each number of them. Actions are written only when a whole decision is thought through.
"""

import math

from forebay.core.codes import LogReason
from twins import blocks
from twins.slurm_pinned import PinnedSlurm
from twins.slurm_scheduler import Slurm


class _DisplacedError(Exception):
    """The decision ends: somebody starts in the place of others."""


class Thought:
    """Actions that may still be dropped."""

    def __init__(self, view, act):
        self.view, self.act, self.written, self.free = view, act, [], [int(x) for x in act.free]

    def fits(self, job):
        return all(int(need) <= have for need, have in zip(self.view.demand(job), self.free, strict=True))

    def start(self, job, reason, **where):
        self.free = [have - int(need) for need, have in zip(self.view.demand(job), self.free, strict=True)]
        self.written.append(lambda: self.act.start(job, reason, **where))

    def stop(self, action):
        self.written.append(action)

    def wake(self, time):
        self.written.append(lambda: self.act.wake(time))

    def write(self):
        for action in self.written:
            action()


class Preempting:
    """`below` has the QOS that each QOS displaces; `rules` those of each QOS: priority, mode, exempt, grace."""

    def __init__(self, below, rules, youngest=False, reorder=1, strict=False, delay=121.0, **params):
        super().__init__(**params)
        self.below, self.rules, self.youngest = below, rules, youngest
        self.reorder, self.strict, self.delay = reorder, strict, delay

    def setup(self, view):
        super().setup(view)
        self.leaving = {}  # victim -> (when, for whom)

    def decide(self, view, act):
        self.leaving = {v: told for v, told in self.leaving.items() if v in view.running["job"].tolist()}
        if self._leave(view, act):
            return
        kept, thought = (self.batched, self.batch_due, self.full_due), Thought(view, act)
        try:
            super().decide(view, thought)
        except _DisplacedError:
            self.batched, self.batch_due, full = kept
            self.full_due = full if full is not None else self.full_due
            return
        thought.write()
        for when, _ in self.leaving.values():
            if when > view.now:
                act.wake(when)

    def _line(self, view):
        """In order of arrival, whoever has begun, but each before the first one that it may displace; without those
        that may not start again yet."""
        early = (view.jobs["start"] >= 0) & (view.jobs["queued_since"] + self.delay > view.now)
        line = []
        for job in sorted(view.queue.tolist()):
            if not early[job]:
                below = self.below.get(int(view.jobs["qos"][job]), ())
                places = (place for place, other in enumerate(line) if int(view.jobs["qos"][other]) in below)
                line.insert(next(places, len(line)), job)
        return line

    def _leave(self, view, act):
        due = [v for v, (when, _) in self.leaving.items() if when <= view.now]
        for v in due:
            del self.leaving[v]
            self._stop(view, act, v)
        return bool(due)

    def _stop(self, view, act, v):
        act.interrupt(v)
        if self.rules[int(view.jobs["qos"][v])]["mode"] == "CANCEL":
            act.kill(v)

    @staticmethod
    def _free_without(view, free, victims):
        for v in victims:
            free = [f + int(x) for f, x in zip(free, view.releases[view.jobs["leg"][v]], strict=True)]
        return free

    def _goes_on(self, line, left):
        return super()._goes_on(line, left) or self.told

    def _in_vain(self, view, act, job):
        need, free = [int(x) for x in view.demand(job)], list(act.free)

        def enough(victims):
            left = self._free_without(view, free, victims)
            return all(n <= f for n, f in zip(need, left, strict=True))

        victims = self._few(view, self._candidates(view, job), enough)
        if victims:
            self._displace(view, act, job, victims)

    def _displace(self, view, act, job, victims):
        """The main scheduler lets a job start in the place of others, or tells them to leave for it."""
        if any(self.rules[int(view.jobs["qos"][v])]["grace"] > 0 for v in victims):
            self._tell(view, act, job, victims)
            self.changed = True
            return
        for v in victims:
            self._stop(view, act.act, v)
        nodes = self._nodes_of(view, job, victims)
        act.act.start(job, LogReason.IN_ORDER, **({} if nodes is None else {"nodes": sorted(nodes)}))
        raise _DisplacedError

    def _tell(self, view, act, job, victims):
        """Let victims leave: now, or when Slurm looks for jobs that are over their time, which it does every 30 s."""
        for v in victims:
            grace = self.rules[int(view.jobs["qos"][v])]["grace"]
            self.leaving[v] = (math.ceil((view.now + grace) / 30) * 30 if grace else view.now, job)
            if not grace:
                act.stop(lambda v=v: self._stop(view, act.act, v))
        self.told = True

    def _nodes_of(self, view, job, victims):
        """The nodes on which a job starts in the place of others; None = the engine chooses."""

    def _candidates(self, view, job):
        """Whom a job may displace, in order."""
        found = []
        if job in (other for _, other in self.leaving.values()):
            return found
        for v in view.running["job"].tolist():
            qos, began = int(view.jobs["qos"][v]), float(view.jobs["leg_start"][v])
            rule = self.rules.get(qos)
            if qos not in self.below.get(int(view.jobs["qos"][job]), ()) or rule["mode"] == "OFF" or v in self.leaving:
                continue
            if began < view.now and view.now >= began + rule["exempt"]:
                found.append((rule["priority"], -began if self.youngest else int(view.jobs["held"][v]), v))
        return [v for *_, v in sorted(found)]

    def _few(self, view, order, enough):
        """Of those in order, as few as are enough."""
        chosen = self._first(order, enough)
        for _ in range(self.reorder):
            if chosen and self.strict:
                chosen = self._first(chosen[-1:] + chosen[:-1], enough)
            elif chosen:
                chosen = self._first(sorted(chosen, key=lambda v: -int(view.jobs["held"][v])), enough)
        return chosen

    @staticmethod
    def _first(order, enough):
        return next((order[:count] for count in range(1, len(order) + 1) if enough(order[:count])), [])


class PreemptingSlurm(Preempting, Slurm):
    """Reservations count nodes."""

    def _backfill(self, view, act, line):
        p, now, slot, started, self.told = self.p, view.now, self.p["bf_resolution"], [], False
        self.laid, self.at_first = [], list(act.free)
        window_end = math.floor((now + 60.0 * p["bf_window"]) / slot) * slot
        for job in self._tested(view, act, line):
            if p["bf_max_job_start"] and len(started) == p["bf_max_job_start"]:
                break
            if not p["bf_licenses"] and not self._licensed(view, act, job):
                continue
            if self._fits_beside(view, act.free, job, ()):
                act.start(job, LogReason.BACKFILLED)
                self.laid.append((now, now + view.walltime(job), self._demand(view, job)))
                started.append(job)
                continue
            order, until = self._candidates(view, job), view.walltime(job) + slot
            if order and self._fits_beside(view, act.free, job, order):
                victims = self._few(view, order, lambda some, job=job: self._fits_beside(view, act.free, job, some))
                self._tell(view, act, job, victims)
                self.laid.append((now, now + until, self._demand(view, job)))
            elif now - view.jobs["submit"][job] >= p["bf_min_age_reserve"]:
                calendar = self._beside(view, order)
                fitting = (
                    time
                    for i, time in enumerate(calendar.times)
                    if calendar.fits(i, time + until, self._demand(view, job))
                )
                begin = next(fitting, math.inf)
                if begin <= window_end:
                    self.laid.append((begin, begin + until, self._demand(view, job)))
        return [job for job in line if job not in started]

    def _demand(self, view, job):
        return [int(x) if r == 0 or self.p["bf_licenses"] else 0 for r, x in enumerate(view.demand(job))]

    def _beside(self, view, gone):
        """What is left when, if some did not run, beside all that the cycle has started and reserved."""
        calendar = self._calendar(view, self.at_first, gone)
        for begin, end, demand in self.laid:
            calendar.take(max(begin, calendar.times[0]), end, demand)
        return calendar

    def _fits_beside(self, view, free, job, gone):
        free = self._free_without(view, free, gone)
        there = all(int(n) <= f for n, f in zip(view.demand(job), free, strict=True))
        return there and self._beside(view, gone).fits(0, view.now + view.walltime(job), self._demand(view, job))


class PreemptingPinned(Preempting, PinnedSlurm):
    """Reservations are of certain nodes."""

    def _held(self, view, victims):
        return set().union(*({int(node) for node in view.nodes_of(v)} for v in victims))

    def _nodes_of(self, view, job, victims):
        return blocks.pick(self.idle | self._held(view, victims), int(view.demand(job)[0]))

    def _backfill(self, view, act, line):
        p, started, self.told = self.p, [], False
        self._begin_cycle(view, act)
        for job in self._tested(view, act, line):
            if p["bf_max_job_start"] and len(started) == p["bf_max_job_start"]:
                break
            if not p["bf_licenses"] and not self._licensed(view, act, job):
                continue
            begin, free = self._find(view, job, self._running(view), self.idle, act.fits(job))
            if begin is not None and begin <= self.now and act.fits(job):
                self._start_now(view, act, job, free)
                started.append(job)
                continue
            order = self._candidates(view, job)
            if order:
                idle, need = self.idle | self._held(view, order), [int(x) for x in view.demand(job)]
                room = all(n <= f for n, f in zip(need, self._free_without(view, act.free, order), strict=True))
                begin, free = self._find(view, job, self._running(view, order), idle, room)
                if begin is not None and begin <= self.now and room:
                    _, _, nodes = self._unreserved(self.now, self.now + view.walltime(job), need)
                    on_them = [v for v in order if nodes & self._held(view, [v])]
                    victims = self._few(
                        view,
                        on_them,
                        lambda some, nodes=nodes, need=need: self._enough_on(view, act, need, nodes, some),
                    )
                    if victims:
                        self._tell(view, act, job, victims)
            if begin is not None:
                self._reserve(view, job, begin, free)
        return [job for job in line if job not in started]

    def _enough_on(self, view, act, need, nodes, gone):
        """Whether some nodes are enough once some jobs are gone, and all else."""
        left = self._free_without(view, act.free, gone)
        there = all(n <= f for n, f in zip(need, left, strict=True))
        return there and len(nodes & (self.idle | self._held(view, gone))) >= need[0]
