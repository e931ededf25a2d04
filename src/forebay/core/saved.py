"""Read the files of a run back: what `forebay run -o DIR` left in a folder, as the Result it was."""

import json
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from forebay.core.result import Result
from forebay.errors import InputError

_FILES = ("jobs.parquet", "log.parquet", "run.json")
_BESIDES = ("window", "resources", "summary")
"""What run.json holds beyond a result's facts."""


def read_result(folder: Path) -> Result:
    """The whole run in a folder, whatever window it was summed up for."""
    document = read_document(folder)
    links = folder / "links.csv"
    try:
        return Result(
            jobs=pl.read_parquet(folder / "jobs.parquet"),
            log=pl.read_parquet(folder / "log.parquet"),
            resources={str(name): int(amount) for name, amount in document["resources"].items()},
            facts={key: value for key, value in document.items() if key not in _BESIDES},
            links=pl.read_csv(links) if links.exists() else pl.DataFrame(),
        )
    except (PolarsError, OSError) as error:
        why = str(error).partition("\n")[0]
        raise InputError(f"{folder}: cannot be read as a run ({why}); write it anew with forebay run -o") from None


def read_document(folder: Path) -> dict[str, Any]:
    """run.json of a folder that has all files of a run."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "no such folder"
        raise InputError(f"{folder}: {what}; name a folder that forebay run -o or forebay compare has written")
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if len(missing) == len(_FILES):
        inside = sorted(path.parent.name for path in folder.glob("*/run.json"))
        hint = f"; the runs in it are {', '.join(inside)}" if inside else "; forebay run -o DIR writes one"
        raise InputError(f"{folder} is not the folder of a run{hint}")
    if missing:
        raise InputError(f"{folder}: {' and '.join(missing)} missing; write the run anew with forebay run -o")
    try:
        document = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{folder / 'run.json'}: is not JSON ({error})") from None
    if not isinstance(document, dict) or not isinstance(document.get("resources"), dict):
        raise InputError(f"{folder / 'run.json'}: has no resources; write the run anew with forebay run -o")
    return document
