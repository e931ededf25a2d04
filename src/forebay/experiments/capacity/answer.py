"""What `forebay.capacity` answers."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._support.files import as_path
from forebay._support.paper import InPapers, Table
from forebay._support.text import html_table
from forebay.experiments.capacity import Sized, answers, paper

if TYPE_CHECKING:
    from forebay.figures._plan import Plan


class Capacity(InPapers):
    """The least capacity that keeps a target, under each policy.

    Parameters
    ----------
    sized
        What `forebay.capacity` has found.
    folder
        Where runs and files are; it goes with this object, unless the call named it.

    Attributes
    ----------
    answers
        A row a policy: the capacity, its interval, whether it is reached, what it costs, and all of it in words.
        Capacities are in bytes, bytes/s or counts. A capacity is null where none of the range is enough.
    table
        A row for each capacity that was tried: the mean over replicas, its interval, and whether it meets the target.
    notes
        What readers should know.
    """

    def __init__(self, sized: Sized, folder: Path):
        import polars as pl

        self._sized, self.folder = sized, folder
        self._lines = answers.first_lines(sized.question, sized.found)
        self.answers: pl.DataFrame = pl.DataFrame(
            [_row(one) for one in self.document()["answers"]],
            schema_overrides=dict.fromkeys(("capacity", "low", "high", "cost", "best"), pl.Float64),
            infer_schema_length=None,
        )
        self.table: pl.DataFrame = pl.DataFrame(answers.rows(sized.question, sized.found), infer_schema_length=None)
        self.notes = answers.notes(sized.question, sized.found)

    def document(self) -> dict[str, Any]:
        """All of it as `forebay capacity --format json` answers."""
        return self._sized.document()

    def plot(self, ax: Any = None, width: str | float | None = None) -> Any:
        """Draw the number over capacity, with the target and the answers.

        Parameters
        ----------
        ax, width
            As `forebay.figures.plot` takes them.
        """
        from forebay.figures import _plan

        return _plan.fill(self._plan(), ax, width)

    def draw(self, path: str | Path, width: str | float | None = None) -> list[Path]:
        """Write such a figure, and beside it the data behind it as CSV; gives the files.

        Parameters
        ----------
        path
            The picture; its ending says as what: svg, pdf or png.
        width
            As `forebay.figures.draw` takes it.
        """
        from forebay.figures import _plan

        made = replace(self._plan(), data={"": self.table})
        return _plan.draw(made, path, width, [self._sized.question.workload, *self._lines])

    def _plan(self) -> "Plan":
        from forebay.figures.panels import capacity

        question = self._sized.question
        span, (curves, axes) = question.spans[-1], answers.drawn(question, self._sized.found)
        return capacity.plan(curves, axes, (span.low, span.high))

    def report(self, path: str | Path = "report.html") -> Path:
        """Write a page of it: one HTML file that needs nothing else."""
        from forebay.report import write

        return write(self.folder, as_path(path, "the report"))

    def for_papers(self) -> Table:
        """Every capacity that was tried."""
        return paper.table(self._sized.question, self._sized.found)

    def __str__(self) -> str:
        return "\n".join(self._lines)

    def __repr__(self) -> str:
        return f"<Capacity: {'; '.join(self._lines)}>"

    def _repr_html_(self) -> str:
        question = self._sized.question
        about = [("workload", question.workload), ("platform", question.machine), ("replicas", question.about)]
        found = [("answer", line) for line in self._lines]
        return html_table("Capacity", [*found, *about, *(("note", note) for note in self.notes)])


def _row(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what has a table of its own."""
    low, high = answer["interval"] or (None, None)
    plain = {key: answer[key] for key in ("policy", "reached", "capacity", "at_lowest", "cost", "text")}
    return {**plain, **answer["beside"], "low": low, "high": high, "best": answer["best"]["value"]}
