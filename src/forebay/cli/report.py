"""`forebay report`: one page of a folder of results."""

from pathlib import Path
from typing import Annotated

import typer

from forebay.cli._input import options
from forebay.cli._render.printing import pairs, show
from forebay.errors import InputError
from forebay.experiments.outputs import note_figures

EXAMPLES = options.examples(
    "forebay report forebay-results",
    "forebay report out -o report.html --open",
)


def command(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="What `forebay compare`, `sweep`, `capacity`, `study`, `run -o` or `fidelity -o` wrote.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The page. Default: report.html in the folder."),
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Show it in a browser.")] = False,
) -> None:
    """Make one page of a folder of results.

    Of a comparison or a run it has verdicts, waits, and the schedule to look into; of a sweep, a search for a capacity,
    a study or a fidelity, their answers and figures. It is one HTML file that needs no network: send it, keep it with a
    paper, open it in any browser.
    """
    from forebay.report import write

    if output is not None and output.is_dir():
        raise InputError(f"{output}: is a folder; name the file to write, such as {output / 'report.html'}")
    path = write(folder, output)
    note_figures(path.parent, [path])
    show(pairs([("written", str(path))]))
    if open_it:
        typer.launch(path.resolve().as_uri())


def report_line(folder: Path) -> list[tuple[str, str]]:
    """What to say of the page, where there is one."""
    from forebay.report import NAME

    path = folder / NAME
    return [("", f"{path}: all of it in one page")] if path.is_file() else []
