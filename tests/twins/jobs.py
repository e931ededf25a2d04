"""Jobs as the slow twin of a run has them: legs of phases, made of a workload's tables, and what each job holds."""

import math
from dataclasses import dataclass, field

from twins.network import buffer_of
from twins.park import Park

COMPLETED, TOO_LONG, REJECTED = "COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "REJECTED"
KILLED, CANCELLED = "COMPLETED_KILLED", "CANCELLED"


@dataclass
class Phase:
    """A step of a leg; `bytes` are those of all nodes together."""

    kind: str
    seconds: float = 0.0
    communication: float = 0.0
    bytes: float = 0.0
    release: tuple | None = None  # what is given back at its end, see `given_back`


@dataclass
class Leg:
    """What is asked of the scheduler in one go."""

    walltime: float
    demand: list[int]  # all that it holds while it runs
    carry: list[bool]  # kept over from the leg before
    phases: list[Phase]
    keeps: list[int] = field(default_factory=list)  # what the leg after it carries on


@dataclass(eq=False)
class Job:
    """A job and what has become of it so far."""

    id: int
    submit: float
    columns: dict
    legs: list[Leg]
    park: Park | None = None  # the machine's nodes, which some of the resources count
    where: list[bool] = field(default_factory=list)  # by run of nodes: whether it may run there
    leg: int = 0
    phase: int = 0
    active: dict[int, int] = field(default_factory=dict)  # phase -> streams or timers that are still to end
    blocking: int | None = None  # the phase that the next one waits for
    nodes: list[int] = field(default_factory=list)  # ids held, in the order in which they were taken
    pools: list[int] = field(default_factory=list)  # held of every resource but nodes
    chunks: list[int] = field(default_factory=list)  # server of the chunk of each node, by ascending node
    size: int = 0  # bytes of each of them
    queued: float = math.nan
    leg_start: float = math.nan
    start: float = math.nan
    finish: float = math.nan
    waited: float = 0.0
    stopped: str = ""  # the state to come, if nothing but drains is left
    state: str = ""

    @property
    def n(self):
        """The most nodes that any leg holds."""
        return max(1, *(leg.demand[0] for leg in self.legs))

    @property
    def walltime(self):
        """What the current leg asks for."""
        return self.legs[self.leg].walltime

    @property
    def begun(self):
        """Whether its first leg has started."""
        return self.start == self.start

    @property
    def expected_end(self):
        """When the running leg ends as far as anybody can tell."""
        return self.leg_start + self.walltime

    def held(self):
        """Amounts held of each resource."""
        held = [len(self.nodes), *self.pools]
        for column, some in self.park.counts(self.nodes).items():
            held[column] = some
        return held

    def needs(self):
        """What the current leg takes when it starts: its demand beyond what was carried over."""
        return [a - b for a, b in zip(self.legs[self.leg].demand, self.held(), strict=True)]

    def rank(self, column):
        """The value that a queue is sorted by; what a leg has of its own counts, not its job's."""
        nodes = self.needs()[0]
        own = {"walltime": self.walltime, "nodes": nodes, "area": nodes * self.walltime}
        return own.get(column, self.columns.get(column))


def large_in(nodes, first_large):
    """How many of some nodes are of the larger kind."""
    return sum(node >= first_large for node in nodes)


def demand_of(row, platform):
    """What a job or leg asks of each resource; of large nodes, all of its nodes if one needs more than a small has."""
    demand = [row.get(name) or 0 for name in platform.asked]
    if platform.kinds is None or platform.divided:
        return demand + [0] * (len(platform.resources) - len(demand))
    bytes_a_node = -(-(row.get(platform.kinds.name) or 0) // max(demand[0], 1))
    return [*demand, demand[0] if bytes_a_node > platform.kinds.capacity else 0]


def given_back(text, resources):
    """What a phase gives back at its end, as (resource, amount): the amount is None for all; None for nothing."""
    name, _, amount = (text or "").partition("=")
    return (resources.index(name), int(amount) if amount else None) if name in resources else None


def kept(leg, after):
    """What `after` carries on of what a leg still holds when its phases have given back what they do."""
    held = list(leg.demand)
    for resource, amount in [phase.release for phase in leg.phases if phase.release]:
        held[resource] -= held[resource] if amount is None else amount
    assert min(held) >= 0
    return [min(held[r], after.demand[r]) if after and after.carry[r] else 0 for r in range(len(held))]


def aware(row, T, D):
    """The phases of a job under io-aware."""
    k = min(max(round(T / 3600), 1), 10)
    compute = Phase("compute", T / k, row["communication"])
    if D == 0:
        return [compute] * k
    between = [Phase("checkpoint", bytes=D / 2), Phase("drain", bytes=D / 2), compute]
    return [Phase("stage_in", bytes=D), compute, *between * (k - 1), Phase("stage_out", bytes=D)]


def phases_of(row, written, platform, model):
    """The phases of a leg: those `written` in the workload, else the job model's."""
    if written:
        return [
            Phase(
                phase["kind"],
                phase["seconds"] + phase["flop"] / platform.speed,
                phase["communication"],
                phase["bytes"] if model == "io-aware" else 0.0,
                given_back(phase["release"], list(platform.resources)),
            )
            for phase in written
        ]
    T, buffer = row["run_time"] + row["flop"] / platform.speed, buffer_of(platform)
    if model == "io-aware":
        return aware(row, T, (row.get(buffer.name) or 0) if buffer else 0)
    return [Phase("compute", T, row["communication"])]


def jobs_of(workload, platform, model="alloc-only", kind=Job):
    """The workload's jobs, each with its legs and phases; `kind` makes them."""
    leg_rows = [] if workload.legs is None else workload.legs.sort("job", "leg").to_dicts()
    phase_rows = [] if workload.phases is None else workload.phases.to_dicts()
    park, jobs = Park(platform), []
    for row in workload.jobs.to_dicts():
        own = [leg for leg in leg_rows if leg["job"] == row["id"]] or [{**row, "leg": 0, "carry": ""}]
        written = [phase for phase in phase_rows if phase["job"] == row["id"]]
        legs = [
            Leg(
                leg["walltime"],
                demand_of(leg, platform),
                [name in leg["carry"].split() for name in platform.resources],
                phases_of(row, [phase for phase in written if phase["leg"] == leg["leg"]], platform, model),
            )
            for leg in own
        ]
        for leg, after in zip(legs, [*legs[1:], None], strict=True):
            leg.keeps = kept(leg, after)
        where = [park.may_have(run[0], row, workload.names) for run in park.runs]
        pools = [0] * (len(platform.resources) - 1)
        jobs.append(kind(row["id"], row["submit"], row, legs, park, where, pools=pools))
    return jobs
