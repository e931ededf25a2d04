"""What might have held jobs back though the machine had room for them, read from the record alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay._fidelity._use import Floats, at, most_between, summed
from forebay._fidelity.fit.record import Record, level
from forebay._support.text import counted
from forebay.platforms import Platform, Reservation, Rule
from forebay.platforms.variation import varied
from forebay.workload.names import called

LEAST_JOBS = 5
"""Jobs that a limit must explain: fewer may be chance."""
LEAST_IDLE = 600.0
"""Seconds for which a job must have waited beside room to be taken as held."""
_LEAST_SHARE = 0.01  # of all recorded waiting
_MOST = 8  # guesses of limits that are tried
_WINDOWS = 60  # stretches of a period that may each lack other nodes
_LEAST_WINDOW = 6 * 3600.0
_SCOPES = ("", "queue", "qos")
_OWNERS = {"user": ("MaxJobsPerUser", "MaxTRESPerUser"), "account": ("MaxJobsPerAccount", "MaxTRESPerAccount")}
_TOGETHER = ("GrpJobs", "GrpTRES")
_GROUPS = ("account", "queue", "qos")
_WORDS = {"queue": "partition"}
_HELD = ("BeginTime", "JobHeldUser", "JobHeldAdmin", "Dependency")
"""Reasons of Slurm for which a job waits for something else than its turn."""


@dataclass(frozen=True)
class Guess:
    """Something that the trace does not tell, and what it is taken to be."""

    text: str
    hours: float  # of recorded waiting beside room that it explains
    explains: tuple[int, ...]  # jobs, by number
    rule: Rule | None = None
    nodes: int | None = None  # of the machine
    outages: tuple[Reservation, ...] = ()

    def applied(self, platform: Platform) -> Platform:
        """The machine as it is under this guess."""
        if self.nodes is not None:
            return varied(platform, {"nodes": self.nodes})
        values = {field: getattr(platform, field) for field in type(platform).model_fields}
        rules = (*platform.limits, *([self.rule] if self.rule else []))
        reserved = (*platform.reservations, *self.outages)
        return Platform.model_validate({**values, "limits": rules, "reservations": reserved})


def limits(found: Record) -> list[Guess]:
    """Limits that all jobs obey, and that some were at while the machine had room; those that explain most first."""
    made = [
        guess
        for scope in _SCOPES
        for key in (_keys(found, scope) if scope else [-1])
        for guess in (*_of_each(found, scope, key), *(_of_all(found, scope, key) if scope else ()))
    ]
    made += [guess for key in _keys(found, "account") for guess in _of_all(found, "account", key)]
    enough = [one for one in made if len(one.explains) >= LEAST_JOBS and one.hours >= _LEAST_SHARE * found.hours]
    return sorted(enough, key=lambda one: -one.hours)[:_MOST]


def _keys(found: Record, column: str) -> list[int]:
    if column not in found.jobs.columns:
        return []
    return [int(key) for key in found.jobs[column].unique(maintain_order=True) if key >= 0]


def _of_each(found: Record, scope: str, key: int) -> Iterator[Guess]:
    """The same limit for every user or account, of all their jobs or of those in one partition or QOS."""
    within = pl.col(scope) == key if scope else pl.lit(value=True)
    jobs = found.jobs.filter(within)
    for column, words in _OWNERS.items():
        if column in jobs.columns:
            owners = [number for number in jobs[column].unique(maintain_order=True) if number >= 0]
            for word in words:
                yield _limit(found, word, (scope, key), [within & (pl.col(column) == number) for number in owners])


def _of_all(found: Record, column: str, key: int) -> Iterator[Guess]:
    """A limit on all jobs of one account, partition or QOS."""
    for word in _TOGETHER:
        yield _limit(found, word, (column, key), [pl.col(column) == key])


def _limit(found: Record, word: str, whose: tuple[str, int], parts: Sequence[pl.Expr]) -> Guess:
    """The least limit that the record obeys, alike for each part of the jobs."""
    of = "amount" if "TRES" in word else "jobs"
    levels = [level(found.jobs.filter(part), of) for part in parts]
    top = max((int(steps[1].max(initial=0.0)) for steps in levels), default=0)
    more = found.waiting["amount"].to_numpy() if of == "amount" else np.ones(len(found.waiting))
    held = np.zeros(found.room.shape, dtype=bool)
    for part, steps in zip(parts, levels, strict=True):
        mine = found.waiting.select(part).to_series().to_numpy()
        held[mine] = at(steps, found.moments[mine]) + more[mine][:, None] > top
    hours, ids = found.explained(held)
    unit = {"nodes": "node", "cores": "cpu"}[found.use.unit]
    amount = f"{unit}={top}" if of == "amount" else top
    column, key = whose
    who = {_WORDS.get(column, column): called(found.names, column, key)} if column else {}
    text = f"{word}={amount}" + "".join(f" of {kind} {name}" for kind, name in who.items())
    return Guess(text, hours, ids, rule=Rule.model_validate({**who, word: amount}) if top else None)


def size(found: Record, platform: Platform) -> list[Guess]:
    """No more nodes than were ever in use."""
    nodes = int(np.ceil(float(found.use.recorded[1].max(initial=0.0)) / found.per_node))
    if len(platform.classes or ()) > 1 or not 1 <= nodes < platform.nodes:
        return []
    text = f"{nodes:,} of {counted(platform.nodes, 'node')}: more were never in use"
    return [Guess(text, *found.explained(_without(found, nodes * found.per_node)), nodes=nodes)]


def _without(found: Record, capacity: Floats | float) -> NDArray[np.bool_]:
    """At which moments there is no room for a job with so much."""
    in_use = at(found.use.recorded, found.moments) + found.waiting["amount"].to_numpy()[:, None]
    return np.asarray(in_use > capacity)


def service(found: Record, platform: Platform) -> list[Guess]:
    """Nodes out of service: those that nothing ran on for hours in which jobs of two users or more waited all along."""
    start, end = found.use.period
    if len(platform.classes or ()) > 1 or end - start < 2 * _LEAST_WINDOW or "user" not in found.jobs.columns:
        return []
    edges = np.arange(start, end, _LEAST_WINDOW * max(1.0, np.ceil((end - start) / _LEAST_WINDOW / _WINDOWS)))
    ends = np.append(edges[1:], end)
    idle = (found.use.capacity - most_between(found.use.recorded, edges, ends)) // found.per_node
    lack = np.where(_fewest_users(found, edges, ends) >= 2, np.minimum(idle, platform.nodes - 1), 0).astype(np.int64)
    if not lack.any():
        return []
    window = np.clip(np.searchsorted(edges, found.moments, side="right") - 1, 0, len(edges) - 1)
    capacity = (found.use.capacity - lack * found.per_node).astype(np.float64)[window]
    text = f"up to {counted(int(lack.max()), 'node')} out of service, in {counted(int((lack > 0).sum()), 'window')}"
    return [Guess(text, *found.explained(_without(found, capacity)), outages=_outages(lack, edges, ends))]


def _outages(lack: NDArray[np.int64], edges: Floats, ends: Floats) -> tuple[Reservation, ...]:
    """Maintenance of so many nodes over each window, neighbours with as many together."""
    made: list[Reservation] = []
    for nodes, some in groupby(zip(lack.tolist(), edges.tolist(), ends.tolist(), strict=True), key=lambda one: one[0]):
        rows = list(some)
        if nodes:
            name = f"out-{len(made) + 1}"
            made.append(Reservation(name=name, start=rows[0][1], end=rows[-1][2], nodes=nodes, flags=("maint",)))
    return tuple(made)


def _fewest_users(found: Record, begin: Floats, end: Floats) -> Floats:
    """Of how many users jobs waited at every moment of a window."""
    times, changes = [np.zeros(0)], [np.zeros(0)]
    for _, part in found.waiting.group_by("user", maintain_order=True):
        one = np.ones(len(part))
        edges = np.concatenate([part["submit"].to_numpy(), part["start"].to_numpy()])
        when, waiting = summed(edges, np.concatenate([one, -one]))
        times.append(when)
        changes.append(np.diff((waiting > 0).astype(np.float64), prepend=0.0))
    when, users = summed(np.concatenate(times), np.concatenate(changes))
    return -most_between((when, -users), begin, end)


def begins(found: Record, kept: Sequence[Guess], early: Sequence[int]) -> dict[int, float]:
    """When jobs may have begun to wait for their turn: where there was room for half of their wait, or Slurm says so.

    Of those that start too `early` in the simulation.

    The moment is the last one at which there was still room: from then on they may have waited for nodes.
    """
    wanted = set(early).difference(*(one.explains for one in kept))
    idle = found.room.mean(axis=1)
    wait = found.waiting["wait"].to_numpy()
    which = (idle >= 0.5) & (idle * wait >= LEAST_IDLE)
    if "recorded_reason" in found.waiting.columns:
        which |= found.waiting["recorded_reason"].is_in(_HELD).to_numpy() & (idle > 0)
    times, used = found.use.recorded
    made = {}
    for number, submit, start, amount in (
        found.waiting.filter(pl.Series(which)).select("id", "submit", "start", "amount").iter_rows()
    ):
        if number not in wanted:
            continue
        first, last = np.searchsorted(times, [submit, start])
        room = np.flatnonzero(used[first:last] + amount <= found.use.capacity)
        after = first + int(room[-1]) + 1 if len(room) else last
        made[number] = min(float(times[after]), start) if after < len(times) else start
    return made
