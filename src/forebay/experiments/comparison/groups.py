"""Who gains and who loses: hours of waiting of each queue, user, account and QOS, against the reference."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forebay.report._losers import GAINS, LOSES, SAME, UNDECIDED
from forebay.workload.recorded import AS_RECORDED

if TYPE_CHECKING:
    import polars as pl

    from forebay.experiments.comparison.blocks import Floats
    from forebay.experiments.comparison.verdicts import Jury
    from forebay.experiments.comparison.workspace import Workspace
    from forebay.workload.names import Names

TABLE = "groups.csv"
COLUMNS = ("queue", "user", "account", "qos")
UNKNOWN = "unknown"
_HOUR = 3600.0
_BOUND = 600.0  # seconds, of the bounded slowdown
Rename = Callable[[str, str], str]
"""What a group is called in tables, by its column and name."""


@dataclass(frozen=True)
class Members:
    """Which group each job is of, as a place among the groups' names."""

    column: str
    place: NDArray[np.int64]
    names: list[str]


@dataclass(frozen=True)
class Fares:
    """How jobs fare: rows are runs, columns jobs, NaN where a job does not count."""

    wait: "Floats"
    slowdown: "Floats"
    node_hours: "Floats | None"  # of the run on the trace


def of(jury: "Jury", made: "Workspace", policies: Sequence[str], rename: Rename | None = None) -> "pl.DataFrame | None":
    """A row for each policy and group, largest losses first; None where the trace tells of no two groups.

    Numbers are over the jobs that ran under every policy, and means over the trace and its replicas, as in verdicts.
    The last policy is what was recorded, where that is known: on the trace alone, over the jobs with a recorded start.
    """
    import polars as pl

    jobs = jury.jobs
    found = [members for column in COLUMNS if (members := members_of(jobs, jury.names, column)) is not None]
    ran = [policy for policy in policies if np.isfinite(jury.measures(policy)["wait"][0]).any()]
    if not found or not ran:
        return None
    fares = {policy: _fares(jury, jobs, made, policy) for policy in ran}
    standard = fares.get(jury.reference)
    recorded = _as_recorded(jobs, fares[ran[0]])
    frames = []
    for members in found:
        shown = members if rename is None else _renamed(members, rename)
        for policy, mine in fares.items():
            frames.append(_frame(jury, shown, policy, mine, standard))
        if recorded is not None:
            alone = standard and Fares(standard.wait[:1], standard.slowdown[:1], None)
            frames.append(_frame(jury, shown, AS_RECORDED, recorded, alone))
    return pl.concat(frames)


def members_of(jobs: "pl.DataFrame", called_by: "Names", column: str) -> Members | None:
    """The groups of jobs by a column; None where it tells of no two that are known."""
    from forebay.workload.names import called

    if column not in jobs.columns:
        return None
    known, place = np.unique(jobs[column].to_numpy(), return_inverse=True)
    if (known >= 0).sum() < 2:
        return None
    names = [UNKNOWN if number < 0 else called(called_by, column, number) for number in known.tolist()]
    return Members(column, place.astype(np.int64), names)


def _renamed(members: Members, rename: Rename) -> Members:
    names = [name if name == UNKNOWN else rename(members.column, name) for name in members.names]
    return Members(members.column, members.place, names)


def _fares(jury: "Jury", jobs: "pl.DataFrame", made: "Workspace", policy: str) -> Fares:
    import polars as pl

    from forebay.metrics._table import with_node_seconds

    measures = jury.measures(policy)
    held = with_node_seconds(made.result(policy)).select("job_id", "node_seconds")
    ids = pl.LazyFrame({"job_id": jobs["id"]})
    seconds = ids.join(held, on="job_id", how="left", maintain_order="left").collect()["node_seconds"]
    return Fares(
        measures["wait"], measures["bounded_slowdown_10min"], seconds.fill_null(0.0).to_numpy()[None, :] / _HOUR
    )


def _as_recorded(jobs: "pl.DataFrame", some: Fares) -> Fares | None:
    """The schedule of the trace, as far as it is recorded of jobs that count."""
    if "recorded_start" not in jobs.columns:
        return None
    submit, run = (jobs[name].to_numpy() for name in ("submit", "run_time"))
    wait = jobs["recorded_start"].to_numpy() - submit
    wait = np.where((wait >= 0) & np.isfinite(some.wait[0]), wait, np.nan)
    if np.isnan(wait).all():
        return None
    return Fares(wait[None, :], np.maximum(1.0, (wait + run) / np.maximum(run, _BOUND))[None, :], None)


