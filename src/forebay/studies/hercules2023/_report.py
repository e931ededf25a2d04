"""What is reported: gains beside those published, every system beside the reference, and from where on each pays."""

from collections.abc import Callable, Sequence
from functools import partial

from forebay.studies import _tables
from forebay.studies._expected import read_expected
from forebay.studies._frame import Finished, Report
from forebay.studies._tables import WAIT, Column, Metric, Row, tagged
from forebay.studies.hercules2023 import _claims, _figures, _gains, _validation
from forebay.studies.hercules2023 import _numbers as numbers
from forebay.studies.hercules2023._plan import Scope
from forebay.studies.hercules2023._settings import FOLDER

FITTED = (
    "the model of throughput is fitted to the gains that the text gives, so agreement with these is no prediction; the "
    "text has no absolute throughput, and does not look at whole machines"
)


def report(scope: Scope, finished: Finished) -> Report:
    """Tables and figures of every section that was run."""
    made = Report(notes=[FITTED])
    if finished:
        made.frames["runs"] = _tables.all_numbers(numbers.rows_of(finished, scope.settings.machine))
    tellers: dict[str, Callable[[Scope, Sequence[Row], Report], None]] = {
        "machine": _machine,
        "variations": _variations,
    }
    for section in scope.sections:
        mine = [(run, record) for run, record in finished if run.tags["section"] == section]
        with made.drawn_of(mine):
            if section == "published":
                _published(scope, made)
            elif section == "validation":
                _validated(scope, made)
            else:
                tellers[section](scope, numbers.rows_of(mine, scope.settings.machine), made)
    return made


def _published(scope: Scope, made: Report) -> None:
    chosen, expected = scope.settings.published, read_expected(FOLDER / "expected.csv")
    rows = _gains.rows_of(chosen, expected)
    claims = _claims.of(chosen, rows, expected)
    words: list[Column] = [(name, partial(_cell, name)) for name in ("published", "ours", "verdict")]
    made.shown.append(_tables.written("The claims of the text", claims, ("claim", "where"), words))
    columns: list[Column] = [
        ("static (GB/s)", lambda row: f"{row['static'] / 1e9:.2f}"),
        ("malleable (GB/s)", lambda row: f"{row['malleable'] / 1e9:.2f}"),
        ("gain (%)", lambda row: f"{row['gain']:.1f}"),
        ("published (%)", lambda row: "-" if row["published"] is None else f"{row['published']:.1f}"),
        ("points", lambda row: "-" if row["apart"] is None else f"{row['apart']:+.1f}"),
    ]
    keys = ("figure", "scaling", "block", "kind", "servers")
    lines = [row | {"block": _gains.size(row["block"])} for row in rows]
    made.detailed.append(_tables.written("Throughputs and gains", lines, keys, columns))
    made.frames |= {"published": _tables.all_numbers(rows), "claims": _tables.all_numbers(claims)}
    for scaling, figure in _gains.SCALINGS.items():
        name = f"{figure.lower().replace('. ', '-')}-{scaling}-scaling"
        made.figures[name] = partial(_figures.throughputs, chosen, tagged(rows, scaling=scaling))
    made.figures["gains"] = partial(_figures.gains, rows)


def _validated(scope: Scope, made: Report) -> None:
    """How far off fits are from gains that they have not seen."""
    chosen, expected = scope.settings.published, read_expected(FOLDER / "expected.csv")
    rows = list(_validation.predicted(chosen, _gains.rows_of(chosen, expected)))
    found = _validation.errors(rows)
    columns: list[Column] = [("gains", lambda row: str(row["n"]))]
    for name, word in (("foretold", "the model"), ("alike", "mean of gains alike")):
        columns += [
            (f"{word}: points off", partial(_points, f"{name}_off")),
            (f"{word}: at most", partial(_points, f"{name}_off_most")),
        ]
    made.shown.append(_tables.written("Gains that a fit has not seen", found, ("split",), columns))
    words: list[Column] = [(name, partial(_points, name)) for name in ("published", "foretold", "alike")]
    lines = [row | {"block": _gains.size(row["block"])} for row in rows]
    keys = ("split", "figure", "block", "kind", "servers")
    made.detailed.append(_tables.written("Each of them", lines, keys, words))
    made.frames |= {"validation": _tables.all_numbers(rows), "validation-errors": _tables.all_numbers(found)}


def _points(name: str, row: Row) -> str:
    return f"{row[name]:.1f}"


