"""A Workload: jobs as the scheduler will meet them, where they came from, and what was done to them since.

All times in seconds, all capacities in bytes. Nothing here knows of a machine: flops become seconds, and demands meet
capacities, only when a platform is chosen.
"""

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from forebay._support.text import about, counted, html_table, plain
from forebay.core.schemas import (
    DEADLINE,
    DEPENDENCY_SCHEMA,
    JOB_SCHEMA,
    LEG_SCHEMA,
    MORE,
    NAMED,
    PHASE_SCHEMA,
    STATED,
    TAKEN,
    own_columns,
)
from forebay.errors import InputError, brief, listed, wrong_type
from forebay.workload.applications import Applications

RELEASED = pl.col("release").str.extract(r"^([^=]*)")
"""The resource that a phase gives back."""

RELEASED_PART = pl.col("release").str.extract(r"^[^=]*=([1-9][0-9]*)$").cast(pl.Int64, strict=False)
"""How much of it, where that is written and makes sense; else null."""


@dataclass(frozen=True)
class Workload:
    """Jobs in order of arrival, with everything a run needs to know of their origin.

    Parameters
    ----------
    name
        What results call it.
    jobs
        A row a job; see `forebay.workload.job_table`.
    legs
        For jobs that the scheduler starts in several steps: job, leg, walltime, nodes, carry, and demands.
    phases
        What legs do, in order: job, leg, kind, seconds, flop, communication, bytes, release.
    applications
        Loops of tasks, for jobs that may change their size.
    epoch
        Unix time of second 0.
    platform
        The machine it was recorded on or made for, as `--platform` takes it.
    records
        Lines or entries read, used or not.
    dropped
        Why records were left out, and how many.
    notes
        What a reader or operation wants its user to know, a sentence each.
    provenance
        The source, then each operation, in order.
    sha256
        Of the source's bytes.
    names
        What numbers stand for: of `user`, `group`, `queue`, `account`, `qos`, `gpu` or `features`, the name behind a
        number, such as {"queue": {1: "gpu"}}. A number without a name is its own.
    dependencies
        Who may start only after whom; see `forebay.workload.dependency_table`.

    Examples
    --------
    >>> jobs = fb.workload.job_table(
    ...     {"id": [1, 2], "submit": [0, 60], "walltime": [600, 600], "run_time": [300, 600], "nodes": [4, 2]}
    ... )
    >>> fb.simulate(fb.Workload("mine", jobs), "flat:nodes=4").jobs["waiting_time"].to_list()
    [0.0, 240.0]
    """

    name: str
    jobs: pl.DataFrame
    legs: pl.DataFrame | None = None
    phases: pl.DataFrame | None = None
    applications: Applications | None = None
    epoch: float = 0.0  # Unix time of second 0
    platform: str | None = None  # the machine it was recorded on or made for, as `--platform` takes it
    records: int = 0  # lines or entries read, used or not
    dropped: dict[str, int] = field(default_factory=dict)  # why records were left out -> how many
    notes: tuple[str, ...] = ()  # what a reader or operation wants its user to know, a sentence each
    provenance: tuple[str, ...] = ()  # the source, then each operation, in order
    sha256: str = ""  # of the source's bytes
    names: Mapping[str, Mapping[int, str]] = field(default_factory=dict)  # column -> number -> what it stands for
    dependencies: pl.DataFrame | None = None  # who may start only after whom

    def __post_init__(self) -> None:
        # Names and notes come out of files, and go to terminals, tables and pictures: here they become harmless.
        object.__setattr__(self, "name", plain(self.name))
        object.__setattr__(self, "dropped", {plain(why): count for why, count in self.dropped.items()})
        for name in ("notes", "provenance"):
            object.__setattr__(self, name, tuple(plain(line, "\n") for line in getattr(self, name)))
        for frame, schema, word in (
            (self.jobs, JOB_SCHEMA, "job"),
            (self.legs, LEG_SCHEMA, "leg"),
            (self.phases, PHASE_SCHEMA, "phase"),
            (self.dependencies, DEPENDENCY_SCHEMA, "dependency"),
        ):
            if frame is None and word != "job":
                continue
            maker = {"job": "job_table", "dependency": "dependency_table"}.get(word)
            cure = f"; forebay.workload.{maker} makes one of your columns" if maker else ""
            if not isinstance(frame, pl.DataFrame):
                raise wrong_type(f"the {word} table", frame, f"a polars DataFrame{cure}")
            missing = [name for name in schema if name not in frame.columns]
            if missing:
                meant = _meant(missing, frame.columns)
                raise InputError(f"{self.name}: the {word} table lacks {', '.join(missing)}{meant}{cure}")
            wanted = schema | {name: dtype for name, dtype in MORE.items() if name in frame.columns}
            wrong = [name for name, dtype in wanted.items() if frame.schema[name] != dtype]
            if wrong:
                wants = ", ".join(f"{name} as {wanted[name]}, not {frame.schema[name]}" for name in wrong)
                raise InputError(f"{self.name}: the {word} table must have {wants}{cure}")
        if self.phases is not None:  # further columns mean nothing, and job models add phases of their own
            object.__setattr__(self, "phases", self.phases.select(*PHASE_SCHEMA))
        self._check_own()
        if self.dependencies is not None:  # a table without rows says nothing
            kept = self.dependencies.select(*DEPENDENCY_SCHEMA) if len(self.dependencies) else None
            object.__setattr__(self, "dependencies", kept)
        self._check_names()

    def _check_own(self) -> None:
        """A column of the author's own becomes one of the results: there no other may have its name."""
        for column in self.own:
            if column in TAKEN or not can_name(column):
                why = "results have a column of that name" if column in TAKEN else NAMES
                raise InputError(f"{self.name}: {brief(column)} cannot name a column of your own: {why}; rename it")

    def _check_names(self) -> None:
        unknown = [column for column in self.names if column not in NAMED or column not in self.jobs.columns]
        if unknown:
            known = [column for column in NAMED if column in self.jobs.columns]
            raise InputError(f"{self.name}: names are given for {listed(unknown)}; columns with names: {listed(known)}")
        for column, names in self.names.items():
            for number, name in names.items():
                if not isinstance(name, str) or not name.strip() or isinstance(number, bool) or number < 0:
                    what = f"{column} {brief(number)} is called {brief(name)}"
                    raise InputError(f"{self.name}: {what}; give a number from 0 up a name that is not empty")

    def __len__(self) -> int:
        return len(self.jobs)

    def __repr__(self) -> str:
        machine = f" for {listed([self.platform])}" if self.platform else ""
        return f"<Workload {listed([self.name])}: {counted(len(self), 'job')} submitted over {self._span()}{machine}>"

    def _repr_html_(self) -> str:
        rows = [
            ("jobs", f"{len(self):,}, submitted over {self._span()}"),
            ("largest", counted(int(self.jobs["nodes"].max() or 0), "node")),  # type: ignore[arg-type]
            ("asks for", ", ".join(("nodes", *self.resources))),
            *(() if self.dependencies is None else (("dependencies", f"{len(self.dependencies):,}"),)),
            ("platform", self.platform or "-"),
            *(("from", line) for line in self.provenance),
            *(("note", line) for line in self.notes),
        ]
        return html_table(f"Workload {self.name}", rows)

    def _span(self) -> str:
        first, last = self.jobs.select(first=pl.min("submit"), last=pl.max("submit")).row(0)
        return about(last - first if len(self) else None)

    @property
    def resources(self) -> tuple[str, ...]:
        """Names of the pooled resources, besides nodes, that jobs ask for."""
        of_legs = [] if self.legs is None else [name for name in self.legs.columns if name not in LEG_SCHEMA]
        known = (*JOB_SCHEMA, *MORE, *STATED, *self.own)
        of_jobs = [name for name in self.jobs.columns if name not in known]
        return tuple(dict.fromkeys(of_jobs + of_legs))

    @property
    def own(self) -> tuple[str, ...]:
        """Columns of the job table that mean what their author says, such as a deadline: policies may read them."""
        return tuple(own_columns(self.jobs.schema))


