"""The schedules of Fig. 3.1, and what stealing changes; each with its data as CSV."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.core.units import format_seconds, parse_seconds
from forebay.experiments.runs import workload_of
from forebay.experiments.statistics import Spread
from forebay.studies._tables import Row, tagged
from forebay.studies.sfsj2022 import _claims
from forebay.studies.sfsj2022 import _numbers as numbers
from forebay.studies.sfsj2022._plan import variants as all_variants

if TYPE_CHECKING:
    from forebay.experiments.runs import Run
    from forebay.figures.panels.changes import Change
    from forebay.results import Result
    from forebay.studies.sfsj2022._plan import Scope

_POINTS = "useful utilisation (points)"
_FLOWS = {
    numbers.LARGE: "flow of large jobs (%)",
    numbers.SMALL: "flow of small jobs (%)",
    numbers.WEIGHTED: "node-weighted flow (%)",
}


def _spaced(time: str) -> str:
    """20min as 20 min."""
    return format_seconds(parse_seconds(time))


def again(run: "Run") -> "Result":
    """The whole result of a run: stores keep its numbers alone."""
    from forebay._run.simulate import simulate

    return simulate(
        workload_of(run.jobs), run.platform, run.policy, run.seed, run.job_model, False, run.failures or None
    )


def toy(runs: Sequence["Run"], path: Path) -> list[Path]:
    """Fig. 3.1."""
    from forebay.figures.panels.timelines import schedules

    titles = [run.tags["case"] if not run.failures else f"a node fails, {run.policy}" for run in runs]
    return schedules.draw(
        {f"{letter}) {title}": again(run) for letter, title, run in zip("abc", titles, runs, strict=True)}, path
    )


def changes(scope: "Scope", rows: Sequence[Row], path: Path) -> list[Path]:
    """What stealing changes, by MTBF and downtime."""
    from forebay.figures.panels import changes as panel

    found: list[Change] = []
    for (mtbf, downtime), mine, base in _claims.each_cell(scope, rows):
        found += _of(mine, base, _spaced(mtbf), f"{_spaced(downtime)} down")
    return panel.draw(found, path, "mean time between failures")


def loads(scope: "Scope", rows: Sequence[Row], path: Path) -> list[Path]:
    """What stealing changes, by load."""
    from forebay.figures.panels import changes as panel

    found: list[Change] = []
    for load in scope.settings.loads.loads:
        cell = tagged(rows, load=load)
        mine, base = (tagged(cell, policy=policy) for policy in (scope.settings.proposed, scope.settings.reference))
        found += _of(mine, base, f"{load:g}", "")
    return panel.draw(found, path, "load")


def variants(scope: "Scope", rows: Sequence[Row], path: Path) -> list[Path]:
    """What each variant changes."""
    from forebay.figures.panels import changes as panel

    base = tagged(rows, policy=scope.settings.reference)
    each = (_of(tagged(rows, policy=name), base, name, "") for name in all_variants(scope))
    return panel.draw([one for some in each for one in some], path, "variant")


def _of(rows: Sequence[Row], bases: Sequence[Row], row: str, series: str) -> "Iterable[Change]":
    from forebay.figures.panels.changes import Change

    def change(panel: str, one: Spread) -> Change:
        return Change(panel, row, series, 100 * one.mean, None if one.half is None else 100 * one.half)

    yield change(_POINTS, numbers.more(rows, bases, numbers.USEFUL))
    for metric, text in _FLOWS.items():
        yield change(text, numbers.rises(rows, bases, metric))


def node_time(scope: "Scope", rows: Sequence[Row], path: Path) -> list[Path]:
    """What becomes of the machine's time."""
    from forebay.figures.panels import stacks

    found, policies = [], (scope.settings.reference, scope.settings.proposed)
    for (mtbf, downtime), mine, base in _claims.each_cell(scope, rows):
        for policy, some in zip(policies, (base, mine), strict=True):
            share = partial(numbers.spread, some)
            parts = {metric.title: 100 * share(metric).mean for metric in numbers.SHARES.values()}
            found.append(stacks.Stack(f"{_spaced(downtime)} down", _spaced(mtbf), policy, parts))
    return stacks.draw(found, path, "node-time (%)", "mean time between failures")
