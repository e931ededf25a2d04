"""What is reported: the paper's claims and what became of them, SAS beside random tiers, policies beyond the paper."""

from collections.abc import Callable, Sequence

from forebay.experiments import statistics
from forebay.studies import _tables
from forebay.studies._frame import Finished, Report
from forebay.studies._tables import Column, Metric, Row, tagged
from forebay.studies.sas2019 import _claims, _figures
from forebay.studies.sas2019 import _numbers as numbers
from forebay.studies.sas2019._plan import Scope

UNPUBLISHED = (
    "the paper prints no numbers, and leaves the slow tier's rate and the jobs' checkpoints open: its shapes are "
    "compared, on workloads of ours"
)


def report(scope: Scope, finished: Finished) -> Report:
    """Tables and figures of every section that was run."""
    rows = _tables.rows_of(finished)
    made = Report(frames={"runs": _tables.all_numbers(rows)}, notes=[UNPUBLISHED])
    tellers: dict[str, Callable[[Scope, list[Row], Report], None]] = {
        "random": _against,
        "staging": _against,
        "mistakes": _mistakes,
        "beyond": _beyond,
        "sensitivity": _sensitivity,
    }
    claims: list[Row] = []
    for section in scope.sections:
        mine = tagged(rows, section=section)
        claims += _claims.of(scope, section, mine)
        with made.drawn_of([(run, record) for run, record in finished if run.tags["section"] == section]):
            tellers[section](scope, mine, made)
    if claims:
        columns: list[Column] = [("ours", lambda row: row["ours"]), ("verdict", lambda row: row["verdict"])]
        made.shown.insert(0, _tables.written("The paper's claims", claims, ("claim", "where"), columns))
        made.frames["claims"] = _tables.all_numbers(claims)
    return made


def _against(scope: Scope, rows: list[Row], made: Report) -> None:
    """SAS, and the others named, beside the best of random tiers."""
    section = rows[0]["section"]
    lines: list[Row] = []
    for k in dict.fromkeys(row["k"] for row in rows):
        for capacity in scope.settings.capacities:
            mine = tagged(rows, k=k, capacity=capacity)
            drawn = tagged(mine, policy="random")
            for policy in scope.specs:
                lines.append(_beside(tagged(mine, policy=policy), drawn, policy, k, capacity))
    columns: list[Column] = [("k", lambda row: str(row["k"]))]
    for metric in numbers.TIMES:
        columns += _against_columns(metric)
    columns += [(one.title, _percent(one)) for one in (numbers.NODES, numbers.FAST)]
    title = f"Beside tiers drawn at random ({section}): {scope.settings.workloads} workloads"
    made.shown.append(_tables.written(title, lines, ("policy", "capacity"), columns))
    made.frames[section] = _tables.all_numbers(lines)
    made.figures |= (_figures.against if section == "random" else _figures.staging)(scope, rows)


def _beside(mine: Sequence[Row], drawn: Sequence[Row], policy: str, k: int, capacity: str) -> Row:
    row: Row = {"policy": policy, "capacity": capacity, "k": k}
    for metric in numbers.TIMES:
        over_p = numbers.curve(drawn, "p", metric)
        best = numbers.ratio(mine, tagged(drawn, p=over_p.lowest), metric)
        row |= {metric.name: numbers.mean(mine, metric), f"best_{metric.name}": min(over_p.y)}
        row |= {f"p_{metric.name}": over_p.lowest, f"fitted_p_{metric.name}": over_p.fitted}
        row |= {f"ratio_{metric.name}": best.mean, f"half_95_{metric.name}": best.half}
    return row | {one.name: numbers.utilisation(mine, one) for one in (numbers.NODES, numbers.FAST)}


def _against_columns(metric: Metric) -> list[Column]:
    def ratio(row: Row) -> str:
        half = row[f"half_95_{metric.name}"]
        return f"{row[f'ratio_{metric.name}']:.3f}" + ("" if half is None else f" ± {half:.3f}")

    return [
        (metric.title, lambda row: metric.text(row[metric.name])),
        ("random's best", lambda row: metric.text(row[f"best_{metric.name}"])),
        ("at p", lambda row: f"{row[f'p_{metric.name}']:g}"),
        ("ratio", ratio),
    ]


