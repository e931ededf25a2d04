"""The figures of the paper, by their numbers there, and those of what goes beyond it; each with its data as CSV."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.studies._tables import Metric, Row, tagged
from forebay.studies.sas2019 import _numbers as numbers

if TYPE_CHECKING:
    from forebay.figures.panels.curves import Panel
    from forebay.studies.sas2019._plan import Scope

Drawings = dict[str, Callable[[Path], list[Path]]]

_HOURS = {numbers.MAKESPAN.name: (3600.0, "makespan (h)"), numbers.TURNAROUND.name: (3600.0, "mean turnaround (h)")}
_P = "probability p of fast storage"


def against(scope: "Scope", rows: Sequence[Row]) -> Drawings:
    """Figs 3a to 3d."""
    return {"fig-3-sas-and-random": partial(_draw, scope, rows, _four)}


def staging(scope: "Scope", rows: Sequence[Row]) -> Drawings:
    """Fig. 4."""
    return {"fig-4-staging-bandwidth": partial(_draw, scope, rows, _staging)}


def mistakes(scope: "Scope", rows: Sequence[Row]) -> Drawings:
    """Figs 5a to 5d."""
    return {"fig-5-mistakes": partial(_draw, scope, rows, _mistakes)}


def _draw(
    scope: "Scope", rows: Sequence[Row], panels: "Callable[[Scope, Sequence[Row]], list[Panel]]", path: Path
) -> list[Path]:
    from forebay.figures.panels import curves

    return curves.draw(panels(scope, rows), path)


def _size(capacity: str) -> str:
    return capacity.replace("GB", " GB")


def _over_p(scope: "Scope", rows: Sequence[Row], metric: Metric, k: int, title: str = "") -> "Panel":
    """A metric of random tiers over p, and of the other policies as levels."""
    from forebay.figures.panels.curves import Panel, Points

    scale, label = _HOURS.get(metric.name, (0.01, f"{metric.title} (%)"))
    pooled = metric in (numbers.NODES, numbers.FAST)
    points, levels = [], []
    for capacity in scope.settings.capacities:
        mine = tagged(rows, k=k, capacity=capacity)
        one = numbers.curve(tagged(mine, policy="random"), "p", metric, pooled)
        points.append(
            Points(
                f"random, {_size(capacity)}",
                one.x,
                [value / scale for value in one.y],
                [value / scale for value in one.deviation],
            )
        )
        for policy in scope.specs:
            some = tagged(mine, policy=policy)
            value = numbers.utilisation(some, metric) if pooled else numbers.mean(some, metric)
            levels.append((f"{policy}, {_size(capacity)}", value / scale))
    return Panel(
        _P, label, points, levels, title=title, least=0.0 if pooled else None, largest=100.0 if pooled else None
    )


def _four(scope: "Scope", rows: Sequence[Row]) -> "list[Panel]":
    (k,) = scope.settings.against.k[:1]
    metrics = (numbers.MAKESPAN, numbers.TURNAROUND, numbers.NODES, numbers.FAST)
    return [_over_p(scope, rows, metric, k, f"{letter})") for letter, metric in zip("abcd", metrics, strict=True)]


def _staging(scope: "Scope", rows: Sequence[Row]) -> "list[Panel]":
    return [
        _over_p(scope, rows, metric, k, f"staging {k} x as fast as slow storage")
        for k in scope.settings.staging.k
        for metric in numbers.TIMES
    ]


def _mistakes(scope: "Scope", rows: Sequence[Row]) -> "list[Panel]":
    """Makespan, jobs by tier, utilisation and turnaround over theta; behind the times, all that random tiers do."""
    from forebay.figures.panels.curves import Panel, Points

    label, random = "mistakes of users (theta)", tagged(rows, policy="random")
    n_slow, n_fast = Metric("n_on_slow", "", 0), Metric("n_on_fast", "", 0)

    def points(name: str, metric: Metric, scale: float, degree: int, pooled: bool = False) -> "list[Points]":
        made = []
        for policy in scope.specs:
            one = numbers.curve(tagged(rows, policy=policy), "theta", metric, pooled)
            text = f"{policy}{name}"
            made.append(Points(text, one.x, [y / scale for y in one.y], [d / scale for d in one.deviation], degree))
        return made

    def times(metric: Metric, title: str) -> "Panel":
        means = [y / 3600 for y in numbers.curve(random, "p", metric).y]
        ranges = [("random, p from 0 to 1", min(means), max(means))]
        return Panel(label, _HOURS[metric.name][1], points("", metric, 3600, 2), ranges=ranges, title=title)

    jobs = points(": jobs on slow storage", n_slow, 1, 1) + points(": jobs on fast storage", n_fast, 1, 1)
    used = points(": nodes", numbers.NODES, 0.01, 1, True) + points(": fast storage", numbers.FAST, 0.01, 1, True)
    return [
        times(numbers.MAKESPAN, "a)"),
        Panel(label, "jobs", jobs, title="b)"),
        Panel(label, "in use (%)", used, title="c)", least=0.0, largest=100.0),
        times(numbers.TURNAROUND, "d)"),
    ]
