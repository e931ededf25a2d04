"""From a scheduler's name to the tables of a run."""

from dataclasses import dataclass

import numpy as np

from forebay.core.limits import IO_SCHEDULERS, Manner
from forebay.engine.build.program import Program
from forebay.engine.io_knowledge.alone import alone
from forebay.engine.io_scheduling.amounts import is_io
from forebay.engine.io_scheduling.tables import IoScheduling, make_io
from forebay.errors import InputError
from forebay.platforms.fabric import Fabric


@dataclass(frozen=True)
class Asking:
    """What a scheduler asks to know of jobs' I/O, as a policy would."""

    known: str


def known_with(manner: Manner, policy: object, name: str) -> object:
    """What says how much a run's policy and its I/O scheduler know of I/O: they know the same."""
    if manner.io and getattr(policy, "steers", False):
        raise InputError(f"policy {name!r} weighs and holds transfers itself; leave +io:{manner.io} out")
    if not manner.io_known:
        return policy
    own = getattr(policy, "known", None)
    if own not in (None, manner.io_known):
        raise InputError(f"policy {name!r} has known={own}, and its io:{manner.io} known={manner.io_known}; write one")
    return policy if own is not None else Asking(manner.io_known)


def _phases(program: Program) -> np.ndarray:
    """How often each phase is run."""
    times = np.ones(len(program.kind))
    if program.rounds is None:
        return times
    steps, detours = program.rounds.steps, program.rounds.detours
    for end in np.flatnonzero(steps["back"] >= 0):
        begin = steps["back"][end]
        times[begin : end + 1] = steps["rounds"][begin]
    for first, _, last in detours:
        times[first:last] = 0
    return times


def periods(program: Program, fabric: Fabric) -> np.ndarray:
    """Mean seconds from one I/O phase of each job to the next, alone at the size that it asks for; inf without any."""
    if program.rounds is None:
        return alone(program, fabric)["period"]
    n, row = len(program.first_leg) - 1, program.rounds.row
    job = program.leg_job[program.phase_leg]
    counted = program.moving & np.array([is_io(int(kind)) for kind in program.kind])
    phases = np.bincount(job, counted * _phases(program), n)
    seconds = np.zeros(n)
    mine = np.flatnonzero(row >= 0) if len(row) else np.zeros(0, np.int64)
    flex = program.rounds.jobs[row[mine]]
    seconds[mine] = program.rounds.sizes["seconds"][flex["first"] + flex["size"]]
    found: np.ndarray = np.where(phases > 0, seconds / np.maximum(phases, 1), np.inf)
    return found


def io_of(manner: Manner, program: Program, fabric: Fabric, moves: bool) -> tuple[IoScheduling, list[str]]:
    """The tables for a scheduler, and a note where it has nothing to decide."""
    if not manner.io:
        return make_io(), []
    if not moves:
        return make_io(), [f"io:{manner.io} makes no difference: nothing is moved over links in this run"]
    made = make_io(len(program.first_leg) - 1, IO_SCHEDULERS.index(manner.io))
    made.jobs["period"] = periods(program, fabric)
    return made, []
