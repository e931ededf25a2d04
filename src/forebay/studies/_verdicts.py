"""Verdicts on the policies of a study: each against a reference under the same circumstances, over draws of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from forebay.experiments import statistics
from forebay.experiments.conditions import Condition, failing, failing_alone
from forebay.experiments.verdicts import Verdict, judge
from forebay.studies._frame import Finished, Report, Table
from forebay.studies._tables import Row, all_numbers, percent, rows_of

METRICS = ("mean_waiting_time", "p95_waiting_time", "mean_bounded_slowdown_10min")
_USUAL = "fcfs-easy"
_DRAWN = ("draw", "replica", "seed", "workload")
"""Tags that number draws. A seed counts where the reference has several; else runs are averaged over theirs. A workload
counts as a draw where it goes by a number."""
_READABLE = 60  # rows of a table for people


def add(report: Report, finished: Finished) -> None:
    """Put verdicts into the report: all of them as CSV, and those by mean wait as a table where it is not too long."""
    rows = verdict_rows(finished)
    if not rows:
        return
    report.frames["verdicts"] = all_numbers(rows)
    shown = [row for row in rows if row["metric"] == METRICS[0] and row["change"] is not None]
    if 0 < len(shown) <= _READABLE:
        report.detailed.append(_table(shown))


def verdict_rows(finished: Finished) -> list[Row]:
    """A row a policy, circumstances and metric, wherever two policies share at least two draws."""
    rows: list[Row] = []
    for place, by_policy in _groups(finished):
        reference = _reference(by_policy)
        for policy, mine in by_policy.items():
            if policy != reference:
                found = (_verdict(policy, reference, metric, mine, by_policy[reference]) for metric in METRICS)
                rows += [{**place, **_plain(one)} for one in found if one is not None]
    return rows


def holding(conditions: Sequence[Condition], finished: Finished) -> list[str]:
    """Why conditions hold, a line each, for every policy under all circumstances of its own.

    One on a number itself is about its mean over draws; one on a change is not known of a single draw.
    """
    lines = []
    for condition in conditions:
        metric = condition.metric
        for place, by_policy in _groups(finished):
            reference = _reference(by_policy)
            for policy, mine in by_policy.items():
                name = ", ".join([policy, *(f"{word} {value}" for word, value in place.items())])
                if not condition.relative:
                    values = [row[metric] for row in mine if row.get(metric) is not None]
                    lines.append(failing_alone(condition, name, {metric: statistics.mean(values)} if values else {}))
                elif policy != reference:
                    verdict = _verdict(name, reference, metric, mine, by_policy[reference])
                    lines.append("" if verdict is None else failing(condition, verdict))
    return [line for line in lines if line]


def _groups(finished: Finished) -> list[tuple[Row, dict[str, list[Row]]]]:
    """Runs under the same circumstances, by policy."""
    groups: dict[tuple[Any, ...], tuple[Row, dict[str, list[Row]]]] = {}
    for (run, _), row in zip(finished, rows_of(finished), strict=True):
        if "policy" in run.tags:
            place = {name: value for name, value in run.tags.items() if name != "policy" and not _is_draw(name, value)}
            _, by_policy = groups.setdefault(tuple(place.items()), (place, {}))
            by_policy.setdefault(str(run.tags["policy"]), []).append(row)
    return list(groups.values())


def _reference(by_policy: Mapping[str, Any]) -> str:
    return _USUAL if _USUAL in by_policy else next(iter(by_policy))


def _is_draw(name: str, value: Any) -> bool:
    return name in _DRAWN and (name != "workload" or isinstance(value, int))


def _verdict(policy: str, reference: str, metric: str, mine: Sequence[Row], theirs: Sequence[Row]) -> Verdict | None:
    many = len({row.get("seed") for row in theirs}) > 1
    ours, others = (_by_draw(rows, metric, many) for rows in (mine, theirs))
    draws = [draw for draw in ours if draw in others]
    if len(draws) < 2:
        return None
    values, bases = ([found[draw] for draw in draws] for found in (ours, others))
    return judge(values, bases, metric, policy, reference)


def _by_draw(rows: Sequence[Row], metric: str, seeds: bool) -> dict[tuple[Any, ...], float]:
    """The number of each draw: the mean over the seeds of the policy, unless these are draws themselves."""
    found: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        if row.get(metric) is not None:
            names = (name for name in _DRAWN if seeds or name != "seed")
            draw = tuple(row[name] for name in names if name in row and _is_draw(name, row[name]))
            found.setdefault(draw, []).append(row[metric])
    return {draw: statistics.mean(values) for draw, values in found.items()}


def _plain(verdict: Verdict) -> Row:
    return {("verdict" if name == "word" else name): value for name, value in asdict(verdict).items()}


def _table(rows: Sequence[Row]) -> Table:
    known = {"verdict", *(field.name for field in fields(Verdict))}
    names = list(dict.fromkeys(name for row in rows for name in row if name not in known))
    varying = [name for name in names if len({str(row.get(name)) for row in rows}) > 1]

    def cells(row: Row) -> tuple[str, ...]:
        ends = (row["low"], row["high"])
        interval = "-" if None in ends else " to ".join(percent(100 * end) for end in ends)
        place = ("" if row.get(name) is None else str(row[name]) for name in varying)
        words = (row["policy"], row["reference"], row["verdict"])
        return (*place, *words, percent(100 * row["change"]), interval, str(row["n"]))

    circumstances = (name.replace("_", " ") for name in varying)
    columns = (*circumstances, "policy", "reference", "verdict", "change", "95 % interval", "draws")
    return Table("Verdicts by mean wait, over draws", columns, [cells(row) for row in rows], len(varying) + 3)
