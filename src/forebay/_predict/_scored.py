"""How good predictions are: coverage of intervals, errors of medians, beside what others would have said."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from forebay._support.files import as_path, replacing, writable_folder
from forebay._support.paper import InPapers, Table
from forebay._support.text import as_json, counted, html_table, write_csv
from forebay.metrics._numbers import number, percent, seconds

FORMAT = 1
OURS = "predicted"


@dataclass(frozen=True)
class Reliability(InPapers):
    """Predictions held against what came.

    Parameters
    ----------
    numbers
        `coverage` of intervals by their share, `median_absolute_error`, `mean_absolute_error` in seconds,
        `median_factor` by which a median is off, and the same for each of the `baselines`.
    by
        Tables of the same: by `size` and, where the trace has them, by `queue`.
    levels
        A row a level: the share of waits that were over by then.
    jobs
        A row a prediction.
    facts
        What it rests on.
    """

    numbers: Mapping[str, Any]
    by: Mapping[str, pl.DataFrame]
    levels: pl.DataFrame
    jobs: pl.DataFrame
    facts: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """All of it but for its jobs, as `forebay predict --score --format json` answers."""
        return {
            "format": FORMAT,
            **self.facts,
            **self.numbers,
            "in_words": self.sentences(),
            "by": {name: table.to_dicts() for name, table in self.by.items()},
            "levels": self.levels.to_dicts(),
        }

    def sentences(self) -> list[str]:
        """What is to be read first."""
        shares = ", ".join(
            f"{100 * value:.0f} % by those of {100 * float(share):.0f} %"
            for share, value in self.numbers["coverage"].items()
        )
        off = seconds(self.numbers["median_absolute_error"])
        slurm = seconds(self.numbers["baselines"]["slurm"]["median_absolute_error"])
        return [
            f"Of {counted(self.facts['moments'], 'wait')} intervals covered {shares}.",
            f"The median was off by {off} in the middle; walltimes alone (Slurm's way) by {slurm}.",
        ]

    def for_papers(self) -> Table:
        """A row for us and for each baseline."""
        rows = []
        for name, found in ((OURS, self.numbers), *self.numbers["baselines"].items()):
            shares = [percent(value) for value in found["coverage"].values()]
            rows.append(
                [
                    name,
                    *shares,
                    seconds(found["median_absolute_error"]),
                    seconds(found["mean_absolute_error"]),
                    number(found["median_factor"]),
                ]
            )
        titles = ["", "in 50 %", "in 80 %", "in 90 %", "median\nerror", "mean\nerror", "factor"]
        facts = self.facts
        who = f"{counted(facts['moments'], 'wait')} of {facts['workload']} under {facts['policy']}"
        caption = f"{who}, {facts['futures']} futures each"
        return Table(titles, rows, range(1, len(titles)), caption)

    def groups(self) -> list[Table]:
        """By size and the like."""
        made = []
        for name, table in self.by.items():
            rows = [
                [
                    str(row[name]),
                    f"{row['waits']:,}",
                    *(percent(row[f"in_{share}"]) for share in (50, 80, 90)),
                    seconds(row["median_error"]),
                    seconds(row["slurm_median_error"]),
                ]
                for row in table.iter_rows(named=True)
            ]
            titles = [name, "waits", "in 50 %", "in 80 %", "in 90 %", "median\nerror", "Slurm's\nway"]
            made.append(Table(titles, rows, range(1, len(titles)), f"The same by {name}"))
        return made

    def plot(self, figure: str = "reliability", ax: Any = None, width: str | float | None = None) -> Any:
        """Draw the shares of waits that were over by each level, as `forebay.figures.plot` takes `ax` and `width`."""
        from forebay.errors import InputError
        from forebay.figures import _plan
        from forebay.figures.panels.times import reliability

        if figure != "reliability":
            raise InputError(f"there is no figure {figure!r} of a reliability: known: reliability")
        return _plan.fill(reliability.plan(self.levels), ax, width)

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write reliability.json, predictions.csv and the figure to a folder; gives the files."""
        from forebay.figures import _plan
        from forebay.figures.panels.times import reliability

        place = writable_folder(as_path(folder, "the folder to write to"))
        files = [place / "reliability.json", place / "predictions.csv"]
        with replacing(*files) as (document, rows):
            document.write_text(as_json(self.document()) + "\n", encoding="utf-8")
            write_csv(self.jobs, rows)
        return [*files, *_plan.save(reliability.plan(self.levels), place / "reliability.svg")]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def __repr__(self) -> str:
        share, off = self.numbers["coverage"]["0.9"], seconds(self.numbers["median_absolute_error"])
        what = f"90 % intervals cover {100 * share:.1f} %, medians are {off} off"
        return f"<Reliability on {self.facts['workload']}: {what}>"

    def _repr_html_(self) -> str:
        return html_table(self.caption, [(row[0], ", ".join(row[1:])) for row in self.for_papers().rows])
