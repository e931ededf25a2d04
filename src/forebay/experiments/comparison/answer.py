"""What `forebay.compare` answers."""

import html
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._support.files import as_path
from forebay._support.paper import InPapers, Table
from forebay._support.text import counted
from forebay.errors import InputError, nearest
from forebay.experiments.comparison import bounds, paper, verdicts
from forebay.experiments.comparison.compared import Compared, notes
from forebay.metrics._numbers import change_percent

if TYPE_CHECKING:
    import polars as pl

    from forebay.figures._plan import Plan
    from forebay.results import Result

CHANGES = "changes"
_WORDS = {
    "mean_wait": "mean wait",
    "p95_wait": "p95 wait",
    "mean_turnaround_time": "mean turnaround",
    "mean_bounded_slowdown_10min": "mean bounded slowdown (10 min)",
    "utilisation_nodes": "use of nodes",
}
_SHADES = {"better": "#d9ead9", "worse": "#f6ddd3"}


class Runs(Mapping[str, "Result"]):
    """The run of each policy on the trace itself, by name, best first; read when it is asked for."""

    def __init__(self, compared: Compared):
        whole = compared.folder.resolve()  # a run may be read later, from elsewhere
        self._folders = {one["policy"]: whole / Path(one["folder"]).name for one in compared.documents}
        self._read: dict[str, Result] = {}

    def __getitem__(self, policy: str) -> "Result":
        from forebay.results import load

        if policy not in self._folders:
            raise InputError(f"no run of {policy!r}: {nearest(policy, self._folders)}")
        if policy not in self._read:
            self._read[policy] = load(self._folders[policy])
        return self._read[policy]

    def __contains__(self, policy: object) -> bool:
        return policy in self._folders

    def __iter__(self) -> Iterator[str]:
        return iter(self._folders)

    def __len__(self) -> int:
        return len(self._folders)

    def __repr__(self) -> str:
        return f"<Runs of {', '.join(self._folders)}>"


