"""The front door: a workload, a platform and a policy in; a Result out."""

import platform as machine
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from importlib.metadata import version
from numbers import Integral
from os import PathLike
from typing import Any

import numba
import numpy as np
import polars as pl

from forebay import _compile, _fork, _plugins, _progress
from forebay._text import counted
from forebay.core.codes import JobState
from forebay.core.failures import Failures
from forebay.engine import collect
from forebay.engine.build import build, default_model, make_program, sized
from forebay.engine.faults import draws
from forebay.engine.planning import reserved_of
from forebay.engine.program import Program
from forebay.engine.rules import site_of
from forebay.engine.run import Progress, run
from forebay.engine.settle import settle
from forebay.engine.warm import on_late_starts
from forebay.errors import InputError, wrong_type
from forebay.platforms import load as load_platform
from forebay.platforms import names as platform_names
from forebay.platforms.failures import check as check_failures
from forebay.platforms.failures import load as load_failures
from forebay.platforms.platform import Platform
from forebay.policies import load as load_policy
from forebay.policies import names as policy_names
from forebay.policies._limited import apart
from forebay.results import Result
from forebay.workload import Workload, read
from forebay.workload._source import size_told
from forebay.workload.dates import is_dated
from forebay.workload.dependencies import count_kinds, run_notes


def simulate(
    workload: Workload | str | PathLike[str],
    platform: str | PathLike[str] | Platform | None = None,
    policy: Any = "fcfs-bb",
    seed: int = 0,
    job_model: str | None = None,
    progress: Progress | bool | None = None,
    failures: str | PathLike[str] | Mapping[str, Any] | Failures | None = None,
) -> Result:
    """Run a workload on a machine under a policy.

    Parameters
    ----------
    workload
        A Workload, or what `forebay.read` takes: a file, or the name of an embedded workload.
    platform
        The machine: a spec as on the command line ("flat:nodes=100,burst_buffer=10TB"), a TOML file or a Platform.
        Without it, the machine that the workload names.
    policy
        A spec ("fcfs-bb:depth=3", "mine.py:Mine"), or an object or class of your own with `decide(view, act)`.
    seed
        Feeds the policy's randomness, and failures that have no seed of their own.
    job_model
        How jobs behave, such as "alloc-only". Without it, "io-aware" where the workload has data to move and the
        machine can move it.
    progress
        True shows a bar in a terminal or notebook (there it needs ipywidgets). A function is called at times with the
        number of jobs that have ended, and of all jobs. Without it, a run that will take minutes gives a
        `LongRunWarning` with an estimate; False says nothing.
    failures
        How nodes fail, and what jobs do about it: a spec ("mtbf=1h,downtime=1h,checkpoint=300s"), a trace of outages
        (a CSV file, or Batsim's events), a table of such values, or `forebay.platforms.Failures`. Without it, as the
        platform says; "mtbf=inf" means none at all.

    Returns
    -------
    Result
        What became of each job, and a log of every change.

    Raises
    ------
    ForebayError
        Where an input cannot be used, the policy breaks a rule, or this process was forked after forebay was used: make
        processes with `multiprocessing.get_context("spawn")`.

    Examples
    --------
    >>> fb.simulate("table1", policy="fcfs-easy")
    <Result of fcfs-easy: 8 jobs on 4 nodes, mean wait 5.75 min>

    A policy of your own, which starts jobs in order:

    >>> class InOrder:
    ...     def decide(self, view, act):
    ...         for job in view.queue:
    ...             if not act.fits(job):
    ...                 return
    ...             act.start(job)
    >>> fb.simulate("table1", policy=InOrder())
    <Result of InOrder: 8 jobs on 4 nodes, mean wait 8 min>
    """
    _fork.check()
    workload, seed = _workload(workload), _seed(seed)
    named = machine_of(workload) if platform is None else _platform(platform)
    workload = settle(workload, named)
    chosen = sized(workload, named)
    loaded = load_policy(policy)
    scheduler, limits = apart(loaded)
    if hasattr(scheduler, "with_names"):
        scheduler = scheduler.with_names(workload.names)
    name = _plugins.spelled("policies", policy) if isinstance(policy, str) else _name(loaded)
    if job_model is not None and not isinstance(job_model, str):
        raise wrong_type("the job model", job_model, 'its name, such as "io-aware" or "alloc-only:kill=false"')
    _compile.prepare([scheduler])
    job_model = _plugins.spelled("engine.jobmodels", job_model) if job_model else default_model(workload, chosen)
    program = make_program(workload, chosen, job_model)
    _check_needs(scheduler, name, workload, chosen, program)
    failing = _failures(failures, chosen)
    site = site_of(workload, chosen, program, limits)
    state, truth, notes = build(workload, chosen, program, site, failing)
    # How nodes fail has draws of its own: every policy meets the same failures, whatever it draws itself.
    draw = None if failing is None else draws(truth, failing, chosen.nodes, failing.seed if failing.seed >= 0 else seed)
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    with _progress.following(progress, name, len(workload)) as call:
        record = run(state, truth, scheduler, chosen.resources, rng, call, notes, draw)
    notes += [*on_late_starts(workload, state), *run_notes(workload, state.jobs["state"] == JobState.REJECTED)]
    left, decisions = collect.left_of(state, truth, program.compute_nodes), int(truth.cursor[0]["n_decisions"])
    del state, truth  # of a million jobs, most of a gigabyte
    facts = {
        "workload": workload.name,
        "workload_sha256": workload.sha256,
        "provenance": list(workload.provenance),
        "platform": chosen.describe(),
        "policy": name,
        "job_model": job_model,
        "seed": seed,
        "jobs": len(workload),
        "decisions": decisions,
        "log_sha256": record.sha256(),
        "seconds": record.seconds,
        "notes": [*_notes_on(workload, named), *program.notes, *notes],
        "dropped": dict(workload.dropped),
        **({"epoch": workload.epoch} if is_dated(workload) else {}),
        "versions": dict(versions()),
        **({"failures": failing.describe()} if failing else {}),
        **({"dependencies": count_kinds(workload)} if workload.dependencies is not None else {}),
        **({"reserved": reserved_of(workload, chosen)} if chosen.reservations else {}),
        **({"limits": limits.describe()} if limits else {}),
    }
    jobs = collect.jobs_frame(left, record, workload, chosen)
    log = collect.log_frame(record, left.jobs, chosen.resources)
    return Result(
        jobs=collect.with_attempts(jobs, log),
        log=log,
        placements=collect.placements_frame(record),
        chunks=collect.chunks_frame(record),
        said=collect.said_frame(record, left.jobs),
        held=collect.held_frame(record, left.jobs, site.told),
        resources=dict(zip(chosen.resources, chosen.capacities, strict=True)),
        facts=facts,
        links=collect.links_frame(left, chosen.fabric().names),
    )


