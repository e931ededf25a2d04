"""The slow twin of a run in which jobs wait for others: who is free is found anew, from all jobs, whenever one changes.

Written from the specification alone.
"""

import math

from twins.backfill import Backfill
from twins.jobs import CANCELLED, COMPLETED, REJECTED
from twins.run import Event

NEVER = math.inf


class Dependent(Backfill):
    """A backfilling run of a workload with dependencies."""

    def __init__(self, workload, platform, policy, job_model="alloc-only"):
        super().__init__(workload, platform, policy, job_model)
        self.happenings = {"submit": self.submit, "free": self.become_free, "cancel": self.cancel}
        self.turns = {kind: turn for kind, turn in self.turns.items() if kind not in self.happenings}
        self.by_id = {job.id: job for job in self.jobs}
        self.edges = {job.id: [] for job in self.jobs}
        for row in workload.dependencies.to_dicts():
            self.edges[row["job"]].append(row)
        self.over = {}  # job id -> when it ended, or was turned away
        self.outside = []  # submitted, and waiting for others
        self.joining = []  # free, and join the queue when nothing else is left to happen in this instant
        self.submitted = []  # in this order
        self.eligible = {}
        later = {job.id for job in self.jobs if self.think(job)}
        self.events = [one for one in self.events if one.job is None or one.job.id not in later]
        for event in self.events:
            event.count = self.jobs.index(event.job)

    def happen(self, now, limit):
        """What ends, then what comes: of one time submissions before withdrawals, then by row; then all join that may,
        in the order in which they were submitted."""
        now, decide = super().happen(now, limit)
        kinds = list(self.happenings)
        while due := [event for event in self.events if event.kind in kinds and event.time <= limit]:
            event = min(due, key=lambda event: (event.time, event.kind == "cancel", event.count))
            self.events.remove(event)
            now = max(now, event.time)
            decide |= self.happenings[event.kind](event)
        for job in sorted(self.joining, key=self.submitted.index):
            self.queue.append(job)
            self.eligible[job.id] = job.queued
        decide |= bool(self.joining)
        self.joining = []
        return now, decide

    def think(self, job):
        """Jobs after whose end this one is submitted."""
        return [edge for edge in self.edges[job.id] if edge["kind"] == "think"]

    def verdict(self, job):
        """When the job is free to start: a time, NEVER, or None where that is not known yet."""
        edges = [edge for edge in self.edges[job.id] if edge["kind"] != "think"]
        found = [self.holds(edge) for edge in edges]
        if not edges:
            return -math.inf
        if edges[0]["any"]:
            known = [time for time in found if time not in (None, NEVER)]
            return min(known) if known else (NEVER if None not in found else None)
        if NEVER in found:
            return NEVER
        return None if None in found else max(found)

    def holds(self, edge):
        """When a parent has done what is waited for, and the delay is over."""
        parent, kind = self.by_id[edge["parent"]], edge["kind"]
        if kind == "after" and parent.begun:
            return parent.start + edge["delay"]
        if parent.id not in self.over:
            return None
        well = parent.state == COMPLETED
        if (kind == "afterok" and not well) or (kind == "afternotok" and well):
            return NEVER
        return self.over[parent.id] + edge["delay"]

    def look(self, time):
        """Find out who is free, is to be submitted, or can never start."""
        again = True
        while again:
            again = False
            for job in list(self.outside):
                if self.verdict(job) == NEVER:
                    self.outside.remove(job)
                    self.forget(job)
                    job.state, self.over[job.id], again = REJECTED, time, True
        for row, job in enumerate(self.jobs):
            thinks = self.think(job)
            if job in self.outside:
                self.at(job, row, self.verdict(job))
            elif thinks and job.id not in self.eligible and all(edge["parent"] in self.over for edge in thinks):
                self.at(job, row, max(self.over[edge["parent"]] + edge["delay"] for edge in thinks))

    def at(self, job, row, time):
        """Something happens to the job at this time and no other."""
        self.forget(job)
        if time is not None:
            self.events.append(Event(time, row, "free", job))

    def forget(self, job):
        self.events = [one for one in self.events if (one.kind, one.job) != ("free", job)]

    def become_free(self, event):
        """It joins the queue, or is submitted."""
        job = event.job
        if job in self.outside:
            self.outside.remove(job)
            return self.join(job, event.time)
        job.submit = event.time
        if job.columns["cancel"] < math.inf:
            self.events.append(Event(event.time + job.columns["cancel"], self.jobs.index(job), "cancel", job))
        return self.submit(event)

    def join(self, job, time):
        job.queued = time
        self.joining.append(job)
        return False

    def submit(self, event):
        job, time = event.job, event.time
        self.eligible[job.id] = None
        self.submitted.append(job)
        if not super().submit(event):
            self.over[job.id] = time
            self.look(time)
            return False
        self.queue.remove(job)
        free = self.verdict(job)
        if free == NEVER:
            job.state, self.over[job.id] = REJECTED, time
        elif free is not None and free <= time:
            return self.join(job, time)
        else:
            self.outside.append(job)
        self.look(time)
        return False

    def cancel(self, event):
        job = event.job
        if job in self.outside or job in self.joining:
            (self.outside if job in self.outside else self.joining).remove(job)
            self.forget(job)
            job.state, self.over[job.id] = CANCELLED, event.time
            self.look(event.time)
            return True
        calls = super().cancel(event)
        if job.state == CANCELLED and job.id not in self.over:
            self.over[job.id] = event.time
        elif job.state and job.id not in self.over:
            self.over[job.id] = job.finish
        self.look(event.time)
        return calls

    def start(self, job, now, place):
        super().start(job, now, place)
        self.look(now)

    def end_leg(self, job, time):
        super().end_leg(job, time)
        if job.state:
            self.over[job.id] = time
            self.look(time)
