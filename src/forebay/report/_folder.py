"""What a report is made of: the runs of a folder that `forebay compare` or `forebay run` wrote."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from forebay._support.reading import read_text
from forebay.errors import InputError, listed
from forebay.metrics._own import kept
from forebay.results import read_document

_RUN, _MANIFEST, _VERDICTS, _BOUNDS = "run.json", "compare.json", "verdicts.csv", "bounds.csv"
_SWEPT = "grid.parquet"
_RANKING, _NOT_RUN, _GROUPS = "ranking.csv", "not-run.csv", "groups.csv"
_NUMBERS = ("value", "reference_value", "change", "low", "high", "n")
_WORDS = ("policy", "reference", "metric", "verdict", "over")
_MEMBERS = ("by", "name", "policy", "verdict")
_HOURS = ("mean_wait", "gained_hours", "lost_hours", "net_hours", "low_hours", "high_hours")


@dataclass(frozen=True)
class Runs:
    """Runs of one workload, best first: what run.json says of each, and its folder. `verdicts` may be None."""

    documents: list[dict[str, Any]]
    folders: list[Path]
    verdicts: pl.DataFrame | None
    command: list[str] = field(default_factory=list)  # that makes them again; empty where it was not recorded
    bounds: pl.DataFrame | None = None  # every policy against what any could do; None where it is not known
    shown: dict[str, dict[str, Any]] = field(default_factory=dict)  # what tables show, by policy, in their order
    not_run: pl.DataFrame | None = None  # which policy did not run how many jobs that others ran, and why
    groups: pl.DataFrame | None = None  # queues, users, accounts and QOS under each policy, largest losses first
    copies: int = 0  # of the trace, shaken, over which numbers that tables show are means too

    @property
    def labels(self) -> list[str]:
        """What each run is called: its policy; where two have the same, its folder."""
        names = [str(document.get("policy", "")) for document in self.documents]
        return names if all(names) and len(set(names)) == len(names) else [folder.name for folder in self.folders]

    @property
    def first(self) -> dict[str, Any]:
        """What tells of jobs and machine as they are: the run of the reference, else the best."""
        mine = (one for one in self.documents if one.get("policy") == self.reference)
        return next(mine, self.documents[0])

    @property
    def numbers(self) -> list[dict[str, Any]]:
        """What tables show of each run: means over the same runs and jobs as of others, in a comparison."""
        return [self.shown.get(str(one.get("policy"))) or one.get("summary") or {} for one in self.documents]

    @property
    def reference(self) -> str:
        """The policy that verdicts are against; empty where there are none."""
        return "" if self.verdicts is None else " and ".join(dict.fromkeys(self.verdicts["reference"]))

    @property
    def other(self) -> str | None:
        """The best policy beside the reference, if any; one with a schedule of its own where there is one."""
        same = set() if self.verdicts is None else set(self.verdicts.filter(pl.col("verdict") == "same")["policy"])
        others = [label for label in self.labels if label != self.reference]
        return next((label for label in others if label not in same), others[0] if others else None)

    @property
    def pair(self) -> tuple[int, int | None]:
        """Places of the schedules that are shown first: the best policy and below it the reference."""
        if self.other is None or len(self.labels) < 2:
            return 0, None
        if self.reference not in self.labels:
            return 0, 1
        return self.labels.index(self.other), self.labels.index(self.reference)


def read(folder: Path) -> Runs:
    """The runs of a folder; of a comparison, shortest mean wait first."""
    if (folder / _RUN).is_file():
        alone = _document(folder)
        return Runs([alone], [folder], None, words_of(alone))
    places = sorted(path.parent for path in folder.glob(f"*/{_RUN}")) if folder.is_dir() else []
    manifest = _manifest(folder)
    mine = manifest.get("files")
    places = [place for place in places if not isinstance(mine, list) or f"{place.name}/{_RUN}" in mine]
    if not places:
        raise InputError(f"{folder}: {_wanting(folder)}")
    found = sorted(((_document(place), place) for place in places), key=lambda one: _by_wait(one[0]))
    if len({str(document.get("workload")) for document, _ in found}) > 1:
        names = listed([place.name for place in places])
        raise InputError(f"{folder}: its runs ({names}) are not of one workload; make a report of each")
    ranking = _table(folder / _RANKING, "ranking", "policy", pl.exclude("policy").cast(pl.Float64))
    rows = [] if ranking is None else ranking.to_dicts()
    copies = max((int(row.pop("runs", None) or 1) for row in rows), default=1) - 1
    shown = {row.pop("policy"): row for row in rows}
    places_of = {policy: place for place, policy in enumerate(shown)}
    found.sort(key=lambda one: places_of.get(str(one[0].get("policy")), len(places_of)))
    documents, folders = [one for one, _ in found], [place for _, place in found]
    verdicts = _table(folder / _VERDICTS, "table of verdicts", *_WORDS, _numbers(*_NUMBERS))
    bounds = _table(folder / _BOUNDS, "table of bounds", "policy", "metric", _numbers("least", "ratio"))
    not_run = _table(folder / _NOT_RUN, "table of jobs", "policy", "reason", pl.col("jobs").cast(pl.Int64))
    numbers = (*_MEMBERS, pl.col("jobs").cast(pl.Int64), _numbers(*_HOURS))
    groups = _table(folder / _GROUPS, "table of groups", *numbers)
    return Runs(documents, folders, verdicts, words_of(manifest), bounds, shown, not_run, groups, copies)


def _document(folder: Path) -> dict[str, Any]:
    """What run.json holds; the units of users' metrics are known from then on."""
    document = read_document(folder)
    kept.recall(document, folder / _RUN)
    return document


def _wanting(folder: Path) -> str:
    """Why no page can be made of a folder, and what to do."""
    if (folder / _SWEPT).is_file():
        return "holds a sweep of Python, or one that has not ended; in Python found.report(path) makes its page"
    what = "is a file" if folder.is_file() else "holds no results" if folder.exists() else "no such folder"
    return f"{what}; name a folder that forebay compare, sweep, capacity, study, run -o or fidelity -o has written"


def words_of(document: Mapping[str, Any]) -> list[str]:
    """The command that a document has; empty where it has none."""
    words = document.get("command")
    return words if isinstance(words, list) and all(isinstance(word, str) for word in words) else []


def _manifest(folder: Path) -> dict[str, Any]:
    """What a comparison says of itself; empty where the folder does not say."""
    try:
        document = json.loads(read_text(folder / _MANIFEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _by_wait(document: dict[str, Any]) -> tuple[bool, float]:
    wait = (document.get("summary") or {}).get("mean_wait")
    return wait is None, wait or 0.0


def _table(path: Path, what: str, *columns: str | pl.Expr) -> pl.DataFrame | None:
    """These columns of a table that a comparison has written, if it did."""
    if not path.is_file():
        return None
    try:
        return pl.read_csv(path, infer_schema=False).select(*columns)
    except (PolarsError, OSError):
        raise InputError(f"{path}: not a {what}; make the comparison again with forebay compare") from None


def _numbers(*names: str) -> pl.Expr:
    return pl.col(*names).cast(pl.Float64)
