"""Jobs that stage in, run and stage out, as in Cerberus ("A Parallelism Oriented Three Phase Based Burst Buffering
Aware Scheduler", 2016): three volumes a job, and what a machine does with them.

The authors' program exists in two versions. In `march` (the paper's) a job's buffer goes back between its phases. In
`april` its input stays in the buffer until the run has fetched it, and its nodes stay with the job until its output has
left them; inputs are small, and no job has fewer than 256 cores. The systems: `three-phase`, legs of their own for
stage-in, run and stage-out; `one-phase`, all of it in one leg that holds the largest of the three volumes; `io`, no
buffer: files are read and written by the nodes that run the job.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.core.units import format_bytes
from forebay.errors import InputError, listed
from forebay.workload._source import deadlines_later
from forebay.workload.models import _checks as checks
from forebay.workload.workload import Workload

DESCRIPTION = "volumes to stage in, write while running and stage out; legs for each (Cerberus 2016)"

VERSIONS = ("march", "april")
SYSTEMS = ("three-phase", "one-phase", "io")
COLUMNS = ("data_in", "data_run", "data_out")
BUFFER = "burst_buffer"
_NAME = "three-phase"
_GB, _TB = 10**9, 10**12
_FEWEST_CORES = {"march": 1, "april": 256}
_MOST, _MOST_INPUT_IN_APRIL = 59, 29
_SLIP = 1000
"""April's program takes every input to be in GB, also where it is the largest volume, in TB. Without this slip jobs
that wait to run soon hold all of the buffer with their inputs, and none of them ever runs."""


class Volumes(NamedTuple):
    """Bytes of each job: brought in, written in mid-run, brought out."""

    data_in: NDArray[np.int64]
    data_run: NDArray[np.int64]
    data_out: NDArray[np.int64]

    def largest(self) -> NDArray[np.int64]:
        """The largest of the three: what a user asks for who asks once."""
        most: NDArray[np.int64] = np.maximum.reduce(self)
        return most


def attach(
    workload: Workload,
    rng: np.random.Generator,
    *,
    version: str = "march",
    system: str = "three-phase",
    demand: str = "iro",
    volumes: str = "generated",
    from_: str = "uniform",
    gap: checks.Seconds = 1.0,
) -> Workload:
    """The workload with volumes drawn, or with those in columns `data_in`, `data_run`, `data_out` (`from=columns`).

    `demand` is what users say of a three-phase job: all three volumes ("iro"), or one, the largest ("d"). Unless all
    are said, the volumes moved are the `generated` ones, as the paper says, or the largest too ("max"), as its authors
    ran it: in April with inputs, and buffers of one-phase jobs, of a thousandth. Arrivals are replaced: `gap` seconds
    apart on average, in whole seconds; 0 keeps the trace's.
    The same seed draws the same volumes and arrivals for every system.
    """
    checks.one_of(_NAME, VERSIONS, version=version)
    checks.one_of(_NAME, SYSTEMS, system=system)
    checks.one_of(_NAME, ("iro", "d"), demand=demand)
    checks.one_of(_NAME, ("generated", "max"), volumes=volumes)
    checks.one_of(_NAME, ("uniform", "columns"), from_=from_)
    checks.at_least(_NAME, 0, gap=gap)
    checks.whole_jobs(_NAME, workload)
    submit = np.cumsum(rng.poisson(gap, len(workload))).astype(float)
    given = _given(workload) if from_ == "columns" else _drawn(rng, len(workload), version)
    if gap > 0:
        arrival = pl.Series("submit", submit - submit[0])
        due = deadlines_later(workload.jobs, arrival - workload.jobs["submit"])
        jobs = workload.jobs.with_columns(arrival, *due).drop("recorded_start", strict=False)
        workload = replace(workload, jobs=jobs)
    if from_ == "uniform":  # volumes for the machine of the paper
        workload = replace(workload, platform="trinity-io" if system == "io" else "trinity")
    most = given.largest()
    stated = Volumes(most, most, most)
    if system == "three-phase" and demand == "iro":
        stated = given
    elif volumes == "max":
        stated = given = Volumes(most // _SLIP if version == "april" else most, most, most)
        if system == "one-phase":
            stated = Volumes(*[given.data_in] * 3)
    return convert(workload, given, stated, version=version, system=system)


def _drawn(rng: np.random.Generator, n: int, version: str) -> Volumes:
    """Whole terabytes, evenly; April's inputs whole gigabytes, drawn last: all else is then as in March."""
    parts = rng.integers(1, _MOST + 1, (3, n)) * _TB
    if version == "april":
        parts[0] = rng.integers(1, _MOST_INPUT_IN_APRIL + 1, n) * _GB
    return Volumes(*parts)


