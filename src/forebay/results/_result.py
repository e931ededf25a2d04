"""What a run leaves: the job table, the log of every change, the run's facts. Every metric and figure reads this."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import polars as pl

from forebay._support.files import as_path, writable_folder
from forebay._support.frames import as_pandas
from forebay._support.text import about, counted, html_table
from forebay.errors import listed
from forebay.results._format import optional_table, saved_as
from forebay.results._save import saving
from forebay.results._short import short
from forebay.results._waits import WAIT, completed

JOBS_CSV = (
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
)
"""Batsim's columns, in its order, so that tools of the field (evalys, notebooks) load a run as it is."""

STAGING = ("stage_in_time", "io_time", "compute_start")
TRANSFERS = ("transfer_time", "transfer_time_alone")
SIZES = ("type", "mean_nodes", "n_resizes")
SHARED = ("nodes", "parts", "placing")
ELIGIBLE = ("eligible_time", "planned_time")
SERVERS = ("compute_nodes", "mean_servers")
ATTEMPTS = ("n_attempts", "lost_time", "checkpoint_time", "recovery_time", "run_alone")
_WHO = ("user", "group", "queue", "priority")
_PARTS = ("array", "array_task", "array_limit", "het", "het_offset")
_INSIDE = ("tasks", "exclusive", "gpu", "features")
_NAMES = ("user", "group", "queue", "account", "qos", "gpu", "features")
_RECORDED = ("recorded_start", "running_since")
OF_TRACE = ("account", "qos", *_RECORDED, *_PARTS, *_INSIDE, *(f"{name}_name" for name in _NAMES))
_SPENT = (*STAGING, *TRANSFERS, *SIZES, *SERVERS, *ATTEMPTS)
JOBS_MORE = ("total_wait", "n_legs", *_WHO, *OF_TRACE, "allowed", *ELIGIBLE, "tier", *SHARED, *_SPENT)
"""Further columns; those of OF_TRACE where the trace has them; `allowed` where nodes are not all alike; those of
ELIGIBLE where jobs wait for others; from `tier` on where jobs choose one, stage data, have an I/O scheduler, are not
all of one size, have servers, or are interrupted."""

_WORDS = ("workload_name", "profile", "final_state", "allocated_resources", "metadata")
_WHOLE = ("job_id", "requested_number_of_resources", "success")
_JOBS = {name: pl.String if name in _WORDS else pl.Int64 if name in _WHOLE else pl.Float64 for name in JOBS_CSV}
_LOG: dict[str, Any] = {"time": pl.Float64} | dict.fromkeys(("job", "leg", "amount"), pl.Int64)
_LOG |= dict.fromkeys(("kind", "resource", "reason"), pl.String)
_OF_BEGUN = ("starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch")
"""What a job that never began has not."""

_MAKING = RLock()
_ENDS = {
    "killed": ("COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED"),
    "failed": ("COMPLETED_FAILED",),
    "rejected": ("REJECTED",),
    "cancelled": ("CANCELLED",),
}
"""Ends of jobs that the reader of a mean should know of, and the final states so called."""


