"""Jobs that users think of: rows made of words such as "nodes=4,walltime=2h,partition=gpu"."""

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from forebay import _plugins
from forebay.core.schemas import INSIDE, JOB_SCHEMA, MORE, NAMED, UNKNOWN
from forebay.core.units import parse_bytes, parse_seconds
from forebay.errors import InputError, brief, listed, nearest
from forebay.workload import Workload
from forebay.workload.names import numbers

_SYNONYMS = {"partition": "queue", "constraint": "features", "time": "walltime"}
_OPEN = ("nodes", "walltime", "queue", "user", "group", "account", "qos", "priority", "features", "gpu", "exclusive")
"""Columns that a request may name, besides resources."""

Request = str | Mapping[str, Any]


def request_of(w: Workload, given: Request, what: str) -> dict[str, Any]:
    """A request in columns of the job table, numbers in place of names."""
    items = _plugins.assignments(given, given, "nodes=4,walltime=2h") if isinstance(given, str) else dict(given)
    if not items:
        raise InputError(f"{what} says nothing; write such as nodes=4,walltime=2h")
    made = {}
    for key, value in items.items():
        column = _SYNONYMS.get(key, key)
        known = [*(name for name in _OPEN if name in (*JOB_SCHEMA, *w.jobs.columns)), *w.resources]
        if column not in known:
            raise InputError(f"{what}: jobs of {w.name} have no {key!r}; {nearest(column, [*known, *_SYNONYMS])}")
        if column in made:
            raise InputError(f"{what}: {key} is given twice; keep one")
        made[column] = _value(w, column, value, what)
    return made


def _value(w: Workload, column: str, value: Any, what: str) -> Any:
    """What a table holds for it."""
    text = str(value)
    try:
        if column == "walltime":
            found: Any = parse_seconds(text) if isinstance(value, str) else float(value)
            good = found > 0
        elif column in NAMED and (known := numbers(w.names, column, text)):
            return known[0]
        elif column in NAMED and w.names.get(column):
            hint = nearest(text, w.names[column].values())
            raise InputError(f"{what}: no {column} is called {brief(text)}; {hint}")
        elif column == "priority":
            found = float(text)
            good = math.isfinite(found)
        elif column in (*INSIDE, *w.resources) and column != "cores":
            found = parse_bytes(text) if not text.isdigit() else int(text)
            good = found >= 0
        else:
            found = int(text)
            good = found >= (1 if column == "nodes" else -1)
    except ValueError:
        good = False
    if not good:
        raise InputError(f"{what}: {column} is {brief(text)}; write such as nodes=4, walltime=2h, burst_buffer=1TB")
    return found


def new_job(w: Workload, given: Request, what: str, job: int) -> pl.DataFrame:
    """A row of a job table for a job that is submitted now."""
    made = request_of(w, given, what)
    missing = [name for name in ("nodes", "walltime") if name not in made]
    if missing:
        raise InputError(f"{what} says no {listed(missing)}; write such as nodes=4,walltime=2h")
    neutral = {"flop": 0.0, "communication": 0.0, "user": -1, "group": -1, "queue": _usual_queue(w), "priority": 0.0}
    row = {**neutral, "cancel": math.inf, "id": job, "submit": 0.0, "run_time": made["walltime"]}
    more = {name: UNKNOWN[name] for name in MORE if name in w.jobs.columns}
    own = dict.fromkeys(w.own)
    values = {**own, **more, **dict.fromkeys(w.resources, 0), **row, **made, "running_since": math.nan}
    schema = {name: dtype for name, dtype in w.jobs.schema.items() if name != "recorded_start"}
    schema["running_since"] = MORE["running_since"]
    return pl.DataFrame({name: [values[name]] for name in schema}, schema=schema)


def _usual_queue(w: Workload) -> int:
    """The queue that most jobs are in, where there are queues."""
    counts = w.jobs["queue"].value_counts(sort=True)
    return int(counts["queue"][0]) if len(counts) else -1


def changed(row: pl.DataFrame, made: Mapping[str, Any]) -> pl.DataFrame:
    """A row with a request in place of what it asked for."""
    return row.with_columns(pl.lit(value, row.schema[name]).alias(name) for name, value in made.items())
