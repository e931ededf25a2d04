"""The front door: a workload, a platform and a policy in; a Result out."""

import platform as machine
from dataclasses import is_dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from forebay import _compile, _fork
from forebay.engine import collect
from forebay.engine.build import build, default_model, make_program, sized
from forebay.engine.run import Progress, run
from forebay.errors import InputError
from forebay.platforms import load as load_platform
from forebay.platforms.platform import Platform
from forebay.policies import load as load_policy
from forebay.policies._limited import apart
from forebay.results import Result
from forebay.workload._source import size_told
from forebay.workload.workload import Workload


def simulate(
    workload: Workload,
    platform: str | Platform | None = None,
    policy: Any = "fcfs-bb",
    seed: int = 0,
    job_model: str | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run `workload` on `platform` (default: the machine it was recorded on) under `policy`.

    Platform and policy are specs, as on the command line, or objects. The job model is io-aware, unless given, where
    the workload has data to move and the machine can move it. The seed feeds the policy's randomness alone.

    In several processes at a time, make them with `multiprocessing.get_context("spawn")`: in one that was forked after
    forebay was used, this raises ForebayError.
    """
    _fork.check()
    chosen = sized(workload, load_platform(machine_of(workload) if platform is None else platform))
    scheduler, limits = apart(load_policy(policy))
    _compile.prepare([scheduler])
    job_model = job_model or default_model(workload, chosen)
    program = make_program(workload, chosen, job_model)
    state, truth, notes = build(workload, chosen, program, limits)
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    record = run(state, truth, scheduler, chosen.resources, rng, progress, notes)
    left, decisions = collect.left_of(state, truth), int(truth.cursor[0]["n_decisions"])
    del state, truth  # of a million jobs, most of a gigabyte
    facts = {
        "workload": workload.name,
        "workload_sha256": workload.sha256,
        "provenance": list(workload.provenance),
        "platform": chosen.describe(),
        "policy": policy if isinstance(policy, str) else _name(policy),
        "job_model": job_model,
        "seed": seed,
        "jobs": len(workload),
        "decisions": decisions,
        "log_sha256": record.sha256(),
        "seconds": record.seconds,
        "notes": [*_notes_on(workload, platform), *program.notes, *notes],
        "dropped": dict(workload.dropped),
        "versions": dict(versions()),
    }
    return Result(
        jobs=collect.jobs_frame(left, record, workload, chosen),
        log=collect.log_frame(record, left.jobs, chosen.resources),
        placements=collect.placements_frame(record),
        resources=dict(zip(chosen.resources, chosen.capacities, strict=True)),
        facts=facts,
        links=collect.links_frame(left, chosen.fabric().names),
    )


@cache
def versions() -> dict[str, str]:
    """Of what a result depends on; looking them up takes longer than a short run."""
    return {name: version(name) for name in ("forebay", "numba", "numpy", "polars")} | {
        "python": machine.python_version()
    }


def _name(policy: Any) -> str:
    """A policy object in words that are the same in every run: no memory addresses."""
    return repr(policy) if is_dataclass(policy) else type(policy).__name__


def _notes_on(workload: Workload, platform: str | Platform | None) -> list[str]:
    """What its reader has to say of a workload; of the machine's size only where that is the machine."""
    own = workload.platform
    if platform is None or (own is not None and load_platform(platform) == load_platform(own)):
        return list(workload.notes)
    beside = size_told(workload.notes)
    return [note for note in workload.notes if note not in beside]


def machine_of(workload: Workload) -> str:
    """The platform that a workload names itself."""
    if workload.platform is None:
        raise InputError(
            f"{workload.name} does not say how large its machine is (no MaxProcs or nb_res); "
            "name one, e.g. --platform flat:nodes=100"
        )
    return workload.platform
