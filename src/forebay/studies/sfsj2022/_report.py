"""What is reported: the toy example, claims and what became of them, every cell, the variants, and what lies beyond."""

from collections.abc import Callable, Sequence
from functools import partial

from forebay.studies import _tables
from forebay.studies._expected import read_expected
from forebay.studies._frame import Finished, Report
from forebay.studies._tables import Column, Metric, Row, tagged
from forebay.studies.sfsj2022 import _claims, _figures
from forebay.studies.sfsj2022 import _numbers as numbers
from forebay.studies.sfsj2022._plan import Scope, variants
from forebay.studies.sfsj2022._settings import FOLDER

OURS = "the work ran logs of Mira, and prints no tables: jobs here are made like Mira's, and claims are signs"


def report(scope: Scope, finished: Finished) -> Report:
    """Tables and figures of every section that was run."""
    made = Report(notes=[OURS])
    tellers: dict[str, Callable[[Scope, Finished, Report], None]] = {
        "toy": _toy,
        "published": _published,
        "loads": _loads,
        "variants": _variants,
        "beyond": _beyond,
    }
    made.frames["runs"] = _tables.all_numbers(numbers.rows_of(finished))
    for section in scope.sections:
        mine = [(run, record) for run, record in finished if run.tags["section"] == section]
        with made.drawn_of(mine):
            tellers[section](scope, mine, made)
    return made


def _toy(scope: Scope, finished: Finished, made: Report) -> None:
    claims = _claims.toy(finished, read_expected(FOLDER / "expected.csv"))
    made.shown.append(_tables.written("The toy example", claims, ("claim", "where"), _words()))
    made.frames["toy"] = _tables.all_numbers(claims)
    made.figures["fig-3-1-toy"] = partial(_figures.toy, [run for run, _ in finished])


def _published(scope: Scope, finished: Finished, made: Report) -> None:
    rows = numbers.rows_of(finished)
    claims = _claims.published(scope, rows)
    made.shown.append(_tables.written("Claims", claims, ("claim", "where"), _words()))
    lines: list[Row] = []
    for (mtbf, downtime), _, base in _claims.each_cell(scope, rows):
        cell = tagged(rows, mtbf=mtbf, downtime=downtime)
        for policy in scope.specs:
            mine = tagged(cell, policy=policy)
            lines.append({"downtime": downtime, "mtbf": mtbf, "policy": policy} | _compared(mine, base))
    title = f"Every cell, beside {scope.settings.reference}"
    made.shown.append(_tables.written(title, lines, ("downtime", "mtbf", "policy"), _columns()))
    made.frames |= {"claims": _tables.all_numbers(claims), "published": _tables.all_numbers(lines)}
    made.figures["changes"] = partial(_figures.changes, scope, rows)
    made.figures["node-time"] = partial(_figures.node_time, scope, rows)


def _loads(scope: Scope, finished: Finished, made: Report) -> None:
    rows, lines = numbers.rows_of(finished), []
    for load in scope.settings.loads.loads:
        cell = tagged(rows, load=load)
        base = tagged(cell, policy=scope.settings.reference)
        for policy in scope.specs:
            lines.append({"load": load, "policy": policy} | _compared(tagged(cell, policy=policy), base))
    title = f"Other loads, beside {scope.settings.reference}"
    made.shown.append(_tables.written(title, lines, ("load", "policy"), _columns()))
    made.frames["loads"] = _tables.all_numbers(lines)
    made.figures["loads"] = partial(_figures.loads, scope, rows)


def _variants(scope: Scope, finished: Finished, made: Report) -> None:
    rows = numbers.rows_of(finished)
    base = tagged(rows, policy=scope.settings.reference)
    names = [scope.settings.reference, *variants(scope)]
    lines = [{"policy": name} | _compared(tagged(rows, policy=name), base) for name in names]
    title = f"All variants, beside {scope.settings.reference}"
    made.shown.append(_tables.written(title, lines, ("policy",), _columns()))
    made.frames["variants"] = _tables.all_numbers(lines)
    made.figures["variants"] = partial(_figures.variants, scope, rows)


def _beyond(scope: Scope, finished: Finished, made: Report) -> None:
    """Every case, its policies beside the first one."""
    rows, lines = numbers.rows_of(finished), []
    for name, case in scope.settings.beyond.cases.items():
        cell = tagged(rows, case=name)
        base = tagged(cell, policy=case.policies[0])
        for policy in case.policies:
            lines.append({"case": name, "policy": policy} | _compared(tagged(cell, policy=policy), base))
    title = "Beyond the work: beside the first policy of each case"
    made.shown.append(_tables.written(title, lines, ("case", "policy"), _columns()))
    made.frames["beyond"] = _tables.all_numbers(lines)


def _words() -> list[Column]:
    return [(name, partial(_cell, name)) for name in ("published", "ours", "verdict")]


def _cell(name: str, row: Row) -> str:
    return str(row[name])


def _compared(rows: Sequence[Row], bases: Sequence[Row]) -> Row:
    """Means over draws, and differences from the reference with half of their intervals."""
    kept = (*numbers.SHARES.values(), numbers.FREE, numbers.STEALS, *numbers.FLOWS)
    row: Row = {metric.name: numbers.spread(rows, metric).mean for metric in kept}
    for metric in (numbers.USEFUL, *numbers.FLOWS):
        change = numbers.more if metric is numbers.USEFUL else numbers.rises
        one = change(rows, bases, metric)
        row |= {f"change_{metric.name}": one.mean, f"half_95_{metric.name}": one.half}
    return row


def _columns() -> list[Column]:
    columns: list[Column] = [
        ("useful", lambda row: f"{100 * row[numbers.USEFUL.name]:.2f} %"),
        ("points", partial(_change, numbers.USEFUL, 2)),
        ("free node", lambda row: f"{100 * row[numbers.FREE.name]:.0f} %"),
        ("steals", lambda row: f"{row[numbers.STEALS.name]:,.0f}"),
    ]
    for metric in (numbers.LARGE, numbers.SMALL):
        columns += [(f"{metric.title} (h)", partial(_hours, metric)), ("%", partial(_change, metric, 1))]
    return columns + [(f"{metric.title} (%)", partial(_change, metric, 1)) for metric in numbers.FLOWS[:3]]


def _hours(metric: Metric, row: Row) -> str:
    return f"{row[metric.name] / 3600:,.1f}"


def _change(metric: Metric, digits: int, row: Row) -> str:
    half = row[f"half_95_{metric.name}"]
    rest = "" if half is None else f" ± {100 * half:.{digits}f}"
    return f"{100 * row[f'change_{metric.name}']:+.{digits}f}{rest}"
