"""What `forebay compare` answers: the ranking with its verdicts, what else tables show, notes and files; or JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._text import counted
from forebay.cli import _common, _groups, _least, _recorded
from forebay.cli._render.printing import Seconds, console, fitting, notes_block, pairs, show, table
from forebay.cli._runs import TURNED_AWAY
from forebay.cli._verdicts import HEADLINE, TABLE, rows
from forebay.experiments.verdicts import Verdict

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from forebay.experiments.executor import Failure

Columns = list[tuple[str, str]]
"""Name in the summary, and title."""
REFERENCE = "reference"
RANKING = "ranking.csv"


@dataclass(frozen=True)
class Compared:
    """A comparison that is over: what run.json holds of each run, best first, and the verdicts on them."""

    documents: list[dict[str, Any]]
    verdicts: list[Verdict]
    reference: str
    basis: str  # what intervals are over
    failed: "Mapping[str, Failure]"
    folder: Path
    pictures: list[Path]
    groups: "pl.DataFrame | None" = None  # by queue, user and account
    top: int = _groups.TOP  # how many of each to show
    least: _least.Least | None = None  # that any policy can have
    numbers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by policy: what tables show
    runs: int = 1  # of each policy, that these are means over
    not_run: Sequence[dict[str, Any]] = ()  # by policy and reason, of jobs that did not run under every policy
    notes: Sequence[str] = ()  # on the comparison as a whole

    @property
    def tables(self) -> list[Path]:
        """The files that tell of all policies; verdicts need two, and groups two as well."""
        more = [*([TABLE] if self.verdicts else []), *([_groups.TABLE] if self.groups is not None else [])]
        more += [] if self.least is None else [_least.TABLE]
        more += [_common.TABLE] if self.not_run else []
        return [self.folder / name for name in ("compare.csv", RANKING, *more)]

    @property
    def shown(self) -> list[dict[str, Any]]:
        """A row a policy, with the numbers that tables show in place of those of the run on the trace."""
        numbers = {document["policy"]: document["summary"] for document in self.documents} | dict(self.numbers)
        return [document | {"summary": numbers[document["policy"]]} for document in self.documents]


def alike(documents: list[dict[str, Any]]) -> list[list[str]]:
    """Policies whose schedules are one and the same."""
    alike: dict[str, list[str]] = {}
    for document in documents:
        alike.setdefault(document["schedule"], []).append(document["policy"])
    return list(alike.values())


def distinct(documents: list[dict[str, Any]]) -> list[str]:
    """Policies to draw: of those with the same schedule the first, as the others would hide it."""
    return [twins[0] for twins in alike(documents)]


def notes(documents: list[dict[str, Any]]) -> list[str]:
    """What is to be said of any of the runs, and which of them are one and the same."""
    same = [f"{' and '.join(twins)} gave the same schedule" for twins in alike(documents) if len(twins) > 1]
    found = dict.fromkeys(note for document in documents for note in document["notes"])
    return [*(note for note in found if not note.endswith(TURNED_AWAY)), *same]  # a table shows these


def comparison(compared: Compared) -> dict[str, Any]:
    """The answer as JSON: what the runs share, then a summary for each policy, best first."""
    shared = ("workload", "workload_sha256", "provenance", "platform", "job_model", "seed", "window", "dropped")
    documents = compared.documents
    return {
        **{key: documents[0][key] for key in (*shared, "versions")},
        **{key: documents[0][key] for key in ("failures", "recorded") if key in documents[0]},
        "notes": [*notes(documents), *compared.notes],
        "reference": compared.reference,
        "policies": [
            {key: document[key] for key in ("policy", "seconds", "log_sha256", "folder", "summary")}
            for document in documents
        ],
        "ranking": ranking(compared).to_dicts(),
        "not_run": list(compared.not_run),
        "verdicts": rows(compared.verdicts),
        "bounds": [] if compared.least is None else list(compared.least.best.values()),
        "gaps": [] if compared.least is None else compared.least.gaps.to_dicts(),
        "groups": [] if compared.groups is None else compared.groups.to_dicts(),
        "failed": [{"policy": spec, "message": failure.text} for spec, failure in compared.failed.items()],
        "files": [str(file) for file in (*compared.tables, *compared.pictures)],
    }


def ranking(compared: Compared) -> "pl.DataFrame":
    """What tables show, a row a policy: the number of runs and jobs, and every mean over them."""
    import polars as pl

    rows = [{"policy": policy, "runs": compared.runs, **numbers} for policy, numbers in compared.numbers.items()]
    return pl.DataFrame(rows, infer_schema_length=None)


def report(compared: Compared) -> None:
    """The answer as text."""
    from forebay.cli._render import number_text

    documents, folder = compared.documents, compared.folder
    first = documents[0]
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
    about.append(("wait", number_text.WAIT))
    if over := _over(compared):
        about.append(("numbers", f"means over {over}"))
    tables = [_ranked(compared)]
    if compared.not_run:
        tables.append(pairs(_common.lines(compared.not_run)))
    if "mean_io_time" in first["summary"]:
        tables.append(fitting(partial(_staging, compared.shown)))
    if any("useful_utilisation" in document["summary"] for document in documents):
        tables.append(fitting(partial(_failures, compared.shown)))
    if compared.groups is not None and compared.top:
        names = [document["policy"] for document in documents]
        unit = next(iter(first["resources"]))
        tables += _groups.tables(compared.groups, names, compared.reference, compared.top, unit)
    if compared.least is not None:
        tables.append(pairs([("least", _least.line(compared.least))]))
    files = [("written", f"{folder / 'compare.csv'}: every number of every policy, on the trace itself")]
    files.append(("", f"{folder / RANKING}: the numbers in the tables above"))
    if compared.verdicts:
        files.append(("", f"{folder / TABLE}: every policy against {compared.reference}"))
    if compared.not_run:
        files.append(("", f"{folder / _common.TABLE}: jobs that did not run under every policy, and why"))
    if compared.groups is not None:
        files.append(("", f"{folder / _groups.TABLE}: every queue, user and account under every policy"))
    if compared.least is not None:
        files.append(("", f"{folder / _least.TABLE}: every policy against what any could do"))
    files.append(("", f"{folder / 'POLICY'}: {', '.join(first['files'])}"))
    drawn = [picture.name for picture in compared.pictures if picture.suffix not in (".csv", ".html")]
    if drawn:
        files.append(("", f"{folder}: {', '.join(drawn)}, and the data of each as CSV"))
    files += [("", f"{path}: all of it in one page") for path in compared.pictures if path.suffix == ".html"]
    show(pairs(about), *tables, *notes_block([*notes(documents), *compared.notes]), pairs(files))


def _over(compared: Compared) -> str:
    """What numbers of tables are means over, where that is not simply all jobs of the runs on the trace."""
    words = []
    if compared.runs > 1:
        words.append(f"the trace and {counted(compared.runs - 1, 'shaken copy', 'shaken copies')} of it")
    if compared.not_run:
        words.append("the jobs that ran under every policy")
    return ", and over ".join(words)


def _ranked(compared: Compared) -> "Table":
    """The ranking with as much in it as the screen is wide enough for."""
    from rich.measure import Measurement

    from forebay.cli._render.number_text import seconds, short_seconds, shortest_seconds

    every = "waiting\n> 1 day", "max\nwait", "turn-\naround", "bounded\nslowdown\n(10 min)"
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
    ):
        made = _ranking(compared, way, gap, every[:n], narrow)
        if Measurement.get(screen, screen.options.update(width=1000), made).maximum <= screen.width:
            break
    return made


def _ranking(compared: Compared, seconds: Seconds, gap: int, without: Sequence[str], narrow: bool) -> "Table":
    """Each number, and before those that are judged the verdict on them."""
    from forebay.cli._render import number_text

    documents = compared.shown
    lost = {
        policy: sum(row["jobs"] for row in compared.not_run if row["policy"] == policy) for policy in compared.numbers
    }
    columns: Columns = [
        ("mean_turnaround_time", "turn-\naround"),
        ("p95_wait", "p95\nwait"),
        ("max_wait", "max\nwait"),
        ("mean_bounded_slowdown_10min", "bounded\nslowdown\n(10 min)"),
        *((f"utilisation_{name}", "\n".join([*name.split("_"), "%"])) for name in documents[0]["resources"]),
        ("n_killed", "killed"),
        ("n_waiting_over_a_day", "waiting\n> 1 day"),
    ]
    if not any(round(document["summary"].get("n_killed") or 0) for document in documents):
        columns.remove(("n_killed", "killed"))
    columns = [column for column in columns if column[1] not in without]
    if "recorded" in documents[0]:
        documents = [*documents, {"policy": _recorded.NAME, "summary": documents[0]["recorded"]}]
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
        told = (
            ["" if policy == _recorded.NAME else REFERENCE, ""]
            if wait is None
            else [wait.word, number_text.change(wait, narrow)]
        )
        other = "" if turnaround is None else f"{turnaround.word} {number_text.change(turnaround, narrow=True)}"
        return [
            policy,
            *(told if by_policy else []),
            number_text.shown(HEADLINE, summary.get(HEADLINE), seconds, _share),
            *([other] if by_policy else []),
            *([number_text.count(lost.get(policy))] if compared.not_run else []),
            *(number_text.shown(name, summary.get(name), seconds, _share) for name, _ in columns),
        ]

    rows = [row(document["policy"], document["summary"]) for document in documents]
    return table(titles, rows, numbers=range(1 + bool(by_policy), len(titles)), gap=gap)


def _staging(documents: list[dict[str, Any]], seconds: Seconds, gap: int) -> "Table":
    """What runs that stage data have besides; a table of its own, for the first fills a narrow screen."""
    columns: Columns = [
        ("mean_stage_in_time", "mean\nstage-in"),
        ("mean_io_time", "mean\nI/O time"),
        ("pfs_utilisation", "file\nsystem\n%"),
    ]
    return _table(documents, [column for column in columns if column[0] in documents[0]["summary"]], seconds, gap)


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
