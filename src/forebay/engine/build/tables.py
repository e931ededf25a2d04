"""From a Workload, a Platform and a job model to the tables of a run. All validation happens here, once."""

import inspect
import weakref
from dataclasses import replace
from typing import Any

import numpy as np

from forebay import _plugins
from forebay._support.input_limits import LONGEST
from forebay.algorithms.nodes.nodeset import clear
from forebay.core import tables
from forebay.core.codes import EventKind, JobState, PhaseKind
from forebay.core.failures import Failures
from forebay.core.limits import PLACES
from forebay.core.schemas import UNKNOWN
from forebay.core.tables import State, empty_state
from forebay.engine import truth as truths
from forebay.engine.allocation import build as allocation
from forebay.engine.build.eligibility import atoms_within, eligible, ranks_of
from forebay.engine.build.feasibility import check_atoms, chunks, traffic
from forebay.engine.build.leg_balance import Ledger
from forebay.engine.build.node_set_demands import atoms_of, restrict
from forebay.engine.build.program import TOO_MANY, Program
from forebay.engine.build.rejections import too_large
from forebay.engine.dependencies.tables import dependencies_of, submitted_by_others
from forebay.engine.failures import build as failing
from forebay.engine.io_knowledge import tables as known
from forebay.engine.io_scheduling.build import io_of
from forebay.engine.limits.build import Site
from forebay.engine.limits.tables import make_meters
from forebay.engine.malleable import build as malleable
from forebay.engine.malleable.tables import of_run
from forebay.engine.partitions.build import doors_of
from forebay.engine.partitions.tables import Doors
from forebay.engine.placing.build import placing_of
from forebay.engine.policy_io import needs as fulfilling
from forebay.engine.policy_io.needs import NO_WISHES, Wishes
from forebay.engine.power.build import switching_of
from forebay.engine.reservations.build import planned_of
from forebay.engine.shared_nodes import build as shared_nodes
from forebay.engine.truth import EVENT, Truth, empty_truth
from forebay.engine.warm_start import begin, check_running, running_since
from forebay.errors import InputError
from forebay.platforms.fabric import Fabric
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload

MAX_JOBS = 2**31 - 1  # the log stores a job's row in 32 bits
MAX_LEGS = 2**15  # of a job: the log counts them in 16 bits


_last: list[Any] = []
"""The program made last, and what it was made of: many runs differ in their policy alone."""


def make_program(workload: Workload, platform: Platform, spec: str) -> Program:
    """The program that a job model, such as `alloc-only` or `alloc-only:kill=false`, makes of a workload."""
    if _last and _last[0]() is workload and _last[1:3] == [platform, spec]:
        kept: Program = _last[3]
        return kept
    program = make_other_program(workload, platform, spec)
    # It goes when its workload does.
    _last[:] = [weakref.ref(workload, lambda gone: _last.clear() if _last[:1] == [gone] else None), platform, spec]
    _last.append(program)
    return program


def make_other_program(workload: Workload, platform: Platform, spec: str) -> Program:
    """The same without keeping it."""
    name, given = _plugins.parse_spec(spec)
    model = _plugins.load("engine.jobmodels", name, "job model")
    known = dict(inspect.signature(model.program).parameters)
    del known["workload"], known["platform"]
    values = _plugins.values(f"job model {name!r}", given, known)
    program: Program = model.program(workload, platform, **values)
    if platform.sharing:
        return shared_nodes.share(workload, platform, program)
    places = eligible(workload, platform)
    return restrict(replace(program, places=places), platform, places.allowed)


