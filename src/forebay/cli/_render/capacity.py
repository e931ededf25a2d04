"""What `forebay capacity` shows: an answer for each policy, and every capacity that was tried."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forebay._support.text import counted
from forebay.cli._render.printing import notes_block, pairs, show, table
from forebay.experiments.capacity import answers

if TYPE_CHECKING:
    from rich.table import Table

    from forebay.experiments.capacity import Sized
    from forebay.experiments.capacity.question import Question
    from forebay.experiments.capacity.trials import Found


def report(sized: "Sized", folder: Path) -> None:
    """The answer as text."""
    question, found, runs = sized.question, sized.found, sized.runs
    about = [
        ("workload", question.workload),
        ("platform", str(question.machine)),
        ("replicas", question.about),
    ]
    there = f", {runs['found']:,} of them found there" if runs["found"] else ""
    written = [
        ("written", f"{folder}: {', '.join(file.name for file in sized.files)}"),
        ("", f"{folder / 'runs'}: {counted(runs['total'], 'run')}{there}"),
    ]
    first = "\n".join(answers.first_lines(question, found))
    notes = notes_block(answers.notes(question, found))
    show(first, pairs(about), *_tables(question, found), *notes, pairs(written))


def _tables(question: "Question", some: "Sequence[Found]") -> "list[Table]":
    """Every capacity that was tried, a table for each policy; of two quantities, what each of the first asks for."""
    if len(question.spans) < 2:
        return [_curve(question, found) for found in some]
    outer, inner = (span.quantity for span in question.spans)
    cells = []
    for found in some:
        capacity, cost = found.answer.capacity, answers.cost_of(question, found)
        least, interval = "not reached", ""
        if capacity is not None:
            least, interval = inner.text(capacity), answers.interval(question, found.answer).strip(" ()")
        beside = outer.text(found.beside[outer.name])
        cells.append([found.policy, beside, least, interval, "" if cost is None else answers.money(question, cost)])
    return [table(["policy", outer.title, f"least {inner.title}", "interval", "cost"], cells, numbers=(1, 2, 3, 4))]


def _curve(question: "Question", found: "Found") -> "Table":
    """Every capacity that was tried."""
    span, target = question.spans[-1], question.target
    columns = [span.quantity.title, target.title, "± 95 %", "rejected", "meets the target"]
    rows = []
    for point in found.answer.points:
        half = None if point.spread is None else point.spread.half
        meets = "yes" if point.mean <= found.answer.limit else "no"
        cost = question.cost(answers.amounts(question, found, point.capacity))
        row = [span.quantity.text(point.capacity), answers.value_text(question, point), target.shown(half)]
        row += [f"{found.rejected[point.capacity]:,.4g}", meets]
        rows.append(row if cost is None else [*row, answers.money(question, cost)])
    columns += ["cost"] if question.prices else []
    return table(columns, rows, numbers=(0, 1, 2, 3, 5))
