"""What `forebay compare` shows: the ranking with its verdicts, what else tables have, notes and files."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from forebay._support.text import counted
from forebay.cli._render import groups, number_text
from forebay.cli._render.printing import Seconds, console, fitting, notes_block, pairs, show, table
from forebay.experiments.comparison import bounds, common_jobs, verdicts
from forebay.experiments.comparison.compared import COMPARED, RANKING, labelled, notes
from forebay.experiments.comparison.verdicts import HEADLINE
from forebay.workload.recorded import AS_RECORDED

if TYPE_CHECKING:
    from rich.table import Table

    from forebay.experiments.comparison.bounds import Least
    from forebay.experiments.comparison.compared import Compared

Columns = list[tuple[str, str]]
"""Name in the summary, and title."""
REFERENCE = "reference"
_TIMES = 6
"""Policies that the line on bounds names; of more, the nearest and the farthest."""
_REASONS = 5
"""Reasons of a policy that the screen has room for."""


def report(compared: "Compared", top: int = 5) -> None:
    """The answer as text."""
    documents, first = compared.documents, compared.first
    tables = [_ranked(compared)]
    if compared.not_run:
        tables.append(pairs(_not_run(compared.not_run)))
    if "mean_io_time" in first["summary"]:
        tables.append(fitting(partial(_staging, compared.shown)))
    if any("useful_utilisation" in document["summary"] for document in documents):
        tables.append(fitting(partial(_failures, compared.shown)))
    if compared.own:
        tables.append(fitting(partial(_own, compared)))
    if compared.groups is not None and top:
        names = [document["policy"] for document in documents]
        unit = next(iter(first["resources"]))
        tables += groups.tables(compared.groups, names, compared.reference, top, unit)
    if compared.least is not None:
        tables.append(pairs([("least", _least(compared.least))]))
    remarks = notes_block([*notes(documents), *compared.notes])
    show(pairs(_about(compared)), *tables, *remarks, pairs(_written(compared)))


def _about(compared: "Compared") -> list[tuple[str, str]]:
    """What was compared, on what, and how numbers are to be read."""
    first = compared.first
    about = [
        ("workload", f"{first['workload']}, {counted(first['summary']['n_jobs'], 'job')}"),
        ("platform", first["platform"]["text"]),
    ]
    if "failures" in first:
        about.append(("failures", first["failures"]["text"]))
    if first["window"]:
        about.append(("window", f"jobs submitted from {' to '.join(map(number_text.seconds, first['window']))}"))
    if compared.verdicts:
        about.append((REFERENCE, f"{compared.reference}; changes against it, {compared.basis}"))
    about += list(labelled(compared.documents).items())
    about.append(("wait", number_text.WAIT))
    if over := _over(compared):
        about.append(("numbers", f"means over {over}"))
    return about


def _written(compared: "Compared") -> list[tuple[str, str]]:
    """The files that hold the answer."""
    folder = compared.folder
    files = [("written", f"{folder / COMPARED}: every number of every policy, on the trace itself")]
    files.append(("", f"{folder / RANKING}: the numbers in the tables above"))
    if compared.verdicts:
        files.append(("", f"{folder / verdicts.TABLE}: every policy against {compared.reference}"))
    if compared.not_run:
        files.append(("", f"{folder / common_jobs.TABLE}: jobs that did not run under every policy, and why"))
    if compared.groups is not None:
        files.append(groups.written(folder))
    if compared.least is not None:
        files.append(("", f"{folder / bounds.TABLE}: every policy against what any could do"))
    files.append(("", f"{folder / 'POLICY'}: {', '.join(compared.first['files'])}"))
    drawn = [picture.name for picture in compared.pictures if picture.suffix not in (".csv", ".html")]
    if drawn:
        files.append(("", f"{folder}: {', '.join(drawn)}, and the data of each as CSV"))
    return files + [("", f"{path}: all of it in one page") for path in compared.pictures if path.suffix == ".html"]


def _over(compared: "Compared") -> str:
    """What numbers of tables are means over, where that is not simply all jobs of the runs on the trace."""
    words = []
    if compared.runs > 1:
        words.append(f"the trace and {counted(compared.runs - 1, 'shaken copy', 'shaken copies')} of it")
    if compared.not_run:
        words.append("the jobs that ran under every policy")
    return ", and over ".join(words)


def _ranked(compared: "Compared") -> "Table":
    """The ranking with as much in it as the screen is wide enough for."""
    from rich.measure import Measurement

    from forebay.cli._render.number_text import seconds, short_seconds, shortest_seconds

    types = [_title(name) for name in compared.shown[0]["resources"] if name.startswith("gpus_")]
    every = "waiting\n> 1 day", "max\nwait", "turn-\naround", "bounded\nslowdown\n(10 min)", *types
    screen = console()
    for way, gap, n, narrow in (
        (seconds, 3, 0, False),
        (seconds, 2, 0, False),
        (short_seconds, 2, 0, False),
        (short_seconds, 2, 1, False),
        (shortest_seconds, 2, 1, False),
        (shortest_seconds, 2, 2, False),
        (shortest_seconds, 2, 2, True),
        (shortest_seconds, 1, 2, True),
        (shortest_seconds, 1, 3, True),
        (shortest_seconds, 1, 4, True),
        (shortest_seconds, 1, 4 + len(types), True),
    ):
        made = _ranking(compared, way, gap, every[:n], narrow)
        if Measurement.get(screen, screen.options.update(width=1000), made).maximum <= screen.width:
            break
    return made


def _ranking(compared: "Compared", seconds: Seconds, gap: int, without: Sequence[str], narrow: bool) -> "Table":
    """Each number, and before those that are judged the verdict on them."""
    documents = compared.shown
    lost = {
        policy: sum(row["jobs"] for row in compared.not_run if row["policy"] == policy) for policy in compared.numbers
    }
    columns: Columns = [
        ("mean_turnaround_time", "turn-\naround"),
        ("p95_wait", "p95\nwait"),
        ("max_wait", "max\nwait"),
        ("mean_bounded_slowdown_10min", "bounded\nslowdown\n(10 min)"),
        *((f"utilisation_{name}", _title(name)) for name in documents[0]["resources"]),
        ("n_killed", "killed"),
        ("n_waiting_over_a_day", "waiting\n> 1 day"),
    ]
    if not any(round(document["summary"].get("n_killed") or 0) for document in documents):
        columns.remove(("n_killed", "killed"))
    columns = [column for column in columns if column[1] not in without]
    if "recorded" in documents[0]:
        documents = [*documents, {"policy": AS_RECORDED, "summary": documents[0]["recorded"]}]
    by_policy = {(verdict.policy, verdict.metric): verdict for verdict in compared.verdicts}
    titles = [
        "policy",
        *(["verdict", "change"] if by_policy else []),
        "mean\nwait",
        *(["by turn-\naround"] if by_policy else []),
    ]
    titles += [*(["not\nrun"] if compared.not_run else []), *(title for _, title in columns)]

    def row(policy: str, summary: Mapping[str, Any]) -> list[str]:
        wait, turnaround = (by_policy.get((policy, metric)) for metric in (HEADLINE, "mean_turnaround_time"))
        judged = (
            ["" if policy == AS_RECORDED else REFERENCE, ""]
            if wait is None
            else [wait.word, number_text.change(wait, narrow)]
        )
        other = "" if turnaround is None else f"{turnaround.word} {number_text.change(turnaround, narrow=True)}"
        return [
            policy,
            *(judged if by_policy else []),
            number_text.shown(HEADLINE, summary.get(HEADLINE), seconds, _share),
            *([other] if by_policy else []),
            *([number_text.count(lost.get(policy))] if compared.not_run else []),
            *(number_text.shown(name, summary.get(name), seconds, _share) for name, _ in columns),
        ]

    rows = [row(document["policy"], document["summary"]) for document in documents]
    return table(titles, rows, numbers=range(1 + bool(by_policy), len(titles)), gap=gap)


def _title(resource: str) -> str:
    return "\n".join([*resource.split("_"), "%"])


def _staging(documents: list[dict[str, Any]], seconds: Seconds, gap: int) -> "Table":
    """What runs that stage data have besides; a table of its own, for the first fills a narrow screen."""
    columns: Columns = [
        ("mean_stage_in_time", "mean\nstage-in"),
        ("mean_io_time", "mean\nI/O time"),
        ("pfs_utilisation", "file\nsystem\n%"),
        ("mean_io_slowdown", "I/O\nslow-\ndown"),
        ("mean_io_stall", "mean\nI/O stall"),
        ("platform_efficiency", "effi-\nciency\n%"),
    ]
    there = {name for document in documents for name in document["summary"]}
    return _table(documents, [column for column in columns if column[0] in there], seconds, gap)


def _failures(documents: list[dict[str, Any]], seconds: Seconds, gap: int) -> "Table":
    """What runs have besides in which nodes fail or jobs are interrupted."""
    columns: Columns = [
        ("useful_utilisation", "useful\n%"),
        ("checkpoint_share", "check-\npoints\n%"),
        ("recovery_share", "recovery\n%"),
        ("lost_to_failures_share", "lost to\nfailures\n%"),
        ("lost_to_policy_share", "lost to\npolicy\n%"),
        ("max_flow", "max\nflow"),
        ("node_weighted_flow", "node-weighted\nmean flow"),
        ("n_failures", "failures"),
        ("n_steals", "inter-\nrupted"),
    ]
    return _table(documents, columns, seconds, gap)


def _own(compared: "Compared", seconds: Seconds, gap: int) -> "Table":
    """Metrics of the user's own, each with the verdict by it."""
    by_policy = {(verdict.policy, verdict.metric): verdict for verdict in compared.verdicts}
    judged, narrow = bool(by_policy), seconds is number_text.shortest_seconds

    def cells(name: str, policy: str, summary: Mapping[str, Any]) -> list[str]:
        found = by_policy.get((policy, name))
        words = REFERENCE if found is None else f"{found.word} {number_text.change(found, narrow)}"
        return [number_text.shown(name, summary.get(name), seconds), *([words] if judged else [])]

    rows = []
    for document in compared.shown:
        policy = document["policy"]
        rows.append([policy, *(cell for name in compared.own for cell in cells(name, policy, document["summary"]))])
    own = ["\n".join(name.split("_")) for name in compared.own]
    titles = ["policy", *(title for name in own for title in ([name, "verdict"] if judged else [name]))]
    return table(titles, rows, numbers=range(1, len(titles)), gap=gap)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _table(documents: list[dict[str, Any]], columns: Columns, seconds: Seconds, gap: int) -> "Table":
    """Numbers of every policy."""
    from forebay.cli._render.number_text import shown

    rows = [
        [document["policy"], *(shown(name, document["summary"].get(name), seconds, _share) for name, _ in columns)]
        for document in documents
    ]
    titles = ["policy", *(title for _, title in columns)]
    return table(titles, rows, numbers=range(1, len(titles)), gap=gap)


