"""Read the files of a run back: what `forebay run -o DIR` left in a folder, as the Result it was."""

import json
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PanicException, PolarsError

from forebay._files import read_parquet
from forebay.core.result import JOBS_CSV, Result
from forebay.core.units import INT64_MAX
from forebay.errors import InputError, brief, listed

_ANEW = "write the run anew with forebay run -o"
_FILES = ("jobs.parquet", "log.parquet", "run.json")
_BESIDES = ("window", "resources", "summary")
"""What run.json holds beyond a result's facts."""

_WORDS = ("workload_name", "profile", "final_state", "allocated_resources", "metadata")
_COLUMNS = {
    "jobs.parquet": {name: "words" if name in _WORDS else "numbers" for name in JOBS_CSV},
    "log.parquet": dict.fromkeys(("time", "job", "leg", "amount"), "numbers")
    | dict.fromkeys(("kind", "resource", "reason"), "words"),
    "links.csv": {"link": "words", "capacity": "numbers", "bytes": "numbers"},
}
"""What metrics and figures look for in each table, and of which kind."""


def read_result(folder: Path) -> Result:
    """The whole run in a folder, whatever window it was summed up for."""
    document = read_document(folder)
    return Result(
        jobs=_table(folder / "jobs.parquet"),
        log=_table(folder / "log.parquet"),
        resources=_amounts(document["resources"], folder / "run.json"),
        facts={key: value for key, value in document.items() if key not in _BESIDES},
        links=_table(folder / "links.csv") if (folder / "links.csv").exists() else pl.DataFrame(),
    )


def _table(path: Path) -> pl.DataFrame:
    where = f"{path.parent}: cannot be read as a run: {path.name}"
    try:
        data = path.read_bytes()
        # What cannot be read as numbers is then no number, and the check below says so.
        table = read_parquet(data, where) if path.suffix == ".parquet" else pl.read_csv(data, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{where}: {error.strerror or error}; {_ANEW}") from None
    except (PolarsError, PanicException):
        raise InputError(f"{where}: not CSV that can be read; {_ANEW}") from None
    for name, kind in _COLUMNS[path.name].items():
        if name not in table.columns:
            raise InputError(f"{path}: has no column {name} (columns: {listed(table.columns, 5)}); {_ANEW}")
        dtype = table.schema[name]
        words = dtype in (pl.String, pl.Categorical, pl.Enum)
        if not words if kind == "words" else not dtype.is_numeric():
            raise InputError(f"{path}: its column {name} does not hold {kind}; {_ANEW}")
    return table


def _amounts(resources: dict[str, Any], path: Path) -> dict[str, int]:
    for name, amount in resources.items():
        if isinstance(amount, bool) or not isinstance(amount, int) or not 0 <= amount <= INT64_MAX:
            raise InputError(f"{path}: resources: {listed([name])} is {brief(amount)}, not a whole number; {_ANEW}")
    return resources


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
    except json.JSONDecodeError as error:
        raise InputError(f"{folder / 'run.json'}: line {error.lineno}: is not JSON ({error.msg}); {_ANEW}") from None
    except (ValueError, RecursionError):  # bytes that are no text, endless numbers, bottomless lists
        raise InputError(f"{folder / 'run.json'}: is not JSON that can be used; {_ANEW}") from None
    if not isinstance(document, dict) or not isinstance(document.get("resources"), dict):
        raise InputError(f"{folder / 'run.json'}: has no resources; write the run anew with forebay run -o")
    return document
