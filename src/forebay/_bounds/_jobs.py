"""What is certain of jobs before any policy decides: when they arrive, how long they take at least, what they hold.

A job starts leg by leg. One of its legs stands for it: the first where starts count, the one that holds most of the
machine where ends do. The legs before it only make it ready later, those after it only come on top.
"""

from dataclasses import dataclass

import numpy as np

from forebay._bounds._seconds import phase_seconds
from forebay.engine.build.leg_balance import Ledger
from forebay.engine.build.program import Program
from forebay.engine.build.rejections import too_large
from forebay.engine.limits.build import site_of
from forebay.engine.warm_start import COLUMN, running_since
from forebay.errors import InputError
from forebay.platforms.partitions import STARTS
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload


@dataclass(frozen=True)
class Jobs:
    """A row for each job that every policy runs, by arrival; times in seconds."""

    name: str  # of the workload
    ids: np.ndarray  # int64
    submit: np.ndarray  # float64: what waits count from
    ready: np.ndarray  # float64: before it the leg cannot start
    seconds: np.ndarray  # float64: that the leg runs at least
    rest: np.ndarray  # float64: that the job runs at least from the start of the leg
    total: np.ndarray  # float64: that it runs at least, all legs together
    nodes: np.ndarray  # int64: as results have them
    held: np.ndarray  # int64[job, resource]: all through the leg
    area: np.ndarray  # float64[job, resource]: resource x seconds of the leg, early releases taken off
    moment: np.ndarray  # float64[job, resource]: area x its mean distance in time from the start of the leg
    all_area: np.ndarray  # float64[job, resource]: of all legs
    resources: tuple[str, ...]
    capacity: np.ndarray  # int64[resource]
    uncertain: int  # jobs that may leave before they run: they are in means, or not
    uncertain_nodes: int  # of these jobs
    exact: bool  # whether run times are exactly these, whatever else happens on the machine
    relaxed: tuple[str, ...]  # what real schedules have to keep to besides, and bounds leave out

    def __len__(self) -> int:
        return len(self.submit)

    def rows(self, which: np.ndarray) -> "Jobs":
        """Some of the jobs; what they leave room for counts as free."""
        columns = ("ids", "submit", "ready", "seconds", "rest", "total", "nodes", "held", "area", "moment", "all_area")
        picked = {name: getattr(self, name)[which] for name in columns}
        return Jobs(**{**self.__dict__, **picked})


@dataclass(frozen=True)
class _Legs:
    """The same of every leg."""

    seconds: np.ndarray
    area: np.ndarray
    moment: np.ndarray
    held: np.ndarray
    broken: np.ndarray  # bool: it may be killed


def _legs_of(workload: Workload, platform: Platform, program: Program) -> _Legs:
    ledger, leg = Ledger(workload, platform, program), program.phase_leg
    each = phase_seconds(program, platform.fabric())
    ends = np.cumsum(each)
    before = ends[program.first_phase[:-1]] - each[program.first_phase[:-1]]
    seconds = np.add.reduceat(each, program.first_phase[:-1])
    broken = program.kills & ((seconds > program.walltime) | (np.bincount(leg, program.moving, len(seconds)) > 0))
    seconds = np.where(program.kills, np.minimum(seconds, program.walltime), seconds)
    # A resource that is given back early is not held from the end of that phase to the end of the leg.
    end = np.minimum(ends - before[leg], seconds[leg])
    area = program.demand * seconds[:, None]
    moment = program.demand * (seconds[:, None] ** 2 / 2)
    held, early = program.demand.copy(), np.flatnonzero(ledger.early_resource >= 0)
    where, amount = (leg[early], ledger.early_resource[early]), ledger.early_amount[early]
    np.subtract.at(area, where, amount * (seconds[leg] - end)[early])
    np.subtract.at(moment, where, amount * (seconds[leg] ** 2 - end**2)[early] / 2)
    np.subtract.at(held, where, amount)
    # A job that is killed in a leg has no later ones: what may be killed is the last that is certain.
    begins = np.maximum.accumulate(np.where(program.begins, np.arange(len(seconds)), 0))
    before_it: np.ndarray = np.cumsum(broken) - broken
    certain: np.ndarray = before_it == before_it[begins]
    return _Legs(
        np.where(certain, seconds, 0.0),
        np.maximum(area, 0.0) * certain[:, None],
        np.maximum(moment, 0.0) * certain[:, None],
        held * certain[:, None],
        broken,
    )


