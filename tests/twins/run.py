"""The slow, obvious twin of a whole run, with nothing but nodes and pools."""

import math
from dataclasses import dataclass, field
from types import SimpleNamespace

from twins.times import Profile, before, width

ALL = math.inf
PRESETS = {
    "fcfs": {"depth": 0, "max_backfill": 0},
    "filler": {"depth": 0},
    "fcfs-easy": {"depth": 1, "reserve": "nodes"},
    "fcfs-bb": {"depth": 1},
    "sjf-easy": {"depth": 1, "reserve": "nodes", "backfill_order": "walltime"},
    "sjf-bb": {"depth": 1, "backfill_order": "walltime"},
    "priority": {"depth": 1, "order": "priority", "descending": True},
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
}
COMPLETED, TOO_LONG, REJECTED = "COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "REJECTED"
KILLED, CANCELLED = "COMPLETED_KILLED", "CANCELLED"
NO_LIMITS = {"run_time": math.inf, "user_jobs": math.inf, "user_nodes": math.inf, "over": "hold"}


class _OverLimitError(Exception):
    """A decision would start more than its user may have; what it has started so far stands."""


@dataclass
class Leg:
    """What is asked of the scheduler in one go."""

    walltime: float
    demand: list[int]  # all that it holds while it runs
    carry: list[bool]  # kept over from the leg before
    phases: list[tuple[float, tuple | None]]  # seconds, and what is given back at the end, see `given_back`
    keeps: list[int] = field(default_factory=list)  # what the leg after it carries on


@dataclass(eq=False)
class Job:
    """A job and what has become of it so far."""

    id: int
    submit: float
    columns: dict
    legs: list[Leg]
    leg: int = 0
    phase: int = 0
    nodes: list[int] = field(default_factory=list)  # ids held, in the order in which they were taken
    pools: list[int] = field(default_factory=list)  # held of every resource but nodes
    queued: float = math.nan
    leg_start: float = math.nan
    start: float = math.nan
    finish: float = math.nan
    waited: float = 0.0
    state: str = ""
    first_large: int | None = None  # node from which on they are of the larger kind; then the last resource counts them

    def held(self):
        """Amounts held of each resource."""
        held = [len(self.nodes), *self.pools]
        return held if self.first_large is None else [*held[:-1], large_in(self.nodes, self.first_large)]

    def rank(self, column):
        """The value that a queue is sorted by; what a leg has of its own counts, not its job's."""
        leg = self.legs[self.leg]
        nodes = self.needs()[0]
        own = {"walltime": leg.walltime, "nodes": nodes, "area": nodes * leg.walltime}
        return own.get(column, self.columns.get(column))

    def needs(self):
        """What the current leg takes when it starts: its demand beyond what was carried over."""
        return [a - b for a, b in zip(self.legs[self.leg].demand, self.held(), strict=True)]


def large_in(nodes, first_large):
    """How many of some nodes are of the larger kind."""
    return sum(node >= first_large for node in nodes)