def default_model(workload: Workload, platform: Platform) -> str:
    """io-aware for a workload with data to move, on a machine that can move it; else alloc-only.

    application where jobs have any. Where the machine has storage for policies to choose, tiered instead of io-aware.
    """
    if workload.applications is not None:
        return "application"
    fabric = platform.fabric()
    if fabric.read is None:
        return "alloc-only"
    if platform.by_choice:
        return "alloc-only" if workload.phases is None else "tiered"
    if workload.phases is not None:
        return "io-aware" if (workload.phases["bytes"] > 0).any() else "alloc-only"
    requests = workload.jobs[fabric.buffer] if fabric.buffer in workload.jobs.columns else None
    return "io-aware" if requests is not None and (requests > 0).any() else "alloc-only"


def _wrong(workload: Workload, program: Program) -> list[tuple[np.ndarray, np.ndarray, str, str]]:
    """What can be wrong with numbers: which are, the rows of their jobs, what to say of these, and how to mend it."""
    of_leg, of_phase, of_job = program.leg_job, program.leg_job[program.phase_leg], np.arange(len(workload))
    until = np.where(program.kills, program.walltime, np.inf)[program.phase_leg]
    seconds, moved, jobs = program.seconds, program.bytes, workload.jobs
    drop, correct = "correct or drop the job", "correct it"
    many = (moved >= TOO_MANY) | (program.communication >= TOO_MANY)
    computes = (moved > 0) & (program.kind == PhaseKind.COMPUTE)
    not_after, ever = "a time of cancelling that is not after its submission", "give seconds above 0, or inf for never"
    return [
        (~(program.walltime > 0), of_leg, "a walltime that is not positive", drop),
        ((program.demand < 0).any(axis=1), of_leg, "a negative demand", drop),
        (~((seconds >= 0) & np.isfinite(seconds)), of_phase, "a phase of no finite length", correct),
        (~((moved >= 0) & np.isfinite(moved)), of_phase, "a phase that moves no finite number of bytes", correct),
        (np.minimum(seconds, until) > LONGEST, of_phase, "a phase longer than 317 years", correct),
        (many, of_phase, "a phase that moves more bytes than the log can hold, 9.2e18", correct),
        (computes, of_phase, "a compute phase that moves bytes", "make it a read or a write"),
        (~(jobs["cancel"].to_numpy() > 0), of_job, not_after, ever),
        (~np.isfinite(jobs["submit"].to_numpy()), of_job, "no finite submit time", correct),
    ]


def _check(workload: Workload, program: Program) -> None:
    if not 0 < len(workload) <= MAX_JOBS:
        raise InputError(f"{workload.name}: {len(workload)} jobs; a run takes 1 to {MAX_JOBS:,}")
    n_legs = np.diff(program.first_leg)
    if n_legs.max() > MAX_LEGS:
        job = int(np.argmax(n_legs))
        raise InputError(
            f"{workload.name}: job {workload.jobs['id'][job]} has {n_legs[job]:,} legs; a job has {MAX_LEGS:,} at most"
        )
    for bad, rows, what, fix in _wrong(workload, program):
        if bad.any():
            job = workload.jobs["id"][int(rows[np.argmax(bad)])]
            raise InputError(f"{workload.name}: job {job} has {what}; {fix}")
    check_running(workload)
    twice = workload.jobs["id"].is_duplicated()
    if twice.any():
        job = workload.jobs["id"].filter(twice)[0]
        raise InputError(f"{workload.name}: two jobs have the id {job}; give each its own")
    submits = workload.jobs["submit"].to_numpy()
    if (np.diff(submits) < 0).any():
        raise InputError(f"{workload.name}: jobs are not in order of submission; sort them by submit, then id")


