"""A report as files: report.md, tables/ and figures/, each written whole or not at all."""

from collections.abc import Sequence
from pathlib import Path

from forebay._support.files import replacing, within, writable_folder
from forebay._support.text import write_csv
from forebay.studies._frame import Plan, Report, Table


def write_report(plan: Plan, report: Report, folder: Path) -> list[Path]:
    """Write all of it; gives the files. Tables and figures of sections that were not run stay as they are."""
    tables, pictures = (within(folder, name) for name in ("tables", "figures"))
    names = [writable_folder(tables) / f"{name}.csv" for name in report.frames]
    page = folder / "report.md"
    with replacing(page, *names) as (temporary, *paths):
        temporary.write_text(_markdown(plan, report), encoding="utf-8")
        for frame, path in zip(report.frames.values(), paths, strict=True):
            write_csv(frame, path)
    return [page, *names, *_draw(report, pictures)]


def _draw(report: Report, folder: Path) -> list[Path]:
    if not report.figures:
        return []
    from forebay.figures import _header  # matplotlib is not everywhere

    drawn = []
    writable_folder(folder)
    for name, draw in report.figures.items():
        with _header.telling(report.headers.get(name, [])):
            drawn += draw(folder / f"{name}.svg")
    return drawn


def _markdown(plan: Plan, report: Report) -> str:
    parts = [f"# {plan.title}\n", *(f"- {note}" for note in report.notes)]
    for table in (*report.shown, *report.detailed):
        parts += [f"\n## {table.title}\n", *_lines(table)]
    return "\n".join(parts) + "\n"


def _lines(table: Table) -> list[str]:
    rule = ["---" if place < table.words else "---:" for place in range(len(table.columns))]
    return [_line(table.columns), _line(rule), *map(_line, table.rows)]


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(text.replace('|', chr(92) + '|') for text in texts)} |"
