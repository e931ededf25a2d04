"""What a replay has found, and its files: all numbers as JSON, groups and jobs as CSV, the figure with its data."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from forebay._fidelity import _paper
from forebay._fidelity._use import Use
from forebay._support.files import as_path, replacing, writable_folder
from forebay._support.text import as_json, counted, write_csv
from forebay.metrics._numbers import seconds
from forebay.results import Result

FORMAT = 1
DOCUMENT, GROUPS, WAITS, PICTURE = "fidelity.json", "groups.csv", "waits.csv", "fidelity.svg"


@dataclass(frozen=True)
class Fidelity:
    """How a simulated period compares with the one that was recorded. Errors are simulated minus recorded waits.

    Parameters
    ----------
    numbers
        Every score by its name, waits and errors in seconds.
    by
        Tables of errors: by `size`, and by `queue`, `user` and `account` where the trace tells them.
    jobs
        A row a job that was scored: `recorded_wait`, `simulated_wait` and `error` among its columns.
    use
        What jobs held of the machine over time, in both.
    doubts
        What cannot match, a sentence each, by what it is about.
    result
        The run.
    """

    numbers: Mapping[str, Any]
    by: Mapping[str, pl.DataFrame]
    jobs: pl.DataFrame
    use: Use
    doubts: Mapping[str, str]
    result: Result

    def __repr__(self) -> str:
        recorded, simulated = (seconds(self.numbers[f"{kind}_mean_wait"]) for kind in ("recorded", "simulated"))
        who = f"{self.result.facts['policy']} on {counted(len(self.jobs), 'job')}"
        return f"<Fidelity of {who}: mean wait {simulated}, recorded {recorded}>"

    def to_latex(self, caption: str | None = None, label: str | None = None, table: str = "scores") -> str:
        """A table for a paper that loads booktabs; with a caption it floats.

        Parameters
        ----------
        caption
            Its caption.
        label
            What the paper refers to it by.
        table
            "scores", "waits", or what errors are by: "size", "queue", "user", "account".
        """
        return _paper.named(self, table).to_latex(caption, label)

    def to_markdown(self, table: str = "scores") -> str:
        """The same in Markdown."""
        return _paper.named(self, table).to_markdown()

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write fidelity.json, groups.csv, waits.csv and the figure to a folder; gives the files."""
        return save(self, folder)


def document(found: Fidelity) -> dict[str, Any]:
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
        "numbers": dict(found.numbers),
        "by": {name: table.to_dicts() for name, table in found.by.items()},
        "cannot_match": dict(found.doubts),
    }


def groups(found: Fidelity) -> pl.DataFrame:
    """The tables of all groups below one another."""
    return pl.concat([table.select(pl.lit(name).alias("by"), pl.all()) for name, table in found.by.items()])


def save(found: Fidelity, folder: str | PathLike[str], plots: bool = True) -> list[Path]:
    """Write all of it; each file is whole or not there."""
    place = writable_folder(as_path(folder, "the folder to write to"))
    files = [place / GROUPS, place / WAITS, place / DOCUMENT]
    pictures = draw(found, place / PICTURE) if plots else []
    with replacing(*files) as (table, waits, json_file):
        write_csv(groups(found), table)
        write_csv(found.jobs, waits)
        json_file.write_text(as_json(document(found)) + "\n", encoding="utf-8")
    return [*files, *pictures]


def draw(found: Fidelity, path: Path) -> list[Path]:
    """Both distributions of waits, and both uses of the machine over time."""
    from forebay.figures.panels import fidelity

    waits = {kind: found.jobs[f"{kind}_wait"].to_numpy() for kind in ("recorded", "simulated")}
    uses = {"recorded": found.use.recorded, "simulated": found.use.simulated}
    about = fidelity.Machine(found.use.unit, found.use.capacity, found.use.period, found.result.facts.get("epoch"))
    return fidelity.draw(waits, uses, about, path)
