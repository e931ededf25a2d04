"""What is reported: the claims of the text and what became of them, what its choices change, policies beyond it."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from forebay.experiments import statistics
from forebay.experiments.runs import Jobs, Run, workload_of
from forebay.platforms import load
from forebay.platforms.tiers import pfs
from forebay.studies import _tables
from forebay.studies._expected import read_expected
from forebay.studies._frame import Finished, Report
from forebay.studies._tables import Column, Metric, Row, tagged
from forebay.studies.admire2023_io import _claims, _figures, _series
from forebay.studies.admire2023_io import _numbers as numbers
from forebay.studies.admire2023_io._plan import PLAIN, Scope
from forebay.studies.admire2023_io._settings import FOLDER

if TYPE_CHECKING:
    import polars as pl

UNPUBLISHED = (
    "the text says neither when jobs come nor how loads make nodes: percentages and shapes are compared, on workloads "
    "of ours that all come at once"
)


def report(scope: Scope, finished: Finished) -> Report:
    """Tables and figures of every section that was run."""
    rows = [row | _use(run, row) for (run, _), row in zip(finished, _tables.rows_of(finished), strict=True)]
    made = Report(frames={"runs": _tables.all_numbers(rows)}, notes=[UNPUBLISHED])
    expected, claims = read_expected(FOLDER / "expected.csv"), list[Row]()
    for section in scope.sections:
        mine = tagged(rows, section=section)
        runs = [(run, record) for run, record in finished if run.tags["section"] == section]
        with made.drawn_of(runs):
            if section == "choices":
                _choices(scope, mine, made)
            elif section == "beyond":
                _beyond(scope, mine, made)
            else:
                claims += [{"section": section, **one} for one in _claims.of(scope, mine, expected)]
                claims += _published(scope, runs, mine, made)
    if claims:
        columns: list[Column] = [("ours", lambda row: row["ours"]), ("verdict", lambda row: row["verdict"])]
        made.shown.insert(0, _tables.written("The claims of the text", claims, ("section", "claim", "where"), columns))
        made.frames["claims"] = _tables.all_numbers(claims)
    return made


def _use(run: Run, row: Row) -> Row:
    """All that was computed, and written, over what the machine could have computed and written meanwhile."""
    machine = load(run.platform)
    written = next(tier.write for tier in machine.tiers if isinstance(tier, pfs.Tier) and tier.write is not None)
    return {
        numbers.CPU.name: _flop(run.jobs) / (machine.speed * machine.nodes * row["makespan"]),
        numbers.FILES.name: row["bytes_write"] / (written * row["makespan"]),
    }


@lru_cache(maxsize=1000)
def _flop(jobs: Jobs) -> float:
    table = workload_of(jobs).jobs
    return float((table["flop"] * table["nodes"]).sum())


def _published(scope: Scope, runs: Finished, rows: list[Row], made: Report) -> list[Row]:
    """Every policy beside FCFSm; of the published section also what happens over time, and the figures."""
    section, base = rows[0]["section"], tagged(rows, policy=scope.settings.reference)
    lines = [numbers.beside(tagged(rows, policy=name), base, policy=name) for name in scope.policies]
    columns, claims, some = _columns(), list[Row](), min(scope.settings.series, len(base))
    if section == "published":
        series = {
            policy: [_series.of(run) for run, _ in runs if run.tags["policy"] == policy and run.tags["workload"] < some]
            for policy in scope.policies
        }
        claims = [{"section": section, **one} for one in _claims.over_time(scope, series)]
        for row in lines:
            mine = series[row["policy"]]
            row |= {"deviation": _claims.deviation(mine), "busy": statistics.mean([one.busy() for one in mine])}
        columns += [
            ("|W - S|", lambda row: f"{row['deviation']:.4f}"),
            ("file system busy", lambda row: f"{100 * row['busy']:.1f} %"),
        ]
        made.figures |= _figures.published(runs, {policy: mine[0] for policy, mine in series.items()})
        made.notes.append(
            f"|W - S| and how long the file system is busy are means over {some} of {len(base)} workloads"
        )
    title = f"Beside {scope.settings.reference} ({section}): {len(base)} workloads"
    made.shown.append(_tables.written(title, lines, ("policy",), columns))
    made.frames[section] = _numbers_of(lines)
    return claims


def _numbers_of(lines: Sequence[Row]) -> "pl.DataFrame":
    """What programs want of a table: all but the texts."""
    return _tables.all_numbers([{key: row[key] for key in row if not key.startswith("told_")} for row in lines])


def _columns() -> list[Column]:
    made: list[Column] = []
    for metric in numbers.TIMES:
        made += [(metric.title, _text(metric)), ("change", _changed(metric))]
    return [*made, *((metric.title, _percent(metric)) for metric in (numbers.CPU, numbers.FILES))]


def _text(metric: Metric) -> Callable[[Row], str]:
    return lambda row: metric.text(row[metric.name])


def _changed(metric: Metric) -> Callable[[Row], str]:
    return lambda row: str(row[f"told_{metric.name}"])


def _percent(metric: Metric) -> Callable[[Row], str]:
    return lambda row: f"{100 * row[metric.name]:.1f} %"


def _choices(scope: Scope, rows: list[Row], made: Report) -> None:
    """Every policy beside FCFSm under the same choice."""
    lines: list[Row] = []
    for choice in dict.fromkeys(row["choice"] for row in rows):
        mine = tagged(rows, choice=choice)
        # What a policy makes of intensities is nothing to FCFSm.
        base = tagged(mine, policy=scope.settings.reference) or tagged(
            rows, choice=PLAIN, policy=scope.settings.reference
        )
        for policy in dict.fromkeys(row["policy"] for row in mine):
            lines.append(numbers.beside(tagged(mine, policy=policy), base, choice=choice, policy=policy))
    title = f"What the text leaves open: {scope.settings.choices.workloads} workloads"
    made.shown.append(_tables.written(title, lines, ("choice", "policy"), _columns()))
    made.frames["choices"] = _numbers_of(lines)


def _beyond(scope: Scope, rows: list[Row], made: Report) -> None:
    """Every policy beside FCFSm; those with a pool of bandwidth beside themselves without it too."""
    lines: list[Row] = []
    for jobs in dict.fromkeys(row["jobs"] for row in rows):
        mine = tagged(rows, jobs=jobs)
        base = tagged(mine, policy=scope.settings.reference, share=None)
        for policy, share in dict.fromkeys((row["policy"], row["share"]) for row in mine):
            some, plain = (tagged(mine, policy=policy, share=one) for one in (share, None))
            row = numbers.beside(some, base, policy=policy, jobs=jobs, share="-" if share is None else f"{share:g}")
            for metric in numbers.TIMES:
                row[f"told_pool_{metric.name}"] = (
                    "" if share is None else numbers.change_text(numbers.change(some, plain, metric))
                )
            lines.append(row)
    columns = _columns()
    made.shown.append(_tables.written("Beyond the text", lines, ("policy", "jobs", "share"), columns))
    pooled: list[Column] = [(metric.title.partition(" (")[0], _of_pool(metric)) for metric in numbers.TIMES]
    reserved = [row for row in lines if row["share"] != "-"]
    title = "Bandwidth reserved, against the same policy without"
    made.shown.append(_tables.written(title, reserved, ("policy", "jobs", "share"), pooled))
    made.frames["beyond"] = _numbers_of(lines)


def _of_pool(metric: Metric) -> Callable[[Row], str]:
    return lambda row: str(row[f"told_pool_{metric.name}"])
