"""What a replay has found: scores, tables, pictures and a page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from forebay._fidelity import _figures, _files, _paper, _scores
from forebay._fidelity._use import Use
from forebay._fidelity.fit import Fit
from forebay._support.files import as_path
from forebay._support.paper import InPapers, Table
from forebay._support.text import counted, html_table
from forebay.errors import InputError
from forebay.figures import InFigures
from forebay.metrics._numbers import seconds
from forebay.results import Result

if TYPE_CHECKING:
    from forebay.figures._plan import Plan


@dataclass(frozen=True)
class Fidelity(InFigures, InPapers):
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
    moving
        Moving averages of waits: `time`, the `jobs` submitted in the window before it, and their mean waits.
    doubts
        What cannot match, a sentence each, by what it is about.
    result
        The run.
    reasons
        A row for each reason that Slurm recorded: the `jobs`, how many of them have the `same` in the simulation, and
        what they `mostly` have; None where the trace has no reasons.
    fit
        What was searched for and assumed, in an answer that is `fitted`: its `trials`, those `kept`, jobs that were
        `held`, and the `platform` and `workload` that come of it.
    again
        What `fitted` carries out.
    """

    numbers: Mapping[str, Any]
    by: Mapping[str, pl.DataFrame]
    jobs: pl.DataFrame
    use: Use
    moving: pl.DataFrame
    doubts: Mapping[str, str]
    result: Result
    reasons: pl.DataFrame | None = None
    fit: Fit | None = None
    again: "Callable[[], Fidelity] | None" = field(default=None, repr=False, compare=False)

    @property
    def table(self) -> pl.DataFrame:
        """A row for all jobs, then one for each size, queue, user and account: waits, and how far they are off."""
        return pl.concat([_scores.in_all(self.jobs).select(pl.lit("all").alias("by"), pl.all()), _files.groups(self)])

    def document(self) -> dict[str, Any]:
        """All of it, but for its jobs, as `forebay fidelity --format json` answers."""
        return _files.document(self)

    def fitted(self) -> "Fidelity":
        """Search for what the trace does not tell: limits, nodes that were out of service, jobs that were held.

        The answer scores the run that comes closest; its `fit` says what is assumed.
        """
        if self.again is None:
            raise InputError("this fidelity is fitted already, or was not made by forebay.fidelity; call that first")
        return self.again()

    def plot(self, figure: str = "waits", ax: Any = None, width: str | float | None = None) -> Any:
        """Draw with matplotlib. Your own settings of matplotlib count, unless a width is given.

        Parameters
        ----------
        figure
            "waits": the distributions of waits, and the use of the machine over time. "jobs": the simulated wait of
            each job against the recorded one. "moving": moving averages of waits over time.
        ax
            Axes to draw into, as `forebay.figures.plot` takes them.
        width
            As `forebay.figures.plot` takes it.

        Returns
        -------
        matplotlib.axes.Axes or array of them
        """
        from forebay.figures import _plan

        return _plan.fill(self._plan(figure), ax, width)

    def _plan(self, figure: str = "waits") -> "Plan":
        return _figures.plan(self, figure)

    def _drawn_of(self) -> Mapping[str, Any]:
        return self.result.facts

    def report(self, path: str | PathLike[str] = "report.html") -> Path:
        """Write a page of all of it: one HTML file that needs nothing else."""
        from forebay.report import write_page
        from forebay.report._fidelity import page

        return write_page(page(_files.kept(self), self.jobs), as_path(path, "the report"))

    def for_papers(self) -> Table:
        """The scores."""
        return _paper.named(self, "scores")

    def to_latex(self, caption: str | None = None, label: str | None = None, table: str = "scores") -> str:
        """A table for a paper that loads booktabs; with a caption it floats.

        Parameters
        ----------
        caption
            Its caption.
        label
            What the paper refers to it by.
        table
            "scores", "waits", "reasons" where the trace has them, "fit" where there is one, or what errors are by:
            "size", "queue", "user", "account".
        """
        return _paper.named(self, table).to_latex(caption, label)

    def to_markdown(self, table: str = "scores", *, caption: str | None = None) -> str:
        """The same in Markdown, below its caption; "" for none, and what the table rests on by default."""
        return _paper.named(self, table).to_markdown(caption=caption)

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write fidelity.json, groups.csv, waits.csv, the figures and report.html to a folder; gives the files."""
        return _files.save(self, folder)

    def __str__(self) -> str:
        return "\n".join(_paper.sentences(self))

    def __repr__(self) -> str:
        recorded, simulated = (seconds(self.numbers[f"{kind}_mean_wait"]) for kind in ("recorded", "simulated"))
        who = f"{self.result.facts['policy']} on {counted(len(self.jobs), 'job')}"
        return f"<Fidelity of {who}: mean wait {simulated}, recorded {recorded}>"

    def _repr_html_(self) -> str:
        """The scores and what cannot match, in notebooks."""
        doubts = (("cannot match", text) for text in self.doubts.values())
        return html_table(f"Fidelity: {self.caption}", [*_paper.scores(self), *doubts])
