"""`forebay plot`: figures of runs, or of a sweep, from the files they left."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli._input import completion, options
from forebay.cli._render.printing import pairs, show
from forebay.errors import InputError, brief
from forebay.experiments.outputs import note_figures, output_folder

if TYPE_CHECKING:
    from forebay.experiments.swept.figure import Wanted

EXAMPLES = options.examples(
    "forebay plot out",
    "forebay plot forebay-results/fcfs-bb forebay-results/fcfs-easy --figure waits --figure usage",
    "forebay plot a=January b=February --figure waits",
    "forebay plot out --figure gantt --format pdf --width ieee-column -o figures",
    "forebay plot forebay-sweep-loads --x nodes --metric p95_wait",
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
            "the name to show for it. Or the folder of one `forebay sweep`, which may still be under way.",
        ),
    ],
    figure: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            metavar="NAME",
            help="gantt, letter-values, usage, wait-by-size or waits; may be given again. Default: all. Of a sweep, "
            "sweep-lines or sweep-heatmap. Default: a map where just two parameters that are numbers vary, else lines.",
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
    width: Annotated[
        str | None,
        typer.Option(
            "--width",
            metavar="WIDTH",
            help="That of a paper: ieee-column, ieee-page, acm-column, acm-page, or inches. Leaves out the line above.",
            show_default=False,
            autocompletion=completion.width,
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="Of a sweep: the number of summaries to draw; may be given again. Default: mean_wait.",
            show_default=False,
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(
            "--x",
            metavar="NAME",
            help="Of a sweep: the parameter along the x-axis, or workload, platform, job_model, failures or policy. "
            "Default: the one with most values that are numbers.",
            show_default=False,
        ),
    ] = None,
    y: Annotated[
        str | None,
        typer.Option("--y", metavar="NAME", help="Of a sweep: the parameter along the y-axis of a map."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="NAME=VALUE",
            help="Of a sweep: draw only runs with this value; may be given again, also with the same name.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Draw figures of runs or of a sweep, with the data as CSV.

    Every run is named as you say (january=January), else by its policy; where two have the same, by its folder.

    Of a sweep, a metric is drawn over a parameter, a line a policy, with 95 % intervals over seeds and a panel for each
    value of whatever else varies; or over two parameters, a map a policy.
    """
    from forebay.experiments.swept import runs as swept
    from forebay.figures import _look

    inches = None if width is None else _look.inches(width)
    sweeps = [run for run in runs if swept.is_sweep(Path(run))]
    if not sweeps:
        given = {"--metric": metric, "--x": x, "--y": y, "--where": where}
        wrong = next((option for option, value in given.items() if value), None)
        if wrong is not None:
            raise InputError(f"{wrong} is of the folder of a sweep, and {brief(runs[0])} is none; leave it out")
        files, about = _of_runs(runs, figure, output, form, inches), ""
    elif len(runs) > 1:
        raise InputError(f"{sweeps[0]} is a sweep, and is drawn alone; name one folder")
    else:
        wishes = _wishes(figure, metric, (x, y), where, inches)
        files, about = _of_sweep(Path(runs[0]), wishes, output, form)
    written = [("" if place else "written", str(file)) for place, file in enumerate(files)]
    show(pairs([*written, *([("shows", about)] if about else [])]))


def _wishes(
    figures: list[str] | None,
    metrics: list[str] | None,
    axes: tuple[str | None, str | None],
    where: list[str] | None,
    width: float | None,
) -> "list[Wanted]":
    from forebay.experiments.swept.figure import Wanted

    only: dict[str, list[str]] = {}
    for text in where or []:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--where {brief(text)} is not NAME=VALUE; write, for example, policy=fcfs-bb")
        only.setdefault(name.strip(), []).append(value.strip())
    return [
        Wanted(metric, figure, *axes, only, width)
        for figure in (dict.fromkeys(figures) if figures else [None])
        for metric in dict.fromkeys(metrics or ["mean_wait"])
    ]


def _of_sweep(folder: Path, wishes: "list[Wanted]", output: Path, form: Picture) -> tuple[list[Path], str]:
    """The files, and what they show: a picture for each wish, all of them or none."""
    from forebay.experiments.swept import runs as swept
    from forebay.experiments.swept.figure import draw, save
    from forebay.figures import _folder

    _folder.check([])
    found = swept.read(folder)
    drawn = [(wish, draw(found, wish)) for wish in wishes]
    several = len({wish.metric for wish in wishes}) > 1
    with output_folder(output):
        files = []
        for wish, one in drawn:
            name = f"{one.figure}-{wish.metric}" if several else one.figure
            files += save(one, found.name, output / f"{name}.{form.value}", wish.width)
        note_figures(output, files)
    return files, "\n".join(one.caption for _, one in drawn)


def _of_runs(runs: list[str], figure: list[str] | None, output: Path, form: Picture, width: float | None) -> list[Path]:
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
        files = _folder.draw(names, results, windows, output, form.value, width)
        note_figures(output, files)
    return files


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
