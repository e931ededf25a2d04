"""What must hold of whatever a reader accepts, and of the message where it refuses."""

import json
import math
from random import Random
from typing import Any

import polars as pl

from forebay.core.codes import PhaseKind
from forebay.core.schemas import JOB_SCHEMA, LEG_SCHEMA, MORE, PHASE_SCHEMA
from forebay.errors import InputError
from forebay.platforms import Platform
from forebay.results import JOBS_CSV, Result
from forebay.workload import Workload, write
from forebay.workload.info import describe

INSIDES = (
    *(
        "Traceback",
        "object has no attribute",
        "NoneType",
        "polars.",
        "dtype",
        "pydantic",
        "Series:",
        "shape: (",
        "<class",
    ),
    *("sys.set_int_max_str_digits", "maximum recursion", "unpack", "codec can't", "Error(", "PyO3", "panicked"),
)
"""Words of the machinery, which tell a user nothing."""

FORMATS = ("x.swf", "x.json", "x.sacct", "x.parquet.zip")


def check_message(error: InputError, names: tuple[str, ...], length: int = 600, printable: bool = True) -> None:
    """One text that names the file, fits a screen, and speaks to people."""
    text = str(error)
    assert all(name in text for name in names), f"does not name {names}: {text[:500]}"
    assert not [word for word in INSIDES if word in text], f"speaks of our insides: {text[:500]}"
    assert not printable or all(line.isprintable() for line in text.split("\n")), (
        f"has control characters: {text[:500]!r}"
    )
    assert len(text) <= length, f"is {len(text)} characters long: {text[:500]}"
    assert error.__cause__ is None


def check_workload(w: Workload, folder: Any, rng: Random, begins_at_0: bool = True) -> None:
    """Everything that the engine and the commands rely on; then description and a write, in a format drawn by lot.

    Only forebay's own format keeps what it is given, also where the first job does not arrive at 0.
    """
    jobs = w.jobs
    assert {name: jobs.schema[name] for name in JOB_SCHEMA} == JOB_SCHEMA
    further = {name: kind for name, kind in jobs.schema.items() if name not in JOB_SCHEMA}
    assert all(kind == MORE.get(name, pl.Int64) and name.isidentifier() for name, kind in further.items())
    assert len(jobs)
    assert sum(jobs.null_count().row(0)) == 0
    assert jobs["id"].n_unique() == len(jobs)
    assert jobs["submit"][0] == 0 or not begins_at_0
    assert jobs["submit"].is_sorted()
    for name in ("submit", "run_time", "flop", "communication"):
        assert jobs[name].is_finite().all(), name
        assert (jobs[name] >= 0).all(), name
    assert jobs["priority"].is_finite().all()
    for name in ("walltime", "cancel"):
        assert jobs[name].is_not_nan().all(), name
        assert (jobs[name] > 0).all(), name
    assert (jobs["nodes"] >= 1).all()
    for name in w.resources:
        assert name not in jobs.columns or (jobs[name] >= 0).all(), name
    _check_steps(w)
    assert math.isfinite(w.epoch)
    assert w.records >= 0
    json.dumps(describe(w), allow_nan=False)
    path = folder / rng.choice(FORMATS)
    try:
        for note in write(w, path):
            assert note.isprintable(), note
    except InputError as error:
        check_message(error, ())
    for text in (*w.notes, *w.provenance, w.name):
        text.encode()


def _check_steps(w: Workload) -> None:
    """Legs and phases name jobs and legs that exist, in order, with amounts that can be."""
    ids = w.jobs["id"].implode()
    if w.legs is not None:
        assert {name: w.legs.schema[name] for name in LEG_SCHEMA} == LEG_SCHEMA
        assert all(w.legs.schema[name] == pl.Int64 for name in w.legs.columns if name not in LEG_SCHEMA)
        assert w.legs["job"].is_in(ids).all()
        assert (w.legs["nodes"] >= 0).all()
        assert (w.legs["walltime"] > 0).all()
        assert w.legs["walltime"].is_not_nan().all()
        legs = w.legs.sort("job", "leg")
        assert (legs["leg"] == legs.select(pl.int_range(pl.len()).over("job")).to_series()).all()
        for name in w.legs.columns:
            assert name in LEG_SCHEMA or (w.legs[name] >= 0).all()
    if w.phases is not None:
        assert {name: w.phases.schema[name] for name in PHASE_SCHEMA} == PHASE_SCHEMA
        assert w.phases["job"].is_in(ids).all()
        assert set(w.phases["kind"]) <= {kind.name.lower() for kind in PhaseKind}
        for name in ("seconds", "flop", "communication", "bytes"):
            assert w.phases[name].is_finite().all(), name
            assert (w.phases[name] >= 0).all(), name
        known = {(job, 0) for job in w.jobs["id"]}
        if w.legs is not None:
            known = (known - {(job, 0) for job in w.legs["job"]}) | set(w.legs.select("job", "leg").rows())
        assert set(w.phases.select("job", "leg").rows()) <= known


def check_platform(machine: Platform) -> None:
    """A machine that can be shown, told as JSON, and counted in 64 bits."""
    assert machine.name in str(machine)
    json.dumps(machine.describe(), allow_nan=False)
    assert 1 <= machine.nodes < 2**63
    assert math.isfinite(machine.speed)
    if all(tier.size != "auto" for tier in machine.tiers):
        assert all(1 <= amount < 2**63 for amount in machine.capacities)


def check_result(result: Result) -> None:
    """A run whose tables have the columns that metrics and figures read."""
    assert set(JOBS_CSV) <= set(result.jobs.columns)
    assert result.jobs.schema["submission_time"].is_numeric()
    assert {"time", "job", "kind", "leg", "resource", "amount", "reason"} <= set(result.log.columns)
    assert all(isinstance(amount, int) and amount >= 0 for amount in result.resources.values())
    assert result.links.is_empty() or {"link", "capacity", "bytes"} <= set(result.links.columns)
