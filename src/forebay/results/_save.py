"""Write a run to a folder: every file under a temporary name first, then all renamed, run.json last."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from forebay._support.files import replacing
from forebay._support.text import as_json, write_csv
from forebay.errors import InputError
from forebay.results._format import BESIDE, DIGESTS, FORMAT, JOBS_FOR_OTHERS, KEYS, RUN, Saveable, Table, tables
from forebay.results._whole import digests_of


def document(result: Saveable, **beside: Any) -> dict[str, Any]:
    """What run.json holds of a run.

    Parameters
    ----------
    result
        The run.
    **beside
        `window`, `summary`, `recorded` and `own_metrics`, where they are given.

    Examples
    --------
    >>> fb.results.document(fb.simulate("table1"))["resources"]
    {'nodes': 4, 'burst_buffer': 10000000000000}
    """
    assert set(beside) <= set(BESIDE)
    named = {name: fact for name, fact in result.facts.items() if name not in KEYS}
    facts = {"format": FORMAT, **named, **beside, "resources": dict(result.resources)}
    facts["tables"] = {table.name: getattr(result, table.name).height for table in tables(result)}
    others = {name: fact for name, fact in result.facts.items() if name in KEYS}
    return facts | {"facts": others} if others else facts


def files(result: Saveable) -> list[str]:
    """Names of the files of a run, run.json last; an optional table only where it has rows.

    Parameters
    ----------
    result
        The run.

    Examples
    --------
    >>> fb.results.files(fb.simulate("table1"))
    ['jobs.csv', 'jobs.parquet', 'log.parquet', 'placements.parquet', 'run.json']
    """
    return [*sorted([JOBS_FOR_OTHERS, *(table.file for table in _present(result))]), RUN]


def _present(result: Saveable) -> list[Table]:
    return [table for table in tables(result) if not table.optional or getattr(result, table.name).height]


@contextmanager
def saving(folder: Path, result: Saveable, described: Mapping[str, Any] | None = None) -> Iterator[list[str]]:
    """The files of one run, in a folder: they take their names when the block ends.

    Parameters
    ----------
    folder
        It must be there.
    result
        The run.
    described
        What run.json shall hold, by default `document(result)`.

    Yields
    ------
    list of str
        The names.
    """
    names = files(result)
    with replacing(*(folder / name for name in names)) as temporary:
        paths = dict(zip(names, temporary, strict=True))
        for table in _present(result):
            _write(getattr(result, table.name), table, paths[table.file])
        jobs = next(table for table in tables(result) if table.name == "jobs")
        _written(partial(write_csv, result.jobs.select(*jobs.columns)), paths[JOBS_FOR_OTHERS])
        others = {name: path for name, path in paths.items() if name != RUN}
        said = dict(described or document(result))
        _facts(said)  # tells what cannot be written
        paths[RUN].write_text(_facts(said | {DIGESTS: digests_of(said, others)}), encoding="utf-8")
        yield names
        # Files are renamed one by one. A process stopped in between leaves no run.json, and so no mix of two runs.
        (folder / RUN).unlink(missing_ok=True)
    for table in tables(result):
        if table.file not in names:
            (folder / table.file).unlink(missing_ok=True)  # of an older run


def _write(frame: pl.DataFrame, table: Table, path: Path) -> None:
    table.check(frame, f"the result's table {table.name}", "fill in what is missing before you save it")
    _written(frame.write_parquet if table.file.endswith(".parquet") else partial(write_csv, frame), path)


def _written(write: Any, path: Path) -> None:
    try:
        write(path)
    except PolarsError as error:  # a full disk, as polars tells it of Parquet files
        raise InputError(f"{path.parent}: cannot write there ({error})") from None


def _facts(document: Mapping[str, Any]) -> str:
    try:
        return as_json(document) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"the result's facts cannot be written as JSON ({error}); keep numbers, text, lists and dictionaries"
        ) from None