def jobs_of(
    workload: Workload,
    platform: Platform,
    program: Program,
    period: tuple[float, float] | None = None,
    first: bool = True,
) -> Jobs:
    """The jobs that enter means, of a period if one is given; each by its `first` leg, or by its largest."""
    _refuse(workload, platform, program)
    frame = workload.jobs
    submit = frame["submit"].to_numpy()
    counts = np.isnan(running_since(workload))
    if period is not None:
        counts &= (submit >= period[0]) & (submit < period[1])
    counts &= ~too_large(workload, platform, program, platform.fabric())[0] & ~_turned_away(workload, platform, program)
    legs, begins = _legs_of(workload, platform, program), program.first_leg[:-1]
    stays = np.isinf(frame["cancel"].to_numpy())
    stays &= _sure_to_be_free(workload, counts & stays, np.logical_or.reduceat(legs.broken, begins))
    # As results have them: cores where jobs share nodes.
    nodes = program.nodes if program.asks is None else np.maximum.reduceat(program.demand[:, 0], program.first_leg[:-1])
    certain = np.flatnonzero(counts & stays)
    if program.way is not None:
        legs = _least_way(program, legs)
    total = np.add.reduceat(legs.seconds, begins)
    # Of legs that hold as much the first: then less comes before it.
    weight = legs.area / np.maximum(platform.capacities, 1)
    chosen = begins if first else _largest(weight.max(axis=1, initial=0.0), program.first_leg)
    head = np.cumsum(legs.seconds) - legs.seconds
    head = head[chosen] - head[begins]
    ready = (np.maximum(submit, 0.0) if COLUMN in frame.columns else submit) + head
    at = chosen[certain]
    moving = bool(program.moving.any()) or program.way is not None or bool((np.diff(program.first_leg) > 1).any())
    return Jobs(
        name=workload.name,
        ids=frame["id"].to_numpy()[certain],
        submit=submit[certain],
        ready=ready[certain],
        seconds=legs.seconds[at],
        rest=(total - head)[certain],
        total=total[certain],
        nodes=nodes[certain],
        held=legs.held[at],
        area=legs.area[at],
        moment=legs.moment[at],
        all_area=np.add.reduceat(legs.area, begins)[certain],
        resources=platform.resources,
        capacity=np.array(platform.capacities, np.int64),
        uncertain=int((counts & ~stays).sum()),
        uncertain_nodes=int(nodes[counts & ~stays].sum()),
        exact=not moving,
        relaxed=_relaxed(platform, program, bool((counts & ~stays).any()), COLUMN in frame.columns),
    )


def _sure_to_be_free(workload: Workload, stays: np.ndarray, broken: np.ndarray) -> np.ndarray:
    """Which jobs are rejected under no policy for what others do: all that they wait for is sure to happen."""
    sure, table = np.ones(len(workload), bool), workload.dependencies
    if table is None:
        return sure
    rows = {job: row for row, job in enumerate(workload.jobs["id"].to_list())}
    child, parent = (np.array([rows[job] for job in table[name].to_list()]) for name in ("job", "parent"))
    kind = table["kind"].to_numpy()
    never = (kind == "afternotok") | ((kind == "afterok") & broken[parent])
    while True:
        lost = np.unique(child[sure[child] & (never | ~(sure & stays)[parent])])
        if not len(lost):
            return sure
        sure[lost] = False


