"""Jobs run on the file system, or are staged to faster storage and run there: whichever the policy starts them on.

Of a job's phases, `read` is its input, `write` its output, `checkpoint` and `fetch` what it moves in between. On the
file system all of it is read and written; on a faster tier the input is staged in before and the output staged out
after, and all that the job itself moves is fetched and checkpointed. Jobs are not killed at their walltime, which is
meant for the file system without anybody else on it. The model of Lackner, Fard & Wolf (2019).
"""

from dataclasses import replace

import numpy as np

from forebay.core.codes import PhaseKind
from forebay.core.schemas import STATED
from forebay.core.units import format_bytes
from forebay.engine.build.program import Program, as_written
from forebay.errors import InputError
from forebay.platforms.fabric import Way
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload

_INPUT, _OUTPUT = (PhaseKind.READ,), (PhaseKind.WRITE,)
_BETWEEN = (PhaseKind.CHECKPOINT, PhaseKind.FETCH)
_ON_FILES = {PhaseKind.FETCH: PhaseKind.READ, PhaseKind.CHECKPOINT: PhaseKind.WRITE}
_ON_STORE = {PhaseKind.READ: PhaseKind.FETCH, PhaseKind.WRITE: PhaseKind.CHECKPOINT}
_OTHERS = (PhaseKind.STAGE_IN, PhaseKind.STAGE_OUT, PhaseKind.DRAIN)


def program(workload: Workload, platform: Platform, kill: bool = False, nodes: str = "held") -> Program:
    """`kill=true` ends jobs at their walltime. `nodes=free` leaves nodes to others while data is staged."""
    if nodes not in ("held", "free"):
        raise InputError(f"job model 'tiered': nodes={nodes!r} is not held or free")
    if not platform.ways:
        raise InputError(
            f"job model 'tiered' runs jobs on a file system or on faster storage, and {platform.name} has no file "
            "system; add a tier of kind slow or pfs (and of kind fast), or choose another with --job-model"
        )
    if platform.fabric().chunked:
        raise InputError(
            f"job model 'tiered' counts room in bytes, and {platform.fabric().buffer} of {platform.name} is chunked; "
            "make it pooled, or choose another with --job-model"
        )
    if workload.legs is not None:
        raise InputError(
            f"{workload.name}: jobs have legs of their own, but job model 'tiered' makes them; leave out the legs"
        )
    plain = as_written(workload, platform, kill, move=True)
    if np.isin(plain.kind[plain.bytes > 0], _OTHERS).any():
        raise InputError(
            f"{workload.name}: phases stage or drain data, which job model 'tiered' does by itself; "
            "give it phases of the kinds read, compute, checkpoint, fetch and write"
        )
    if (plain.release >= 0).any():
        raise InputError(
            f"{workload.name}: phases give resources back, which job model 'tiered' does by itself; leave out `release`"
        )
    _check_told(workload)
    return _Tiered(workload, platform, plain, alone=nodes == "free").program()


def _check_told(workload: Workload) -> None:
    for name in STATED:
        if name in workload.jobs.columns and (wrong := workload.jobs.filter(workload.jobs[name] < 0)).height:
            job, value = wrong["id"][0], wrong[name][0]
            raise InputError(f"{workload.name}: job {job} has a {name} of {value}; bytes are from 0 up")


