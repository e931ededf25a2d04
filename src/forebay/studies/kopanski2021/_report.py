"""What is reported: tables of means beside the published ones, of ratios to sjf-bb, and the figures of the paper."""

from collections.abc import Sequence

from forebay._support.text import counted
from forebay.experiments import statistics
from forebay.studies import _tables
from forebay.studies._expected import KEYS, Expected, Published, read_expected
from forebay.studies._frame import Finished, Report
from forebay.studies._tables import SLOWDOWN, WAIT, Column, Metric, Row
from forebay.studies.kopanski2021 import _better, _choices, _figures
from forebay.studies.kopanski2021._plan import Scope
from forebay.studies.kopanski2021._settings import FOLDER

METRICS = (WAIT, SLOWDOWN)
ALL_METRICS = (*METRICS, Metric("mean_turnaround_time", "mean turnaround (s)", 0), Metric("mean_slowdown", "", 1))

MADE_UP = (
    "the authors' files are not here (name their folder with --data, or in FOREBAY_DATA): workloads are made up by "
    "models, and published numbers do not apply to them"
)
ANOTHER_DRAW = (
    "full-log and sixteen: requests are another draw from the authors' model, so numbers differ by chance too"
)


def report(scope: Scope, finished: Finished) -> Report:
    """Tables and figures of every section that was run."""
    expected = read_expected(FOLDER / "expected.csv") if scope.files is not None else Expected({})
    rows = _tables.rows_of(finished)
    made = Report(frames={"runs": _tables.all_numbers(rows)})
    if scope.files is None:
        made.notes.append(MADE_UP)
    elif {"full-log", "sixteen"} & set(scope.sections):
        made.notes.append(ANOTHER_DRAW)
    made.figures |= _figures.toy()
    tellers = {
        "parts": _parts,
        "choices": _choices.tell,
        "full-log": _full_log,
        "sixteen": _sixteen,
        "better": _better.tell,
    }
    for section in scope.sections:
        mine = [row for row in rows if row["section"] == section]
        some = [(run, record) for run, record in finished if run.tags["section"] == section]
        with made.drawn_of(some):
            tellers[section](scope, mine, expected, made)
            if section == "full-log":
                made.figures |= _figures.full_log(scope, some, made.frames["full-log"])
    return made


def _parts(scope: Scope, rows: list[Row], expected: Expected, made: Report) -> None:
    """Each part beside its published numbers, and the averages over the parts."""
    known = len(expected) > 0
    by = ("section", "part", "job_model", "policy")
    single, over = [], []
    for metric in ALL_METRICS:
        cells = _tables.compared(_tables.cells(rows, by, metric.name), expected)
        averages = _averages(scope, rows, metric, expected)
        single += cells
        over += averages
        if metric not in METRICS:
            continue
        columns = _tables.usual_columns(metric, known)
        for job_model in scope.settings.parts.job_models:
            title = f"{metric.title.capitalize()}, {job_model}: means over {_in_words(scope.parts)}"
            mine = [row for row in averages if row["job_model"] == job_model]
            made.shown.append(_tables.written(title, mine, ("policy",), columns))
        title = f"{metric.title.capitalize()}, part by part"
        detailed = [*columns, *_within(known)]
        made.detailed.append(_tables.written(title, cells, ("job_model", "policy", "part"), detailed))
    made.frames |= {"parts": _tables.frame(single), "parts-averages": _tables.frame(over)}
    if known:
        made.notes += _how_many_within(single)
        made.figures |= _figures.parts(rows, expected, METRICS)


def _averages(scope: Scope, rows: list[Row], metric: Metric, expected: Expected) -> list[Row]:
    """Means over the parts. A replica or seed counts once: as the mean over the parts of its runs."""
    by = ("section", "job_model", "policy", "replica", "seed")
    means = _tables.averaged(rows, "part", by, metric.name, scope.parts)
    found = []
    for cell in _tables.cells(means, by[:3], metric.name):
        mean = expected.mean_over(scope.parts, **cell.keys)
        source = f"mean of the numbers published for {_in_words(scope.parts)}"
        found.append(_tables.beside(cell, None if mean is None else Published(mean, None, source)))
    return found


