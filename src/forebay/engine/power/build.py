"""From a platform's power to the tables of a run."""

import dataclasses
import math

import numpy as np
import polars as pl

from forebay.core.codes import EventKind
from forebay.core.failures import Failures
from forebay.core.limits import NO_LIMIT
from forebay.engine.build.program import Program
from forebay.engine.power.tables import Switching, make_switching
from forebay.errors import InputError, brief
from forebay.platforms._declared.power import format_watts
from forebay.platforms.atoms import Atom
from forebay.platforms.platform import Platform
from forebay.platforms.rules import Rule
from forebay.workload.workload import Workload

JOB_WATTS = "power"
"""The column of the job table in which jobs may say what each of their nodes draws."""

MILLIWATTS = "milliwatts above idle"
"""What a cap counts: whole ones, as all that is counted."""
_MILLI, _ALMOST = 1000, 1e-6


def with_watts(workload: Workload, platform: Platform) -> Workload:
    """The workload with what its jobs draw as a column of numbers that is no demand, where the machine counts it."""
    if platform.power is None or JOB_WATTS not in workload.jobs.columns:
        return workload
    column = workload.jobs[JOB_WATTS]
    if JOB_WATTS in platform.resources:
        raise InputError(
            f"{platform.name}: a tier is called {JOB_WATTS}, as the column in which jobs say what they draw; rename it"
        )
    if not column.dtype.is_numeric():
        first = brief(next(iter(column), ""))
        raise InputError(
            f"{workload.name}: the column {JOB_WATTS} is {first} in the first row, not the watts of a node; "
            "write numbers, or rename it"
        )
    watts = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
    bad = ~((watts >= 0) & np.isfinite(watts))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{workload.name}: job {workload.jobs['id'][row]} draws {watts[row]:g} W a node ({JOB_WATTS}); "
            "write watts from 0 up, or leave the column out"
        )
    if column.dtype == pl.Float64:
        return workload
    return dataclasses.replace(workload, jobs=workload.jobs.with_columns(column.cast(pl.Float64)))


class Cap(Rule):
    """A cap on what the machine draws, as a limit on all jobs together: on what they add to its idle nodes."""

    watts: float

    def reason(self, kind: str, name: str = "", minutes: bool = False) -> str:
        """What `squeue` shows of a job that it holds."""
        return "PowerNotAvail"

    @property
    def detail(self) -> str:
        """The same as a sentence."""
        return f"with it the machine would draw more than {format_watts(self.watts)}"


def caps_of(platform: Platform, program: Program) -> list[Rule]:
    """The cap of a machine, if it has one."""
    power = platform.power
    if power is None or power.cap is None:
        return []
    if _change_size(program):
        raise InputError(
            f"{platform.name}: a cap on power holds for jobs that keep their size, and some here change theirs; leave "
            "cap out, or make them rigid"
        )
    left = power.cap - sum(atom.count * _idle_and_busy(platform, atom)[0] for atom in platform.atoms)
    most = math.floor(left * _MILLI + _ALMOST)
    return [Cap.model_construct(watts=power.cap, grp_tres={MILLIWATTS: min(most, NO_LIMIT - 1)})]


def _change_size(program: Program) -> bool:
    return program.rounds is not None and bool((program.rounds.jobs["n_sizes"] > 1).any())


def added(workload: Workload, platform: Platform, program: Program) -> np.ndarray:
    """By job, the most milliwatts that it adds to the idle machine, wherever it runs of where it may."""
    atoms, n_jobs = platform.atoms, len(workload)
    idle, busy = np.array([_idle_and_busy(platform, atom) for atom in atoms]).T
    own = workload.jobs[JOB_WATTS].to_numpy() if JOB_WATTS in workload.jobs.columns else None
    left = np.maximum.reduceat(program.demand[:, 0], program.first_leg[:-1]).astype(float)
    allowed = np.full(n_jobs, -1)
    if program.allowed is not None:
        allowed = np.bitwise_or.reduceat(program.allowed, program.first_leg[:-1])
    total = np.zeros(n_jobs)
    for a in np.argsort(idle - busy if own is None else idle, kind="stable"):  # where it adds most
        some = np.where(allowed >> a & 1 == 1, np.minimum(left, atoms[a].count), 0.0)
        total += some * np.maximum((busy[a] if own is None else own) - idle[a], 0.0)
        left -= some
    return np.ceil(np.minimum(total * _MILLI - _ALMOST, NO_LIMIT)).astype(np.int64)


def _idle_and_busy(platform: Platform, atom: Atom) -> tuple[float, float]:
    """What a node of an atom draws."""
    assert platform.power is not None
    return platform.power.watts(platform.classes[atom.cls] if platform.classes else None)


def switching_of(
    platform: Platform, program: Program, failures: Failures | None, events: np.ndarray, n_jobs: int
) -> Switching:
    """The tables of nodes that are switched off; empty where they stay on. Nodes are idle from the beginning on."""
    shutdown = None if platform.power is None else platform.power.shutdown
    if shutdown is None:
        return make_switching()
    if failures is not None:
        raise InputError(
            f"{platform.name}: nodes that fail are not switched off; leave shutdown out of power, or failures "
            '(failures="mtbf=inf")'
        )
    if _change_size(program):
        raise InputError(
            f"{platform.name}: nodes are switched off under jobs that keep their size, and some here change theirs; "
            "leave shutdown out of power, or make them rigid"
        )
    made = make_switching(platform.nodes, n_jobs)
    made.rule["after"], made.rule["boot"] = shutdown.after, shutdown.boot
    made.since[:] = events["time"][events["kind"] == EventKind.SUBMIT].min(initial=np.inf)
    return made