@cache
def versions() -> dict[str, str]:
    """Of what a result depends on; looking one up takes longer than a short run."""
    return {
        "forebay": version("forebay"),
        "numba": numba.__version__,
        "numpy": np.__version__,
        "polars": pl.__version__,
        "python": machine.python_version(),
    }


def _name(policy: Any) -> str:
    """A policy object in words that are the same in every run: no memory addresses."""
    return repr(policy) if is_dataclass(policy) else type(policy).__name__


def _notes_on(workload: Workload, machine: Platform) -> list[str]:
    """What its reader has to say of a workload; of the machine's size only where that is the machine."""
    try:
        own = None if workload.platform is None else load_platform(workload.platform)
    except InputError:  # a header may name a machine that cannot be; then the other one counts alone
        own = None
    if machine == own:
        return list(workload.notes)
    found = size_told(workload.notes)
    notes = [note for note in workload.notes if note not in found]
    if own is not None and own.nodes != machine.nodes and not found:
        notes.append(
            f"the machine has {counted(machine.nodes, 'node')}, but {workload.name} names one of {own.nodes:,}"
        )
    return notes


def machine_of(workload: Workload) -> Platform:
    """The platform that a workload names itself."""
    if workload.platform is None:
        raise InputError(
            f"{workload.name} does not say how large its machine is (no MaxProcs or nb_res); "
            'name one: --platform flat:nodes=100, in Python platform="flat:nodes=100"'
        )
    return load_platform(workload.platform)


def _check_needs(policy: Any, name: str, workload: Workload, platform: Platform, program: Program) -> None:
    """Refuse a policy that needs what the workload or the machine cannot tell."""
    if getattr(policy, "needs_files", False) and platform.fabric().read is None:
        raise InputError(
            f"policy {name!r} weighs what jobs read and write, and {platform.name} has no file system; add a tier of "
            "kind pfs (or pfs=5GB/s to flat)"
        )
    if not getattr(policy, "needs_times", False):
        return
    known = np.zeros(len(workload), bool) if program.rounds is None else program.rounds.row >= 0
    if len(known) == 0 or not known.all():
        job = workload.jobs["id"][int(np.argmin(known)) if len(known) else 0]
        raise InputError(
            f"policy {name!r} needs to know how long jobs take alone on the machine, which applications tell, and job "
            f"{job} of {workload.name} has none; attach them to all jobs, run with --job-model application, or choose "
            "another policy"
        )


def _failures(given: Any, platform: Platform) -> Failures | None:
    """What can fail of this machine, as told for this run or else by the platform; None where nothing can."""
    failures = platform.failures if given is None else load_failures(given)
    if failures is None or not (failures.draws or failures.outages or failures.writes):
        return None
    check_failures(failures, platform.nodes)
    return failures


def _workload(given: Any) -> Workload:
    """A workload, or the one that a file or a name stands for."""
    if isinstance(given, str | PathLike):
        return read(given)
    if not isinstance(given, Workload):
        hint = "a Workload, or what forebay.read takes; of a table of jobs make forebay.Workload(name, table)"
        raise wrong_type("the workload", given, hint)
    return given


def _platform(given: Any) -> Platform:
    """The platform, unless it is a policy: the second argument is easily taken for it."""
    if isinstance(given, str):
        name = given.partition(":")[0]
        if name in policy_names() and name not in platform_names():
            raise InputError(f"{given!r} is a policy, where the platform is expected; write policy={given!r}")
    return load_platform(given)


def _seed(given: Any) -> int:
    """A seed, also one of NumPy, as a plain number."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise wrong_type("the seed", given, "a whole number from 0 up")
    if given < 0:
        raise InputError(f"the seed is {given}; give a whole number from 0 up")
    return int(given)
