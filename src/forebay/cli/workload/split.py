"""`forebay workload split`: a workload in parts of equal length in time."""

import re
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from forebay._support.files import file_names, within
from forebay.cli import formats
from forebay.cli._input import completion, options
from forebay.cli._input.options import Format
from forebay.cli._input.reading import read
from forebay.cli._render.printing import answer, notes_block, show, table
from forebay.errors import InputError
from forebay.experiments.outputs import output_folder

EXAMPLES = options.examples(
    "forebay workload split trace.swf.gz 16 -o parts", "forebay workload split default 3 -o parts"
)


def command(
    workload: options.WorkloadArgument,
    parts: Annotated[int, typer.Argument(metavar="N", min=1, help="How many parts.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Write the parts to this folder.")],
    suffix: Annotated[
        str,
        typer.Option(
            "--suffix",
            metavar="ENDING",
            help="The parts' format, by its ending: see `forebay formats`.",
            autocompletion=completion.suffix,
        ),
    ] = ".swf.gz",
    form: options.FormatOption = Format.text,
) -> None:
    """Cut a workload into parts of equal length in time.

    Parts are numbered from 0; each begins at second 0 and keeps its date.
    """
    from forebay.core.units import format_seconds
    from forebay.workload import write
    from forebay.workload.operations import split

    suffixes = [one for known in formats.known() for one in known["suffixes"]]
    if not suffix.lower().endswith(tuple(suffixes)) or file_names([f"x{suffix}"]) != [f"x{suffix}"]:
        raise InputError(f"--suffix {suffix!r}: no format ends so; write one of {', '.join(suffixes)}")
    whole = read(workload)
    pieces = split(whole, parts)
    written: list[str] = []
    # A workload's name may come from inside a file, and is no path.
    files = [within(output, f"{name}{suffix}") for name in file_names([piece.name for piece in pieces])]
    # Whole parts take their names together: a format that refuses one part leaves none behind.
    with output_folder(output), tempfile.TemporaryDirectory(prefix=".forebay-", dir=output) as scratch:
        for piece, file in zip(pieces, files, strict=True):
            written += write(piece, Path(scratch) / file.name)
        for file in files:
            (Path(scratch) / file.name).replace(file)
    notes = [*whole.notes, *_merged(written)]
    if form is Format.json:
        made = [{"file": str(file), "jobs": len(piece)} for piece, file in zip(pieces, files, strict=True)]
        answer({"parts": made, "notes": notes})
        return
    rows = [
        (str(file), f"{len(piece):,}", format_seconds(float(piece.jobs["submit"][-1])))
        for piece, file in zip(pieces, files, strict=True)
    ]
    show(table(["part", "jobs", "last submit"], rows, numbers=(1, 2)), *notes_block(notes))


def _merged(notes: list[str]) -> list[str]:
    """Notes on the parts, once each: those that differ in their numbers alone are one."""
    alike: dict[str, list[str]] = {}
    for note in notes:
        alike.setdefault(re.sub(r"[\d,]+", "", note), []).append(note)
    return [
        some[0] if len(set(some)) == 1 else f"{some[0]} (and so in {len(some) - 1} more)" for some in alike.values()
    ]