def build(
    workload: Workload,
    platform: Platform,
    program: Program,
    site: Site | None = None,
    failures: Failures | None = None,
    wishes: Wishes = NO_WISHES,
) -> tuple[State, Truth, list[str]]:
    """The tables of a run, at time 0, and what its user should know of it."""
    _check(workload, program)
    fabric = platform.fabric()
    ledger = Ledger(workload, platform, program)
    check_atoms(workload, platform, program, ledger)
    failing.check_failures(workload, platform, failures, ledger)
    chunk, n_chunk_rows = chunks(workload, platform, fabric, program, ledger)
    n_jobs, n_legs, R = len(workload), len(program.walltime), len(platform.resources)
    planned, member = planned_of(workload, platform)
    waits = dependencies_of(workload)
    doors = doors_of(workload, platform, program.places)
    events = _events(workload, planned, doors, submitted_by_others(waits, n_jobs))
    seats, atoms = allocation.seats_of(np.asarray(fabric.site), fabric.near), atoms_of(platform)
    ways = allocation.ways_of(fabric, program)
    state = empty_state(
        tables.Sizes(
            jobs=n_jobs,
            legs=n_legs,
            resources=R,
            nodes=platform.units,
            sites=fabric.n_sites,
            seats=len(seats),
            planned=len(planned),
            **allocation.sizes_of(fabric, ways, len(atoms), n_chunk_rows),
            **malleable.sizes_of(program),
            **failing.sizes_of(platform, failures, n_jobs),
            **shared_nodes.sizes_of(platform),
            **fulfilling.sizes_of(wishes, len(ways)),
        )
    )
    sizes = truths.Sizes(
        jobs=n_jobs,
        legs=n_legs,
        phases=len(program.seconds),
        resources=R,
        servers=len(state.servers.room),
        picks=allocation.picks_of(state, platform, fabric, wishes.manner.place != PLACES[0]),
        events=len(events),
        planned=len(planned),
        stated=len(state.tiers.stated),
        asks=len(state.inside.asks),
        columns=wishes.columns.shape[1],
        known_io=known.of_run(wishes.known_io),
        every=wishes.manner.every,
        steered=n_jobs if wishes.steered() else 0,
    )
    network = traffic(program, fabric, platform.units, failing.write_bytes(failures), wishes.steered())
    rounds, resilience = of_run(program.rounds), failing.make_tables(failures, platform, n_jobs)
    meters = make_meters() if site is None else site.meters
    power = switching_of(platform, program, failures, events, n_jobs)
    placing, remarks = placing_of(wishes.manner.place, platform)
    io, said = io_of(wishes.manner, program, fabric, len(network[1].transfers) > 0)
    truth = empty_truth(sizes, *network, rounds, resilience, meters, waits, doors, power)
    truth = truth._replace(placing=placing, io=io)
    truth.events[:], truth.member[:], state.planned[:] = events, member, planned
    fulfilling.fulfil(wishes, state, truth, platform)
    begin(workload, state, truth)
    _fill_machine(state, platform, fabric, seats)
    state.nodes.atoms[:] = atoms
    allocation.fill_classes(state, platform)
    allocation.fill_tiers(state, platform, ways)
    _fill_legs(truth, program, ledger)
    truth.legs["chunk"] = chunk
    notes = _fill_jobs(truth, workload, platform, program, fabric)
    notes += failing.fill_resilience(truth, platform, program, failures)
    return state, truth, notes + remarks + said + ([] if site is None else site.notes)


def _fill_machine(state: State, platform: Platform, fabric: Fabric, seats: np.ndarray) -> None:
    """All that is known of the machine, idle."""
    state.resources["capacity"] = state.resources["free"] = platform.capacities
    state.counts["n_idle"] = clear(state.nodes.idle, state.nodes.pieces, platform.units)
    state.nodes.site[:] = fabric.site if not platform.sharing else 0
    state.nodes.seats[:] = seats
    shared_nodes.fill_nodes(state, platform)
    allocation.fill_servers(state, platform, fabric)
    allocation.fill_kinds(state, platform)


