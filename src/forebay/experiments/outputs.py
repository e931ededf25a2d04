"""A folder for what a command writes: made if need be, and never with results of two commands in it."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from forebay._support.files import replacing, within, writable_folder
from forebay._support.reading import read_text
from forebay.errors import InputError

RESULTS = {
    "a run": ("run.json",),
    "a comparison": ("compare.json", "unfinished/compare.json"),
    "a search for a capacity": ("capacity.json",),
    "a fidelity": ("fidelity.json",),
}
"""What a folder of results holds, and by which files that is seen."""
FIGURES = "figures.json"
_WRITTEN = (
    *("runs", "unfinished", "tables", "figures", "manifest.json", "study.json", "report.md", "report.html"),
    *("sweep.json", "sweep.csv", "sweep.parquet", "verdicts.csv", "compare.csv", "groups.csv", "waits.csv"),
    *("grid.parquet", "capacity.csv", "jobs.csv", "jobs.parquet", "log.parquet", "placements.parquet", FIGURES),
    *(name for names in RESULTS.values() for name in names),
)
"""Names that commands write: a link of such a name is refused before any long work, not after it."""


@contextmanager
def output_folder(folder: Path) -> Iterator[Path]:
    """A folder that can be written to. Whatever of it is new and still empty afterwards is taken away again."""
    for name in _WRITTEN:
        within(folder, name)
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        yield writable_folder(folder)
    finally:
        for path in new:
            try:
                path.rmdir()
            except OSError:  # it holds the results, or could not be made
                break


def refuse_other(folder: Path, mine: str) -> None:
    """Refuse a folder with results of another kind: side by side, they could not be distinguished."""
    _figures(folder)  # to complain now, not after hours
    for kind, names in RESULTS.items():
        if kind != mine and any((folder / name).exists() for name in names):
            raise InputError(f"{folder}: holds {kind}, and would hold {mine} too; choose another folder with -o")


def note_figures(folder: Path, files: Iterable[Path]) -> None:
    """Remember figures drawn into a folder of results: they go when these do."""
    if any((folder / name).exists() for names in RESULTS.values() for name in names):
        found = sorted({*_figures(folder), *(file.name for file in files)})
        with replacing(folder / FIGURES) as [temporary]:
            temporary.write_text(json.dumps({"files": found}, indent=2) + "\n", encoding="utf-8")


def forget_figures(folder: Path, new: Iterable[Path] = ()) -> None:
    """Take away figures of earlier results, but for those that have been drawn again."""
    for name in {*_figures(folder)} - {file.name for file in new}:
        (folder / name).unlink(missing_ok=True)
    (folder / FIGURES).unlink(missing_ok=True)


def _figures(folder: Path) -> list[str]:
    try:
        names = json.loads(read_text(folder / FIGURES))["files"]
        return [Path(name).name for name in names]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{folder / FIGURES}: is not a list of figures drawn by forebay; move it away") from None