NEUTRAL = {
    "flop": 0.0,
    "communication": 0.0,
    "user": -1,
    "group": -1,
    "queue": -1,
    "priority": 0.0,
    "cancel": math.inf,
}
"""Columns that a job table can be made without, and what they then hold."""


def job_table(columns: Any, own: Sequence[str] = ()) -> pl.DataFrame:
    """A job table from the columns that you have; the rest takes its neutral value.

    Parameters
    ----------
    columns
        A dictionary of lists, or a data frame. `id`, `nodes`, and `submit`, `walltime` and `run_time` in seconds are
        needed; `user`, `group`, `queue`, `priority`, `flop`, `communication`, `cancel`, `account`, `qos`,
        `recorded_start`, `running_since`, `array`, `array_task`, `array_limit`, `tasks`, `exclusive`, `gpu` and
        `features` are known; so is `deadline`, in seconds as `submit`, -1 or None where there is none, which is one of
        your own by itself. Any other column is a demand on the resource of its name, a job's total: `burst_buffer`
        and `memory` in bytes, `cores`, `gpus`.
    own
        Names of columns that are no demands but mean what you say, such as an application or a site: numbers or
        text, where None is unknown. Policies read them with `view.column` and `view.codes`.

    Returns
    -------
    polars.DataFrame
        What `forebay.Workload` takes.

    Examples
    --------
    >>> jobs = fb.workload.job_table({"id": [1], "submit": [0], "walltime": [60], "run_time": [30], "nodes": [2]})
    >>> jobs["user"].item()
    -1
    """
    try:
        frame = pl.DataFrame(columns)
    except (PolarsError, TypeError, ValueError) as error:
        raise InputError(f"the job table: {brief(columns)} is no table ({error}); give lists of equal length") from None
    _check_needed(frame)
    neutral = {name: value for name, value in NEUTRAL.items() if name not in frame.columns}
    frame = frame.with_columns(pl.lit(value).alias(name) for name, value in neutral.items())
    own = [*own, *(name for name in (DEADLINE,) if name in frame.columns and name not in own)]
    absent = [name for name in own if name not in frame.columns]
    if absent:
        raise InputError(f"the job table has no column {listed(absent)} of your own; it has {listed(frame.columns)}")
    extra = [name for name in frame.columns if name not in JOB_SCHEMA and name not in own]
    demand = "; further columns are demands on resources, but for those in own=[...]"
    return frame.select(
        *(_cast(frame[name], dtype) for name, dtype in JOB_SCHEMA.items()),
        *(_cast(frame[name], MORE[name]) for name in extra if name in MORE),
        *(_cast(frame[name], pl.Int64, demand) for name in extra if name not in MORE),
        *(own_column(frame[name]) for name in own),
    )


