"""What no policy can have less of, for comparisons: cheap bounds, and how far each policy is above them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.errors import ForebayError

if TYPE_CHECKING:
    import polars as pl

    from forebay.experiments.comparison.workspace import Workspace
    from forebay.experiments.setting import Setting

TABLE = "bounds.csv"
HEADLINE = "mean_wait"
METRICS = (HEADLINE, "makespan")
MANY = 5_000
"""Jobs from which on bounds are to be quick."""


@dataclass(frozen=True)
class Least:
    """The largest bounds by metric, and a row for each policy and metric."""

    best: dict[str, dict[str, Any]]
    gaps: "pl.DataFrame"


def of(setting: "Setting", documents: list[dict[str, Any]], made: "Workspace") -> Least | None:
    """The bounds of a comparison; None where none is known, as where nodes fail or sizes are for policies to choose."""
    import polars as pl

    from forebay import _bounds
    from forebay._bounds import _gaps

    if setting.failures is not None or not documents:
        return None
    window = documents[0]["window"]
    period = None if window is None else (float(window[0]), float(window[1]))
    try:
        trace, machine, model = setting.workload, setting.platform, setting.job_model
        found = _bounds.bounds(trace, machine, METRICS, job_model=model, period=period, steps=_steps(setting))
    except ForebayError:
        return None
    rows = []
    for document in documents:
        jobs = pl.read_parquet(made.place(document["policy"]) / "jobs.parquet")
        if period is not None:
            jobs = jobs.filter(pl.col("submission_time").is_between(*period, closed="left"))
        kept = _gaps.keeps_to(jobs, found.n_jobs, found.n_uncertain)
        numbers = document["summary"] if kept else {}
        for metric, row in found.best.items():
            rows.append((document["policy"], metric, *_gaps.of_number(numbers.get(metric), row["value"])))
    return Least(found.best, pl.DataFrame(rows, schema=_gaps.SCHEMA, orient="row"))


def _steps(setting: "Setting") -> int:
    """Of the ascent: for many jobs half of what `forebay bounds` takes, for a few per cent less."""
    return 60 if len(setting.workload) < MANY else 30


def frame(least: Least) -> "pl.DataFrame":
    """Every policy against the bounds."""
    import polars as pl

    how = pl.DataFrame(
        [(metric, row["bound"], row["resource"]) for metric, row in least.best.items()],
        schema=["metric", "bound", "resource"],
        orient="row",
    )
    return least.gaps.join(how, on="metric", how="left", maintain_order="left")
