"""Settings that would have helped on the days that a watch recorded: what-ifs, each run against the site as it is."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from forebay._live.advise.lines import Lines, lines_of
from forebay._live.watch.record import Record
from forebay._live.watch.replaying import Recorded, recorded
from forebay.errors import InputError

if TYPE_CHECKING:
    import polars as pl

USUAL = ("bf_interval=10,60", "bf_max_job_test=100,1000", "bf_window=720,2880", "default_queue_depth=1000")
"""What is tried where nothing is named."""
_LOSERS = 3


class Won(NamedTuple):
    """A what-if whose mean wait is better, beyond doubt."""

    key: str
    value: str
    lines: Lines | None
    why_not: str
    wait: Mapping[str, Any]  # the verdict on the mean wait
    p95: Mapping[str, Any] | None
    losers: list[tuple[str, float, str]]  # users, hours of waiting more, and whether that is sure


class SettingsAdvice(NamedTuple):
    """Those that won, and how many were tried on what."""

    won: list[Won]
    tried: int
    jobs: int
    since: float
    until: float
    reference: str
    failed: dict[str, str]


def settings_advice(folder: Path, vary: Mapping[str, Sequence[str]], replicas: int, jobs: int) -> SettingsAdvice:
    """Run what-ifs on the record of a watch."""
    from forebay.experiments.api import compare

    known = recorded(folder)
    settings = (Record(folder).kept("site.json") or {}).get("settings", {})
    vary = dict(vary) or usual(known, settings)
    given = (known.workload, None, known.platform)
    found = compare(*given, reference=known.policy, vary=vary, bounds=False, replicas=replicas, jobs=jobs)
    rows = {(row["policy"], row["metric"]): row for row in found.verdicts.iter_rows(named=True)}
    won = []
    for key, values in vary.items():
        for value in values:
            label = f"{known.policy}, {key}={value}"
            verdict = rows.get((label, "mean_wait"))
            if verdict is not None and verdict["verdict"] == "better":
                made, why_not = _lines(key, value, settings)
                p95 = rows.get((label, "p95_wait"))
                won.append(Won(key, value, made, why_not, verdict, p95, _losers(found.groups, label)))
    won.sort(key=lambda one: one.wait["change"])
    tried = sum(map(len, vary.values()))
    about = (len(known.workload), known.since, known.until, known.policy)
    return SettingsAdvice(won, tried, *about, dict(found.failed))


def usual(known: Recorded, settings: Mapping[str, str]) -> dict[str, list[str]]:
    """What is worth a try on any site; licences in backfill where the site has some and does not plan with them."""
    from forebay.experiments.whatif import parse

    found = parse(USUAL)
    if known.workload.resources[1:] and "bf_licenses" not in settings.get("schedulerparameters", ""):
        found["bf_licenses"] = ["true"]
    return found


def _lines(key: str, value: str, settings: Mapping[str, str]) -> tuple[Lines | None, str]:
    try:
        return lines_of(key, value, settings), ""
    except InputError as error:
        return None, str(error)


def _losers(groups: "pl.DataFrame | None", label: str) -> list[tuple[str, float, str]]:
    if groups is None:
        return []
    import polars as pl

    mine = groups.filter((pl.col("policy") == label) & (pl.col("by") == "user") & (pl.col("net_hours") > 0))
    rows = mine.sort("net_hours", descending=True).head(_LOSERS).select("name", "net_hours", "verdict").rows()
    return [(str(name), float(hours), str(word)) for name, hours, word in rows]
