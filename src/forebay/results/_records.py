"""What a study keeps of each of its many runs: the numbers, and single measures of all jobs, in two small files."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from forebay._support.files import replacing
from forebay._support.parquet import read_parquet
from forebay._support.reading import read_bytes, read_text
from forebay._support.text import as_json
from forebay.errors import InputError
from forebay.results._format import wrong_summary


@dataclass(frozen=True)
class Record:
    """What a study keeps of a finished run.

    Parameters
    ----------
    document
        Its numbers and what was run.
    measures
        Those of every job that were asked for, by name.
    """

    document: dict[str, Any]
    measures: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def summary(self) -> dict[str, Any]:
        """Every number of the run, as `forebay.summary` gives them."""
        numbers: dict[str, Any] = self.document["summary"]
        return numbers


def save_record(record: Record, place: Path) -> None:
    """Keep a record. Its numbers come last: a record that has them has all.

    Parameters
    ----------
    record
        What to keep.
    place
        A .json file; measures go to a Parquet file beside it.
    """
    if record.measures:
        with replacing(place.with_suffix(".parquet")) as [temporary]:
            pl.DataFrame(record.measures).write_parquet(temporary)
    with replacing(place) as [temporary]:
        temporary.write_text(as_json(record.document) + "\n", encoding="utf-8")


def load_record(place: Path, key: str, keep: Iterable[str] = ()) -> Record:
    """The record of a run, bit by bit what was saved.

    Parameters
    ----------
    place
        The .json file.
    key
        Of the run; a file of another run is refused.
    keep
        The measures wanted.

    Examples
    --------
    >>> from pathlib import Path
    >>> record = fb.results.Record({"key": "k", "summary": {"n_jobs": 8}})
    >>> fb.results.save_record(record, Path("k.json"))
    >>> fb.results.load_record(Path("k.json"), "k").summary
    {'n_jobs': 8}
    """
    try:
        document = json.loads(read_text(place))
        if document["key"] != key:
            raise ValueError
        wrong = wrong_summary(document["summary"])
        if not isinstance(document.get("facts", {}), dict):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        wrong = "not a run that can be read"
    if wrong:
        raise InputError(f"{place}: {wrong}; {_ANEW}")
    return Record(document, _measures(place, keep))


def _measures(place: Path, keep: Iterable[str]) -> dict[str, np.ndarray]:
    if not keep:
        return {}
    path = place.with_suffix(".parquet")
    try:
        table = read_parquet(read_bytes(path), str(path))
    except (OSError, InputError):
        raise InputError(f"{path}: not Parquet that can be read; remove {place.name} beside it, {_MADE}") from None
    for name in keep:
        if name not in table.columns or not table.schema[name].is_float() or table[name].null_count():
            raise InputError(f"{path}: has no numbers {name} of all jobs; remove {place.name} beside it, {_MADE}")
    return {name: table[name].to_numpy() for name in keep}


_MADE = "and the run is made again"
_ANEW = f"remove the file, {_MADE}"
