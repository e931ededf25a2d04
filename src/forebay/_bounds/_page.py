"""The page of bounds: the least of each metric in words, how far runs are above it, and every bound."""

from collections.abc import Mapping, Sequence
from typing import Any

from forebay._run.simulate import versions
from forebay._support.paper import Table
from forebay._support.text import counted
from forebay.report import _inputs, tables
from forebay.report.page import Page, Section


def page(document: Mapping[str, Any], said: Sequence[str], notes: Sequence[str], shown: Sequence[Table]) -> Page:
    """The page of an answer: its document, its sentences and notes, and the tables that it prints."""
    every, *distances = shown
    machine = str(document["platform"])
    facts = [("workload", f"{document['workload']}, {counted(document['n_jobs'], 'job')}"), ("platform", machine)]
    facts += [("job model", str(document["job_model"])), *_inputs.versions({"versions": versions()})]
    sections = [
        Section("Answer", tables.sentences(said) + "".join(map(tables.paragraph, notes))),
        *(Section("How far above it", _table(one)) for one in distances),
        *_dots(document["gaps"]),
        Section("Every bound", _table(every)),
        Section("Inputs", tables.pairs(facts)),
    ]
    return Page("How good can it be?", sections, [f"{document['workload']} on {machine}"])


def _table(one: Table) -> str:
    return tables.table(one.titles, one.rows, tuple(one.numbers), one.caption)


def _dots(gaps: Sequence[Mapping[str, Any]]) -> list[Section]:
    """Each run in times the largest bound, a colour a metric; nothing where no run has such a number."""
    known = [row for row in gaps if row["ratio"] is not None]
    dots = [tables.Dot(row["policy"], row["ratio"], group=row["metric"]) for row in known]
    return [tables.dots("Times the largest bound", "ratios", dots, "times the largest bound")] if dots else []
