"""A Program: what every job will do, leg by leg and phase by phase, as arrays. Job models make it, `tables` reads."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.core.codes import PhaseKind
from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.engine.build.eligibility import Places
from forebay.engine.malleable.tables import Rounds
from forebay.errors import InputError, brief
from forebay.platforms.platform import Platform
from forebay.workload.workload import RELEASED, RELEASED_PART, Workload

TOO_MANY = 2.0**63
"""Bytes: the log counts them in 64 bits."""


@dataclass(frozen=True)
class Program:
    """Legs of a job lie side by side, in the order of the job table; so do the phases of a leg."""

    first_leg: np.ndarray  # int64[job + 1]
    walltime: np.ndarray  # float64[leg]
    demand: np.ndarray  # int64[leg, resource]: all it holds while it runs
    carry: np.ndarray  # bool[leg, resource]: kept over from the leg before
    kills: np.ndarray  # bool[leg]
    first_phase: np.ndarray  # int64[leg + 1]
    kind: np.ndarray  # PhaseKind[phase]
    seconds: np.ndarray  # float64[phase]; where bytes move, they decide
    bytes: np.ndarray  # float64[phase]: to be moved, all nodes together
    communication: np.ndarray  # float64[phase]: bytes from each node to each other node
    release: np.ndarray  # int64[phase]: a resource given back at its end, -1 = none
    released: np.ndarray  # int64[phase]: how much of it, -1 = all that the leg then holds
    # Of jobs that may run in several ways, all legs of one way come before those of the next.
    way: np.ndarray | None = None  # int64[leg]: of tiers of storage, 0 = slow; None = there is no choice
    stated: np.ndarray | None = None  # float64[leg, 2]: bytes between nodes and tier, tier and slow, as users say
    rounds: Rounds | None = None  # loops, and what phases take at each size; phases above have the most of any
    asks: np.ndarray | None = None  # ASK[leg]: parts of nodes, where these are shared; None = jobs have whole nodes
    allowed: np.ndarray | None = None  # int64[leg]: atoms of nodes that it may run on, as bits; None = everywhere
    places: Places | None = None  # where jobs may run; None = not looked at yet
    compute_nodes: np.ndarray | None = None  # int64[job]: of its nodes; others serve. None = all of them compute
    notes: list[str] = field(default_factory=list)

    @cached_property
    def leg_job(self) -> np.ndarray:
        """The job of each leg."""
        return np.repeat(np.arange(len(self.first_leg) - 1), np.diff(self.first_leg))

    @cached_property
    def phase_leg(self) -> np.ndarray:
        """The leg of each phase."""
        return np.repeat(np.arange(len(self.first_phase) - 1), np.diff(self.first_phase))

    @cached_property
    def begins(self) -> np.ndarray:
        """Legs that are the first of a way to run their job."""
        begins = np.zeros(len(self.walltime), bool)
        begins[self.first_leg[:-1]] = True
        if self.way is not None:
            begins[1:] |= self.way[1:] != self.way[:-1]
        return begins

    @cached_property
    def first_choice(self) -> np.ndarray:
        """Legs of jobs that have no choice, or leave it to others: those of their first way to run."""
        if self.way is None:
            return np.ones(len(self.walltime), bool)
        first: np.ndarray = self.way == self.way[self.first_leg[:-1]][self.leg_job]
        return first

    @cached_property
    def nodes(self) -> np.ndarray:
        """The most nodes that any leg of a job holds; where these are shared, parts of them."""
        held = self.demand[:, 0] if self.asks is None else self.asks["parts"]
        most: np.ndarray = np.maximum.reduceat(held, self.first_leg[:-1])
        return most

    @cached_property
    def moving(self) -> np.ndarray:
        """Phases that may take longer than is written: they move bytes, or nodes send to one another."""
        several = (self.nodes[self.leg_job[self.phase_leg]] > 1) | (self.rounds is not None)
        moving: np.ndarray = (self.bytes > 0) | ((self.communication > 0) & several)
        return moving

    @cached_property
    def logged(self) -> np.ndarray:
        """Legs whose phases the log tells: those of jobs that do more than compute."""
        job = self.leg_job[self.phase_leg]
        staged = np.bincount(job, self.kind != PhaseKind.COMPUTE, len(self.first_leg) - 1) > 0
        logged: np.ndarray = staged[self.leg_job]
        return logged


def demands(frame: pl.DataFrame, platform: Platform) -> np.ndarray:
    """The demand columns of a job or leg table in the platform's order of resources; what it lacks is 0."""
    columns = [
        frame[name].to_numpy() if name in frame.columns else np.zeros(len(frame), np.int64) for name in platform.asked
    ]
    if platform.kinds is not None and not platform.divided and not platform.sharing:
        columns.append(np.where(needs_large(columns[0], columns, platform), columns[0], 0))
    # What follows from where jobs may run: see `node_set_demands`, and `shared_nodes`.
    columns += [np.zeros(len(frame), np.int64)] * (len(platform.resources) - len(columns))
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.int64)


