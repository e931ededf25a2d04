"""What `forebay.sweep` answers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._support.files import as_path
from forebay._support.paper import InPapers, Table
from forebay._support.text import counted, html_table
from forebay.errors import wrong_type
from forebay.experiments import tidy
from forebay.experiments.swept import paper, runs
from forebay.experiments.swept.figure import Drawn, Wanted, draw, save

if TYPE_CHECKING:
    import polars as pl

Where = Mapping[str, Any]


class Sweep(InPapers):
    """Every run of a sweep, and what combinations of its settings give over their seeds.

    Parameters
    ----------
    finished
        The runs and what each has left.
    name
        Of the sweep.
    before
        How many of the runs its folder held already.
    files
        The tables in that folder.
    asked
        What was to be run, as text.

    Attributes
    ----------
    table
        A row a run: what was run, its seed and parameters, and every number of its summary.
    combinations
        A row for all seeds of a combination: means with half of their 95 % intervals, and the verdict against the
        reference by mean wait.
    verdicts
        A row for each combination and metric: the change against the reference, its interval, and a word; None where
        there is nothing to compare with.
    notes
        What readers should know.
    """

    def __init__(
        self, finished: tidy.Finished, name: str = "", before: int = 0, files: Sequence[Path] = (), asked: str = ""
    ):
        self._before, self._files, self._asked = before, tuple(files), asked
        self._metrics = tidy.about_metrics(finished)
        self._found = tidy.combinations(finished)
        self._swept = runs.of(finished, len(finished), name)
        judged = tidy.verdict_rows(self._found)
        self.table: pl.DataFrame = tidy.frame(finished)
        self.combinations: pl.DataFrame = tidy.as_table([one.row() | paper.halves(one) for one in self._found])
        self.verdicts: pl.DataFrame | None = tidy.as_table(judged) if judged else None
        self.notes = tidy.notes(finished)

    def document(self) -> dict[str, Any]:
        """All of it as `forebay sweep --format json` answers."""
        runs = {"total": len(self.table), "found": self._before, "made": len(self.table) - self._before}
        found = tidy.document(self._found, self.notes, {})
        return {"runs": runs, **found, "files": [str(file) for file in self._files]}

    def report(self, path: str | Path = "report.html") -> Path:
        """Write a page of it: one HTML file that needs nothing else."""
        from forebay._run.case import versions
        from forebay.report import write_page
        from forebay.report._sweep import page

        about = {"name": self._swept.name or "sweep", "spec": self._asked, **self._metrics}
        document = {**tidy.document(self._found, self.notes, {}), **about, "versions": versions()}
        return write_page(page(document, self.table.rows(named=True)), as_path(path, "the report"))

    # A sweep was this table once, and still does what the table can: `found["mean_wait"]`, `found.filter(...)`.

    def __getitem__(self, key: Any) -> Any:
        return self.table[key]

    def __len__(self) -> int:
        return len(self.table)

    if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every misspelt name for Any

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or name == "table":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return getattr(self.table, name)

    def plot(
        self,
        figure: str | None = None,
        ax: Any = None,
        metric: str = "mean_wait",
        x: str | None = None,
        y: str | None = None,
        where: Where | None = None,
        width: str | float | None = None,
    ) -> Any:
        """Draw with matplotlib. Your own settings of matplotlib count, unless a width is given.

        Parameters
        ----------
        figure
            "sweep-lines": a number over a parameter, a line a policy, with Student's 95 % intervals over seeds, a panel
            for each value of whatever else varies. "sweep-heatmap": over two parameters that are numbers, a panel a
            policy. Without it, a map where just two such vary.
        ax
            Axes to draw into, as `forebay.figures.plot` takes them.
        metric
            The number of summaries to draw.
        x
            The parameter along the x-axis, or workload, platform, job_model, failures or policy. Without it, the one
            with most values that are numbers.
        y
            That along the y-axis of a map.
        where
            Which runs to draw: {"policy": ["fcfs-bb", "sjf-bb"], "nodes": 64}.
        width
            As `forebay.figures.plot` takes it.

        Returns
        -------
        matplotlib.axes.Axes or array of them
        """
        from forebay.figures import _look, _plan

        inches = None if width is None else _look.inches(width)
        return _plan.fill(self._drawn(figure, metric, x, y, where, inches).plan, ax, inches)

    def draw(
        self,
        path: str | Path,
        figure: str | None = None,
        metric: str = "mean_wait",
        x: str | None = None,
        y: str | None = None,
        where: Where | None = None,
        width: str | float | None = None,
    ) -> list[Path]:
        """Write such a figure, and beside it the data behind it as CSV; gives the files.

        Parameters
        ----------
        path
            The picture; its ending says as what: svg, pdf or png.
        figure, metric, x, y, where
            As `plot` takes them.
        width
            As `forebay.figures.draw` takes it.
        """
        from forebay.figures import _look

        inches = None if width is None else _look.inches(width)
        found = self._drawn(figure, metric, x, y, where, inches)
        return save(found, self._swept.name, path, inches)

    def _drawn(
        self, figure: str | None, metric: str, x: str | None, y: str | None, where: Where | None, inches: float | None
    ) -> Drawn:
        if not isinstance(where or {}, Mapping):
            raise wrong_type("where", where, 'columns and values: {"policy": "fcfs-bb"}')
        wanted = {
            name: [str(one) for one in (value if isinstance(value, list | tuple) else [value])]
            for name, value in (where or {}).items()
        }
        return draw(self._swept, Wanted(metric, figure, x, y, wanted, inches))

    def for_papers(self) -> Table:
        """A row a combination."""
        return paper.table(self._found)

    def __repr__(self) -> str:
        seeds = self.table["seed"].n_unique()
        found = f"{counted(len(self._found), 'combination')}, {counted(seeds, 'seed')}"
        return f"<Sweep of {counted(len(self.table), 'run')}: {found}>"

    def _repr_html_(self) -> str:
        rows = [(one.name, paper.in_words(one)) for one in self._found]
        return html_table("Sweep: mean waits over seeds", [*rows, *(("note", note) for note in self.notes)])