@dataclass(frozen=True)
class Result:
    """One finished run, as `forebay.simulate` and `forebay.load` give it.

    Parameters
    ----------
    jobs
        A row a job, in order of arrival: the columns of JOBS_CSV, then `total_wait` (time queued for any leg),
        `n_legs`, `user`, `group`, `queue`, `priority` and a column of demand per pooled resource; where the trace tells
        them `account`, `qos`, `recorded_start` and `running_since` (null of a job without one) and the names behind
        numbers, such as `user_name`; where jobs wait for others `eligible_time` (when a job joined the queue, null if
        it never did) and `planned_time` (from then to its start, as sacct's Planned); where jobs stage data also
        `stage_in_time`, `io_time` (running, but not computing) and `compute_start`; beside an I/O scheduler
        `transfer_time` (of I/O phases) and `transfer_time_alone`; where some may change their size `type`,
        `mean_nodes` (over the time it ran) and `n_resizes`; where they have file systems of their own `compute_nodes`
        and `mean_servers` (nodes that only served them, over the same time); where nodes fail or jobs are interrupted
        `n_attempts`, `lost_time`, `checkpoint_time` and `recovery_time`; there, and where jobs have applications,
        `run_alone` (by itself, uninterrupted, at the size asked for). Times of rejected jobs are null.
    log
        A row a change: `time`, `job` (id), `kind` (submit, start, acquire, release, end, queue, reject, begin_phase,
        end_phase, node_down, node_up, cancel, eligible), `leg`, `resource` (null where none is meant), `amount` (of
        it), `reason`. A start row carries the nodes taken, an end row the nodes given back; every other resource has
        acquire and release rows of its own. Only jobs that do more than compute have phases; their end carries the
        bytes moved. Rows of nodes that fail or are back have no job; their amount is the node's number.
    resources
        Capacity by name, "nodes" first; "cores" where jobs share nodes.
    facts
        Seed, versions, hashes, wall time, notes: what JSON can hold.
    links
        A row for each shared link: `link` (name), `capacity` (bytes/s), `bytes` (all that crossed it).
    placements
        Which nodes: `row` (of the log), `low` and `high`. Those of a start were taken; those of an end or a release
        were given back, and are listed only if the job had more. See `forebay.metrics.stays`.
    chunks
        Where a chunked buffer's bytes went: `row` (of the log, a start), `server`, `bytes`. A job gives back all of its
        own at once.
    said
        Why jobs wait, as a policy in Python says it: `time`, `job` (id), `reason` ("" where it says nothing more),
        `behind` (id or null).
    held
        When limits held waiting jobs back: `time`, `job` (id), `reason` ("" from when on they no longer do), `slurm`
        (what `squeue` would show) and `detail` (a sentence).

    Notes
    -----
    A further table is a further `optional_table` here: it is saved and loaded as the others are.

    Examples
    --------
    >>> result = fb.simulate("table1")
    >>> result.jobs["waiting_time"].mean()
    142.5
    >>> result.facts["policy"], result.resources["nodes"]
    ('fcfs-bb', 4)
    """

    jobs: pl.DataFrame = field(metadata=saved_as("jobs.parquet", _JOBS, *_OF_BEGUN))
    log: pl.DataFrame = field(metadata=saved_as("log.parquet", _LOG, "job", "resource"))
    resources: Mapping[str, int]  # name -> capacity; `unit` first
    facts: Mapping[str, Any]  # seed, versions, hashes, wall time, notes: what JSON can hold
    links: pl.DataFrame = optional_table("links.csv", link=pl.String, capacity=pl.Float64, bytes=pl.Float64)
    placements: pl.DataFrame = optional_table("placements.parquet", row=pl.UInt32, low=pl.Int32, high=pl.Int32)
    chunks: pl.DataFrame = optional_table("chunks.parquet", row=pl.UInt32, server=pl.Int32, bytes=pl.Int64)
    said: pl.DataFrame = optional_table(
        "said.parquet", "behind", time=pl.Float64, job=pl.Int64, reason=pl.String, behind=pl.Int64
    )
    held: pl.DataFrame = optional_table(
        "held.parquet", time=pl.Float64, job=pl.Int64, reason=pl.String, slurm=pl.String, detail=pl.String
    )

    @classmethod
    def later(
        cls, make: Callable[[], Mapping[str, pl.DataFrame]], resources: Mapping[str, int], facts: Mapping[str, Any]
    ) -> "Result":
        """A result whose tables are made when somebody looks at one: of a short run that takes longer than the run."""
        result = object.__new__(cls)
        result.__dict__.update(resources=resources, facts=facts, _make=make)
        return result

    if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every misspelt name for Any

        def __getattr__(self, name: str) -> Any:
            if name in type(self).__dataclass_fields__:
                with _MAKING:  # another thread may be at it
                    if "_make" in self.__dict__:
                        self.__dict__.update(self._make())
                        del self.__dict__["_make"]
                if name in self.__dict__:
                    return self.__dict__[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        assert self.jobs is not None  # made by now
        return dict(self.__dict__)

    @property
    def unit(self) -> str:
        """What jobs are given, and all ids of nodes count: "nodes", or "cores" where jobs share nodes."""
        return next(iter(self.resources), "nodes")

    def __repr__(self) -> str:
        policy, wait = listed([str(self.facts.get("policy", "a run"))]), about(self._waits()["mean"])
        return f"<Result of {policy}: {self._jobs()}, mean wait {wait}>"

    def _repr_html_(self) -> str:
        waits, keys = self._waits(), ("policy", "workload", "platform", "job_model", "seed", "window")
        facts = [(name.replace("_", " "), self.facts[name]) for name in keys if name in self.facts]
        # Of the machine, its text is enough.
        facts = [(name, fact.get("text", fact) if isinstance(fact, Mapping) else fact) for name, fact in facts]
        rows = [("jobs", self._jobs()), ("mean wait", about(waits["mean"])), ("longest wait", about(waits["max"]))]
        return html_table("Result", [*facts, *rows])

    def _jobs(self) -> str:
        states = self.jobs["final_state"].cast(pl.String)
        ends = {word: int(states.is_in(names).sum()) for word, names in _ENDS.items()}
        words = ", ".join(f"{count:,} {word}" for word, count in ends.items() if count)
        nodes = counted(self.resources.get(self.unit, 0), self.unit.removesuffix("s"))
        return f"{counted(self.jobs.height, 'job')}{f' ({words})' if words else ''} on {nodes}"

    def _waits(self) -> dict[str, float | None]:
        """Of the jobs that began."""
        began = completed(self.jobs.lazy(), self.jobs.columns).filter(pl.col("starting_time").is_not_null())
        wait = began.select(WAIT).collect().to_series()
        return {"mean": wait.mean(), "max": wait.max()}  # type: ignore[dict-item]

    # What is made of a run stands above it, so it is called by name: a run can be had without any of it.

    @property
    def table(self) -> pl.DataFrame:
        """A row a job, in the words of workloads, and with its wait and slowdown.

        Columns: `id`, `submit`, `nodes` (asked for; `cores` where jobs share nodes), `walltime`, `start`, `end`,
        `run_time` (from start to end), `wait` and `slowdown` (those of summaries), `turnaround`, `state`; then those
        that only some runs have, as in `jobs`.

        Examples
        --------
        >>> fb.simulate("table1").table["id", "nodes", "start", "wait"].row(2)
        (3, 3, 600.0, 540.0)
        """
        return short(self.jobs, self.unit)

    def to_pandas(self) -> Any:
        """The same as a DataFrame of pandas, which is not a part of forebay: pip install "forebay[pandas]".

        Returns
        -------
        pandas.DataFrame
            Columns as in `table`; missing numbers are NaN.
        """
        return as_pandas(self.table)

    @property
    def summary(self) -> dict[str, Any]:
        """Every number of the run, as `forebay.summary` gives them."""
        found: dict[str, Any] = import_module("forebay.metrics").summary(self)
        return found

    def plot(self, figure: str, ax: Any = None, width: "str | float | None" = None) -> Any:
        """Draw the run with matplotlib, as `forebay.figures.plot` does.

        Parameters
        ----------
        figure
            One of `forebay.figures.names()`.
        ax
            Axes to draw into; without them, a new figure is made.
        width
            Of a paper's column or page, such as "ieee-column", or inches.
        """
        return import_module("forebay.figures").plot(figure, self, ax, width)

    def explain(self, *jobs: int, worst: int | None = None) -> Any:
        """Say why jobs waited, as `forebay.explain` does.

        Parameters
        ----------
        jobs
            Numbers of jobs. Without any, those that waited longest, one for each cause.
        worst
            How many such causes. Default: 10 where no job is named, else none.

        Returns
        -------
        forebay.explain.Explanation
            Tables and sentences.

        Examples
        --------
        >>> print(fb.simulate("table1", policy="fcfs-easy").explain(3))
        job 3 waited for burst buffer held by job 1
        """
        return import_module("forebay.explain").explain(self, *jobs, worst=worst)

    def save(self, folder: str | Path) -> list[Path]:
        """Write the run to a folder, whole or not at all, for `forebay.load`.

        Parameters
        ----------
        folder
            Made if need be; a run that is there is replaced.

        Returns
        -------
        list of Path
            The files written.
        """
        folder = writable_folder(as_path(folder, "the folder"))
        with saving(folder, self) as names:
            return [folder / name for name in names]