def _frame(jury: "Jury", members: Members, policy: str, mine: Fares, theirs: Fares | None) -> "pl.DataFrame":
    """A row a group, the largest loss first."""
    import polars as pl

    n = len(members.names)
    counts, waited = _sums(members, mine.wait)
    rows: dict[str, Any] = {"by": members.column, "name": members.names, "policy": policy, "jobs": counts[0]}
    hours = None if mine.node_hours is None else _sums(members, _where(mine.wait[:1], mine.node_hours))[1][0]
    mean_wait = _over_runs(waited, counts)
    rows |= {
        "node_hours": pl.Series(hours if hours is not None else [None] * n, dtype=pl.Float64),
        "mean_wait": mean_wait,
        "p95_wait": _quantiles(members, mine.wait, 0.95),
        "mean_bounded_slowdown_10min": _over_runs(_sums(members, mine.slowdown)[1], counts),
        "wait_hours": waited.mean(axis=0) / _HOUR,
        **_against(jury, members, mine, theirs, is_reference=policy == jury.reference),
    }
    frame = pl.DataFrame(rows).filter(pl.col("jobs") > 0).with_columns(pl.selectors.float().fill_nan(None))
    # Where nothing is lost, as under the reference, the largest groups come first.
    order = ["net_hours", "node_hours", "jobs", "name"]
    return frame.sort(order, descending=[True, True, True, False], nulls_last=True)


def _against(
    jury: "Jury", members: Members, mine: Fares, theirs: Fares | None, is_reference: bool
) -> dict[str, "pl.Series"]:
    """Changes of each group against the reference: of its mean wait, and of all its hours of waiting."""
    import polars as pl

    n = len(members.names)
    empty = {name: pl.Series([None] * n, dtype=pl.Float64) for name in CHANGES}
    if theirs is None:
        return empty | {"verdict": pl.Series([None] * n, dtype=pl.String)}
    later = mine.wait - theirs.wait
    counts, waited = _sums(members, _where(later, mine.wait))
    _, standard = _sums(members, _where(later, theirs.wait))
    before, after = _over_runs(standard, counts), _over_runs(waited, counts)
    change = _ratio(after, before) - 1
    gained, lost = (_sums(members, np.maximum(some, 0))[1].mean(axis=0) / _HOUR for some in (-later, later))
    net, half = jury.blocks.totals(later / _HOUR, members.place, n)
    low, high = (net - half, net + half) if half is not None else (np.full(n, np.nan), np.full(n, np.nan))
    unchanged = (gained == 0) & (lost == 0)
    low, high = np.where(unchanged, 0.0, low), np.where(unchanged, 0.0, high)
    words = [None if is_reference else word for word in _words(unchanged, low, high)]
    numbers = zip(CHANGES, (change, gained, lost, net, low, high), strict=True)
    return {name: pl.Series(values) for name, values in numbers} | {"verdict": pl.Series(words, dtype=pl.String)}


CHANGES = ("change", "gained_hours", "lost_hours", "net_hours", "low_hours", "high_hours")
"""Columns against the reference: a share of the mean wait; hours that jobs of the group wait less, and more; more less
less, with its interval."""


def _words(unchanged: NDArray[np.bool_], low: "Floats", high: "Floats") -> Iterator[str]:
    for same, least, most in zip(unchanged.tolist(), low.tolist(), high.tolist(), strict=True):
        yield SAME if same else LOSES if least > 0 else GAINS if most < 0 else UNDECIDED


def _where(some: "Floats", values: "Floats") -> "Floats":
    """Values of the jobs that count."""
    return np.where(np.isfinite(some), values, np.nan)


def _sums(members: Members, values: "Floats") -> "tuple[NDArray[np.int64], Floats]":
    """The number of jobs of each run (row) and group (column), and the sum of their values; NaN does not count.

    Summed by rows: which threads take part does not change the last bits.
    """
    n = len(members.names)
    there = np.isfinite(values)
    at = (np.arange(len(values))[:, None] * n + members.place)[there]
    shape = len(values), n
    counts = np.bincount(at, minlength=shape[0] * n).astype(np.int64).reshape(shape)
    return counts, np.bincount(at, values[there], shape[0] * n).astype(np.float64).reshape(shape)


def _over_runs(sums: "Floats", counts: NDArray[np.int64]) -> "Floats":
    """The mean of every run, and over the runs that have any job of a group; NaN where none has."""
    means = np.divide(sums, counts, out=np.zeros(sums.shape), where=counts > 0)
    runs = (counts > 0).sum(axis=0)
    return _ratio(means.sum(axis=0), runs)


def _ratio(some: "Floats", of: NDArray[Any]) -> "Floats":
    """One by the other; NaN where that is 0."""
    return np.asarray(np.divide(some, of, out=np.full(len(some), np.nan), where=of > 0))


def _quantiles(members: Members, values: "Floats", share: float) -> "Floats":
    """The same of a quantile of every run."""
    import polars as pl

    there = np.isfinite(values)
    run, place = (
        np.broadcast_to(some, values.shape)[there] for some in (np.arange(len(values))[:, None], members.place)
    )
    frame = pl.DataFrame({"run": run, "place": place, "value": values[there]})
    quantile = pl.col("value").quantile(share, interpolation="linear")
    found = frame.group_by("run", "place").agg(quantile).sort("run", "place")
    sums, counts = np.zeros((2, len(members.names)))
    np.add.at(sums, found["place"].to_numpy(), found["value"].to_numpy())
    np.add.at(counts, found["place"].to_numpy(), 1)
    return _ratio(sums, counts)
