"""From a Workload, a Platform and a job model to the tables of a run. All validation happens here, once."""

import numpy as np

from forebay import _plugins
from forebay.algorithms.nodeset import clear
from forebay.core.codes import JobState
from forebay.core.tables import State, empty_state
from forebay.engine.program import Program
from forebay.engine.truth import Truth, empty_truth
from forebay.errors import InputError, nearest
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload

MAX_JOBS = 2**31 - 1  # the log stores a job's row in 32 bits


def make_program(workload: Workload, platform: Platform, spec: str) -> Program:
    """The program that a job model, such as `alloc-only` or `alloc-only:kill=false`, makes of a workload."""
    name, given = _plugins.parse_spec(spec)
    model = _plugins.load("engine.jobmodels", name, "job model")
    values = {}
    for key, text in given.items():
        if key != "kill":
            raise InputError(f"job model {name!r} has no parameter {key!r}: {nearest(key, ['kill'])}")
        if text not in ("true", "false"):
            raise InputError(f"job model {name!r}: kill={text!r} is not true or false")
        values[key] = text == "true"
    program: Program = model.program(workload, platform, **values)
    return program


def _check(workload: Workload, program: Program) -> None:
    if not 0 < len(workload) <= MAX_JOBS:
        raise InputError(f"{workload.name}: {len(workload)} jobs; a run takes 1 to {MAX_JOBS:,}")
    leg_job = np.repeat(np.arange(len(workload)), np.diff(program.first_leg))
    phase_job = np.repeat(leg_job, np.diff(program.first_phase))
    for bad, rows, what, fix in (
        (~(program.walltime > 0), leg_job, "a walltime that is not positive", "correct or drop the job"),
        ((program.demand < 0).any(axis=1), leg_job, "a negative demand", "correct or drop the job"),
        (
            ~((program.seconds >= 0) & np.isfinite(program.seconds)),
            phase_job,
            "a phase of no finite length",
            "correct it",
        ),
        (
            ~np.isfinite(workload.jobs["submit"].to_numpy()),
            np.arange(len(workload)),
            "no finite submit time",
            "correct it",
        ),
    ):
        if bad.any():
            job = workload.jobs["id"][int(rows[np.argmax(bad)])]
            raise InputError(f"{workload.name}: job {job} has {what}; {fix}")
    twice = workload.jobs["id"].is_duplicated()
    if twice.any():
        job = workload.jobs["id"].filter(twice)[0]
        raise InputError(f"{workload.name}: two jobs have the id {job}; give each its own")
    submits = workload.jobs["submit"].to_numpy()
    if (np.diff(submits) < 0).any():
        raise InputError(f"{workload.name}: jobs are not in order of submission; sort them by submit, then id")


def build(workload: Workload, platform: Platform, program: Program) -> tuple[State, Truth]:
    """The tables of a run, at time 0."""
    _check(workload, program)
    n_jobs, n_legs, n_phases = len(workload), len(program.walltime), len(program.seconds)
    R = len(platform.resources)
    state = empty_state(n_jobs, n_legs, R, platform.nodes)
    early = int((program.release >= 0).sum())
    n_log = 2 * n_jobs + n_legs * (1 + 2 * R) + early
    truth = empty_truth(n_jobs, n_legs, n_phases, R, n_log, max(1 << 16, 2 * platform.nodes + 2))
    state.resources["capacity"] = state.resources["free"] = platform.capacities
    state.clock["n_free"] = clear(state.free, state.held, platform.nodes)
    _fill_legs(truth, program)
    _fill_jobs(truth, workload, program, np.array(platform.capacities))
    return state, truth


def _fill_legs(truth: Truth, program: Program) -> None:
    """What each leg takes, gives back and keeps, from what it holds and carries; and its phases."""
    steps, n_legs = truth.steps, len(program.walltime)
    leg_job = np.repeat(np.arange(len(program.first_leg) - 1), np.diff(program.first_leg))
    steps["walltime"], steps["kills"] = program.walltime, program.kills
    steps["number"] = np.arange(n_legs) - program.first_leg[leg_job]
    steps["phase"], steps["last_phase"] = program.first_phase[:-1], program.first_phase[1:]
    steps["seconds"] = np.add.reduceat(program.seconds, program.first_phase[:-1])
    phases = truth.phases
    phases["seconds"], phases["kind"], phases["resource"] = program.seconds, program.kind, -1
    held = program.demand.copy()  # what is left at the leg's end
    for p in np.flatnonzero(program.release >= 0):
        leg, r = np.searchsorted(program.first_phase, p, side="right") - 1, program.release[p]
        if held[leg, r] > 0:
            phases["resource"][p], phases["amount"][p] = r, held[leg, r]
            held[leg, r] = 0
    carried = np.zeros_like(held)  # what a leg found from the one before
    carried[1:] = np.where(program.carry[1:], np.minimum(held[:-1], program.demand[1:]), 0)
    carried[program.first_leg[:-1]] = 0
    truth.demands[:] = program.demand - carried
    truth.carries[:-1] = carried[1:]
    truth.releases[:] = program.demand - truth.carries  # the engine takes early releases off as they happen


def _fill_jobs(truth: Truth, workload: Workload, program: Program, capacities: np.ndarray) -> None:
    jobs, frame = truth.jobs, workload.jobs
    for name in ("id", "submit", "walltime", "user", "group", "queue", "priority"):
        jobs[name] = frame[name].to_numpy()
    first = program.first_leg[:-1]
    jobs["leg"], jobs["last_leg"], jobs["held"] = first, program.first_leg[1:] - 1, -1
    jobs["nodes"] = np.maximum.reduceat(program.demand[:, 0], first)
    jobs["start"] = jobs["finish"] = np.nan
    too_large = np.logical_or.reduceat((program.demand > capacities).any(axis=1), first)
    jobs["state"] = np.where(too_large, JobState.REJECTED, JobState.UNSUBMITTED)
