"""The figures of the text, by their numbers there; each with its data as CSV."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.experiments.runs import workload_of
from forebay.studies._expected import Expected
from forebay.studies._frame import Finished, Report
from forebay.studies._tables import Metric, Row, tagged
from forebay.studies.admire2023_mebf import _numbers as numbers

if TYPE_CHECKING:
    from forebay.experiments.runs import Run
    from forebay.figures._steps import Steps
    from forebay.results import Result
    from forebay.studies.admire2023_mebf._plan import Scope

Drawing = Callable[[Path], list[Path]]

_MINUTE = 60.0


INTERVALS = 240
"""Over which means are drawn."""


def published(scope: "Scope", rows: Sequence[Row], finished: Finished, expected: Expected, made: Report) -> None:
    """Figs 4.1 to 4.5."""
    chosen = scope.settings.published
    least, most = min(chosen.jobs), max(chosen.jobs)
    many = [(run, record) for run, record in finished if run.tags["jobs"] == most]
    few = [(run, record) for run, record in finished if run.tags["jobs"] == least and run.tags["draw"] == 0]
    mixed = [run for run, _ in few if run.tags["application"] == "mixed"]
    large = tagged(rows, jobs=most)
    with made.drawn_of(finished):
        made.figures["fig-4-1-execution-times"] = partial(_execution, scope, rows)
    with made.drawn_of(many):
        made.figures["fig-4-2-nodes-in-use"] = partial(_by_application, scope, large, numbers.NODES, 0.01, Expected({}))
        made.figures["fig-4-3-jobs-per-node"] = partial(
            _by_application, scope, large, numbers.ALLOCATIONS, 1.0, expected
        )
    with made.drawn_of(few):
        made.figures["fig-4-4-cpu-utilisation"] = partial(_over_time, [run for run, _ in few])
        if mixed:
            made.figures["fig-4-5-schedule"] = partial(_schedules, mixed)


def _short(policy: str) -> str:
    return policy.partition(":")[0]


def _execution(scope: "Scope", rows: Sequence[Row], path: Path) -> list[Path]:
    from forebay.figures.panels import bars

    found = []
    for application in scope.settings.published.applications:
        for jobs in scope.settings.published.jobs:
            for policy in scope.specs:
                mine = tagged(rows, application=application, jobs=jobs, policy=policy)
                one = numbers.spread(mine, numbers.EXECUTION)
                half = None if one.half is None else one.half / _MINUTE
                found.append(bars.Bar(application, str(jobs), _short(policy), one.mean / _MINUTE, half))
    return bars.draw(found, path, "mean execution time (min)", "jobs")


def _by_application(
    scope: "Scope", rows: Sequence[Row], metric: Metric, unit: float, expected: Expected, path: Path
) -> list[Path]:
    """One number of the largest workload; what is published of it is the same for all applications."""
    from forebay.figures.panels import bars

    found = []
    for application in scope.settings.published.applications:
        for policy in scope.specs:
            one = numbers.spread(tagged(rows, application=application, policy=policy), metric)
            known = expected.find(section="published", policy=_short(policy), metric=metric.name)
            half = None if one.half is None else one.half / unit
            value = None if known is None else known.value
            found.append(bars.Bar("", application, _short(policy), one.mean / unit, half, value))
    return bars.draw(found, path, f"{metric.title}{' (%)' if unit != 1 else ''}")


def again(run: "Run") -> "Result":
    """The whole result of a run: stores keep its numbers alone."""
    from forebay._run.simulate import simulate

    return simulate(workload_of(run.jobs), run.platform, run.policy, run.seed, run.job_model, progress=False)


def _over_time(runs: Sequence["Run"], path: Path) -> list[Path]:
    from forebay.figures.panels.timelines import over_time

    curves: dict[str, dict[str, Steps]] = {}
    for run in runs:
        curves.setdefault(run.tags["application"], {})[_short(run.policy)] = _smooth(computing(again(run)))
    return over_time.draw(curves, path, "nodes that\ncompute (%)")


def _smooth(steps: "Steps") -> "Steps":
    """Means over intervals, to the end: rounds of computing and writing would be a grey band."""
    import numpy as np

    from forebay.figures._steps import averaged, width_for

    end = float(steps[0][-1])
    times, values = averaged(steps, 0.0, end, width_for(0.0, end, INTERVALS))
    return np.append(times, end), np.append(values, 0.0)


def computing(result: "Result") -> "Steps":
    """The share of all nodes, in percent, whose jobs compute: not those whose jobs read or write."""
    import polars as pl

    from forebay.figures._steps import summed

    takes, gives = (pl.col("kind").is_in(some) for some in (["start", "acquire"], ["end", "release"]))
    amount = pl.when(takes).then("amount").when(gives).then(-pl.col("amount")).otherwise(0)
    on_nodes, computes = pl.col("resource") == "nodes", pl.col("reason") == "compute"
    begins, ends = pl.col("kind") == "begin_phase", pl.col("kind") == "end_phase"
    held = pl.when(on_nodes).then(amount).otherwise(0).cum_sum().over("job")
    busy = (pl.when(computes).then(begins.cast(pl.Int64) - ends.cast(pl.Int64)).otherwise(0)).cum_sum().over("job")
    at_work = (held * busy).alias("at_work")
    rows = result.log.select("time", "job", at_work)
    steps = rows.select("time", change=pl.col("at_work").diff().over("job").fill_null(pl.col("at_work")))
    share = 100 * steps["change"].to_numpy() / result.resources["nodes"]
    return summed(steps["time"].to_numpy(), share)


def _schedules(runs: Sequence["Run"], path: Path) -> list[Path]:
    from forebay.figures import gantt

    return gantt.draw({_short(run.policy): again(run) for run in runs}, path)