def _given(workload: Workload) -> Volumes:
    missing = [name for name in COLUMNS if name not in workload.jobs.columns]
    if missing:
        raise InputError(
            f"{workload.name}: model {_NAME!r} with from=columns needs the columns {listed(COLUMNS)}, in bytes; "
            f"{listed(missing)} is missing: attach a sidecar, or leave from out to draw volumes"
        )
    for name in COLUMNS:
        wrong = workload.jobs.filter(pl.col(name).is_null() | (pl.col(name) < 0))
        if len(wrong):
            raise InputError(f"{workload.name}: job {wrong['id'][0]}: {name} is {wrong[name][0]}; give bytes from 0 up")
    return Volumes(*(workload.jobs[name].to_numpy() for name in COLUMNS))


def convert(workload: Workload, moved: Volumes, stated: Volumes, *, version: str, system: str) -> Workload:
    """Legs and phases of every job: what is moved, and the room in the buffer that users ask for."""
    fewest = _FEWEST_CORES[version]
    jobs = workload.jobs.drop(name for name in (*COLUMNS, BUFFER) if name in workload.jobs.columns)
    jobs = jobs.with_columns(nodes=pl.max_horizontal("nodes", pl.lit(fewest, pl.Int64)))
    table = jobs.select("id", "nodes", "walltime", "run_time", "flop", "communication").with_columns(
        *(pl.Series(f"moved_{way}", bytes_.astype(float)) for way, bytes_ in zip(_WAYS, moved, strict=True)),
        *(pl.Series(f"told_{way}", bytes_) for way, bytes_ in zip(_WAYS, stated, strict=True)),
    )
    legs = None
    if system == "three-phase":
        legs = _legs(table, version)
    if system != "io":
        jobs = jobs.with_columns(pl.Series(BUFFER, stated.largest(), pl.Int64))
    phases = pl.concat(_phase(table, *words) for words in _PHASES[version, system])
    size = sum(int(one.sum()) for one in moved) // max(len(jobs), 1)
    line = f"{system} jobs ({version}) that move {format_bytes(size)} each on average"
    return checks.changed(workload, line, jobs=jobs, legs=legs, phases=phases)


_WAYS = ("in", "run", "out")
_COMPUTE = "compute"
_PHASES: dict[tuple[str, str], list[tuple[int, str, str, str | None]]] = {
    ("march", "three-phase"): [
        (0, "stage_in", "in", None),
        (1, _COMPUTE, "", None),
        (1, "checkpoint", "run", None),
        (2, "stage_out", "out", None),
    ],
    ("april", "three-phase"): [
        (0, "stage_in", "in", None),
        (1, "fetch", "in", "the input"),
        (1, _COMPUTE, "", None),
        (1, "checkpoint", "run", None),
        (2, "checkpoint", "out", "nodes"),
        (2, "stage_out", "out", None),
    ],
    ("march", "one-phase"): [
        (0, "stage_in", "in", None),
        (0, _COMPUTE, "", None),
        (0, "checkpoint", "run", None),
        (0, "stage_out", "out", None),
    ],
    ("april", "one-phase"): [
        (0, "stage_in", "in", None),
        (0, "fetch", "in", None),
        (0, _COMPUTE, "", None),
        (0, "checkpoint", "run", None),
        (0, "checkpoint", "out", None),
        (0, "stage_out", "out", None),
    ],
    **{
        (version, "io"): [
            (0, "read", "in", None),
            (0, _COMPUTE, "", None),
            (0, "write", "run", None),
            (0, "write", "out", None),
        ]
        for version in VERSIONS
    },
}
"""Leg, kind, which volume, and what is given back at the end, for each version and system, in order."""


def _phase(table: pl.DataFrame, leg: int, kind: str, way: str, release: str | None) -> pl.DataFrame:
    computes, nothing = kind == _COMPUTE, pl.lit(0.0)
    back = pl.lit(release, pl.String)
    if release == "the input":
        back = pl.when(pl.col("told_in") > 0).then(pl.format(f"{BUFFER}={{}}", "told_in"))
    return table.select(
        job="id",
        leg=pl.lit(leg, pl.Int64),
        kind=pl.lit(kind),
        seconds=pl.col("run_time") if computes else nothing,
        flop=pl.col("flop") if computes else nothing,
        communication=pl.col("communication") if computes else nothing,
        bytes=nothing if computes else pl.col(f"moved_{way}"),
        release=back,
    ).select(*PHASE_SCHEMA)


def _legs(table: pl.DataFrame, version: str) -> pl.DataFrame:
    """In, run and out. The walltime is that of the run: it is not known before how long staging takes."""
    keeps = version == "april"
    none, unknown = pl.lit(0, pl.Int64), pl.lit(np.inf)
    room = pl.col("told_run") + (pl.col("told_in") if keeps else none)
    parts = (
        (0, unknown, none, "", pl.col("told_in")),
        (1, pl.col("walltime"), pl.col("nodes"), BUFFER if keeps else "", room),
        (2, unknown, pl.col("nodes") if keeps else none, "nodes" if keeps else "", pl.col("told_out")),
    )
    return pl.concat(
        table.select(
            job="id",
            leg=pl.lit(leg, pl.Int64),
            walltime=walltime,
            nodes=nodes,
            carry=pl.lit(carry),
            **{BUFFER: buffer},
        ).select(*LEG_SCHEMA, BUFFER)
        for leg, walltime, nodes, carry, buffer in parts
    )
