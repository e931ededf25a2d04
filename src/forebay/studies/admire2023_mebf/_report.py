"""What is reported: the text's claims and what became of them, its choices varied, and policies beyond it."""

from collections.abc import Callable, Sequence
from functools import partial

from forebay.studies import _tables
from forebay.studies._expected import Expected, read_expected
from forebay.studies._frame import Finished, Report
from forebay.studies._tables import Column, Metric, Row, tagged
from forebay.studies.admire2023_mebf import _claims, _figures
from forebay.studies.admire2023_mebf import _numbers as numbers
from forebay.studies.admire2023_mebf._plan import Scope
from forebay.studies.admire2023_mebf._settings import FOLDER

OURS = "the text gives no number of a job: sizes and lengths are ours, fitted to what it says of EASY backfilling"


def report(scope: Scope, finished: Finished) -> Report:
    """Tables and figures of every section that was run."""
    rows, expected = numbers.rows_of(finished), read_expected(FOLDER / "expected.csv")
    made = Report(frames={"runs": _tables.all_numbers(rows)}, notes=[OURS])
    tellers: dict[str, Callable[[Scope, list[Row], Report], None]] = {
        "published": partial(_published, expected, finished),
        "choices": _choices,
        "beyond": _beyond,
    }
    for section in scope.sections:
        tellers[section](scope, tagged(rows, section=section), made)
    return made


def _published(expected: Expected, finished: Finished, scope: Scope, rows: list[Row], made: Report) -> None:
    claims = _claims.of(scope, rows, expected)
    columns: list[Column] = [(name, partial(_cell, name)) for name in ("published", "ours", "verdict")]
    made.shown.append(_tables.written("The text's claims", claims, ("claim", "where"), columns))
    lines: list[Row] = []
    for application in scope.settings.published.applications:
        for jobs in scope.settings.published.jobs:
            cell = tagged(rows, application=application, jobs=jobs)
            base = tagged(cell, policy=scope.settings.reference)
            for policy in scope.specs:
                keys = {"application": application, "jobs": jobs, "policy": policy}
                mine = tagged(cell, policy=policy)
                lines.append(keys | _means(mine) | _falls(mine, base))
    words = ("application", "jobs", "policy")
    title = f"Every workload: falls below {scope.settings.reference}"
    made.shown.append(_tables.written(title, lines, words, _columns()))
    made.frames |= {"claims": _tables.all_numbers(claims), "published": _tables.all_numbers(lines)}
    mine_alone = [(run, record) for run, record in finished if run.tags["section"] == "published"]
    _figures.published(scope, rows, mine_alone, expected, made)


def _cell(name: str, row: Row) -> str:
    return str(row[name])


def _choices(scope: Scope, rows: list[Row], made: Report) -> None:
    """Every choice beside the reference on the same jobs."""
    lines: list[Row] = []
    for jobs in scope.settings.choices.jobs:
        for name, one in scope.settings.choices.varied.items():
            cell = tagged(rows, jobs=jobs, made=one.model)
            mine, base = (tagged(cell, choice=which) for which in (name, scope.settings.reference))
            lines.append({"choice": name, "jobs": jobs} | _means(mine) | _falls(mine, base))
    title = f"What the text leaves open, {scope.settings.choices.application} jobs: falls below "
    made.shown.append(_tables.written(f"{title}{scope.settings.reference}", lines, ("choice", "jobs"), _columns()))
    made.frames["choices"] = _tables.all_numbers(lines)


def _beyond(scope: Scope, rows: list[Row], made: Report) -> None:
    """Every policy, and how far MEBF is below it."""
    lines: list[Row] = []
    for jobs in scope.settings.beyond.jobs:
        cell = tagged(rows, jobs=jobs)
        best = tagged(cell, policy=scope.settings.proposed)
        for policy in [scope.settings.proposed, *scope.settings.beyond.policies]:
            mine = tagged(cell, policy=policy)
            lines.append({"policy": policy, "jobs": jobs} | _means(mine) | _falls(best, mine))
    title = f"Beyond the text, {scope.settings.beyond.application} jobs: how far {scope.settings.proposed} falls below"
    made.shown.append(_tables.written(title, lines, ("policy", "jobs"), _columns()))
    made.frames["beyond"] = _tables.all_numbers(lines)


def _means(rows: Sequence[Row]) -> Row:
    return {metric.name: numbers.spread(rows, metric).mean for metric in numbers.METRICS}


def _falls(rows: Sequence[Row], bases: Sequence[Row]) -> Row:
    """Of the times, with half of their intervals."""
    row: Row = {}
    for metric in numbers.TIMES:
        one = numbers.falls(rows, bases, metric)
        row |= {f"falls_{metric.name}": one.mean, f"half_95_{metric.name}": one.half}
    return row


def _columns() -> list[Column]:
    columns: list[Column] = []
    for metric in numbers.TIMES:
        columns += [(f"{metric.title} (min)", partial(_minutes, metric)), ("falls by", partial(_fall, metric))]
    return [
        *columns,
        (numbers.NODES.title, lambda row: f"{100 * row[numbers.NODES.name]:.1f} %"),
        (numbers.ALLOCATIONS.title, lambda row: numbers.ALLOCATIONS.text(row[numbers.ALLOCATIONS.name])),
    ]


def _minutes(metric: Metric, row: Row) -> str:
    return f"{row[metric.name] / 60:,.0f}"


def _fall(metric: Metric, row: Row) -> str:
    half = row[f"half_95_{metric.name}"]
    return f"{100 * row[f'falls_{metric.name}']:.1f}" + (" %" if half is None else f" ± {100 * half:.1f} %")
