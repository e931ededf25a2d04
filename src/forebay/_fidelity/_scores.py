"""Waits recorded against waits simulated, in numbers. An error is the simulated wait minus the recorded one."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from forebay.metrics.groups import size_classes

Floats = NDArray[np.float64]

QUANTILES = {"p05": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}
NEAR = 600.0
"""Seconds by which a wait may be off and still be near."""
_SUCCESSIVE = 64  # starts after a job's own that are looked at for the order


def numbers(jobs: pl.DataFrame) -> dict[str, Any]:
    """Every score of a table with `recorded_wait`, `simulated_wait`, `submit` and both starts; None without jobs."""
    recorded, simulated = (jobs[f"{kind}_wait"].to_numpy() for kind in ("recorded", "simulated"))
    found: dict[str, Any] = {"n_jobs": len(jobs)}
    found |= {f"recorded_{name}": value for name, value in _waits(recorded).items()}
    found |= {f"simulated_{name}": value for name, value in _waits(simulated).items()}
    found |= errors(simulated - recorded)
    some = len(jobs) > 0
    total = float(recorded.sum())
    return found | {
        "ratio_of_means": float(simulated.sum()) / total if total > 0 else None,
        "wasserstein": float(stats.wasserstein_distance(recorded, simulated)) if some else None,
        "kolmogorov_smirnov": kolmogorov_smirnov(recorded, simulated) if some else None,
        "rank_correlation": rank_correlation(recorded, simulated),
        "start_order_agreement": order_agreement(jobs),
    }


def _waits(wait: Floats) -> dict[str, float | None]:
    if not len(wait):
        return dict.fromkeys(("mean_wait", "median_wait", "p95_wait", "max_wait"))
    return {
        "mean_wait": float(wait.mean()),
        "median_wait": float(np.median(wait)),
        "p95_wait": float(np.percentile(wait, 95)),
        "max_wait": float(wait.max()),
    }


def errors(error: Floats) -> dict[str, float | None]:
    """The mean of errors, their quantiles, the mean size of one, and the share of those that are near."""
    names = ("mean_error", *(f"{name}_error" for name in QUANTILES), "mean_absolute_error", "share_within_10min")
    if not len(error):
        return dict.fromkeys(names)
    values = [error.mean(), *np.quantile(error, list(QUANTILES.values())), np.abs(error).mean()]
    near = (np.abs(error) <= NEAR).mean()
    return dict(zip(names, map(float, [*values, near]), strict=True))


def kolmogorov_smirnov(recorded: Floats, simulated: Floats) -> float:
    """The largest difference between the shares of jobs that wait at most so long."""
    with np.errstate(all="ignore"):  # how likely that is by chance is not asked, and of few jobs not known
        return float(stats.ks_2samp(recorded, simulated, method="asymp").statistic)


def rank_correlation(recorded: Floats, simulated: Floats) -> float | None:
    """Spearman's: 1 where those wait longest that did; None where all wait alike, and there are no ranks."""
    if len(recorded) < 2 or np.ptp(recorded) == 0 or np.ptp(simulated) == 0:
        return None
    return float(stats.spearmanr(recorded, simulated).statistic)


def order_agreement(jobs: pl.DataFrame) -> float | None:
    """Of two jobs that waited at the same time, how often the one that was started first is so again.

    Taken over pairs of which the second waited when the first was started, and was among the next 64 to start. Equal
    starts count half. Submission alone orders all others, and would make any schedule look right.
    """
    rows = jobs.sort("recorded_start", "job_id")
    submit, recorded, simulated = (rows[name].to_numpy() for name in ("submit", "recorded_start", "simulated_start"))
    agree = count = 0.0
    for lag in range(1, min(_SUCCESSIVE, len(rows) - 1) + 1):
        competed = (submit[lag:] < recorded[:-lag]) & (recorded[:-lag] < recorded[lag:])
        first, second = simulated[:-lag][competed], simulated[lag:][competed]
        agree += float((first < second).sum() + 0.5 * (first == second).sum())
        count += float(competed.sum())
    return agree / count if count else None


def in_all(jobs: pl.DataFrame) -> pl.DataFrame:
    """One row for all jobs, as tables of groups have them."""
    return _rows(jobs.with_columns(key=pl.lit(0)), lambda _: "all jobs", "key")


def by_size(jobs: pl.DataFrame, nodes: int) -> pl.DataFrame:
    """A row for each class of sizes that has jobs, small to large."""
    tops, labels = size_classes(max(nodes, int(jobs["nodes"].max() or 1)))  # type: ignore[arg-type]
    place = np.searchsorted(tops[:-1], jobs["nodes"].to_numpy())
    return _rows(jobs.with_columns(key=pl.Series(place, dtype=pl.Int64)), lambda key: labels[key], "key")


def by_column(jobs: pl.DataFrame, column: str) -> pl.DataFrame | None:
    """A row for each user, queue or account, most node-hours first; None where the trace tells of none."""
    if column not in jobs.columns or not (jobs[column] >= 0).any():
        return None
    name = f"{column}_name"
    words = dict(jobs.select(column, name).unique().rows()) if name in jobs.columns else {}
    known = jobs.with_columns(key=pl.col(column))
    return _rows(known, lambda key: "unknown" if key < 0 else words.get(key) or str(key), "node_hours")


def _rows(jobs: pl.DataFrame, called: Any, order: str) -> pl.DataFrame:
    rows = []
    for (key,), part in jobs.group_by("key", maintain_order=True):
        recorded, simulated = (part[f"{kind}_wait"].to_numpy() for kind in ("recorded", "simulated"))
        row: dict[str, Any] = {"key": key, "name": called(key), "jobs": len(part)}
        row["node_hours"] = float((part["nodes"] * part["run_time"]).sum()) / 3600
        for kind, wait in (("recorded", recorded), ("simulated", simulated)):
            row |= {f"{kind}_{name}": value for name, value in _waits(wait).items()}
        rows.append(row | errors(simulated - recorded))
    frame = pl.DataFrame(rows, infer_schema_length=None)
    if frame.is_empty():
        return frame
    return frame.sort([order, "key"], descending=[order != "key", False]).drop("key")
