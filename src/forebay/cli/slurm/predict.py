"""`forebay slurm predict`: when jobs of the live queue will start, beside what Slurm says itself."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli._input import options
from forebay.cli._input.options import Format
from forebay.cli._render.printing import answer, notes_block, pairs, show, table

if TYPE_CHECKING:
    from forebay._live.predicting import LiveStart

EXAMPLES = options.examples(
    "forebay slurm predict 4711",
    "forebay slurm predict --user ann",
    "forebay slurm predict --submit nodes=4,walltime=2h",
)
_SHOWN = 40


def command(
    jobs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[JOB]...", help="Jobs that wait, such as 4711 or 4711_3. Default: all."),
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="All that this user has waiting.", show_default=False)
    ] = None,
    submit: Annotated[
        list[str] | None,
        typer.Option(
            "--submit",
            metavar="REQUEST",
            help="A job that is not submitted yet: nodes=4,walltime=2h,partition=gpu. May be given several times.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        str | None, options.policy("Who decides. Default: what slurm.conf says, as near as it comes.")
    ] = None,
    futures: Annotated[int, typer.Option("--futures", metavar="N", min=2, help="How many are played.")] = 50,
    seed: options.SeedOption = 0,
    form: options.FormatOption = Format.text,
) -> None:
    """Tell when waiting jobs of the live queue will start, beside squeue --start.

    Reads as forebay slurm snapshot does, and answers as forebay predict does. Run times are learned from the jobs that
    Slurm still remembers (MinJobAge).
    """
    from forebay._live.commands import Slurm
    from forebay._live.predicting import starts

    found, notes = starts(Slurm(), jobs or [], user, submit or [], policy, futures, seed)
    if form is Format.json:
        answer({"jobs": [one._asdict() for one in found], "notes": notes})
        return
    titles = ("job", "user", "10 %", "50 %", "90 %", "squeue --start")
    rows = [_row(one) for one in found[:_SHOWN]]
    blocks: list[Any] = [table(titles, rows, range(2, 6))] if rows else ["no job waits"]
    if len(found) > _SHOWN:
        blocks.append(f"{len(found) - _SHOWN:,} more; --format json has all")
    why = [(one.job, one.why) for one in found[:3] if one.why]
    show(*blocks, *([pairs(why)] if why else []), *notes_block(notes))


def _row(one: "LiveStart") -> tuple[str, ...]:
    from forebay._predict._words import rough

    return (one.job, one.user, rough(one.p10), rough(one.p50), rough(one.p90), _said(one.slurm))


def _said(seconds: float | None) -> str:
    from forebay._predict._words import rough

    return "not known" if seconds is None else rough(seconds)
