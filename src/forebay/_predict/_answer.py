"""What a prediction says: starts with intervals, the machine's next day, and what other requests would change."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from forebay._predict import _figures, _words
from forebay._support.files import as_path, replacing
from forebay._support.paper import InPapers, Table
from forebay._support.text import as_json, counted, html_table
from forebay.figures import InFigures

FORMAT = 1

if TYPE_CHECKING:
    from forebay.figures._plan import Plan


@dataclass(frozen=True)
class Prediction(InFigures, InPapers):
    """When jobs of a moment will start. Times are seconds from that moment on.

    Parameters
    ----------
    table
        A row a job: what it asks for, how long it has `waited`; by when it starts with a chance of 5 to 95 % (`p05` to
        `p95`); the chance to start within 1, 4 and 24 hours; what Slurm would say (`slurm`); and `why` it waits now.
    outlook
        A row an hour of the next day: jobs `waiting` and the share of nodes `in_use`, with bands of 80 %.
    waits
        A row a partition: what jobs that come within a day will wait.
    what_ifs
        A row a job and request: its quantiles in place of `before`, the median as it is. None if nothing was asked.
    facts
        What the answer rests on.
    snapshot
        Gives the moment as a dictionary for JSON, which `forebay.predict` takes.
    """

    table: pl.DataFrame
    outlook: pl.DataFrame
    waits: pl.DataFrame
    what_ifs: pl.DataFrame | None
    facts: Mapping[str, Any]
    snapshot: Callable[[], dict[str, Any]] = field(repr=False)

    def document(self) -> dict[str, Any]:
        """All of it as what JSON can hold, as `forebay predict --format json` answers."""
        return {
            "format": FORMAT,
            **self.facts,
            "in_words": _words.sentences(self),
            "jobs": self.table.to_dicts(),
            "outlook": self.outlook.to_dicts(),
            "waits": self.waits.to_dicts(),
            "what_ifs": [] if self.what_ifs is None else self.what_ifs.to_dicts(),
        }

    def plot(self, figure: str = "starts", ax: Any = None, width: str | float | None = None) -> Any:
        """Draw with matplotlib. Your own settings of matplotlib count, unless a width is given.

        Parameters
        ----------
        figure
            "starts": when each job starts, with intervals. "ahead": the queue and the load over the next day.
        ax
            Axes to draw into, as `forebay.figures.plot` takes them.
        width
            As `forebay.figures.plot` takes it.
        """
        from forebay.figures import _plan

        return _plan.fill(self._plan(figure), ax, width)

    def _plan(self, figure: str = "starts") -> "Plan":
        return _figures.plan(self, figure)

    def _drawn_of(self) -> Mapping[str, Any]:
        return self.facts

    def for_papers(self) -> Table:
        """When jobs start."""
        return _words.starts(self)

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write prediction.json, starts.csv and the figures to a folder; gives the files."""
        from forebay._support.files import writable_folder
        from forebay._support.text import write_csv

        place = writable_folder(as_path(folder, "the folder to write to"))
        files = [place / "prediction.json", place / "starts.csv"]
        with replacing(*files) as (document, starts):
            document.write_text(as_json(self.document()) + "\n", encoding="utf-8")
            write_csv(self.table, starts)
        return [*files, *_figures.draw(self, place)]

    def __str__(self) -> str:
        return "\n".join(_words.sentences(self))

    def __repr__(self) -> str:
        return f"<Prediction of {counted(self.table.height, 'job')} of {self.facts['workload']}: {_words.first(self)}>"

    def _repr_html_(self) -> str:
        return html_table(self.caption, [(row[0], ", ".join(row[1:])) for row in _words.starts(self).rows])
