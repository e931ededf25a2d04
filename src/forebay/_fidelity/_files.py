"""The files of a replay: all numbers as JSON, groups and jobs as CSV, pictures with their data, and the page."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from forebay._fidelity import _figures, _paper
from forebay._support.files import as_path, replacing, writable_folder
from forebay._support.text import as_json, write_csv

FORMAT = 1
DOCUMENT, GROUPS, WAITS = "fidelity.json", "groups.csv", "waits.csv"
FITTED = "fitted.toml"
_SHOWN = 20
"""Rows of a table of users or the like on the page; groups.csv has all."""


def document(found: _paper.Replayed) -> dict[str, Any]:
    """All there is to say of it, but for its jobs."""
    facts = found.result.facts
    keys = ("workload", "workload_sha256", "provenance", "platform", "policy", "job_model", "seed", "notes", "versions")
    return {
        "format": FORMAT,
        **{key: facts[key] for key in keys},
        **({"epoch": facts["epoch"]} if "epoch" in facts else {}),
        "period": list(found.use.period),
        "unit": found.use.unit,
        "capacity": found.use.capacity,
        "in_words": _paper.sentences(found),
        "numbers": dict(found.numbers),
        "by": {name: table.to_dicts() for name, table in found.by.items()},
        "moving": found.moving.to_dicts(),
        **({} if found.reasons is None else {"reasons": found.reasons.to_dicts()}),
        "cannot_match": dict(found.doubts),
        **({} if found.fit is None else {"fit": found.fit.document()}),
    }


def kept(found: _paper.Replayed, origin: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What stays in a folder: the document with its tables in words, of which pages are made, and the command."""
    tables = [
        {"title": one.caption, "columns": list(one.titles), "rows": one.rows, "numbers": list(one.numbers)}
        for one in _paper.tables(found, _SHOWN).values()
    ]
    return {**document(found), "shown": tables, **(origin or {})}


def groups(found: _paper.Replayed) -> pl.DataFrame:
    """The tables of all groups below one another."""
    return pl.concat([table.select(pl.lit(name).alias("by"), pl.all()) for name, table in found.by.items()])


def save(
    found: _paper.Replayed,
    folder: str | PathLike[str],
    plots: bool = True,
    page: bool = True,
    origin: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Write all of it; each file is whole or not there."""
    from forebay.report import renew

    place = writable_folder(as_path(folder, "the folder to write to"))
    files = [place / GROUPS, place / WAITS, place / DOCUMENT, place / FITTED]
    pictures = _figures.draw(found, place) if plots else []
    files = files if found.fit is not None and found.fit.toml else files[:-1]
    with replacing(*files) as (table, waits, json_file, *fitted):
        write_csv(groups(found), table)
        write_csv(found.jobs, waits)
        json_file.write_text(as_json(kept(found, origin)) + "\n", encoding="utf-8")
        for file in fitted:
            file.write_text(found.fit.toml if found.fit else "", encoding="utf-8")
    return [*files, *pictures, *renew(place, page)]
