"""The slow twin of a run that backfills: Kopański & Rządca (2021), Algorithm 1, every reservation made anew."""

import math
from types import SimpleNamespace

from twins.plan import Plan
from twins.run import Run
from twins.times import before

ALL = math.inf
PRESETS = {
    "fcfs": {"depth": 0, "max_backfill": 0},
    "filler": {"depth": 0},
    "fcfs-easy": {"depth": 1, "reserve": "nodes"},
    "fcfs-bb": {"depth": 1},
    "sjf-easy": {"depth": 1, "reserve": "nodes", "backfill_order": "walltime"},
    "sjf-bb": {"depth": 1, "backfill_order": "walltime"},
    "priority": {"depth": 1, "order": "priority", "descending": True},
    "ebf": {"depth": 1, "reserve": "nodes", "order": "priority", "descending": True},
    "conservative": {"depth": ALL, "reserve": "nodes"},
    "conservative-bb": {"depth": ALL},
}
"""What the policies' names stand for, said a second time: a slip in a preset's file shows."""
DEFAULTS = {
    "order": "arrival",
    "descending": False,
    "backfill_order": "as-queued",
    "depth": 1,
    "max_backfill": ALL,
    "reserve": "all",
    "reservations": "counted",
}


class Backfill(Run):
    """A run under a dict of parameters. `watch(now, {job id: time})` is shown the reservations of each decision."""

    def __init__(
        self, workload, platform, policy, job_model="alloc-only", watch=None, limits=None, rules=(), planned=()
    ):
        super().__init__(workload, platform, job_model, limits, rules, planned)
        self.policy, self.watch = SimpleNamespace(**DEFAULTS | policy), watch
        self.rules = self.policy.reservations == "pinned", self.policy.reserve == "all"
        # Where nodes are counted run by run, reservations of the site are looked up for each job, time by time.
        self.looks_up, self.seen = bool(planned) and self.space.park.divided, set()

    def plan(self, now):
        """What is free over time as walltimes tell."""
        space, plan = self.space, Plan(now, self.free())
        for job in self.running:
            end = job.expected_end
            back = [a - b for a, b in zip(job.held(), job.legs[job.leg].keeps, strict=True)]
            servers = [0] * space.S
            if space.tier is not None and back[space.tier]:
                for server in job.chunks:
                    servers[server] += job.size
            row = space.amounts(job.nodes[len(job.nodes) - back[0] :], back[1:], servers)
            plan.returns.append((end if end > now else now + 1, row))
        for one in self.planned:
            ids = one.get("ids", range(self.capacities[0]))
            runs = zip(space.park.columns, space.park.runs, strict=True)
            columns = [c or 0 for c, run in runs if run[0] in ids]  # one run has no column of its own
            if before(now, one["start"]) and not self.looks_up:
                closed = space.amounts(ids, [0] * len(self.pools), [0] * space.S)
                plan.shut.append((one["start"], one["end"], closed, columns if "ids" in one else [0]))
        return plan

    def fits_now(self, job):
        """The Place of an in-order start, or None."""
        return self.space.start_now(job, self.free())

    def fits_beside(self, job, plan):
        """The Place of a start beside what is planned, or None."""
        return self.space.start_beside(job, self.free(), plan, *self.rules)

    def start_beside(self, job, now, plan):
        """Start a job if it fits beside what is planned; whether it did."""
        place = self.fits_beside(job, plan)
        if place is not None:
            self.start(job, now, place)
            # It counts for its walltime, what it carries on included: else a reservation may become impossible.
            plan.take(place.row, now, job.walltime)
        return place is not None

    def reserve(self, job, plan):
        """The first time at which a job fits into what is planned, where it is put; infinity if there is none."""
        if self.looks_up:
            return self.reserve_open(job, plan)
        time, row, closed = self.space.reserve(job, plan, *self.rules)
        if row is not None:
            plan.take(row, time, job.walltime, closed)
        return time

    def reserve_open(self, job, plan):
        """The same where it may run on other nodes at other times."""
        now, runs = job.where, self.space.park.runs
        edges = {edge for one in self.planned for edge in (one["start"], one["end"])}
        later = {edge for edge in edges if before(plan.now, edge) and edge < math.inf}
        for time in sorted({*plan.candidates(), *later}):
            job.where = self.where_at(job, time)
            if sum(len(run) for may, run in zip(job.where, runs, strict=True) if may) < job.needs()[0]:
                continue
            found, row, closed = self.space.reserve(job, plan, *self.rules, times=[time])
            if row is not None:
                job.where = now
                plan.take(row, found, job.walltime, closed)
                return found
        job.where = now
        return math.inf

    def unseen(self):
        """Jobs that reservations leave too few nodes now, and that were seen before: they hold their places."""
        counts = self.looks_up and self.policy.depth > 0 and self.policy.max_backfill > 0
        if not counts or self.policy.order != "arrival":
            return []
        return [job for job in self.queue if job.id in self.seen and self.kept_out(job, self.now)]

    def ordered(self, jobs, column, descending=False):
        if column in ("arrival", "as-queued"):
            return list(jobs)
        sign = -1 if descending else 1
        return sorted(jobs, key=lambda job: (sign * job.rank(column), job.id))

    def in_line(self):
        """All that may start, as the policy orders them; who has begun goes first."""
        begun = [job for job in self.allowed() if job.begun]
        others = [job for job in self.allowed() if not job.begun]
        return begun + self.ordered(others, self.policy.order, self.policy.descending)

    def decide(self, now):
        """With `depth` reservations in line 14."""
        policy, reservations = self.policy, {}
        waiting, unseen = self.in_line(), self.unseen()
        self.seen |= {job.id for job in waiting}
        if unseen:
            waiting = [job for job in self.queue if job in waiting or job in unseen]
        while waiting and waiting[0] not in unseen and (place := self.fits_now(waiting[0])):
            self.start(waiting.pop(0), now, place)
        if not waiting or policy.max_backfill == 0:
            return
        plan, looks = self.plan(now), policy.max_backfill + 1  # the head's own look is free
        while waiting and len(reservations) < policy.depth and looks > 0:
            job = waiting.pop(0)
            looks -= job not in unseen or not reservations  # the head's own look is free
            if job in unseen or not self.start_beside(job, now, plan):
                # A job that nothing known will ever make room for counts as reserved too: at infinity.
                reservations[job.id] = self.reserve(job, plan)
        if policy.depth == 0:
            waiting.pop(0)  # the head: it does not fit, that is why it is the head
            looks -= 1
        for job in self.ordered([job for job in waiting if job not in unseen], policy.backfill_order):
            if looks <= 0:
                break
            looks -= 1
            self.start_beside(job, now, plan)
        if self.watch is not None:
            self.watch(now, reservations)


def simulate(workload, platform, policy, job_model="alloc-only", watch=None, limits=None, rules=(), planned=()):
    """The finished run under `policy`, a dict of the family's parameters, `limits`, another, and what a site rules and
    has planned."""
    return Backfill(workload, platform, policy, job_model, watch, limits, rules, planned).finished()
