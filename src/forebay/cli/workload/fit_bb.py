"""`forebay workload fit-bb`: which distribution describes what a trace's jobs ask for."""

from typing import Annotated

import typer

from forebay._support.text import counted
from forebay.cli._input import options
from forebay.cli._input.options import Format
from forebay.cli._render.printing import answer, show, table

EXAMPLES = options.examples("forebay workload fit-bb default", "forebay workload fit-bb trace.json --folds 10")

_KIB = 1024


def command(
    source: options.WorkloadArgument,
    column: Annotated[
        str,
        typer.Option(
            "--column", metavar="NAME", help="What to fit (default: memory, else burst_buffer).", show_default=False
        ),
    ] = "",
    folds: Annotated[int, typer.Option("--folds", metavar="N", help="Folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Feeds the choice of folds.")] = 0,
    form: options.FormatOption = Format.text,
) -> None:
    """Fit distributions to the requests per node, and rank them by their distance to the data."""
    from forebay import workload
    from forebay.workload import fitting
    from forebay.workload.models import stream

    name, values = fitting.requests(workload.read(source), column)
    found = fitting.compare(values, stream(seed, "fit-bb"), folds)
    if form is Format.json:
        answer({"column": name, "values": len(values), "folds": folds, "distributions": found})
        return
    rows = []
    for one in found:
        fitted = ", ".join(f"{key} {value:.5g}" for key, value in one["fit"].items())
        rows.append((one["name"], f"{one['distance']:.4f} ± {one['spread']:.4f}", fitted))
    fit = next(one["fit"] for one in found if one["name"] == "lognormal")
    spec = f"burst-buffer:sigma={fit['sigma']:.6g},loc={fit['loc'] / _KIB:.6g},scale={fit['scale'] / _KIB:.6g}"
    show(
        f"{name} per node of {counted(len(values), 'job')}, in bytes; D is the Kolmogorov-Smirnov distance over "
        f"{folds} folds",
        table(["distribution", "D", "fitted to all"], rows),
        f"the log-normal as a model: --model {spec}",
    )