def needs_large(nodes: np.ndarray, columns: Sequence[np.ndarray], platform: Platform) -> np.ndarray:
    """Whose share of the tier is more than a node of the smaller kind has."""
    assert platform.kinds is not None
    each = -(-columns[platform.asked.index(platform.kinds.name)] // np.maximum(nodes, 1))
    large: np.ndarray = each > platform.kinds.capacity
    return large


_CURES = {"burst_buffer": "; `forebay workload convert --model burst-buffer` adds requests"}


def resource_notes(workload: Workload, platform: Platform) -> list[str]:
    """What the workload asks for and the machine lacks, and the other way round."""
    notes = [
        f"{platform.name} has no {name}: what jobs ask of it is ignored"
        for name in workload.resources
        if name not in (*platform.asked, *platform.inside)
    ]
    notes += [
        f"the workload says nothing of {name}: every job asks for 0 of it{_CURES.get(name, '')}"
        for name in platform.asked[1:]
        if name not in workload.resources
    ]
    gpus = sum(one.nodes * one.gpus for one in platform.classes)
    if gpus and not ("gpus" in workload.jobs.columns and (workload.jobs["gpus"] > 0).any()):
        notes.append(
            f"{platform.name} has {counted(gpus, 'GPU')}, and no job asks for any: does the trace have the column? "
            "sacct lists GPUs in ReqTRES and AllocTRES"
        )
    return notes


def work(workload: Workload, platform: Platform) -> np.ndarray:
    """Seconds that each job computes on this machine."""
    jobs = workload.jobs
    seconds: np.ndarray = jobs["run_time"].to_numpy() + jobs["flop"].to_numpy() / platform.speed
    return seconds


def one_leg_each(workload: Workload, platform: Platform, kill: bool) -> Program:
    """Every job as one leg of one compute phase."""
    jobs = workload.jobs
    n = len(jobs)
    demand = demands(jobs, platform)
    return Program(
        first_leg=np.arange(n + 1),
        walltime=jobs["walltime"].to_numpy(),
        demand=demand,
        carry=np.zeros(demand.shape, bool),
        kills=np.full(n, kill),
        first_phase=np.arange(n + 1),
        kind=np.full(n, PhaseKind.COMPUTE),
        seconds=work(workload, platform),
        bytes=np.zeros(n),
        communication=jobs["communication"].to_numpy(),
        release=np.full(n, -1),
        released=np.full(n, -1),
        notes=resource_notes(workload, platform),
    )


def as_written(workload: Workload, platform: Platform, kill: bool, move: bool) -> Program:
    """Every job by the workload's own legs and phases; what it does not say of a job is as in `one_leg_each`.

    Unless phases `move` their bytes, each takes the seconds that are written.
    """
    legs = _all_legs(workload)
    phases = _all_phases(workload, legs)
    known = {"nodes", *workload.resources}
    kept = legs["carry"].str.split(" ")
    _check_names(workload, "carry", set(kept.explode().drop_nulls().to_list()) - known - {""})
    demand = demands(legs, platform)
    release, released = _releases(workload, platform, phases)
    kinds = {kind.name.lower(): kind for kind in PhaseKind}
    _check_names(workload, "phase kind", set(phases["kind"].to_list()) - set(kinds))
    carry = np.column_stack([kept.list.contains(name).to_numpy() for name in platform.asked])
    carry = np.pad(carry, ((0, 0), (0, len(platform.resources) - len(platform.asked))))
    carry[legs["leg"].to_numpy() == 0] = False
    # Where jobs choose their storage, what they move decides how much of it they get.
    overfull = _overfull(phases, demand, platform) if move and not platform.by_choice else []
    return Program(
        first_leg=_offsets(legs["row"].to_numpy(), len(workload)),
        walltime=legs["walltime"].to_numpy(),
        demand=demand,
        carry=carry,
        kills=np.full(len(legs), kill),
        first_phase=_offsets(phases["leg_row"].to_numpy(), len(legs)),
        kind=np.array([kinds[kind] for kind in phases["kind"]], np.int64),
        seconds=phases["seconds"].to_numpy() + phases["flop"].to_numpy() / platform.speed,
        bytes=phases["bytes"].to_numpy() * move,
        communication=phases["communication"].to_numpy(),
        release=release,
        released=released,
        notes=resource_notes(workload, platform) + overfull,
    )


def _overfull(phases: pl.DataFrame, demand: np.ndarray, platform: Platform) -> list[str]:
    """A remark on jobs that put more into the buffer at once than they hold of it: in traces the two often disagree."""
    buffer = platform.fabric().buffer
    if buffer is None:
        return []
    held = demand[phases["leg_row"].to_numpy(), platform.resources.index(buffer)]
    into = phases["kind"].is_in([PhaseKind.STAGE_IN.name.lower(), PhaseKind.CHECKPOINT.name.lower()]).to_numpy()
    jobs = phases["job"].filter(pl.Series(into & (phases["bytes"].to_numpy() > held))).n_unique()
    if not jobs:
        return []
    who = counted(jobs, "job puts", "jobs put")
    return [f"{who} more into {buffer} at once than reserved: moved as written, while only what is reserved is held"]


def _releases(workload: Workload, platform: Platform, phases: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The resource that each phase gives back at its end, -1 = none, and how much of it, -1 = all."""
    parts = phases.select("job", "release", name=RELEASED, part=RELEASED_PART)
    _check_names(workload, "release", set(parts["name"].drop_nulls().to_list()) - {"nodes", *workload.resources})
    wrong = parts.filter(pl.col("release").str.contains("=") & pl.col("part").is_null())
    if len(wrong):
        raise InputError(
            f"{workload.name}: a phase of job {wrong['job'][0]} has the release {brief(wrong['release'][0])}; "
            f"write a whole number above 0 after =, or {wrong['name'][0]} alone for all of it"
        )
    resource = {name: r for r, name in enumerate(platform.asked)}
    return (
        np.array([resource.get(name, -1) for name in parts["name"]], np.int64),
        parts["part"].fill_null(-1).to_numpy(),
    )


def _check_names(workload: Workload, word: str, unknown: set[str]) -> None:
    if unknown:
        raise InputError(
            f"{workload.name}: a {word} names {sorted(unknown)[0]!r}, which is not known; correct the name"
        )


def _offsets(rows: np.ndarray, n: int) -> np.ndarray:
    """Where each of n groups begins in an array sorted by group."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)


def _all_legs(workload: Workload) -> pl.DataFrame:
    """The leg table with a leg for every job, in the order of the job table."""
    rows = workload.jobs.select(job="id").with_row_index("row")
    given = pl.DataFrame(schema=LEG_SCHEMA) if workload.legs is None else workload.legs
    strangers = given.join(rows, on="job", how="anti")
    if len(strangers):
        raise InputError(f"{workload.name}: a leg belongs to job {strangers['job'][0]}, which does not exist")
    names = [name for name in ("walltime", "nodes", *workload.resources) if name in workload.jobs.columns]
    single = workload.jobs.join(given, left_on="id", right_on="job", how="anti").select(
        job="id", leg=pl.lit(0, pl.Int64), carry=pl.lit(""), **{name: pl.col(name) for name in names}
    )
    both = pl.concat([given, single], how="diagonal").fill_null(0)
    legs = both.join(rows, on="job").sort("row", "leg").with_row_index("leg_row")
    wrong = legs.filter(pl.col("leg") != pl.int_range(pl.len()).over("job"))
    if len(wrong):
        raise InputError(f"{workload.name}: the legs of job {wrong['job'][0]} are not numbered 0, 1, 2, ...")
    return legs


def _all_phases(workload: Workload, legs: pl.DataFrame) -> pl.DataFrame:
    """The phase table in the order of the legs; a job without any phase has one, of its run time and flop."""
    columns = ["job", "leg", "kind", "seconds", "flop", "communication", "bytes", "release"]
    given = (pl.DataFrame(schema=PHASE_SCHEMA) if workload.phases is None else workload.phases).select(columns)
    single = workload.jobs.join(given, left_on="id", right_on="job", how="anti").select(
        job="id",
        leg=pl.lit(0, pl.Int64),
        kind=pl.lit("compute"),
        seconds="run_time",
        flop="flop",
        communication="communication",
        bytes=pl.lit(0.0),
        release=pl.lit(None, pl.String),
    )
    phases = pl.concat([given, single]).join(legs.select("job", "leg", "leg_row"), on=["job", "leg"], how="left")
    phases = phases.sort("leg_row", maintain_order=True, nulls_last=True)
    if phases["leg_row"].null_count():
        lost = phases.filter(pl.col("leg_row").is_null()).row(0, named=True)
        where = f"leg {lost['leg']} of job {lost['job']}"
        raise InputError(f"{workload.name}: a phase belongs to {where}, which does not exist")
    idle = legs.join(phases, on="leg_row", how="anti")
    if len(idle):
        raise InputError(f"{workload.name}: leg {idle['leg'][0]} of job {idle['job'][0]} has no phase; give it one")
    return phases
