"""Finished runs in a folder: one small file each, under the key of the run, and a manifest of what made them.

A file is written beside its place and renamed, so whatever has its name is whole. Numbers come back as they were put
in, bit by bit: tables made of stored runs do not show whether the work was ever interrupted. Several processes may
work on one folder: each run is claimed by one of them.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from forebay._support.files import replacing, within, writable_folder
from forebay._support.reading import read_text
from forebay.errors import InputError
from forebay.experiments.claims import Claims
from forebay.experiments.runs import Run
from forebay.results import Record, load_record, save_record

_ROOT = Path(__file__).parents[1]
_WITHOUT = ("_bounds", "cli", "experiments", "explain", "figures", "report", "studies", "testing")
"""What cannot change the result of a run."""
_OF_RUNS = ("files.py", "generators.py", "runs.py")
"""Of `experiments`, what can."""
_OURS = re.compile(r"[0-9a-f]{24}\.(json|parquet)")
_CLAIMS = re.compile(r"[0-9a-f]{24}\.claim|takeover\.lock")


@cache
def code_hash() -> str:
    """A hash of every source that can change a result."""
    digest = hashlib.sha256()
    sources = [path for path in _ROOT.rglob("*.py") if path.relative_to(_ROOT).parts[0] not in _WITHOUT]
    for path in sorted([*sources, *(_ROOT / "experiments" / name for name in _OF_RUNS)]):
        digest.update(f"{path.relative_to(_ROOT).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


class Store:
    """The runs of one folder. Opening it refuses what another version has made, unless it is to start `fresh`."""

    def __init__(self, folder: Path, fresh: bool = False) -> None:
        self.folder = folder
        self.runs = within(folder, "runs")
        self._manifest = within(folder, "manifest.json")
        mine = {"forebay": version("forebay"), "code": code_hash()}
        if fresh:
            self._clear()
        found = self._read_manifest()
        if found is None and any(self._files()) and (found := self._read_manifest()) is None:
            raise InputError(f"{folder}: holds runs, but no manifest.json says what made them; {_ANEW}")
        if found is not None and found != mine:
            made = f"forebay {found.get('forebay', '?')}"
            other = made if made != f"forebay {mine['forebay']}" else f"{made} with other code"
            raise InputError(f"{folder}: its runs were made by {other}, and results may differ; {_ANEW}")
        writable_folder(self.runs)
        if found is None:
            with replacing(self._manifest) as [temporary]:
                temporary.write_text(json.dumps(mine, indent=2) + "\n", encoding="utf-8")

    def __contains__(self, run: Run) -> bool:
        return self._place(run).is_file()

    def save(self, run: Run, record: Record) -> None:
        """Keep a run."""
        save_record(record, self._place(run))

    def load(self, run: Run) -> Record:
        """A run that is here."""
        return load_record(self._place(run), run.key, run.keep)

    def claims(self) -> Claims:
        """Of this process, on runs of the folder."""
        return Claims(self.runs)

    def _place(self, run: Run) -> Path:
        return self.runs / f"{run.key}.json"

    def _files(self) -> Iterable[Path]:
        return (path for path in self.runs.glob("*") if _OURS.fullmatch(path.name))

    def _clear(self) -> None:
        """Take away what a store has written, and nothing else. The manifest goes last."""
        if self.claims().others():
            raise InputError(f"{self.folder}: runs are being carried out there; stop them first, or leave out --fresh")
        claims = (path for path in self.runs.glob("*") if _CLAIMS.fullmatch(path.name))
        for path in [within(self.folder, path.relative_to(self.folder)) for path in (*self._files(), *claims)]:
            path.unlink()
        self._manifest.unlink(missing_ok=True)

    def _read_manifest(self) -> dict[str, Any] | None:
        try:
            found = json.loads(read_text(self._manifest))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise InputError(f"{self._manifest}: cannot be read; {_ANEW}")
        return found


_ANEW = "start over there with --fresh, or choose another folder with -o"
