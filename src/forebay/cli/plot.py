"""`forebay plot`: figures of runs, from the files they left."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from forebay.cli._input import completion, options
from forebay.cli._render.printing import pairs, show
from forebay.errors import InputError, brief
from forebay.experiments.outputs import note_figures, output_folder

EXAMPLES = options.examples(
    "forebay plot out",
    "forebay plot forebay-results/fcfs-bb forebay-results/fcfs-easy --figure waits --figure usage",
    "forebay plot a=January b=February --figure waits",
    "forebay plot out --figure gantt --format pdf -o figures",
)


class Picture(StrEnum):
    """How pictures are written."""

    svg = "svg"
    png = "png"
    pdf = "pdf"


def command(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN[=NAME]",
            help="Folders that `forebay run -o` wrote, or those of policies that `compare` wrote; each perhaps with "
            "the name to show for it.",
        ),
    ],
    figure: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            metavar="NAME",
            help="gantt, letter-values, usage, wait-by-size or waits; may be given again. Default: all.",
            show_default=False,
            autocompletion=completion.figure,
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

    Every run is named as you say (january=January), else by its policy; where two have the same, by its folder.
    """
    from forebay import figures
    from forebay.figures import _folder
    from forebay.results import load, read_document
    from forebay.results._whole import reading

    names = list(dict.fromkeys(map(figures.proper, figure))) if figure else figures.names()
    _folder.check(names)
    given = named_runs(runs)
    documents = {folder: read_document(folder) for folder in given}
    labels = run_labels(documents, given)
    results = {label: load(folder) for folder, label in labels.items()}
    windows = {label: documents[folder].get("window") for folder, label in labels.items()}
    with reading(*given), output_folder(output):
        files = _folder.draw(names, results, windows, output, form.value)
        note_figures(output, files)
    show(pairs([("" if place else "written", str(file)) for place, file in enumerate(files)]))


def named_runs(words: list[str]) -> dict[Path, str]:
    """The folders of `out` and `out=January`, and the names given to them; empty where none is.

    A folder may have a = in its own name.
    """
    found: dict[Path, str] = {}
    for word in words:
        folder, equals, name = word.rpartition("=")
        path = Path(word)
        if not equals or path.is_dir():
            name = ""
        else:
            path = Path(folder)
            if not folder or not name.strip():
                raise InputError(f"{brief(word)} is no run; write a folder, or a folder and its name: {folder}=January")
        if found.setdefault(path, name.strip()) != name.strip():
            raise InputError(f"{path} is given two names, {brief(found[path])} and {brief(name.strip())}; keep one")
    named = [name for name in found.values() if name]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two runs are called {brief(twice)}; give each its own name")
    return found


def run_labels(documents: dict[Path, dict[str, Any]], given: Mapping[Path, str] | None = None) -> dict[Path, str]:
    """What to call each run: what is given; else its policy, its folder's name, or the whole path, by which all differ.

    The first of these by which all do.
    """
    names = {folder: name for folder, name in (given or {}).items() if name}
    ways = (
        {folder: str(document.get("policy", folder)) for folder, document in documents.items()},
        {folder: folder.resolve().name for folder in documents},
        {folder: str(folder) for folder in documents},
    )
    whole = [way | names for way in ways]
    return next((way for way in whole if len(set(way.values())) == len(documents)), whole[-1])