def _events(workload: Workload, planned: np.ndarray, doors: Doors, later: np.ndarray) -> np.ndarray:
    """What comes from outside, by time; at one time by kind, then by job. Jobs submitted `later` come by others."""
    submit, since = workload.jobs["submit"].to_numpy(), running_since(workload)
    cancel = submit + workload.jobs["cancel"].to_numpy()
    withdrawn, known = np.flatnonzero(np.isfinite(cancel) & ~later), np.flatnonzero(~later)
    early = np.flatnonzero(np.isfinite(since))
    moments = np.concatenate([planned["start"], planned["end"], doors.table["start"], doors.table["end"]])
    moments = moments[(moments > 0) & np.isfinite(moments)]
    kinds = {EventKind.SUBMIT: known, EventKind.CANCEL: withdrawn}
    kinds |= {EventKind.RESERVATION: np.arange(len(moments)), EventKind.START: early}
    events = np.zeros(sum(map(len, kinds.values())), EVENT)
    events["kind"] = np.repeat(list(kinds), [len(jobs) for jobs in kinds.values()])
    events["subject"] = np.concatenate(list(kinds.values()))
    events["time"] = np.concatenate([submit[known], cancel[withdrawn], moments, since[early]])
    order = np.lexsort((events["subject"], events["kind"], events["time"]))
    return events[order] if len(events) > len(known) else events  # submits are in order as they come


def _fill_legs(truth: Truth, program: Program, ledger: Ledger) -> None:
    """What each leg takes, gives back and keeps, from what it holds and carries; and its phases."""
    scripts, phases = truth.scripts, truth.phases
    scripts["walltime"], scripts["kills"] = program.walltime, program.kills
    scripts["asked"] = program.walltime
    rows, begins = np.arange(len(scripts)), np.flatnonzero(program.begins)
    scripts["number"] = rows - np.maximum.accumulate(np.where(program.begins, rows, 0))
    scripts["first_phase"], scripts["last_phase"] = program.first_phase[:-1], program.first_phase[1:]
    # What transfers take is not known before; so a walltime that may be reached needs its timer.
    length = np.where(program.moving, np.inf, program.seconds)
    scripts["seconds"] = np.add.reduceat(length, program.first_phase[:-1])
    scripts["logged"] = program.logged
    malleable.fill_scripts(scripts, program)
    legs = truth.legs
    legs["walltime"], legs["number"], legs["other"] = program.walltime, scripts["number"], -1
    legs["allowed"] = -1 if program.allowed is None else program.allowed
    ends = np.append(begins[1:], len(scripts)) - 1
    legs["last"] = np.repeat(ends, ends - begins + 1)
    allocation.fill_ways(truth, program, begins)
    shared_nodes.fill_asks(truth, program)
    phases["seconds"], phases["kind"] = program.seconds, program.kind
    phases["bytes"], phases["communication"] = program.bytes, program.communication
    phases["resource"], phases["amount"] = ledger.early_resource, ledger.early_amount
    truth.demands[:], truth.carries[:] = ledger.demands, ledger.carries
    truth.releases[:] = program.demand - ledger.carries  # the engine takes early releases off as they happen


def _fill_jobs(truth: Truth, workload: Workload, platform: Platform, program: Program, fabric: Fabric) -> list[str]:
    jobs, frame = truth.jobs, workload.jobs
    for name in ("id", "submit", "walltime", "user", "group", "queue", "priority"):
        jobs[name] = frame[name].to_numpy()
    for name in ("account", "qos"):
        jobs[name] = frame[name].to_numpy() if name in frame.columns else UNKNOWN[name]
    first = program.first_leg[:-1]
    jobs["leg"], jobs["last_leg"], jobs["piece"], jobs["chunk"] = first, truth.legs["last"][first], -1, -1
    jobs["nodes"], jobs["rank"] = program.nodes, ranks_of(workload, platform)
    jobs["within"] = atoms_within(workload, platform)
    jobs["start"] = jobs["finish"] = np.nan
    unfit, notes = too_large(workload, platform, program, fabric)
    jobs["state"] = np.where(unfit, JobState.REJECTED, JobState.UNSUBMITTED)
    return ([] if program.places is None else program.places.notes) + notes
