"""`forebay slurm advise`: commands and settings to look at, with what is expected of each. Prints, never executes."""

from pathlib import Path
from typing import Annotated

import typer

from forebay.cli._input import options
from forebay.cli._input.options import Format
from forebay.cli._render.printing import answer, message

EXAMPLES = options.examples(
    "forebay slurm advise --policy plan-best",
    "forebay slurm advise --record /var/lib/forebay",
    "forebay slurm advise --record /var/lib/forebay --vary bf_window=2880 --vary weights.Age=1000,5000",
)


def command(
    policy: Annotated[str, typer.Option("--policy", metavar="SPEC", help="Whose plan gives the order.")] = "plan-best",
    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="FOLDER", help="Of slurm watch: settings, too.", show_default=False),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="KEY=VALUE,...", help="What-ifs. Default: usual ones.", show_default=False),
    ] = None,
    futures: Annotated[int, typer.Option("--futures", metavar="N", min=2, help="How many are played.")] = 30,
    replicas: Annotated[int, typer.Option("--replicas", metavar="N", min=0, help="Of each what-if.")] = 5,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="How many runs at a time.")] = 1,
    seed: options.SeedOption = 0,
    form: options.FormatOption = Format.text,
) -> None:
    """Print commands and settings that would shorten waits, with what is expected, who loses, and how to undo each.

    Nothing is executed, and nothing of Slurm is changed. Commands are put on lines of their own; all else stands
    behind a #.
    """
    from forebay._live.advise import text
    from forebay._live.advise.order import order_advice
    from forebay._live.advise.settings import settings_advice
    from forebay._live.agent.planning import check_policy
    from forebay._live.commands import Slurm
    from forebay._live.snapshot import moment
    from forebay._live.watch.known import ended_of
    from forebay.errors import InputError
    from forebay.experiments.whatif import parse

    check_policy(policy)
    if vary and record is None:
        raise InputError("--vary needs days to try it on: give --record FOLDER of forebay slurm watch")
    wanted = parse(vary or [])
    found = moment(Slurm())
    order = order_advice(found, policy, ended_of(record) if record else [], futures, seed)
    settings = None
    lines = list(text.order_lines(order))
    if record is not None:
        settings = settings_advice(record, wanted, replicas, jobs)
        lines += ["", *text.settings_lines(settings)]
    if form is Format.json:
        made = [one._asdict() | {"command": one.command, "undo": one.undo} for one in order.lines]
        effect = (
            None
            if order.effect is None
            else {"all": order.effect.all._asdict(), "losers": [one._asdict() for one in order.effect.losers]}
        )
        won = [] if settings is None else [one._asdict() for one in settings.won]
        answer({"policy": policy, "waiting": order.waiting, "order": made, "effect": effect, "settings": won})
        return
    for note in found.notes:
        message(f"note: {note}")
    print("\n".join(lines))
