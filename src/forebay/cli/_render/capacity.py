"""What `forebay capacity` shows: an answer for each policy, and every capacity that was tried."""

from pathlib import Path
from typing import TYPE_CHECKING

from forebay._support.text import counted
from forebay.cli._render.printing import drawn, notes_block, pairs, show
from forebay.experiments.capacity import answers, paper

if TYPE_CHECKING:
    from forebay.experiments.capacity import Sized


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
    show(first, pairs(about), *map(drawn, paper.tables(question, found)), *notes, pairs(written))
