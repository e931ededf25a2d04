"""Arguments and options that several commands share, so that they read and behave alike everywhere."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from forebay.cli import _complete
from forebay.cli._print import hush


class Format(StrEnum):
    """How a command answers."""

    text = "text"
    json = "json"


FormatOption = Annotated[
    Format, typer.Option("--format", metavar="text|json", help="Tables to read, or JSON on stdout and nothing else.")
]
WorkloadArgument = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD",
        help="A workload file, or the name of an embedded one (table1, default).",
        autocompletion=_complete.workload,
    ),
]
PlatformOption = Annotated[
    str | None,
    typer.Option(
        "--platform",
        metavar="SPEC",
        help="The machine: flat:nodes=100,burst_buffer=10TB, another preset, or a TOML file. "
        "Default: the one the workload names. With burst_buffer=auto jobs decide how large it is: "
        "see Choose the size of the burst buffer in the documentation.",
        show_default=False,
        autocompletion=_complete.platform,
    ),
]
JobModelOption = Annotated[
    str | None,
    typer.Option(
        "--job-model",
        metavar="SPEC",
        help="How jobs behave (default: io-aware where there is data to move).",
        autocompletion=_complete.job_model,
    ),
]
SeedOption = Annotated[
    int,
    typer.Option("--seed", metavar="N", min=0, help="Feeds the policy's randomness, and failures without their own."),
]
FailuresOption = Annotated[
    str | None,
    typer.Option(
        "--failures",
        metavar="SPEC",
        help="How nodes fail, and what jobs do about it: mtbf=1h,downtime=1h,checkpoint=300s, or a trace of outages. "
        "Default: as the platform says.",
        show_default=False,
        autocompletion=_complete.failures,
    ),
]
WindowOption = Annotated[
    str | None,
    typer.Option(
        "--window",
        metavar="START:END",
        help="Summarise only jobs submitted in this time, such as 1d:8d. Either side may be left out.",
        show_default=False,
    ),
]
FailIfOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if",
        metavar="CONDITION",
        help='Leave with exit code 1 if this holds for a policy: "p95_wait > +5%" against the reference, or '
        '"mean_wait > 2h". Give it several times for several.',
        show_default=False,
    ),
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Write the results to this folder.", show_default=False),
]


QuietOption = Annotated[
    bool,
    # A command need not look at it: what the callback sets counts for all that is said.
    typer.Option("--quiet", "-q", callback=hush, help="No progress, and no messages beside the answer and errors."),
]
CountOption = Annotated[
    int | None, typer.Option("--jobs", metavar="N", min=1, help="How many runs at a time. Default: one a core.")
]


def examples(*lines: str) -> str:
    """The last lines of a command's help: what to type."""
    return "\b\n" + "\n".join(["Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)])
