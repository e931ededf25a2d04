"""The files of a fidelity: all numbers as JSON, groups and jobs as CSV, and the figure with its data."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from forebay._support.files import as_path, replacing, writable_folder
from forebay._text import as_json, write_csv

if TYPE_CHECKING:
    from forebay._fidelity._replay import Fidelity

FORMAT = 1
DOCUMENT, GROUPS, WAITS, PICTURE = "fidelity.json", "groups.csv", "waits.csv", "fidelity.svg"


def document(found: "Fidelity") -> dict[str, Any]:
    """All there is to say of it, but for its jobs."""
    facts = found.result.facts
    told = ("workload", "workload_sha256", "provenance", "platform", "policy", "job_model", "seed", "notes", "versions")
    return {
        "format": FORMAT,
        **{key: facts[key] for key in told},
        **({"epoch": facts["epoch"]} if "epoch" in facts else {}),
        "period": list(found.use.period),
        "unit": found.use.unit,
        "capacity": found.use.capacity,
        "numbers": dict(found.numbers),
        "by": {name: table.to_dicts() for name, table in found.by.items()},
        "cannot_match": dict(found.doubts),
    }


def groups(found: "Fidelity") -> pl.DataFrame:
    """The tables of all groups below one another."""
    return pl.concat([table.select(pl.lit(name).alias("by"), pl.all()) for name, table in found.by.items()])


def save(found: "Fidelity", folder: str | PathLike[str], plots: bool = True) -> list[Path]:
    """Write all of it; each file is whole or not there."""
    place = writable_folder(as_path(folder, "the folder to write to"))
    files = [place / GROUPS, place / WAITS, place / DOCUMENT]
    pictures = draw(found, place / PICTURE) if plots else []
    with replacing(*files) as (table, waits, told):
        write_csv(groups(found), table)
        write_csv(found.jobs, waits)
        told.write_text(as_json(document(found)) + "\n", encoding="utf-8")
    return [*files, *pictures]


def draw(found: "Fidelity", path: Path) -> list[Path]:
    """Both distributions of waits, and both uses of the machine over time."""
    from forebay.figures.panels import fidelity

    waits = {kind: found.jobs[f"{kind}_wait"].to_numpy() for kind in ("recorded", "simulated")}
    uses = {"recorded": found.use.recorded, "simulated": found.use.simulated}
    about = fidelity.Machine(found.use.unit, found.use.capacity, found.use.period, found.result.facts.get("epoch"))
    return fidelity.draw(waits, uses, about, path)