def _not_run(rows: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """The same for a screen: "fcfs: MaxSubmitPerUser=4 of user 17: 1,222 jobs"; of many limits those that hit most."""
    found: list[str] = []
    for policy in dict.fromkeys(row["policy"] for row in rows):
        mine = [row for row in rows if row["policy"] == policy]
        found += [f"{policy}: {row['reason']}: {counted(row['jobs'], 'job')}" for row in mine[:_REASONS]]
        if len(mine) > _REASONS:
            n = sum(row["jobs"] for row in mine[_REASONS:])
            found.append(f"{policy}: {len(mine) - _REASONS:,} more such limits: {counted(n, 'job')}")
    return [("not run" if not place else "", line) for place, line in enumerate(found)]


def _least(least: "Least") -> str:
    """No policy can have less than so much, and how many times as much each has."""
    import polars as pl

    from forebay.cli._render.number_text import seconds

    row = least.best[HEADLINE]
    if not row["value"] > 0:
        return "no policy can have a mean wait below 0 s, as far as is proved"
    ratios = least.gaps.filter((pl.col("metric") == HEADLINE) & pl.col("ratio").is_not_null())
    times = list(ratios.select("policy", "ratio").iter_rows())
    times = times if len(times) <= _TIMES else [times[0], times[-1]]
    words = ", ".join(f"{policy} {ratio:.3g}" for policy, ratio in times)
    because = f" ({row['resource']})" if row["resource"] else ""
    return f"no policy can have a mean wait below {seconds(row['value'])}{because}; times that: {words}"