class Comparison(InPapers):
    """Policies on one workload and machine, best first, with a verdict on each.

    Parameters
    ----------
    compared
        What `forebay.compare` has found.

    Attributes
    ----------
    table
        A row a policy: the numbers that `forebay compare` shows, means over the trace and its replicas.
    verdicts
        A row for each policy and metric: the change against the reference, its 95 % interval, and a word.
    groups
        A row for each queue, user and account under each policy; None where jobs have none.
    bounds
        What no policy can have less of, and how far above each is; None where none is known.
    summaries
        A row a policy: every number of its run on the trace itself.
    runs
        The result of each policy's run on the trace itself, by name.
    reference, basis, notes
        The policy that others are held against, what intervals are over, and what else is to be said.
    failed
        By policy, what went wrong with it.
    """

    def __init__(self, compared: Compared):
        self._compared = compared
        tables = compared.tables()
        self.table: pl.DataFrame = compared.ranking()
        self.summaries: pl.DataFrame = tables["compare.csv"]
        self.verdicts: pl.DataFrame = verdicts.frame(compared.verdicts)
        self.groups: pl.DataFrame | None = compared.groups
        self.bounds: pl.DataFrame | None = tables.get(bounds.TABLE)
        self.runs = Runs(compared)
        self.reference, self.basis = compared.reference, compared.basis
        self.notes = [*notes(compared.documents), *compared.notes]
        self.failed = {policy: failure.text for policy, failure in compared.failed.items()}

    @property
    def folder(self) -> Path:
        """Where all files are; it goes with this object, unless the call named it."""
        return self._compared.folder

    def document(self) -> dict[str, Any]:
        """All of it as `forebay compare --format json` answers."""
        return self._compared.document()

    def plot(
        self, figure: str = CHANGES, ax: Any = None, metric: str = "mean_wait", width: str | float | None = None
    ) -> Any:
        """Draw with matplotlib.

        Parameters
        ----------
        figure
            "changes": a metric under each policy, in times that of the reference, with intervals, on an axis where half
            as much is as far from 1 as twice as much. Or one of `forebay.figures.names()`, of all runs, or of the
            best one for a schedule.
        ax
            Axes to draw into, as `forebay.figures.plot` takes them.
        metric
            What to draw the changes of.
        width
            As `forebay.figures.plot` takes it.

        Returns
        -------
        matplotlib.axes.Axes or array of them
        """
        from forebay import figures
        from forebay.figures import _plan

        if figure != CHANGES:
            return figures.plot(figure, self._drawn(figure), ax, width)
        return _plan.fill(self._changes(metric), ax, width)

    def draw(
        self, path: str | Path, figure: str = CHANGES, metric: str = "mean_wait", width: str | float | None = None
    ) -> list[Path]:
        """Write such a figure, and beside it the data behind it as CSV; gives the files.

        Parameters
        ----------
        path
            The picture; its ending says as what: svg, pdf or png.
        figure, metric
            As `plot` takes them.
        width
            As `forebay.figures.draw` takes it.
        """
        from forebay import figures
        from forebay.figures import _plan

        if figure != CHANGES:
            return figures.draw(figure, self._drawn(figure), path, width)
        about = [str(self._compared.first["workload"]), self.basis]
        return _plan.draw(self._changes(metric), path, width, about)

    def _drawn(self, figure: str) -> "Mapping[str, Result]":
        """The runs that a figure shows: a schedule is of one."""
        from forebay import figures

        return dict(list(self.runs.items())[:1]) if figures.proper(figure) == "gantt" else self.runs

    def _changes(self, metric: str) -> "Plan":
        import polars as pl

        from forebay.figures import _changes

        mine = self.verdicts.filter(pl.col("metric") == metric)
        if mine.is_empty():
            known = ", ".join(dict.fromkeys(self.verdicts["metric"])) or "none, as there is nothing to compare with"
            raise InputError(f"no changes of {metric!r} to draw; there are {known}")
        words = f"{_WORDS.get(metric, metric)}, times that of {self.reference}"
        return _changes.plan(mine.select("policy", "change", "low", "high", "verdict"), words)

    def report(self, path: str | Path = "report.html") -> Path:
        """Write a page of all of it: one HTML file that needs nothing else."""
        from forebay.report import write

        return write(self.folder, as_path(path, "the report"))

    def for_papers(self) -> Table:
        """A row a policy, as `table` has them."""
        return paper.table(self._compared)

    @property
    def caption(self) -> str:
        """What the table rests on, in a sentence or two."""
        return paper.basis(self._compared)

    def raise_failures(self) -> None:
        """Raise one error for all policies that failed; nothing if none did."""
        from forebay.experiments.comparison.compared import failure

        if self._compared.failed:
            raise failure(self._compared.failed, len(self._compared.documents) + len(self.failed))

    def __repr__(self) -> str:
        first = self._compared.first
        n = counted(len(self.runs), "policy", "policies")
        return f"<Comparison of {n} on {first['workload']}, best {next(iter(self.runs))}, against {self.reference}>"

    def _repr_html_(self) -> str:
        """A matrix: policies by metrics, each change with its colour, if it is decided."""
        metrics = list(dict.fromkeys(self.verdicts["metric"]))
        by = {(one["policy"], one["metric"]): one for one in self.verdicts.iter_rows(named=True)}
        head = "".join(f"<th>{html.escape(_WORDS.get(name, name))}</th>" for name in metrics)
        lines = []
        for policy in self.runs:
            cells = "".join(_cell(by.get((policy, name))) for name in metrics)
            lines.append(f"<tr><th>{html.escape(policy)}</th>{cells}</tr>")
        caption = f"<caption>{html.escape(self.caption)}</caption>"
        return f"<table>{caption}<tr><th></th>{head}</tr>{''.join(lines)}</table>"


def _cell(verdict: Mapping[str, Any] | None) -> str:
    if verdict is None:
        return "<td>reference</td>"
    word = str(verdict["verdict"])
    shade = f' style="background:{_SHADES[word]};color:black"' if word in _SHADES else ""
    text = word if verdict["change"] is None else f"{word} {change_percent(verdict['change'])} %"
    if verdict["low"] is not None and verdict["low"] != verdict["high"]:
        ends = (change_percent(verdict[end], word in _SHADES) for end in ("low", "high"))
        text += f" ({' to '.join(ends)})"
    return f"<td{shade}>{html.escape(text)}</td>"
