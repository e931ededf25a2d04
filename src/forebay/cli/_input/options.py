"""Arguments and options that several commands share, so that they read and behave alike everywhere."""

import math
import re
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from forebay.cli._input import completion
from forebay.cli._render.printing import hush
from forebay.core.units import parse_seconds
from forebay.errors import InputError


class Format(StrEnum):
    """How a command answers."""

    text = "text"
    json = "json"


class TableFormat(StrEnum):
    """How a command answers whose tables papers have."""

    text = "text"
    json = "json"
    latex = "latex"
    markdown = "markdown"


FormatOption = Annotated[
    Format, typer.Option("--format", metavar="text|json", help="Tables to read, or JSON on stdout and nothing else.")
]
TableFormatOption = Annotated[
    TableFormat,
    typer.Option(
        "--format",
        metavar="text|json|latex|markdown",
        help="Tables to read; or JSON, LaTeX (booktabs) or Markdown on stdout and nothing else.",
    ),
]
WorkloadArgument = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD",
        help="A workload file, or the name of an embedded one (table1, default).",
        autocompletion=completion.workload,
    ),
]
SkipOption = Annotated[
    bool,
    typer.Option("--skip-bad-lines", help="Leave out lines that cannot be read, count and name them (SWF, sacct)."),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="MAPPING",
        help="Read any table of jobs, CSV or Parquet: which column is what, as a known mapping (pm100, helios, ...), a "
        "TOML file, or submit=COLUMN,run_time=COLUMN:min,nodes=COLUMN.",
        show_default=False,
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
        autocompletion=completion.platform,
    ),
]
JobModelOption = Annotated[
    str | None,
    typer.Option(
        "--job-model",
        metavar="SPEC",
        help="How jobs behave (default: io-aware where there is data to move).",
        autocompletion=completion.job_model,
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
        autocompletion=completion.failures,
    ),
]
WindowOption = Annotated[
    str | None,
    typer.Option(
        "--window",
        metavar="START:END",
        help="Summarise only jobs submitted in this time: 1d:8d or 2025-03-01:2025-04-01; either side may be left out.",
        show_default=False,
    ),
]
SliceOption = Annotated[
    str | None,
    typer.Option(
        "--slice",
        metavar="START:END",
        help="Simulate only jobs submitted in this time: 7d:14d or 2025-03-01:2025-04-01; either side may be left out.",
        show_default=False,
    ),
]
ClosedLoopOption = Annotated[
    bool,
    typer.Option(
        "--closed-loop",
        help="Let users submit their next job when the last has ended, after thinking as long as in the trace.",
    ),
]
WarmOption = Annotated[
    bool,
    typer.Option(
        "--warm", help="Begin the slice with the jobs that ran and waited then, as the trace has it; with --slice."
    ),
]
AnonymiseOption = Annotated[
    bool,
    typer.Option(
        "--anonymise",
        help="Call users, groups and accounts by labels, such as user-3: always the same ones for the jobs of a file.",
    ),
]
PageOption = Annotated[bool, typer.Option("--report/--no-report", help="Write report.html too: all of it in one page.")]
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
MetricsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--metrics",
        metavar="FILE",
        help="Take the metrics that this Python file defines by @fb.metric, too. Give it several times for several.",
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
FreshOption = Annotated[bool, typer.Option("--fresh", help="Forget the runs that the folder holds.")]
CountOption = Annotated[
    int | None, typer.Option("--jobs", metavar="N", min=1, help="How many runs at a time. Default: one a core.")
]


def know(metrics: list[Path] | None) -> None:
    """Have the metrics of users' files: before targets and conditions are read, which may name them."""
    if metrics:
        from forebay.metrics._own.files import load

        for path in metrics:
            load(path)


_LABELLED = "A name of your own may stand before a spec: short=mine.py:ShortFirst."


def policy(text: str, name: str = "--policy") -> Any:
    """An option that names one policy."""
    text = f"{text} {_LABELLED}"
    return typer.Option(name, metavar="SPEC", help=text, show_default=False, autocompletion=completion.policy)


def policies(text: str) -> Any:
    """An option that names several."""
    text, completed = f"{text} {_LABELLED}", completion.policies
    return typer.Option("--policies", metavar="SPEC,SPEC,...", help=text, show_default=False, autocompletion=completed)


_DATE = r"\s*\d{4}-\d\d?-\d\d?(?:[T ]\d\d(?:(?::\d\d(?!\d)){1,2}(?:\.\d+)?)?(?:Z|[+-]\d\d(?::?\d\d(?!\d))?)?)?\s*"
_PERIOD = re.compile(rf"({_DATE}|[^:]*):({_DATE}|[^:]*)", re.ASCII)
Period = tuple[float | datetime, float | datetime]
"""Each side in seconds after the first job, or as a date."""


def parse_period(text: str | None, option: str) -> Period | None:
    """Both sides of START:END, seconds or dates; one left out is 0, or infinity."""
    if text is None:
        return None
    found = _PERIOD.fullmatch(text)
    if not found:
        raise InputError(
            f"{option} {text!r} is not START:END; write times such as 1d:8d, 3600:7200 or 12h:, "
            "or dates: 2025-03-01:2025-04-01"
        )
    try:
        start, end = _moment(found[1], 0.0), _moment(found[2], math.inf)
    except InputError as error:
        raise InputError(f"{option} {text!r}: {error}") from None
    dates = isinstance(start, datetime), isinstance(end, datetime)
    if dates[0] == dates[1] and not start < end:  # type: ignore[operator]
        raise InputError(f"{option} {text!r} is empty; its start must come before its end")
    return start, end


def _moment(text: str, left_out: float) -> float | datetime:
    from forebay.workload.dates import parse_date

    if not text.strip():
        return left_out
    return parse_date(text) if re.fullmatch(_DATE, text, re.ASCII) else parse_seconds(text)


def examples(*lines: str) -> str:
    """The last lines of a command's help: what to type."""
    return "\b\n" + "\n".join(["Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)])