def _refuse(workload: Workload, platform: Platform, program: Program) -> None:
    """Refuse what no bound is known for."""
    if not len(workload):
        raise InputError(f"{workload.name}: no jobs; a bound needs one at least")
    if program.rounds is not None:
        raise InputError(
            f"{workload.name}: jobs have applications, whose sizes and so areas are for policies to choose, and no "
            "bound is known for them; run with --job-model alloc-only"
        )
    if workload.dependencies is not None and "think" in workload.dependencies["kind"]:
        raise InputError(
            f"{workload.name}: some jobs are submitted when others end, so policies decide when, and no bound is "
            "known; run without --closed-loop"
        )
    shut = [one.name for one in platform.partitions if one.changes and one.changes[-1].state not in STARTS]
    if shut:
        raise InputError(
            f"platform {platform.name}: partition {shut[0]} lets no job start any more from some time on, so policies "
            "decide who starts before, and means are over other jobs for each; leave that change out"
        )
    limits = [rule for rule in platform.limits if _counts_submits(rule) and rule.over_submit == "reject"]
    if limits:
        raise InputError(
            f"platform {platform.name} limits how many jobs may be submitted, so policies decide who is rejected, and "
            "means are over other jobs for each; leave these limits out"
        )


def _relaxed(platform: Platform, program: Program, leave: bool, warm: bool) -> tuple[str, ...]:
    """In words, for those who read a bound."""
    fabric = platform.fabric()
    chunked = fabric.chunked and bool(program.demand[:, platform.resources.index(fabric.buffer or "")].any())
    relaxed = {
        "transfers have every link to themselves": bool(program.moving.any()),
        "chunks of the buffer may lie anywhere": chunked,
        "each job runs in the quickest way that it has": program.way is not None,
        "jobs of several legs count by one of them": bool((np.diff(program.first_leg) > 1).any()),
        "what is given back early is never held": bool((program.release >= 0).any()),
        "nodes are counted, wherever jobs may run": len(platform.atoms) > 1 or platform.sharing,
        "limits of the site do not hold": bool(platform.limits),
        "no reservation is in the way": bool(platform.reservations),
        "jobs that may be withdrawn hold nothing": leave,
        "jobs that run already hold nothing": warm,
    }
    return tuple(words for words, holds in relaxed.items() if holds)


def _counts_submits(rule: object) -> bool:
    names = ("grp_submit", "max_submit_per_user", "max_submit_per_account")
    return any(getattr(rule, name, None) is not None for name in names)


def _turned_away(workload: Workload, platform: Platform, program: Program) -> np.ndarray:
    """Jobs that ask for more than the limits of the site allow any, or whose partitions let no job start."""
    meters = site_of(workload, platform, program, None).meters
    away: np.ndarray = meters.away.astype(bool) if len(meters.away) else np.zeros(len(workload), bool)
    return away | program.places.never if program.places is not None and program.places.never is not None else away


def _largest(weight: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Of each group of legs the one with the largest weight, the first of those alike."""
    group = np.repeat(np.arange(len(first) - 1), np.diff(first))
    order = np.lexsort((np.arange(len(weight)), -weight, group))
    largest: np.ndarray = order[first[:-1]]
    return largest


def _least_way(program: Program, legs: _Legs) -> _Legs:
    """Jobs that may run in several ways, each by what all of its ways have in common: one leg of the least."""
    begins = program.first_leg[:-1]
    seconds = np.zeros_like(legs.seconds)
    held = np.zeros_like(legs.held)
    way_begins = np.flatnonzero(program.begins)
    of_way = np.add.reduceat(legs.seconds, way_begins)
    job = program.leg_job[way_begins]
    shortest = np.full(len(begins), np.inf)
    np.minimum.at(shortest, job, of_way)
    first_seconds = np.full(len(begins), np.inf)
    np.minimum.at(first_seconds, job, legs.seconds[way_begins])
    least = np.full((len(begins), held.shape[1]), np.iinfo(np.int64).max)
    np.minimum.at(least, job, legs.held[way_begins])
    # What stands for the job is its first leg; what all ways take beyond it is a second one that holds nothing.
    seconds[begins], held[begins] = first_seconds, least
    more = begins[np.diff(program.first_leg) > 1]
    seconds[more + 1] = np.maximum((shortest - first_seconds)[np.diff(program.first_leg) > 1], 0.0)
    area = held * seconds[:, None]
    return _Legs(seconds, area, area * seconds[:, None] / 2, held, legs.broken)
