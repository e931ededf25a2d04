"""What all models share: types of parameters, the checks of their ranges, and the line that tells what was done."""

import dataclasses
import math
from typing import Annotated, Any

from forebay._support import input_limits
from forebay.core.units import parse_bytes, parse_seconds
from forebay.errors import InputError, brief
from forebay.workload.workload import Workload

MAX_JOBS = 10_000_000
"""Each takes 260 to 300 bytes while it is made, so all of them some 3 GB."""

RUNS_A_JOB = 5
"""On average, where jobs are as many as can be; a run takes 50 bytes while it is made."""

MAX_PHASES = 20_000_000
"""Of all jobs together. Each takes some 230 bytes while it is made."""

_HIGHEST_LOAD = 5.0  # five times what the machine can do; studies of overload stay below 2

Bytes = Annotated[float, parse_bytes]
Seconds = Annotated[float, parse_seconds]


def above(model: str, limit: float, **values: float) -> None:
    """Refuse what is not a finite number above `limit`."""
    for name, value in values.items():
        if not (value > limit and math.isfinite(value)):
            raise InputError(f"model {model!r}: {name.rstrip('_')} is {value:g}; give a number above {limit:g}")


def at_least(model: str, limit: float, **values: float) -> None:
    """Refuse what is not a finite number from `limit` up."""
    for name, value in values.items():
        if not (value >= limit and math.isfinite(value)):
            raise InputError(f"model {model!r}: {name.rstrip('_')} is {value:g}; give a number from {limit:g} up")


def most_jobs() -> int:
    """How many jobs a model may make."""
    return input_limits.limit(input_limits.JOBS, MAX_JOBS)


def runs(model: str, number: int) -> None:
    """Refuse runs of all jobs together that would not fit in memory."""
    _affordable(model, number, "runs", RUNS_A_JOB * most_jobs(), f"jobs or repeats, or raise {input_limits.JOBS}")


def phases(model: str, number: int) -> None:
    """Refuse phases of all jobs together that would not."""
    most = input_limits.limit(input_limits.STEPS, MAX_PHASES)
    _affordable(model, number, "phases", most, f"jobs or writes, or set the variable {input_limits.STEPS} to as many")


def sizes(model: str, number: int) -> None:
    """Refuse sizes of all jobs together that would not."""
    most = input_limits.limit(input_limits.STEPS, MAX_PHASES)
    _affordable(model, number, "sizes", most, f"share or sizes, or set the variable {input_limits.STEPS} to as many")


def amounts(model: str, number: int) -> None:
    """Refuse amounts, one for each task at each size of all jobs together, that would not."""
    most = input_limits.limit(input_limits.STEPS, MAX_PHASES)
    _affordable(model, number, "amounts", most, f"jobs, or set the variable {input_limits.STEPS} to as many")


def _affordable(model: str, number: int, what: str, most: int, lower: str) -> None:
    if number > most:
        raise InputError(f"model {model!r}: its jobs have {number:,} {what}, {most:,} at most; lower {lower}")


def share(model: str, **values: float) -> None:
    """Refuse what is no share of a whole."""
    for name, value in values.items():
        if not 0 <= value <= 1:
            meant = f": write {value / 100:g} for {value:g} %" if 1 < value <= 100 else ""
            raise InputError(f"model {model!r}: {name.rstrip('_')} is {value:g}; give a share from 0 to 1{meant}")


def load(model: str, value: float) -> None:
    """Refuse a load that is meant in per cent; beyond 1, jobs ask for more than the machine can give."""
    at_least(model, 0, load=value)
    if value > _HIGHEST_LOAD:
        meant = f": write {value / 100:g} for {value:g} %" if value <= 100 * _HIGHEST_LOAD else ""
        raise InputError(
            f"model {model!r}: load is {value:g}; load is a share of the machine, {_HIGHEST_LOAD:g} at most{meant}"
        )


def finite(model: str, **values: float) -> None:
    """Refuse infinities and what is not a number."""
    for name, value in values.items():
        if not math.isfinite(value):
            raise InputError(f"model {model!r}: {name.rstrip('_')} is {value:g}; give a finite number")


def ordered(model: str, **values: float) -> None:
    """Refuse a first value above the second."""
    (low, low_value), (high, high_value) = values.items()
    if not low_value <= high_value:
        raise InputError(f"model {model!r}: {low} is {low_value:g}; give at most {high}, which is {high_value:g}")


def one_of(model: str, known: tuple[str, ...], **values: str) -> None:
    """Refuse a word that is not known."""
    for name, value in values.items():
        if value not in known:
            raise InputError(f"model {model!r}: {name.rstrip('_')} is {brief(value)}; give one of {', '.join(known)}")


def whole_jobs(model: str, w: Workload) -> None:
    """Refuse workloads whose jobs come in steps: these ask for resources, and take time, step by step."""
    if w.legs is not None or w.phases is not None:
        raise InputError(f"{w.name}: model {model!r} is for jobs of one step; these have legs or phases of their own")
    if w.applications is not None:
        raise InputError(f"{w.name}: model {model!r} is for jobs of one size; these have applications of their own")


def changed(w: Workload, line: str, *notes: str, **changes: Any) -> Workload:
    """`w` with these changes, and a line of provenance."""
    return dataclasses.replace(w, notes=(*w.notes, *notes), provenance=(*w.provenance, line), **changes)
