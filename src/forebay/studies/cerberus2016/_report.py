"""What is reported: responses of every variant beside the published ones, the paper's claims, replays, shared links."""

from typing import Any

import numpy as np

from forebay.experiments import statistics
from forebay.studies import _tables
from forebay.studies._expected import Expected, read_expected
from forebay.studies._frame import Finished, Report
from forebay.studies._tables import Column, Metric, Row
from forebay.studies.cerberus2016 import _figures
from forebay.studies.cerberus2016._plan import Scope
from forebay.studies.cerberus2016._settings import FOLDER

MEAN = Metric("mean_turnaround_time", "mean response (s)", 0)
MEDIAN = Metric("p50_turnaround_time", "median response (s)", 0)
WORST = Metric("max_turnaround_time", "worst response (s)", 0)
LAST = Metric("makespan", "last completion (s)", 0)
METRICS = (MEAN, MEDIAN, WORST, LAST)
FASTER = Metric("share_faster", "share of jobs that respond sooner", 3)

MADE_UP = (
    "the log is not here (name its folder with --data, or in FOREBAY_DATA): jobs are made up by a model, and published "
    "numbers do not apply to them"
)
ANOTHER_DRAW = "volumes and arrivals are draws of ours: single numbers differ from the authors' by chance too"


def report(scope: Scope, finished: Finished) -> Report:
    """Tables and figures of every section that was run."""
    expected = read_expected(FOLDER / "expected.csv") if scope.trace is not None else Expected({})
    rows = _tables.rows_of(finished)
    made = Report(frames={"runs": _tables.all_numbers(rows)} if rows else {})
    made.notes.append(MADE_UP if scope.trace is None else ANOTHER_DRAW)
    for section in scope.sections:
        some = [(run, record) for run, record in finished if run.tags["section"] == section]
        with made.drawn_of(some):
            if section == "replay":
                _replays(scope, made)
            elif section == "shared":
                _shared(scope, _tables.rows_of(some), made)
            else:
                _version(scope, section, some, expected, made)
    return made


def _version(scope: Scope, version: str, finished: Finished, expected: Expected, made: Report) -> None:
    """Responses by variant, and which of two variants serves a job sooner."""
    rows, every = _tables.rows_of(finished), []
    known = len(expected) > 0
    for metric in METRICS:
        cells = _tables.compared(_tables.cells(rows, ("section", "policy"), metric.name), expected)
        every += cells
        table = _tables.written(
            f"{metric.title.capitalize()}, {version}: {scope.settings.draws} draws",
            _titled(scope, cells),
            ("variant",),
            _tables.draw_columns(metric, known),
        )
        (made.shown if metric in (MEAN, WORST) else made.detailed).append(table)
    pairs = _pairs(scope, version, finished, expected)
    every += pairs
    title = f"Share of jobs that respond sooner under the first of two variants, {version}"
    made.shown.append(_tables.written(title, pairs, ("policy",), _tables.draw_columns(FASTER, known)))
    made.frames[version] = _tables.frame(every)
    made.notes += _claims(rows, expected)
    _figures.version(scope, version, finished, made)


def _titled(scope: Scope, cells: list[Row]) -> list[Row]:
    return [{**row, "variant": scope.settings.variants[row["policy"]].title} for row in cells]


def _pairs(scope: Scope, version: str, finished: Finished, expected: Expected) -> list[Row]:
    """The share of jobs that one variant serves sooner than another, draw by draw: the same jobs, one by one."""
    responses = {(run.tags["policy"], run.tags["draw"]): record.measures["turnaround_time"] for run, record in finished}
    found = []
    for one, other in scope.settings.of(version).pairs:
        shares = [float(np.mean(responses[one, draw] < responses[other, draw])) for draw in range(scope.settings.draws)]
        keys = {"section": version, "policy": f"{one} vs {other}", "metric": FASTER.name}
        found.append(_tables.beside(_tables.Cell(keys, shares, shares), expected.find(**keys)))
    return found


def _claims(rows: list[Row], expected: Expected) -> list[str]:
    """The worst responses that the paper's text names, where they are not those of the per-job results."""
    lines = []
    for cell in _tables.cells(rows, ("section", "policy"), WORST.name):
        claim = expected.find(**{**cell.keys, "metric": "claimed_worst_response"})
        if claim is not None:
            mean = statistics.mean(cell.values)
            lines.append(
                f"{cell.keys['section']}: worst response, {cell.keys['policy']}: {claim.value:,.0f} s in the text "
                f"({claim.source}), ours {mean:,.0f} s ({min(cell.values):,.0f} to {max(cell.values):,.0f})"
            )
    return lines


def _replays(scope: Scope, made: Report) -> None:
    """Every per-job file of the authors that is there, and how far we are off."""
    import polars as pl

    from forebay.errors import InputError
    from forebay.studies.cerberus2016._replay import parse_variant, replay

    rows: list[dict[str, Any]] = []
    for path in scope.results:
        try:
            parse_variant(path.stem)
        except InputError:
            continue  # not named as one of theirs
        error = np.abs(np.subtract(*replay(path, None, scope.trace)))
        rows.append(
            {"file": path.name, "jobs": len(error), "wrong": int((error > 0).sum()), "error": float(error.max())}
        )
    if not rows:
        made.notes.append("replay: there are no per-job results of the authors (cerberus/*.csv beside the log)")
        return
    columns: list[Column] = [
        ("jobs", lambda row: f"{row['jobs']:,}"),
        ("completions that differ", lambda row: str(row["wrong"])),
        ("largest difference (s)", lambda row: f"{row['error']:g}"),
    ]
    made.shown.append(_tables.written("The authors' per-job results, repeated", rows, ("file",), columns))
    made.frames["replay"] = pl.DataFrame(rows)


def _shared(scope: Scope, rows: list[Row], made: Report) -> None:
    """Mean and worst response by how many jobs a link carries at full speed."""
    lines: list[Row] = []
    for name in scope.settings.shared.variants:
        for lanes in (*scope.settings.shared.lanes, None):
            row: Row = {"variant": scope.settings.variants[name].title, "policy": name, "lanes": lanes}
            mine = [one for one in rows if one["policy"] == name and one["lanes"] == lanes]
            for metric in (MEAN, WORST):
                short = statistics.spread([one[metric.name] for one in mine])
                row |= {metric.name: short.mean, f"half_95_{metric.name}": short.half}
            lines.append(row)
    columns: list[Column] = [
        ("jobs at full speed", lambda row: "all" if row["lanes"] is None else str(row["lanes"])),
        (MEAN.title, lambda row: MEAN.text(row[MEAN.name])),
        ("± 95 %", lambda row: MEAN.text(row[f"half_95_{MEAN.name}"])),
        (WORST.title, lambda row: WORST.text(row[WORST.name])),
        ("± 95 % ", lambda row: WORST.text(row[f"half_95_{WORST.name}"])),
    ]
    title = f"Shared links, {scope.settings.shared.version}: {scope.settings.shared.draws} draws"
    made.detailed.append(_tables.written(title, lines, ("variant",), columns))
    made.frames["shared"] = _tables.all_numbers(lines)
    made.figures["shared-links"] = _figures.shared(lines)
