"""Read the folder of a run back as the Result it was, or say which of its files is wrong, in what, and what to do."""

import json
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PanicException, PolarsError

from forebay._support.files import as_path
from forebay._support.parquet import read_parquet
from forebay._support.reading import read_bytes, read_text
from forebay._support.text import counted
from forebay.errors import InputError, brief, listed
from forebay.results._format import FORMAT, KEYS, RUN, Table, renamed, tables, wrong_summary
from forebay.results._result import Result

_ANEW = "write the run again with forebay run -o"
_LARGEST = 2**63 - 1


def load(folder: str | Path) -> Result:
    """The whole run that `Result.save`, `forebay run -o` or `forebay compare` wrote to a folder.

    Parameters
    ----------
    folder
        The run's own, not one that holds the folders of several.

    Returns
    -------
    Result
        Where the command line was given a window, only its summary was taken from that: all jobs are here.

    Examples
    --------
    >>> files = fb.simulate("table1").save("out")
    >>> fb.load("out")
    <Result of fcfs-bb: 8 jobs on 4 nodes, mean wait 2.38 min>
    """
    folder = as_path(folder, "the folder")
    document = read_document(folder)
    return Result(
        **{table.name: _read(folder, table, document) for table in tables(Result)},
        resources=document["resources"],
        facts={key: value for key, value in document.items() if key not in KEYS} | document.get("facts", {}),
    )


def _check_files(folder: Path) -> None:
    """Refuse a folder that lacks files of a run."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "no such folder"
        raise InputError(f"{folder}: {what}; name a folder that forebay run -o or forebay compare has written")
    needed = [*(table.file for table in tables(Result) if not table.optional), RUN]
    missing = [name for name in needed if not (folder / name).is_file()]
    if len(missing) == len(needed):
        raise InputError(f"{folder} is not the folder of a run; {_instead(folder)}")
    if missing:
        raise InputError(f"{folder}: {' and '.join(missing)} missing; {_ANEW}")


def read_document(folder: Path) -> dict[str, Any]:
    """What run.json holds, of a folder that has all files of a run.

    Parameters
    ----------
    folder
        The run's.

    Examples
    --------
    >>> from pathlib import Path
    >>> files = fb.simulate("table1").save("out")
    >>> fb.results.read_document(Path("out"))["seed"]
    0
    """
    _check_files(folder)
    path = folder / RUN
    document = _json(path)
    if not isinstance(document, dict) or "format" not in document:
        raise InputError(f"{path}: does not say its format: not of this version of forebay; {_ANEW}")
    if document["format"] != FORMAT:
        wrote = document["versions"].get("forebay") if isinstance(document.get("versions"), dict) else None
        by = f", written by forebay {brief(wrote)}" if wrote else ""
        raise InputError(f"{path}: has format {brief(document['format'])}{by}; this version reads {FORMAT}; {_ANEW}")
    for key in ("resources", "tables"):
        _check_amounts(document.get(key), key, path)
    if document.get("summary") is not None:
        if wrong := wrong_summary(document["summary"]):
            raise InputError(f"{path}: {wrong}; {_ANEW}")
        document["summary"] = renamed(document["summary"])
    if not isinstance(document.get("facts", {}), dict):
        raise InputError(f"{path}: facts is {brief(document['facts'])}, not a dictionary; {_ANEW}")
    return document


def _instead(folder: Path) -> str:
    """What to do about a folder that is something else."""
    inside = sorted(path.parent.name for path in folder.glob(f"*/{RUN}"))
    if inside:
        return f"the runs in it are {listed(inside)}"
    if (folder / "manifest.json").is_file() and (folder / "runs").is_dir():
        kept = "which keeps only the numbers of its runs: see"
        if any((folder / name).is_file() for name in ("sweep.json", "sweep.csv")):
            alone = "to draw a single run, repeat it with forebay run -o DIR"
            return f"it is a sweep's, {kept} sweep.csv and report.html in it; {alone}"
        if any((folder / name).exists() for name in ("study.json", "report.md", "tables")):
            return f"it is a study's, {kept} report.md and tables/ in it"
        return f"it is that of an unfinished sweep or study, {kept} its tables once it has ended"
    return "forebay run -o DIR, or result.save(folder) in Python, writes one"


def _json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); {_ANEW}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: line {error.lineno}: is not JSON ({error.msg}); {_ANEW}") from None
    except (ValueError, RecursionError):  # bytes that are no text, endless numbers, bottomless lists
        raise InputError(f"{path}: is not JSON that can be used; {_ANEW}") from None


def _check_amounts(found: Any, key: str, path: Path) -> None:
    if not isinstance(found, dict):
        raise InputError(f"{path}: has no {key}; {_ANEW}")
    for name, amount in found.items():
        if isinstance(amount, bool) or not isinstance(amount, int) or not 0 <= amount <= _LARGEST:
            raise InputError(f"{path}: {key}: {listed([name])} is {brief(amount)}, not a whole number; {_ANEW}")


def _read(folder: Path, table: Table, document: dict[str, Any]) -> pl.DataFrame:
    rows = document["tables"].get(table.name, 0)
    if table.optional and not rows:
        return table.empty()
    path = folder / table.file
    if not path.is_file():
        raise InputError(f"{folder}: {table.file} missing; {_ANEW}")
    where = f"{folder}: cannot be read as a run: {table.file}"
    try:
        data = read_bytes(path)
    except OSError as error:
        raise InputError(f"{where}: {error.strerror or error}; {_ANEW}") from None
    frame = read_parquet(data, where) if path.suffix == ".parquet" else _read_csv(data, table, where)
    table.check(frame, str(path), _ANEW)
    if frame.height != rows:
        raise InputError(
            f"{path}: has {counted(frame.height, 'row')} where {RUN} says {rows:,}: cut off, or of another run; {_ANEW}"
        )
    return frame


def _read_csv(data: bytes, table: Table, where: str) -> pl.DataFrame:
    """All as text first: what looks like a number may be a name, and what is meant as a number may be none."""
    try:
        frame = pl.read_csv(data, infer_schema=False)
    except (PolarsError, PanicException):
        raise InputError(f"{where}: not CSV that can be read; {_ANEW}") from None
    for name, wanted in table.columns.items():
        if wanted != pl.String and name in frame.columns:
            numbers = frame[name].cast(wanted, strict=False)
            if numbers.null_count() == frame[name].null_count():  # else `check` finds the text, and says so
                frame = frame.with_columns(numbers)
    return frame
