"""Where two runs of one workload part: the first instant in which they did different things, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from forebay import explain
from forebay._run.simulation import Simulation
from forebay._support.text import amount, counted
from forebay.core.units import format_bytes, format_seconds
from forebay.errors import InputError, wrong_type
from forebay.explain._places import counts_things, reason_of_resources
from forebay.results import Result, n_ids

_SAME = ("time", "kind", "job", "leg", "resource", "amount", "nodes")
"""What two runs must agree on. Reasons are left out: two policies may start one job alike and call it differently."""
_GIVEN = ("submit", "queue", "end", "release", "cancel", "node_down", "node_up", "end_phase")
"""What has happened in an instant before its decision."""
_GOES = ("start", "reject", "cancel")
_SHOWN = 5


@dataclass(frozen=True)
class Divergence:
    """The first instant in which two runs part; see `diverge`.

    Parameters
    ----------
    time
        Seconds since the workload's beginning.
    names
        The policies of the two runs.
    did
        What each did then and the other did not: a table like a Result's log, with `nodes` beside it.
    waiting
        The jobs that waited before: `job_id`, `nodes`, `walltime` and `waited`, in order of arrival.
    free
        What was free before, by resource.
    why
        Why a job that one of them started did not start in the other, in the words of `forebay.explain`.
    """

    time: float
    names: tuple[str, str]
    did: tuple[pl.DataFrame, pl.DataFrame]
    waiting: pl.DataFrame
    free: Mapping[str, int]
    why: tuple[str, ...]
    bytes_of: frozenset[str] = frozenset()
    """Resources that are counted in bytes."""

    def _amount(self, left: int, name: str) -> str:
        return f"{format_bytes(left)} of {name}" if name in self.bytes_of else amount(left, name)

    def document(self) -> dict[str, Any]:
        """All of it as what JSON can hold."""
        return {
            "time": self.time,
            "runs": [{"policy": name, "did": rows.to_dicts()} for name, rows in zip(self.names, self.did, strict=True)],
            "waiting": self.waiting.to_dicts(),
            "free": dict(self.free),
            "why": list(self.why),
            "in_words": str(self),
        }

    def __str__(self) -> str:
        free = ", ".join(self._amount(left, name) for name, left in self.free.items())
        first = ", ".join(f"job {job}" for job in self.waiting["job_id"][:_SHOWN])
        more = f" and {self.waiting.height - _SHOWN:,} more" if self.waiting.height > _SHOWN else ""
        lines = [
            f"The runs part at {format_seconds(self.time)} (t = {self.time:.10g} s).",
            f"Before: {counted(self.waiting.height, 'job')} waited{f' ({first}{more})' if first else ''}; {free} free.",
        ]
        for name, rows in zip(self.names, self.did, strict=True):
            lines.append(f"{name}: {_in_words(rows)}.")
        return "\n".join([*lines, *self.why])


def _in_words(rows: pl.DataFrame) -> str:
    """What one of two runs did, and the other did not."""
    said = []
    for row in rows.to_dicts():
        job = f"job {row['job']}" if row["job"] is not None else f"node {row['amount']}"
        match row["kind"]:
            case "start":
                where = f" ({row['nodes']})" if row["nodes"] else ""
                said.append(f"started {job} on {counted(int(row['amount']), 'node')}{where}")
            case "reject":
                said.append(f"rejected {job}")
            case "acquire" | "release" if row["reason"] == "resized":
                verb = "took from" if row["kind"] == "release" else "gave to"
                said.append(f"{verb} {job} {amount(int(row['amount']), str(row['resource']))}")
            case "end":
                said.append(f"{job} ended ({str(row['reason']).replace('_', ' ')})")
            case "submit" | "queue":
                said.append(f"{job} came")
    shown = [*said[:_SHOWN], *([f"and {len(said) - _SHOWN:,} more"] if len(said) > _SHOWN else [])]
    return ", ".join(shown) or "did nothing of that"


def diverge(a: Result | Simulation, b: Result | Simulation) -> Divergence | None:
    """The first instant in which two runs of one workload part, and why.

    Parameters
    ----------
    a
        A Result, or a run that was opened: one that is not over is followed to its end, without being changed.
    b
        Another of the same workload.

    Returns
    -------
    Divergence or None
        What each did there, who waited, what was free; print it to read it. None if they did the same all along.

    Examples
    --------
    >>> a, b = (fb.simulate("table1", policy=name) for name in ("fcfs-easy", "fcfs-bb"))
    >>> print(fb.diverge(a, b))
    The runs part at 2 min (t = 120 s).
    Before: 2 jobs waited (job 3, job 4); 2 nodes, 4 TB of burst_buffer free.
    fcfs-easy: did nothing of that.
    fcfs-bb: started job 4 on 2 nodes (2-3).
    Job 4 did not start under fcfs-easy: it would fit, but the nodes are reserved for job 3, which goes first.
    """
    left, right = _result(a, "the first run"), _result(b, "the second run")
    if not _jobs(left).equals(_jobs(right)):
        raise InputError(
            f"the runs have other jobs, of {left.facts.get('workload')} and {right.facts.get('workload')}: they have "
            "no decision in common; give two runs of one"
        )
    time = _parting(_rows(left), _rows(right))
    if time is None:
        return None
    here = [_rows(run).filter(pl.col("time") == time) for run in (left, right)]
    did = [mine.join(other, on=_SAME, how="anti", nulls_equal=True).drop("row") for mine, other in (here, here[::-1])]
    stored = reason_of_resources(left)
    names = str(left.facts.get("policy", "a")), str(right.facts.get("policy", "b"))
    names = names if names[0] != names[1] else (f"{names[0]} (1)", f"{names[1]} (2)")
    shared = _before(left, time)
    return Divergence(
        time=time,
        names=names,
        did=(did[0], did[1]),
        waiting=_waiting(left, shared, time),
        free=_free(left, shared),
        bytes_of=frozenset(
            name for name in left.resources if not (counts_things(name, stored) or name.startswith(("cores", "gpus")))
        ),
        why=tuple(
            line for k, run in enumerate((right, left)) for line in _why(did[k], did[1 - k], run, names[1 - k], time)
        ),
    )


def _result(given: Any, what: str) -> Result:
    if isinstance(given, Result):
        return given
    if not isinstance(given, Simulation):
        raise wrong_type(what, given, "a Result, or a run that forebay.open opened")
    return given.result() if given.over else given.fork().run().result()


def _jobs(result: Result) -> pl.DataFrame:
    """What tells workloads apart; the hash of a file would not, where they are parts of it."""
    return result.jobs.select("job_id", "submission_time", "requested_number_of_resources", "requested_time")


def _rows(result: Result) -> pl.DataFrame:
    """The log in an order that does not depend on who was started first in an instant, with the nodes of each row."""
    text = (
        pl.when(pl.col("low") == pl.col("high"))
        .then(pl.format("{}", "low"))
        .otherwise(pl.format("{}-{}", "low", "high"))
    )
    nodes = result.placements.with_columns(nodes=text).group_by("row").agg(pl.col("nodes").sort_by("low").str.join(" "))
    log = result.log.with_row_index("row").with_columns(pl.col("kind", "resource", "reason").cast(pl.String))
    log = log.join(nodes.with_columns(pl.col("row").cast(pl.UInt32)), on="row", how="left")
    return log.sort(*_SAME, maintain_order=True)


def _parting(left: pl.DataFrame, right: pl.DataFrame) -> float | None:
    """The time of the first row in which two logs differ; None if there is none."""
    n = min(left.height, right.height)
    same = pl.Series([True] * n, dtype=pl.Boolean)
    for name in _SAME:
        same &= left[name][:n].eq_missing(right[name][:n])
    at = same.arg_min() if n and not same.all() else n
    times = [float(rows["time"][at]) for rows in (left, right) if at is not None and at < rows.height]
    return min(times, default=None)


def _before(result: Result, time: float) -> pl.DataFrame:
    """The log up to the decision at `time`."""
    log = result.log.with_columns(pl.col("kind", "resource", "reason").cast(pl.String))
    given = pl.col("kind").is_in(_GIVEN) & (pl.col("reason") != "resized")
    return log.filter((pl.col("time") < time) | ((pl.col("time") == time) & given))


def _waiting(result: Result, before: pl.DataFrame, time: float) -> pl.DataFrame:
    comes, goes = pl.col("kind").is_in(["submit", "queue"]), pl.col("kind").is_in(_GOES)
    change = pl.when(comes).then(1).when(goes).then(-1).otherwise(0)
    since = pl.col("time").filter(comes).last()
    jobs = (
        before.filter(pl.col("job").is_not_null()).group_by("job").agg(change.sum().alias("open"), since.alias("since"))
    )
    waits = jobs.filter(pl.col("open") > 0).select(job_id=pl.col("job").cast(pl.Int64), waited=time - pl.col("since"))
    asked = result.jobs.select(
        pl.col("job_id").cast(pl.Int64), nodes="requested_number_of_resources", walltime="requested_time"
    )
    return asked.join(waits, on="job_id", how="inner", maintain_order="left")


def _free(result: Result, before: pl.DataFrame) -> dict[str, int]:
    kind, down = pl.col("kind"), pl.col("job").is_null()
    sign = pl.when(kind.is_in(["start", "acquire"])).then(-1).when(kind.is_in(["end", "release"])).then(1).otherwise(0)
    sums = before.filter(~down).group_by("resource").agg((sign * pl.col("amount")).sum().alias("left"))
    found = {str(name): int(left) for name, left in sums.iter_rows() if name is not None}
    failed = before.filter(kind.is_in(["node_down", "node_up"]))
    ids = n_ids(result, failed["amount"].cast(pl.Int64).to_numpy())
    away = (np.where(failed["kind"] == "node_down", 1, -1) * ids).sum()
    free = {name: capacity + found.get(name, 0) for name, capacity in result.resources.items()}
    return free | {result.unit: free[result.unit] - int(away)}


def _why(did: pl.DataFrame, other: pl.DataFrame, run: Result, name: str, time: float) -> list[str]:
    """Of jobs that started in one run and not in the other: what the other's log tells of it."""
    jobs = did.filter(pl.col("kind") == "start")["job"].cast(pl.Int64).to_list()
    elsewhere = set(other.filter(pl.col("kind") == "start")["job"].to_list())
    lines = []
    left_out = [job for job in jobs if job not in elsewhere][:_SHOWN]
    pieces = explain.reasons(run) if left_out else pl.DataFrame()
    for job in left_out:
        mine = pieces.filter((pl.col("job_id") == job) & (pl.col("start") <= time) & (pl.col("end") > time))
        if mine.height:
            lines.append(f"Job {job} did not start under {name}: {mine['detail'][0]}.")
    return lines