def _percent(metric: Metric) -> Callable[[Row], str]:
    return lambda row: f"{100 * row[metric.name]:.1f} %"


def _mistakes(scope: Scope, rows: list[Row], made: Report) -> None:
    """SAS over theta, in steps of a quarter; all of them in the CSV."""
    lines: list[Row] = []
    for policy in scope.specs:
        mine = tagged(rows, policy=policy)
        for theta in sorted({row["theta"] for row in mine}):
            some = [row for row in mine if row["theta"] == theta]
            one: Row = {"policy": policy, "theta": theta}
            one |= {metric.name: numbers.mean(some, metric) for metric in numbers.TIMES}
            one["n_on_fast"] = statistics.mean([row["n_on_fast"] for row in some])
            lines.append(
                one | {metric.name: numbers.utilisation(some, metric) for metric in (numbers.NODES, numbers.FAST)}
            )
    columns: list[Column] = [
        *((metric.title, lambda row, metric=metric: metric.text(row[metric.name])) for metric in numbers.TIMES),
        ("jobs on fast storage", lambda row: f"{row['n_on_fast']:.1f}"),
        *((one.title, _percent(one)) for one in (numbers.NODES, numbers.FAST)),
    ]
    shown = [row for row in lines if abs(4 * row["theta"] - round(4 * row["theta"])) < 1e-9]
    size = scope.settings.mistakes.capacity
    made.shown.append(_tables.written(f"Mistaken users, {size}", shown, ("policy", "theta"), columns))
    made.frames["mistakes"] = _tables.all_numbers(lines)
    made.figures |= _figures.mistakes(scope, rows)


def _beyond(scope: Scope, rows: list[Row], made: Report) -> None:
    """Every policy beside SAS, workload by workload."""
    lines: list[Row] = []
    for k in scope.settings.beyond.k:
        for capacity in scope.settings.capacities:
            mine = tagged(rows, k=k, capacity=capacity)
            base = tagged(mine, policy="sas")
            for policy in scope.settings.beyond.policies:
                some = tagged(mine, policy=policy)
                one: Row = {"policy": policy, "k": k, "capacity": capacity}
                for metric in numbers.TIMES:
                    ratio = numbers.ratio(some, base, metric)
                    one |= {metric.name: numbers.mean(some, metric), f"ratio_{metric.name}": ratio.mean}
                    one[f"half_95_{metric.name}"] = ratio.half
                lines.append(one | {m.name: numbers.utilisation(some, m) for m in (numbers.NODES, numbers.FAST)})
    columns: list[Column] = [("k", lambda row: str(row["k"]))]
    for metric in numbers.TIMES:
        first, *_, last = _against_columns(metric)
        columns += [first, ("to sas", last[1])]
    columns += [(one.title, _percent(one)) for one in (numbers.NODES, numbers.FAST)]
    made.shown.append(_tables.written("Beyond the paper", lines, ("policy", "capacity"), columns))
    made.frames["beyond"] = _tables.all_numbers(lines)


def _sensitivity(scope: Scope, rows: list[Row], made: Report) -> None:
    """What the paper leaves open, varied: where random tiers are best, what SAS makes of it."""
    lines: list[Row] = []
    for knob in ("rate", "data", "mean"):
        for value in getattr(scope.settings.sensitivity, knob):
            for capacity in scope.settings.capacities:
                mine = tagged(rows, knob=knob, value=float(value), capacity=capacity)
                drawn, sas = tagged(mine, policy="random"), tagged(mine, policy="sas")
                row = _beside(sas, drawn, "sas", scope.settings.sensitivity.k, capacity)
                lines.append({"varied": knob, "value": f"{value:g}", **row})
    columns: list[Column] = []
    for metric in numbers.TIMES:
        columns += _against_columns(metric)
    columns += [(one.title, _percent(one)) for one in (numbers.NODES, numbers.FAST)]
    made.detailed.append(_tables.written("What the paper leaves open", lines, ("varied", "value", "capacity"), columns))
    made.frames["sensitivity"] = _tables.all_numbers(lines)
