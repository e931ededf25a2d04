"""What a sweep has found: a row a run, and a row a combination with its means over seeds and the verdict on it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._support.files import replacing
from forebay._support.text import write_csv
from forebay.experiments import statistics, verdicts
from forebay.experiments.grid import COLUMNS, WRITTEN
from forebay.experiments.runs import REMARKS, Run
from forebay.experiments.targets import as_counted
from forebay.experiments.verdicts import Verdict
from forebay.results import Record

if TYPE_CHECKING:
    import polars as pl

Finished = Sequence[tuple[Run, Record]]
METRICS = ("mean_wait", "p95_wait", "mean_bounded_slowdown_10min")
"""What tables of combinations show, before metrics of the user's own."""
JUDGED = (*METRICS, "utilisation_nodes")
"""What verdicts.csv judges by."""
TABLE = "verdicts.csv"
_OWN = ("reference", WRITTEN)
_PLACE = COLUMNS[:4]
"""Runs that share these, and the models of their jobs, differ in their policy alone, and in its parameters."""


@dataclass(frozen=True)
class Combination:
    """Runs that differ in their seeds alone, and those of the reference in the same place; none where it failed."""

    runs: Finished
    reference: Finished

    @property
    def is_reference(self) -> bool:
        """Whether it is what others are compared with."""
        return bool(self.reference) and self.reference[0][0] is self.runs[0][0]

    @property
    def place(self) -> dict[str, Any]:
        """Its columns of the grid, without the seed."""
        return {key: value for key, value in grid_columns(self.runs[0][0]).items() if key != "seed"}

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.runs[0][0].name.rpartition(" | seed")[0]

    def spread(self, metric: str) -> statistics.Spread | None:
        """Over the seeds that have the number."""
        values = [record.summary[metric] for _, record in self.runs if record.summary.get(metric) is not None]
        return statistics.spread(values) if values else None

    def mean(self, metric: str) -> float | None:
        """Over the same."""
        found = self.spread(metric)
        return None if found is None else found.mean

    def verdict(self, metric: str) -> Verdict:
        """Against the reference, over the seeds that both have."""
        metric = as_counted(metric, self.runs[0][1].summary)
        others = {run.seed: record.summary for run, record in self.reference}
        pairs = [(record.summary, others[run.seed]) for run, record in self.runs if run.seed in others]
        policy = self.runs[0][0].tags["policy"]
        reference = self.reference[0][0].tags["policy"] if self.reference else ""
        values, theirs = [mine.get(metric) for mine, _ in pairs], [other.get(metric) for _, other in pairs]
        found = verdicts.judge(values, theirs, metric, policy, reference)
        if pairs and found.change == 0 and all(mine == other for mine, other in pairs):
            means = found.value, found.reference_value
            return verdicts.same((policy, reference, metric), means, found.n, found.over)
        return found

    def row(self) -> dict[str, Any]:
        """How many seeds, means over them, and the verdict by the mean wait; the reference has none."""
        found = self.place | {"seeds": len(self.runs)} | {metric: self.mean(metric) for metric in shown(self.runs)}
        judged = dict.fromkeys(("verdict", "change", "low", "high"))
        if not self.reference or self.is_reference:
            return found | {"reference": self.place["policy"] if self.is_reference else None} | judged
        verdict = self.verdict(METRICS[0])
        judged = {"verdict": verdict.word, "change": verdict.change, "low": verdict.low, "high": verdict.high}
        return found | {"reference": verdict.reference} | judged


def frame(finished: Finished) -> "pl.DataFrame":
    """A row a run: the columns of the grid, its parameters, then every number; empty where there is none."""
    return as_table([{**grid_columns(run), **record.summary} for run, record in finished])