def _check_needed(frame: pl.DataFrame) -> None:
    """Refuse a table without what a job cannot do without."""
    needed = [name for name in JOB_SCHEMA if name not in NEUTRAL]
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        has = f"it has {listed(frame.columns)}" if frame.columns else "it has no column"
        meant = _meant(missing, frame.columns)
        raise InputError(f"the job table lacks {', '.join(missing)}{meant}; {has}, and needs {', '.join(needed)}")


NAMES = "names are made of letters, digits and _, at most 100 of them"


def can_name(column: str) -> bool:
    """Whether a column may be called so: tables, notes and messages then have room for it."""
    return column.isidentifier() and len(column) <= 100


def own_column(column: pl.Series) -> pl.Series:
    """A column of the author's own: numbers, or words where not all of it is numbers or yes and no."""
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Float64)
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    raise InputError(f"the job table: {column.name} holds {column.dtype}; give numbers or text, times in seconds")


def _cast(column: pl.Series, dtype: Any, more: str = "") -> pl.Series:
    """A column of numbers as its type; one that holds something else is refused by its row."""
    if not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Boolean, pl.Null)):  # a date is no second
        raise InputError(f"the job table: {column.name} holds {column.dtype}; give numbers, times in seconds{more}")
    found = column.cast(dtype, strict=False)
    wrong = found.is_null()
    if dtype == pl.Int64 and column.dtype.is_float():
        wrong |= found.cast(column.dtype) != column
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        number = "a whole number" if dtype == pl.Int64 else "a number"
        raise InputError(f"the job table: row {row} of {column.name} is {brief(column[row])}, not {number}{more}")
    return found


def _meant(missing: list[str], columns: list[str]) -> str:
    """Columns that may be those missing under another name."""
    plain = {name.lower().replace("_", ""): name for name in columns if name not in JOB_SCHEMA}
    alike = {name: difflib.get_close_matches(name.replace("_", ""), plain, 1, 0.55) for name in missing}
    renamed = [f"{plain[found[0]]} to {name}" for name, found in alike.items() if found]
    return f" (rename {', '.join(renamed)}?)" if renamed else ""
