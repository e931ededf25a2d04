"""The figures of the paper, by their numbers there, each with the data behind it as CSV."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._support.text import counted
from forebay.experiments.runs import workload_of
from forebay.studies._expected import Expected
from forebay.studies._frame import Finished
from forebay.studies._tables import SLOWDOWN, WAIT, Metric, Row

if TYPE_CHECKING:
    import polars as pl

    from forebay.studies.kopanski2021._plan import Scope

Draw = Callable[[Path], list[Path]]
Drawings = dict[str, Draw]

HOUR = 3600.0
TOY = {
    "fig-01-toy-fcfs-easy": "fcfs-easy",
    "fig-02-toy-fcfs-bb": "fcfs-bb",
    "fig-02-toy-as-the-text-says": "conservative-bb",
}


def toy() -> Drawings:
    """Figs 1 and 2: eight jobs with and without reservations of burst buffer; Fig. 2 by Algorithm 1 and by its text."""
    return {name: partial(_toy, policy) for name, policy in TOY.items()}


def _toy(policy: str, path: Path) -> list[Path]:
    from forebay import figures
    from forebay._run.simulate import simulate
    from forebay.workload import read

    return figures.draw("gantt", {policy: simulate(read("table1"), policy=policy)}, path)


def full_log(scope: "Scope", finished: Finished, frame: "pl.DataFrame") -> Drawings:
    """Figs 3 and 5 to 10. The tails and quantiles are those of the first draw."""
    first = {run.tags["policy"]: record.measures for run, record in finished if record.measures}
    waits = {policy: measures["waiting_time"] / HOUR for policy, measures in first.items()}
    slowdowns = {policy: measures["bounded_slowdown_10min"] for policy, measures in first.items()}
    made: Drawings = {}
    if "fcfs-easy" in scope.specs:
        made["fig-03-gantt-fcfs-easy"] = partial(_gantt, scope)
    draws = scope.settings.full_log.draws
    made["fig-05-mean-wait"] = partial(_means, frame, WAIT, HOUR, "mean waiting time (h)", draws)
    made["fig-06-mean-bounded-slowdown"] = partial(
        _means, frame, SLOWDOWN, 1.0, "mean bounded slowdown (10 min)", draws
    )
    made["fig-07-wait-quantiles"] = partial(_letters, waits, "waiting time (h)")
    made["fig-08-bounded-slowdown-quantiles"] = partial(_letters, slowdowns, "bounded slowdown (10 min)")
    tail = scope.settings.full_log.tail
    made["fig-09-wait-tail"] = partial(_tail, waits, f"the {tail:,} longest waits (h)", tail)
    label = f"the {tail:,} largest bounded slowdowns"
    made["fig-10-bounded-slowdown-tail"] = partial(_tail, slowdowns, label, tail)
    return made


def _gantt(scope: "Scope", path: Path) -> list[Path]:
    from forebay import figures
    from forebay._run.simulate import simulate

    workload = workload_of(scope.log(0, first=scope.settings.full_log.gantt))
    spec, model = scope.specs["fcfs-easy"], scope.settings.full_log.job_model
    result = simulate(workload, scope.settings.platform, spec, job_model=model)
    return figures.draw("gantt", {f"fcfs-easy, first {counted(len(workload), 'job')}": result}, path)


def _means(frame: "pl.DataFrame", metric: Metric, unit: float, label: str, draws: int, path: Path) -> list[Path]:
    from forebay.figures.panels.means import Mean, draw

    rows = [row for row in frame.iter_rows(named=True) if row["metric"] == metric.name]
    means = [Mean(row["policy"], row["mean"], row["half_95"], row["published"]) for row in rows]
    words = f"mean of {draws} draws, 95 % interval" if draws > 1 else "mean of one draw"
    return draw(means, path, label, unit, words)


def _letters(values: dict[str, Any], label: str, path: Path) -> list[Path]:
    from forebay.figures import letter_values

    return letter_values.draw_values(values, path, label, _hours if "(h)" in label else _plain)


def _tail(values: dict[str, Any], label: str, most: int, path: Path) -> list[Path]:
    from forebay.figures.panels import tails

    return tails.draw(values, path, label, _plain, most)


def _plain(axis: Any, least: float, largest: float) -> None:
    from forebay.figures import _style

    _style.log_axis(axis, "x", max(least, 1e-3), 1.5 * largest)
    axis.set_xlim(0.9 * max(least, 1e-3), 1.5 * largest)


def _hours(axis: Any, least: float, largest: float) -> None:
    """Even below some minutes, so that jobs without a wait have a place."""
    ticks = [0.0, *(tick for tick in (0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0) if tick <= largest)]
    axis.set_xscale("asinh", linear_width=0.03)
    axis.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
    axis.xaxis.minorticks_off()
    axis.set_xlim(-0.005, 1.3 * largest)


def sixteen(scope: "Scope", dots: list[Row], expected: Expected, metrics: Sequence[Metric]) -> Drawings:
    """Figs 11 and 12; of policies that are too far off to share an axis, see the tables."""
    names = ("fig-11-normalised-wait", "fig-12-normalised-bounded-slowdown")
    far = {"fcfs", "fcfs-easy", scope.settings.reference}
    shown = [row for row in dots if row["policy"] not in far] or dots
    return {
        name: partial(_boxes, shown, metric, scope.settings.reference, expected)
        for name, metric in zip(names, metrics, strict=True)
    }


def _boxes(dots: list[Row], metric: Metric, reference: str, expected: Expected, path: Path) -> list[Path]:
    import polars as pl

    from forebay.figures.panels import boxes

    name = f"ratio_{metric.name}"
    rows = [row for row in dots if name in row]
    table = pl.DataFrame(
        [(row["policy"], row["draw"], row["part"], row[name]) for row in rows],
        {"policy": pl.String, "draw": pl.Int64, "part": pl.Int64, "ratio": pl.Float64},
        orient="row",
    )
    published = {}
    for row in rows:
        found = expected.find(section="sixteen", job_model=row["job_model"], policy=row["policy"], metric=name)
        if found is not None:
            published[row["policy"]] = found.value
    words = metric.title.partition(" (")[0]
    return boxes.draw(table, path, f"{words}, divided by that of {reference}", published)


def parts(rows: list[Row], expected: Expected, metrics: Sequence[Metric]) -> Drawings:
    """Every run as a ratio to the number published for its part. fcfs-easy, off by factors, has pictures of its own."""
    keys = ("section", "part", "job_model", "policy")
    known = [row for row in rows if expected.find(**{key: row[key] for key in keys}, metric=metrics[0].name)]
    apart = {
        "parts": [row for row in known if row["policy"] != "fcfs-easy"],
        "parts-fcfs-easy": [row for row in known if row["policy"] == "fcfs-easy"],
    }
    return {
        f"{name}-{metric.name.replace('_', '-')}": partial(_against, some, expected, metric)
        for name, some in apart.items()
        for metric in metrics
        if some
    }


def choices(dots: list[Row], metrics: Sequence[Metric], theirs: tuple[str, str]) -> Drawings:
    """Every run as a ratio to itself under the authors' choices. fcfs-easy, off by factors, has pictures of its own."""
    others = [row for row in dots if (row["reservations"], row["buffers"]) != theirs and row["ratio"] is not None]
    apart = {
        "choices": [row for row in others if row["policy"] != "fcfs-easy"],
        "choices-fcfs-easy": [row for row in others if row["policy"] == "fcfs-easy"],
    }
    return {
        f"{name}-{metric.name.replace('_', '-')}": partial(_chosen, some, metric, ", ".join(theirs))
        for name, some in apart.items()
        for metric in metrics
        if some
    }


