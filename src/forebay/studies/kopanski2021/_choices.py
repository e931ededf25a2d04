"""What the authors' choices change: counted reservations, a pooled buffer, and both, run by run against theirs."""

from forebay.experiments import statistics
from forebay.studies import _tables
from forebay.studies._expected import Expected
from forebay.studies._frame import Report
from forebay.studies._tables import SLOWDOWN, WAIT, Column, Metric, Row
from forebay.studies.kopanski2021 import _figures
from forebay.studies.kopanski2021._plan import Scope

METRICS = (WAIT, SLOWDOWN)
_CELL = ("job_model", "policy", "reservations", "buffers")


def tell(scope: Scope, rows: list[Row], expected: Expected, made: Report) -> None:
    """A table a metric, with a column a choice; a picture of every ratio."""
    chosen, lines, dots = scope.settings.choices, [], []
    others = [(kind, lie) for kind in chosen.reservations for lie in chosen.buffers][1:]
    for metric in METRICS:
        ratios = _ratios(scope, rows, metric)
        dots += ratios
        mine = [_row(scope, cell, metric, expected) for cell in _grouped(ratios)]
        lines += mine
        title = f"{metric.title.capitalize()}: what the authors' choices change"
        columns = _columns(scope, metric, mine, others, len(expected) > 0)
        first = [row for row in mine if (row["reservations"], row["buffers"]) == _theirs(scope)]
        made.shown.append(_tables.written(title, first, ("job_model", "policy"), columns))
    made.frames |= {"choices": _tables.all_numbers(lines), "choices-ratios": _tables.all_numbers(dots)}
    made.figures |= _figures.choices(dots, METRICS, _theirs(scope))


def _theirs(scope: Scope) -> tuple[str, str]:
    """What the authors chose."""
    return scope.settings.choices.reservations[0], next(iter(scope.settings.choices.buffers))


def _ratios(scope: Scope, rows: list[Row], metric: Metric) -> list[Row]:
    """A row a run: its mean over the parts, and that divided by the same run's under the authors' choices."""
    by = (*_CELL, "replica", "seed")
    means = _tables.averaged(rows, "part", by, metric.name, scope.parts)
    theirs = _theirs(scope)
    same = ("job_model", "policy", "replica", "seed")
    bases = {
        tuple(row[key] for key in same): row[metric.name]
        for row in means
        if (row["reservations"], row["buffers"]) == theirs
    }
    found = []
    for row in means:
        base = bases[tuple(row[key] for key in same)]
        tags = {key: row[key] for key in by} | {"metric": metric.name}
        found.append(tags | {"mean": row[metric.name], "ratio": row[metric.name] / base if base else None})
    return found


def _grouped(ratios: list[Row]) -> list[list[Row]]:
    cells: dict[tuple[str, ...], list[Row]] = {}
    for row in ratios:
        cells.setdefault(tuple(row[key] for key in _CELL), []).append(row)
    return list(cells.values())


def _row(scope: Scope, cell: list[Row], metric: Metric, expected: Expected) -> Row:
    """A choice in short: means over the parts, as given and over all runs, and the ratio with its interval."""
    keys = {key: cell[0][key] for key in _CELL} | {"metric": metric.name}
    values = [row["ratio"] for row in cell if row["ratio"] is not None]
    ratio = statistics.spread(values) if values else None
    find = {"section": "parts", "job_model": keys["job_model"], "policy": keys["policy"], "metric": metric.name}
    return keys | {
        "n_runs": len(cell),
        "as_given": statistics.mean([row["mean"] for row in cell if not row["replica"]]),
        "mean": statistics.mean([row["mean"] for row in cell]),
        "ratio": ratio.mean if ratio else None,
        "ratio_half_95": ratio.half if ratio else None,
        "published": expected.mean_over(scope.parts, **find),
    }


def _columns(
    scope: Scope, metric: Metric, rows: list[Row], others: list[tuple[str, str]], published: bool
) -> list[Column]:
    """The mean under the authors' choices, then ratios to it: the published mean's, and those of other choices."""
    by_cell = {tuple(row[key] for key in _CELL): row for row in rows}

    def of_choice(choice: tuple[str, str]) -> Column:
        def text(row: Row) -> str:
            return _ratio_text(by_cell[row["job_model"], row["policy"], *choice])

        return ", ".join(choice), text

    theirs: Column = (", ".join(_theirs(scope)), lambda row: metric.text(row["mean"]))
    known: Column = ("published", lambda row: f"{row['published'] / row['mean']:.3f}" if row["published"] else "-")
    return [theirs, *([known] if published else []), *map(of_choice, others)]


def _ratio_text(row: Row) -> str:
    if row["ratio"] is None:
        return "-"
    half = "" if row["ratio_half_95"] is None else f" ± {row['ratio_half_95']:.3f}"
    return f"{row['ratio']:.3f}{half}"
