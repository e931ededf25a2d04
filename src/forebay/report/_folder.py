"""What a report is made of: the runs of a folder that `forebay compare` or `forebay run` wrote."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from forebay.errors import InputError, listed
from forebay.results import read_document

_RUN, _MANIFEST, _VERDICTS = "run.json", "compare.json", "verdicts.csv"
_NUMBERS = ("value", "reference_value", "change", "low", "high", "n")
_WORDS = ("policy", "reference", "metric", "verdict", "over")


@dataclass(frozen=True)
class Runs:
    """Runs of one workload, best first: what run.json says of each, and its folder. `verdicts` may be None."""

    documents: list[dict[str, Any]]
    folders: list[Path]
    verdicts: pl.DataFrame | None

    @property
    def labels(self) -> list[str]:
        """What each run is called: its policy; where two have the same, its folder."""
        names = [str(document.get("policy", "")) for document in self.documents]
        return names if all(names) and len(set(names)) == len(names) else [folder.name for folder in self.folders]


def read(folder: Path) -> Runs:
    """The runs of a folder; of a comparison, shortest mean wait first."""
    if (folder / _RUN).is_file():
        return Runs([read_document(folder)], [folder], None)
    places = sorted(path.parent for path in folder.glob(f"*/{_RUN}")) if folder.is_dir() else []
    mine = _listed(folder)
    places = [place for place in places if mine is None or f"{place.name}/{_RUN}" in mine]
    if not places:
        what = "is a file" if folder.is_file() else "holds no run" if folder.exists() else "no such folder"
        raise InputError(f"{folder}: {what}; name a folder that forebay compare or forebay run -o has written")
    found = sorted(((read_document(place), place) for place in places), key=lambda one: _by_wait(one[0]))
    if len({str(document.get("workload")) for document, _ in found}) > 1:
        names = listed([place.name for place in places])
        raise InputError(f"{folder}: its runs ({names}) are not of one workload; make a report of each")
    return Runs([one for one, _ in found], [place for _, place in found], _verdicts(folder / _VERDICTS))


def _listed(folder: Path) -> list[str] | None:
    """Files that belong to a finished comparison; None where the folder does not say."""
    try:
        told = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        return list(told["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _by_wait(document: dict[str, Any]) -> tuple[bool, float]:
    wait = (document.get("summary") or {}).get("mean_waiting_time")
    return wait is None, wait or 0.0


def _verdicts(path: Path) -> pl.DataFrame | None:
    if not path.is_file():
        return None
    try:
        frame = pl.read_csv(path, infer_schema=False)
        return frame.select(*_WORDS, *(pl.col(name).cast(pl.Float64) for name in _NUMBERS))
    except (PolarsError, OSError):
        raise InputError(f"{path}: not a table of verdicts; make the comparison again with forebay compare") from None
