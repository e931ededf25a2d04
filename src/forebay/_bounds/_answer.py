"""What `forebay.bounds` answers."""

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from forebay._bounds import _paper
from forebay._bounds._gaps import Results, gap_table, named
from forebay._bounds._objective import METRICS, ON_REQUEST
from forebay._support.files import as_path
from forebay._support.paper import InPapers, Table
from forebay._support.text import counted, html_table
from forebay.errors import InputError

if TYPE_CHECKING:
    from forebay.figures._plan import Plan


@dataclass(frozen=True, repr=False)
class Bounds(InPapers):
    """What no policy can have less of on this workload and machine, as long as it runs every job in one piece.

    Parameters
    ----------
    table
        A row for each bound: `metric`, how it was found (`bound`), its `value`, the `resource` that makes it so. Where
        a solver was stopped, `proved` tells how far it came, and `value` is what was proved. `best_found` is the metric
        of the best schedule of an exact search.
    workload
        Its name.
    platform
        The machine in words.
    job_model
        How jobs behave.
    n_jobs
        That every policy runs.
    n_uncertain
        That may be withdrawn before they run.
    relaxed
        What real schedules have to keep to besides, and the bounds leave out.
    distances
        How far runs are above the largest bounds, as `gaps` has it; None before `against` was given any.
    """

    table: pl.DataFrame
    workload: str
    platform: str
    job_model: str
    n_jobs: int
    n_uncertain: int
    relaxed: tuple[str, ...]
    distances: pl.DataFrame | None = None

    @property
    def best(self) -> dict[str, dict[str, Any]]:
        """The largest bound of each metric, as a row of the table."""
        order = self.table.sort("value", descending=True, maintain_order=True)
        found = order.unique("metric", keep="first", maintain_order=True)
        rows = {row["metric"]: row for row in found.iter_rows(named=True)}
        return {metric: rows[metric] for metric in (*METRICS, *ON_REQUEST) if metric in rows}

    @property
    def notes(self) -> list[str]:
        """What the bounds leave out."""
        notes = [f"left out: {words}" for words in self.relaxed]
        if self.n_uncertain:
            jobs = counted(self.n_uncertain, "job")
            notes.append(f"{jobs} may be withdrawn, and counts with the least there can be")
        return notes

    def gaps(self, results: Results) -> pl.DataFrame:
        """How far runs are above the largest bounds: `policy`, `metric`, `value`, `least`, `gap` and `ratio`.

        Parameters
        ----------
        results
            Runs of this workload on this machine; by names of their own, or by their policies.

        Examples
        --------
        >>> least = fb.bounds("table1", metric="mean_wait")
        >>> least.gaps(fb.simulate("table1", policy="fcfs-easy"))["value"].to_list()
        [345.0]
        """
        for label, result in named(results).items():
            if result.facts["workload"] != self.workload:
                raise InputError(
                    f"the run {label} is of {result.facts['workload']}, and the bounds are of {self.workload}; "
                    "give runs of the same workload"
                )
        return gap_table(self.best, results, self.n_jobs, self.n_uncertain)

    def against(self, results: Results) -> "Bounds":
        """The same with runs held against it: its figure, its page and what it prints show how far each is above.

        Parameters
        ----------
        results
            As `gaps` takes them.

        Examples
        --------
        >>> least = fb.bounds("table1", metric="mean_wait").against(fb.simulate("table1", policy="fcfs-easy"))
        >>> least.distances["policy", "value"].rows()
        [('fcfs-easy', 345.0)]
        """
        return replace(self, distances=self.gaps(results))

    def document(self) -> dict[str, Any]:
        """All of it as `forebay bounds --format json` answers."""
        return {
            "workload": self.workload,
            "platform": self.platform,
            "job_model": self.job_model,
            "n_jobs": self.n_jobs,
            "n_uncertain": self.n_uncertain,
            "relaxed": list(self.relaxed),
            "bounds": self.table.to_dicts(),
            "gaps": [] if self.distances is None else self.distances.to_dicts(),
        }

    def plot(self, ax: Any = None, width: str | float | None = None) -> Any:
        """Draw with matplotlib: each run in times the largest bound, a panel a metric; without runs, each bound.

        Parameters
        ----------
        ax
            Axes to draw into, as `forebay.figures.plot` takes them.
        width
            As `forebay.figures.plot` takes it.

        Returns
        -------
        matplotlib.axes.Axes or array of them
        """
        from forebay.figures import _plan

        return _plan.fill(self._plan(), ax, width)

    def draw(self, path: str | PathLike[str], width: str | float | None = None) -> list[Path]:
        """Write such a figure, and beside it the data behind it as CSV; gives the files.

        Parameters
        ----------
        path
            The picture; its ending says as what: svg, pdf or png.
        width
            As `forebay.figures.draw` takes it.
        """
        from forebay.figures import _plan

        return _plan.draw(self._plan(), path, width, [self.workload, self.platform])

    def _plan(self) -> "Plan":
        from forebay.figures.panels.times import gaps

        return gaps.plan(_paper.ratios(self.table, self.best, self.distances), "times the largest bound")

    def report(self, path: str | PathLike[str] = "report.html") -> Path:
        """Write a page of it: one HTML file that needs nothing else."""
        from forebay._bounds import _page
        from forebay.report import write_page

        made = _page.page(self.document(), str(self).splitlines(), self.notes, self.tables())
        return write_page(made, as_path(path, "the report"))

    def tables(self) -> list[Table]:
        """Every bound, and where runs were held against them, how far each is above."""
        return [self.for_papers(), *([] if self.distances is None else [_paper.distances(self.distances)])]

    def for_papers(self) -> Table:
        """Every bound in words."""
        largest = {(row["metric"], row["bound"]) for row in self.best.values()}
        about = f"{counted(self.n_jobs, 'job')} of {self.workload} on {self.platform}"
        return _paper.table(self.table, largest, about)

    def __str__(self) -> str:
        return "\n".join(_paper.sentences(self.best, self.distances))

    def __repr__(self) -> str:
        return f"<Bounds of {self.workload}: {counted(self.n_jobs, 'job')}, {counted(len(self.table), 'bound')}>"

    def _repr_html_(self) -> str:
        said = [("answer", line) for line in str(self).splitlines()]
        return html_table(f"Bounds: {self.caption}", [*said, *(("note", note) for note in self.notes)])
