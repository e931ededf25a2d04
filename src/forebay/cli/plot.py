"""`forebay plot`: figures of runs, from the files they left."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from forebay.cli import _complete
from forebay.cli import _options as options
from forebay.cli._outputs import note_figures, output_folder
from forebay.cli._print import pairs, show

EXAMPLES = options.examples(
    "forebay plot out",
    "forebay plot forebay-results/fcfs-bb forebay-results/fcfs-easy --figure waits --figure usage",
    "forebay plot out --figure gantt --format pdf -o figures",
)


class Picture(StrEnum):
    """How pictures are written."""

    svg = "svg"
    png = "png"
    pdf = "pdf"


def command(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN", help="Folders that `forebay run -o` wrote, or those of policies that `compare` wrote."
        ),
    ],
    figure: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            metavar="NAME",
            help="gantt, letter-values, usage, wait-by-size or waits; may be given again. Default: all.",
            show_default=False,
            autocompletion=_complete.figure,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Write the pictures to this folder.")
    ] = Path("forebay-figures"),
    form: Annotated[
        Picture, typer.Option("--format", metavar="svg|png|pdf", help="What kind of pictures.")
    ] = Picture.svg,
) -> None:
    """Draw figures of runs, each with the data behind it as CSV.

    Every run is named by its policy; where two have the same, by its folder.
    """
    from forebay import figures
    from forebay.cli import _pictures
    from forebay.results import load, read_document

    names = list(dict.fromkeys(map(figures.proper, figure))) if figure else figures.names()
    _pictures.check(names)
    documents = {folder: read_document(folder) for folder in dict.fromkeys(runs)}
    labels = run_labels(documents)
    results = {label: load(folder) for folder, label in labels.items()}
    windows = {label: documents[folder].get("window") for folder, label in labels.items()}
    with output_folder(output):
        files = _pictures.draw(names, results, windows, output, form.value)
        note_figures(output, files)
    show(pairs([("" if place else "written", str(file)) for place, file in enumerate(files)]))


def run_labels(documents: dict[Path, dict[str, Any]]) -> dict[Path, str]:
    """What to call each run: its policy, else its folder's name, else the whole path: the first by which all differ."""
    ways = (
        {folder: str(document.get("policy", folder)) for folder, document in documents.items()},
        {folder: folder.resolve().name for folder in documents},
        {folder: str(folder) for folder in documents},
    )
    return next((way for way in ways if len(set(way.values())) == len(documents)), ways[-1])