def _chosen(dots: list[Row], metric: Metric, theirs: str, path: Path) -> list[Path]:
    import polars as pl

    from forebay.figures.panels import against

    names = ("job_model", "policy", "reservations", "buffers", "replica", "seed", "ratio")
    rows = [{name: row[name] for name in names} for row in dots if row["metric"] == metric.name]
    choice = pl.concat_str("reservations", "buffers", separator=", ")
    table = pl.DataFrame(rows).with_columns(choice=choice, as_given=pl.col("replica") == 0)
    label = f"{metric.title.partition(' (')[0]} ({theirs} = 1)"  # longer, and those of two panels meet
    return against.draw(table.drop("reservations", "buffers"), path, label, "choice")


def _against(rows: list[Row], expected: Expected, metric: Metric, path: Path) -> list[Path]:
    import polars as pl

    from forebay.figures.panels import against

    keys = ("section", "part", "job_model", "policy")
    found = []
    for row in rows:
        published = expected.find(**{key: row[key] for key in keys}, metric=metric.name)
        if published is not None:
            ratio = row[metric.name] / published.value
            found.append((row["job_model"], row["policy"], row["part"], row["replica"], row["seed"], ratio))
    schema = {"job_model": pl.String, "policy": pl.String, "part": pl.Int64, "replica": pl.Int64, "seed": pl.Int64}
    table = pl.DataFrame(found, schema | {"ratio": pl.Float64}, orient="row")
    table = table.with_columns(as_given=pl.col("replica") == 0)
    return against.draw(table, path, f"{metric.title.partition(' (')[0]}, ours / published")