def demand_of(row, platform):
    """What a job or leg asks of each resource; of large nodes, all of its nodes if one needs more than a small has."""
    demand = [row.get(name) or 0 for name in platform.asked]
    if platform.kinds is None:
        return demand
    bytes_a_node = -(-(row.get(platform.kinds.name) or 0) // max(demand[0], 1))
    return [*demand, demand[0] if bytes_a_node > platform.kinds.capacity else 0]


def given_back(text, resources):
    """What a phase gives back at its end, as (resource, amount): the amount is None for all; None for nothing."""
    name, _, amount = (text or "").partition("=")
    return (resources.index(name), int(amount) if amount else None) if name in resources else None


def kept(demand, releases):
    """What a leg still holds when its phases have given back what they do."""
    held = list(demand)
    for resource, amount in releases:
        held[resource] -= held[resource] if amount is None else amount
    assert min(held) >= 0
    return held


def _phases_of(rows, speed, resources):
    return [(r["seconds"] + r["flop"] / speed, given_back(r["release"], resources)) for r in rows]


def jobs_of(workload, platform):
    """The workload's jobs, each with its legs and phases."""
    resources = list(platform.resources)
    leg_rows = [] if workload.legs is None else workload.legs.sort("job", "leg").to_dicts()
    phase_rows = [] if workload.phases is None else workload.phases.to_dicts()
    jobs = []
    for row in workload.jobs.to_dicts():
        own = [leg for leg in leg_rows if leg["job"] == row["id"]]
        own_phases = [phase for phase in phase_rows if phase["job"] == row["id"]]
        if not own:
            own = [{**row, "leg": 0, "carry": ""}]
            own_phases = [{"leg": 0, "seconds": row["run_time"], "flop": row["flop"], "release": None}]
        legs = [
            Leg(
                walltime=leg["walltime"],
                demand=demand_of(leg, platform),
                carry=[name in leg["carry"].split() for name in resources],
                phases=_phases_of([p for p in own_phases if p["leg"] == leg["leg"]], platform.speed, resources),
            )
            for leg in own
        ]
        for leg, after in zip(legs, [*legs[1:], None], strict=True):
            leg.keeps = [0] * len(resources)
            held = kept(leg.demand, [release for _, release in leg.phases if release])
            for r in range(len(resources)):
                if after is not None and after.carry[r]:
                    leg.keeps[r] = min(held[r], after.demand[r])
        first_large = None if platform.kinds is None else platform.nodes - platform.kinds.large_nodes
        jobs.append(Job(row["id"], row["submit"], row, legs, pools=[0] * (len(resources) - 1), first_large=first_large))
    return jobs


class Run:
    """One run, event by event. `watch(now, {job id: time})` is shown the reservations of each decision."""

    def __init__(self, workload, platform, policy, kill=True, watch=None, limits=None):
        self.policy = SimpleNamespace(**DEFAULTS | policy)
        self.limits = SimpleNamespace(**NO_LIMITS | (limits or {}))
        self.kill, self.watch = kill, watch
        self.capacities = list(platform.capacities)
        self.free_nodes = set(range(self.capacities[0]))
        self.free_pools = self.capacities[1:]
        self.kinds = platform.kinds
        self.first_large = None if platform.kinds is None else platform.nodes - platform.kinds.large_nodes
        self.local = None if platform.kinds is None else platform.resources.index(platform.kinds.name)
        self.jobs = jobs_of(workload, platform)
        self.queue, self.running = [], []
        self.beside = {}  # what this decision has started beside its reservations -> what it took
        self.starts = []  # (time, job id, leg, node ids taken)
        self.decisions = []  # times
        self.count = 0
        self.events = []  # dicts: time, count (ties go to the one made first), kind, job
        for job in sorted(self.jobs, key=lambda job: (job.submit, job.id)):
            self.event(job.submit, "submit", job)
        for job in self.jobs:
            if job.columns["cancel"] < math.inf:
                self.event(job.submit + job.columns["cancel"], "cancel", job)

    def event(self, time, kind, job):
        self.count += 1
        self.events.append({"time": time, "count": self.count, "kind": kind, "job": job})

    def instant(self):
        """All events that count as simultaneous with the next one, then one decision."""
        first = min(event["time"] for event in self.events)
        now, decide = first, False
        turns = {
            "phase": self.end_phase, "kill": self.end_at_walltime, "submit": self.submit, "cancel": self.cancel
        }  # fmt: skip
        for kind, happen in turns.items():
            while due := [e for e in self.events if e["kind"] == kind and e["time"] <= first + width(first)]:
                event = min(due, key=lambda e: (e["time"], e["count"]))
                self.events.remove(event)
                now = max(now, event["time"])
                decide |= happen(event["job"], event["time"])
        while decide:
            self.decisions.append(now)
            try:
                self.decide(now)
                decide = False
            except _OverLimitError:
                pass  # it decides again, on what is left

    def submit(self, job, time):
        if any(need > have for leg in job.legs for need, have in zip(leg.demand, self.capacities, strict=True)):
            job.state = REJECTED
            return False
        most, limits = max(leg.demand[0] for leg in job.legs), self.limits
        if self.kinds is not None:
            asked = max(leg.demand[self.local] for leg in job.legs)
            if -(-asked // max(most, 1)) > self.kinds.large:
                job.state = REJECTED
                return False
        known = job.columns["user"] >= 0
        if job.columns["walltime"] > limits.run_time or (known and most > limits.user_nodes):
            job.state = REJECTED
            return False
        if limits.over == "reject" and self.over_limit(job):
            job.state = REJECTED
            return False
        job.queued = time
        self.queue.append(job)
        return True

    def end_phase(self, job, time):
        leg = job.legs[job.leg]
        released = self.release(job, leg.phases[job.phase][1])
        job.phase += 1
        if job.phase < len(leg.phases):
            self.event(time + leg.phases[job.phase][0], "phase", job)
            return released
        self.end_leg(job, leg.keeps)
        if job.leg + 1 < len(job.legs):
            job.leg += 1
            job.queued = time
            # Ahead of every job that has not begun, behind those that wait for a later leg already.
            self.queue.insert(sum(1 for other in self.queue if other.leg > 0), job)
        else:
            job.finish, job.state = time, COMPLETED
        return True

    def release(self, job, release):
        """Give back what a phase does at its end; whether that was anything."""
        if release is None:
            return False
        resource, amount = release
        amount = job.held()[resource] if amount is None else amount
        self.give_back(job, resource, amount)
        return amount > 0

    def over_limit(self, job):
        """Whether the user has begun too much already for this job to begin beside it."""
        user = job.columns["user"]
        begun = [one for one in self.jobs if one.columns["user"] == user and one.start == one.start and not one.state]
        nodes = sum(max(leg.demand[0] for leg in one.legs) for one in [*begun, job])
        return user >= 0 and (len(begun) + 1 > self.limits.user_jobs or nodes > self.limits.user_nodes)

    def cancel(self, job, time):
        """Its user withdraws the job, whatever it is doing."""
        if job.state:
            return False
        nothing = [0] * len(self.capacities)
        job.state = KILLED if job.start == job.start else CANCELLED
        if job in self.running:
            self.end_leg(job, nothing)
        else:
            self.queue.remove(job)
            job.waited += time - job.queued
            for r, held in enumerate(job.held()):
                self.give_back(job, r, held)
        if job.state == KILLED:
            job.finish = time
        return True

    def end_at_walltime(self, job, time):
        self.end_leg(job, [0] * len(self.capacities))
        job.finish, job.state = time, TOO_LONG
        return True

    def end_leg(self, job, keeps):
        """Nothing more happens to the leg; all but `keeps` is given back."""
        self.events = [event for event in self.events if event["job"] is not job or event["kind"] == "cancel"]
        self.running.remove(job)
        for r, kept in enumerate(keeps):
            self.give_back(job, r, job.held()[r] - kept)

    def give_back(self, job, resource, amount):
        if resource > 0:
            job.pools[resource - 1] -= amount
            self.free_pools[resource - 1] += amount
        else:
            for _ in range(amount):
                self.free_nodes.add(job.nodes.pop())  # the nodes taken last go first

    def free(self):
        free = [len(self.free_nodes), *self.free_pools]
        return free if self.kinds is None else [*free[:-1], large_in(self.free_nodes, self.first_large)]

    def fewest_large(self, job, free):
        """The large nodes that a job takes if as many small ones as it can have are free: those come first."""
        needs = job.needs()
        return needs[-1] or max(0, needs[0] - (free[0] - free[-1]))

    def start(self, job, now, n_large=None):
        if job.leg == 0 and self.over_limit(job):
            raise _OverLimitError
        leg, needs = job.legs[job.leg], job.needs()
        taken = sorted(self.free_nodes)[: needs[0]]
        if self.kinds is not None:
            n_large = self.fewest_large(job, self.free()) if n_large is None else n_large
            small = [node for node in sorted(self.free_nodes) if node < self.first_large]
            large = [node for node in sorted(self.free_nodes) if node >= self.first_large]
            taken = small[: needs[0] - n_large] + large[:n_large]
        assert len(taken) == needs[0]
        self.free_nodes -= set(taken)
        job.nodes += taken
        for r, amount in enumerate(needs[1:]):
            self.free_pools[r] -= amount
            job.pools[r] += amount
        self.queue.remove(job)
        self.running.append(job)
        self.starts.append((now, job.id, job.leg, set(taken)))
        job.start = now if job.leg == 0 else job.start
        job.waited += now - job.queued
        job.leg_start, job.phase = now, 0
        self.event(now + leg.phases[0][0], "phase", job)
        if self.kill and leg.walltime < math.inf:
            self.event(now + leg.walltime, "kill", job)

    def fits_now(self, job):
        return all(need <= have for need, have in zip(job.needs(), self.free(), strict=True))

    def profile(self, now, reservations):
        """What is free over time as walltimes tell, with the reservations made so far."""
        R = self.reserved()
        profile = Profile(now, self.free()[:R])
        for job in self.running:
            leg = job.legs[job.leg]
            end = job.leg_start + leg.walltime
            back = [a - b for a, b in zip(job.held(), leg.keeps, strict=True)]
            # A leg started beside reservations counts for its walltime, what it carries on included: only then does
            # every reservation made before it in this decision stay possible.
            back = self.beside.get(job, back)
            profile.returns.append((end if end > now else now + 1, back[:R]))
        for job, time in reservations:
            self.reserve(profile, job, time)
        return profile

    def reserve(self, profile, job, time):
        """Take away what a job takes if it starts then."""
        profile.reserve(self.taken(profile, job, time), time, job.legs[job.leg].walltime)

    def either(self, job):
        """Whether nodes are of two kinds, reservations know of it, and the job may have either."""
        return self.kinds is not None and self.reserved() > 1 and job.needs()[0] > job.needs()[-1]

    def taken(self, profile, job, time):
        """What a job takes of what is counted if it starts then: small nodes, if they are free for its whole time."""
        needs = job.needs()[: self.reserved()]
        if self.either(job) and time < math.inf:
            needs[-1] = max(0, needs[0] - max(0, min(have[0] - have[-1] for have in self.during(profile, job, time))))
        return needs

    def during(self, profile, job, time):
        """What is free at each point of a job's time."""
        end = time + job.legs[job.leg].walltime
        inside = [point for point in profile.points() if before(time, point) and before(point, end)]
        return [profile.at(point) for point in (time, *inside)]

    def fits(self, profile, job, time):
        """Whether a job can have all that it needs, and the same nodes, if it starts then."""
        return profile.fits(self.taken(profile, job, time), time, job.legs[job.leg].walltime)

    def earliest(self, profile, job):
        """The first point at which a job fits; infinity if there is none."""
        return next((time for time in profile.points() if self.fits(profile, job, time)), math.inf)

    def reserved(self):
        return 1 if self.policy.reserve == "nodes" else len(self.capacities)

    def can_start(self, job, now, reservations):
        return self.fits_now(job) and self.fits(self.profile(now, reservations), job, now)

    def start_beside(self, job, now, reservations):
        """Start a job that `can_start`."""
        taken = self.taken(self.profile(now, reservations), job, now)
        self.beside[job] = [*taken, *job.needs()[self.reserved() :]]
        if self.kinds is not None and self.reserved() > 1:
            self.start(job, now, taken[-1])
        else:
            self.start(job, now)

    def ordered(self, jobs, column, descending=False):
        if column in ("arrival", "as-queued"):
            return list(jobs)
        sign = -1 if descending else 1
        return sorted(jobs, key=lambda job: (sign * job.rank(column), job.id))

    def decide(self, now):
        """Algorithm 1 of Kopański & Rządca, with `depth` reservations in line 14."""
        policy, reservations, self.beside = self.policy, [], {}
        allowed = [job for job in self.queue if job.leg > 0 or not self.over_limit(job)]
        waiting = self.ordered(allowed, policy.order, policy.descending)
        while waiting and self.fits_now(waiting[0]):
            self.start(waiting.pop(0), now)
        if not waiting or policy.max_backfill == 0:
            return
        looks = policy.max_backfill + 1  # the head's own is free
        while waiting and len(reservations) < policy.depth and looks > 0:
            job = waiting.pop(0)
            looks -= 1
            if self.can_start(job, now, reservations):
                self.start_beside(job, now, reservations)
                continue
            # A job that nothing known will ever make room for counts as reserved too: at infinity, in nobody's way.
            reservations.append((job, self.earliest(self.profile(now, reservations), job)))
        if policy.depth == 0:
            waiting.pop(0)  # the head: it does not fit, that is why it is the head
            looks -= 1
        for job in self.ordered(waiting, policy.backfill_order):
            if looks <= 0:
                break
            looks -= 1
            if self.can_start(job, now, reservations):
                self.start_beside(job, now, reservations)
        if self.watch is not None:
            self.watch(now, {job.id: time for job, time in reservations})


def simulate(workload, platform, policy, kill=True, watch=None, limits=None):
    """The finished Run of `workload` under `policy`, a dict of the family's parameters, and under `limits`, another."""
    run = Run(workload, platform, policy, kill, watch, limits)
    while run.events:
        run.instant()
    return run