def _in_words(parts: Sequence[int]) -> str:
    numbers = [str(part) for part in parts]
    return f"part {numbers[0]}" if len(numbers) == 1 else f"parts {', '.join(numbers[:-1])} and {numbers[-1]}"


def _within(known: bool) -> list[Column]:
    words = {True: "yes", False: "no", None: "-"}
    return [("published within", lambda row: words[row["within"]])] if known else []


def _how_many_within(rows: list[Row]) -> list[str]:
    """Of means of waits: how often the published value lies in the range of our runs."""
    lines = [row for row in rows if row["metric"] == WAIT.name and row["within"] is not None]
    if not lines:
        return []
    inside = sum(row["within"] for row in lines)
    margin = f"{100 * max(row['tolerance'] for row in lines):g} %"
    return [f"parts: {inside} of {len(lines)} published mean waits lie in the range of our runs, widened by {margin}"]


def _full_log(scope: Scope, rows: list[Row], expected: Expected, made: Report) -> None:
    """Means over draws with Student's interval between them, beside those of the authors' draw."""
    by = ("section", "job_model", "policy")
    lines = []
    for metric in ALL_METRICS:
        draws = _tables.averaged(rows, "seed", (*by, "draw"), metric.name)
        cells = _tables.compared(_tables.cells(draws, by, metric.name), expected)
        lines += cells
        if metric in METRICS:
            columns = _tables.draw_columns(metric, len(expected) > 0, "published (another draw)")
            title = f"{metric.title.capitalize()}: the full log, {scope.settings.full_log.draws} draws of requests"
            made.shown.append(_tables.written(title, cells, ("policy",), columns))
    made.frames["full-log"] = _tables.frame(lines)


def _sixteen(scope: Scope, rows: list[Row], expected: Expected, made: Report) -> None:
    """Means of each part divided by those of the reference policy: medians and quartiles."""
    lines, dots = [], []
    for metric in METRICS:
        ratios = _ratios(scope, rows, metric)
        dots += ratios
        mine = []
        for cell in _tables.cells(ratios, ("section", "job_model", "policy"), f"ratio_{metric.name}"):
            published = expected.find(**cell.keys)
            row = {name: cell.keys.get(name) for name in KEYS}
            row |= {"n": len(cell.values), "median": statistics.median(cell.values)}
            row |= {"quartile_1": statistics.quantile(cell.values, 0.25)}
            row |= {"quartile_3": statistics.quantile(cell.values, 0.75)}
            row |= {"geometric_mean": statistics.geometric_mean(cell.values)}
            row |= {
                "published": published.value if published else None,
                "source": published.source if published else None,
            }
            mine.append(row)
        lines += mine
        title = f"{metric.title.capitalize().partition(' (s)')[0]} divided by that of {scope.settings.reference}"
        columns = _ratio_columns(len(expected) > 0)
        made.shown.append(
            _tables.written(
                f"{title}: {counted(len(scope.sixteen), 'part')}, {counted(scope.settings.sixteen.draws, 'draw')}",
                mine,
                ("policy",),
                columns,
            )
        )
    made.frames |= {"sixteen": _tables.all_numbers(lines), "sixteen-ratios": _tables.all_numbers(dots)}
    made.figures |= _figures.sixteen(scope, dots, expected, METRICS)


def _ratios(scope: Scope, rows: list[Row], metric: Metric) -> list[Row]:
    """A row for each policy, draw and part: its mean (over seeds) divided by that of the reference."""
    by = ("section", "job_model", "policy", "draw", "part")
    means = _tables.averaged(rows, "seed", by, metric.name)
    bases = {(row["draw"], row["part"]): row[metric.name] for row in means if row["policy"] == scope.settings.reference}
    name = f"ratio_{metric.name}"
    return [
        {key: row[key] for key in by} | {name: row[metric.name] / bases[row["draw"], row["part"]]}
        for row in means
        if bases.get((row["draw"], row["part"]))
    ]


def _ratio_columns(known: bool) -> list[Column]:
    def text(key: str) -> Column:
        return key.replace("_", " "), lambda row: "-" if row[key] is None else f"{row[key]:.3f}"

    ours = [text("median"), text("quartile_1"), text("quartile_3"), text("geometric_mean")]
    return [("published median", text("published")[1]), *ours] if known else ours