def _machine(scope: Scope, rows: Sequence[Row], made: Report) -> None:
    """Every policy by itself; figures are of the first."""
    reference, lines, pays = scope.settings.machine.reference, list[Row](), list[Row]()
    for policy in scope.specs:
        mine = tagged(rows, policy=policy)
        lines += [{"policy": policy} | row for row in _beside(mine, reference)]
        pays += [{"policy": policy} | row for row in _pays(mine, reference)]
    n = scope.settings.machine.seeds
    made.shown.append(_tables.written("From which share of I/O on each pays", pays, ("policy", "system"), _words(pays)))
    title = f"Every system beside {reference}: {n} seeds"
    made.shown.append(_tables.written(title, lines, ("policy", "system", "io"), _columns()))
    made.frames |= {"machine": _tables.all_numbers(lines), "pays": _tables.all_numbers(pays)}
    first = tagged(rows, policy=next(iter(scope.specs)))
    made.figures["machine-times"] = partial(_figures.changes_of_times, first, reference)
    made.figures["machine-file-system"] = partial(_figures.file_system, first, reference)


def _variations(scope: Scope, rows: Sequence[Row], made: Report) -> None:
    reference, lines, pays = scope.settings.machine.reference, list[Row](), list[Row]()
    for case in scope.cases:
        mine = tagged(rows, case=case)
        lines += [{"case": case} | row for row in _beside(mine, reference)]
        pays += [{"case": case} | row for row in _pays(mine, reference)]
    title = "From which share of I/O on each pays, with one thing changed"
    made.shown.append(_tables.written(title, pays, ("case", "system"), _words(pays)))
    title = f"Variations: {scope.settings.variations.seeds} seeds"
    made.detailed.append(_tables.written(title, lines, ("case", "system", "io"), _columns()))
    made.frames |= {"variations": _tables.all_numbers(lines), "variations-pay": _tables.all_numbers(pays)}


def _beside(rows: Sequence[Row], reference: str) -> list[Row]:
    each = numbers.cells(rows, reference)
    return [{"system": system, "io": io} | numbers.compared(mine, base) for system, io, mine, base in each]


def _pays(rows: Sequence[Row], reference: str) -> list[Row]:
    """Of every system and time: up to which share it loses for certain, and from which on it gains."""
    made: list[Row] = []
    for system in dict.fromkeys(row["system"] for row in rows):
        if system == reference:
            continue
        row: Row = {"system": system}
        for metric in numbers.TIMES:
            changes = {
                io: numbers.change(mine, base, metric)
                for name, io, mine, base in numbers.cells(rows, reference)
                if name == system
            }
            row |= {f"loses_until_{metric.name}": numbers.loses_until(changes)}
            row |= {f"gains_from_{metric.name}": numbers.gains_from(changes)}
        made.append(row)
    return made


def _words(pays: Sequence[Row]) -> list[Column]:
    made: list[Column] = []
    for metric in numbers.TIMES:
        word = metric.title.partition(" (")[0]
        for key, text in (("loses_until", "worse up to"), ("gains_from", "better from")):
            made.append((f"{word}: {text}", partial(_share, f"{key}_{metric.name}")))
    return made


def _share(name: str, row: Row) -> str:
    return "-" if row[name] is None else f"{row[name]:g}"


def _cell(name: str, row: Row) -> str:
    return str(row[name])


def _columns() -> list[Column]:
    made: list[Column] = [
        ("mean wait (h)", partial(_hours, WAIT)),
        ("%", partial(_change, WAIT)),
        ("mean turnaround (h)", partial(_hours, numbers.TURNAROUND)),
        ("%", partial(_change, numbers.TURNAROUND)),
        ("mean bounded slowdown", lambda row: _tables.SLOWDOWN.text(row[_tables.SLOWDOWN.name])),
        ("%", partial(_change, _tables.SLOWDOWN)),
    ]
    shares = (numbers.FILES, numbers.AVOIDED, numbers.SERVERS)
    return made + [(metric.title, partial(_percent, metric)) for metric in shares]


def _hours(metric: Metric, row: Row) -> str:
    return f"{row[metric.name] / 3600:,.2f}"


def _percent(metric: Metric, row: Row) -> str:
    return f"{100 * row[metric.name]:.1f} %"


def _change(metric: Metric, row: Row) -> str:
    mean, half = row[f"change_{metric.name}"], row[f"half_95_{metric.name}"]
    if not mean and not half:
        return "-"
    return f"{100 * mean:+.1f}" + ("" if half is None else f" ± {100 * half:.1f}")