class _Tiered:
    """The work of making alternatives: legs and phases for every tier that a job can use, side by side."""

    def __init__(self, workload: Workload, platform: Platform, plain: Program, alone: bool):
        self.plain, self.platform, self.workload, self.alone = plain, platform, workload, alone
        self.stores = platform.fabric().ways[1:]
        self.job = plain.leg_job[plain.phase_leg]
        self.input, self.output, self.between = (self._bytes(kinds) for kinds in (_INPUT, _OUTPUT, _BETWEEN))
        jobs = workload.jobs
        given = [jobs[name].to_numpy().astype(float) if name in jobs.columns else None for name in STATED]
        true = (self.input, self.output, self.between)
        self.told_input, self.told_output, self.told_between = (
            actual if said is None else said for said, actual in zip(given, true, strict=True)
        )
        self.notes = list(plain.notes)

    def _bytes(self, kinds: tuple[PhaseKind, ...]) -> np.ndarray:
        """What each job moves in phases of these kinds."""
        chosen = np.where(np.isin(self.plain.kind, kinds), self.plain.bytes, 0.0)
        return np.bincount(self.job, chosen, len(self.workload))

    def program(self) -> Program:
        """All of it."""
        plain, n = self.plain, len(self.workload)
        everyone = np.arange(n)
        parts = [_Part(everyone, 0)]
        for way, store in enumerate(self.stores, 1):
            able = np.flatnonzero(self._able(store))
            stages_in = able[self.input[able] > 0] if self.alone else able[:0]
            parts += [_Part(stages_in, way, stage_in=True), _Part(able, way)]
        # Legs by job, then tier, then stage-in before the run.
        order = np.lexsort(
            (
                np.concatenate([np.full(len(part.jobs), not part.stage_in) for part in parts]),
                np.concatenate([np.full(len(part.jobs), part.way) for part in parts]),
                np.concatenate([part.jobs for part in parts]),
            )
        )
        columns = [self._legs(part) for part in parts]
        job, way_of, walltime, demand, carry, moves, stages = (
            np.concatenate(column)[order] for column in zip(*columns, strict=True)
        )
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))  # where each leg of the parts, one after the other, went
        leg, kind, seconds, size, release, communication = self._phases(parts, place)
        return replace(
            plain,
            first_leg=np.concatenate([[0], np.cumsum(np.bincount(job, minlength=n))]),
            walltime=walltime,
            demand=demand,
            carry=carry,
            kills=plain.kills.any() & (demand[:, 0] > 0),  # what staging takes, nobody promised
            first_phase=np.concatenate([[0], np.cumsum(np.bincount(leg, minlength=len(job)))]),
            kind=kind,
            seconds=seconds,
            bytes=size,
            communication=communication,
            release=release,
            released=np.full(len(kind), -1),
            way=way_of,
            stated=np.column_stack([moves, stages]),
            notes=self.notes,
        )

    def _able(self, store: Way) -> np.ndarray:
        """Jobs that ask for room which the store could hold; those that ask for more are warned of."""
        jobs, asked = self.workload.jobs, self.plain.demand[:, self.platform.resources.index(store.name)]
        capacity = self.platform.finite[store.name]
        over = asked > capacity
        if over.any():
            first, n = int(np.argmax(over)), int(over.sum())
            more = f" ({n:,} such jobs)" if n > 1 else ""
            self.notes.append(
                f"job {jobs['id'][first]} asks for {format_bytes(int(asked[first]))} of {store.name}, which holds "
                f"{format_bytes(capacity)}: it cannot use it{more}"
            )
        able: np.ndarray = (asked > 0) & ~over
        return able

    def _legs(self, part: "_Part") -> tuple[np.ndarray, ...]:
        """Job, tier, walltime, demand, carry, and the bytes stated, of legs alike."""
        jobs, n = part.jobs, len(part.jobs)
        demand = self.plain.demand[jobs].copy()
        carry = np.zeros(demand.shape, bool)
        for way, store in enumerate(self.stores, 1):
            r = self.platform.resources.index(store.name)
            if way != part.way:
                demand[:, r] = 0
            elif self.alone and not part.stage_in:
                carry[:, r] = self.input[jobs] > 0
        walltime, moves = self.plain.walltime[jobs], self.told_input + self.told_output + self.told_between
        if part.stage_in:
            demand[:, 0] = 0
            # Users say how much, so the scheduler knows how long; none takes no time at all.
            walltime = np.maximum(self.told_input[jobs] / self.stores[part.way - 1].stage_rate, 1.0)
        stages = self.told_input + self.told_output if part.way > 0 else np.zeros(len(moves))
        return jobs, np.full(n, part.way), walltime, demand, carry, moves[jobs], stages[jobs]

    def _phases(self, parts: list["_Part"], place: np.ndarray) -> tuple[np.ndarray, ...]:
        """Leg, kind, seconds, bytes, release and communication of all phases, in the order of legs."""
        plain, rows = self.plain, []
        first = 0
        for part in parts:
            leg_of = np.full(len(self.workload), -1)
            leg_of[part.jobs] = place[first : first + len(part.jobs)]
            first += len(part.jobs)
            stages_in = part.stage_in or (part.way > 0 and not self.alone)
            if stages_in:
                rows.append(_staging(leg_of, PhaseKind.STAGE_IN, self.input, -1))
            if part.stage_in:
                continue
            own = leg_of[self.job] >= 0
            release = np.full(len(self.job), -1)
            if self.alone and part.way > 0:
                # Nodes are free once the last phase that needs them is over.
                release[plain.first_phase[1:] - 1] = np.where(self.output > 0, 0, -1)
            rows.append(
                (
                    leg_of[self.job][own],
                    np.ones(int(own.sum()), np.int64),
                    _renamed(plain.kind[own], _ON_STORE if part.way > 0 else _ON_FILES),
                    plain.seconds[own],
                    plain.bytes[own],
                    release[own],
                    plain.communication[own],
                )
            )
            if part.way > 0:
                rows.append(_staging(leg_of, PhaseKind.STAGE_OUT, self.output, 2))
        leg, turn, *columns = (np.concatenate(column) for column in zip(*rows, strict=True))
        order = np.lexsort((turn, leg))
        return leg[order], *(column[order] for column in columns)


class _Part:
    """Jobs that have a leg of one kind in one way to run."""

    def __init__(self, jobs: np.ndarray, way: int, stage_in: bool = False):
        self.jobs, self.way, self.stage_in = jobs, way, stage_in


def _renamed(kinds: np.ndarray, names: dict[PhaseKind, PhaseKind]) -> np.ndarray:
    """Phase kinds, some of them by another."""
    table = np.arange(len(PhaseKind))
    table[list(names)] = list(names.values())
    renamed: np.ndarray = table[kinds]
    return renamed


def _staging(leg_of: np.ndarray, kind: PhaseKind, amount: np.ndarray, turn: int) -> tuple[np.ndarray, ...]:
    """A phase for each leg whose job has something to stage; `turn` puts it before or after the others."""
    legs, size = leg_of[(leg_of >= 0) & (amount > 0)], amount[(leg_of >= 0) & (amount > 0)]
    n = len(legs)
    return legs, np.full(n, turn), np.full(n, kind), np.zeros(n), size, np.full(n, -1), np.zeros(n)
