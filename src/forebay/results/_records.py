"""What a study keeps of each of its many runs: the numbers, and single measures of all jobs, in two small files."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from forebay._files import replacing
from forebay._parquet import read_parquet
from forebay._reading import read_bytes, read_text
from forebay._text import as_json
from forebay.errors import InputError


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
        if document["key"] != key or not isinstance(document["summary"], dict):
            raise ValueError
        measures = place.with_suffix(".parquet")
        table = read_parquet(read_bytes(measures), str(measures)) if keep else pl.DataFrame()
        return Record(document, {name: table[name].to_numpy() for name in keep})
    except (OSError, ValueError, KeyError, TypeError, RecursionError, pl.exceptions.PolarsError, InputError):
        raise InputError(f"{place}: not a run that can be read; remove the file to have it made again") from None