def write(finished: Finished, folder: Path) -> list[Path]:
    """sweep.csv and sweep.parquet, and verdicts.csv where there are two policies to compare; all or none."""
    table = frame(finished)
    judged = verdict_rows(combinations(finished))
    files = [folder / "sweep.csv", folder / "sweep.parquet", *([folder / TABLE] if judged else [])]
    with replacing(*files) as [csv, parquet, *verdicts_csv]:
        write_csv(table, csv)
        table.write_parquet(parquet)
        for path in verdicts_csv:
            write_csv(as_table(judged), path)
    return files


def document(found: "Sequence[Combination]", notes: Sequence[str], failed: Mapping[str, str]) -> dict[str, Any]:
    """All combinations for JSON, what went wrong with which run, and what readers should know."""
    return {
        "combinations": [one.row() for one in found],
        "failed": [{"run": run, "message": message} for run, message in failed.items()],
        "notes": list(notes),
    }


def combinations(finished: Finished) -> list[Combination]:
    """Every combination, in the order of the grid."""
    groups: dict[tuple[Any, ...], list[tuple[Run, Record]]] = {}
    for run, record in finished:
        key = (run.jobs.models, *(value for name, value in run.tags.items() if name != "seed"))
        groups.setdefault(key, []).append((run, record))
    references: dict[tuple[Any, ...], list[tuple[Run, Record]]] = {}
    for group in groups.values():
        run = group[0][0]
        if run.tags["reference"]:
            references.setdefault(_place(run), group)
    return [Combination(group, references.get(_place(group[0][0]), [])) for group in groups.values()]


def verdict_rows(found: Sequence[Combination]) -> list[dict[str, Any]]:
    """A row a combination and metric: its place, then the verdict."""
    rows = []
    for one in found:
        if one.reference and not one.is_reference:
            for metric in (*JUDGED, *own_metrics(one.runs)):
                row = asdict(one.verdict(metric))
                rows.append(one.place | {("verdict" if key == "word" else key): row[key] for key in row})
    return rows


def own_metrics(finished: Finished) -> list[str]:
    """Numbers of metrics of the user's own."""
    from forebay.metrics._listing import own_among

    return own_among(record.summary for _, record in finished)


def shown(finished: Finished) -> list[str]:
    """What tables of combinations show."""
    return [*METRICS, *own_metrics(finished)]


def about_metrics(finished: Finished) -> dict[str, Any]:
    """The same for a page, and what is to be known of metrics of the user's own."""
    from forebay.metrics._own import kept, registry

    return {"metrics": shown(finished), **kept.noted(own_metrics(finished), registry.own())}


def remarks(finished: Finished) -> list[str]:
    """What is to be said of those that are left empty."""
    return list(dict.fromkeys(remark for _, record in finished for remark in record.document.get(REMARKS, ())))


def same_under_each_seed(finished: Finished) -> bool:
    """Whether there are several seeds, and they change no run at all."""
    found: dict[tuple[Any, ...], list[str]] = {}
    for run, record in finished:
        key = tuple(value for name, value in run.tags.items() if name != "seed")
        facts = record.document.get("facts", {})
        found.setdefault(key, []).append(str(facts.get("log_sha256", record.document["key"])))
    return any(len(one) > 1 for one in found.values()) and all(len(set(one)) == 1 for one in found.values())


def notes(finished: Finished) -> list[str]:
    """What readers of the tables should know."""
    same = "every seed gave the same schedules: nothing in these runs is drawn at random"
    return [*([same] if same_under_each_seed(finished) else []), *remarks(finished)]


def as_table(rows: Sequence[dict[str, Any]]) -> "pl.DataFrame":
    """Rows as a table; what only some have is empty elsewhere."""
    import polars as pl

    names = list(dict.fromkeys(name for row in rows for name in row))
    return pl.DataFrame({name: [row.get(name) for row in rows] for name in names}, strict=False)


def grid_columns(run: Run) -> dict[str, Any]:
    """What a run has in the columns of the grid and of parameters, without what is only for our own use."""
    return {key: None if value == "" else value for key, value in run.tags.items() if key not in _OWN}


def _place(run: Run) -> tuple[Any, ...]:
    return (run.jobs.models, *(run.tags[key] for key in _PLACE))
