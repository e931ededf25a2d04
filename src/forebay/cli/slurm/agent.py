"""`forebay slurm agent`: keep a live queue in the order of a plan."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from forebay.cli._input import options
from forebay.cli._render.printing import pairs, say, show, table
from forebay.errors import InputError

EXAMPLES = options.examples(
    "forebay slurm agent state --policy plan-best",
    "forebay slurm agent state --policy plan-best --go",
    "forebay slurm agent state --undo",
)
_SHOWN = 20


def command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where it keeps what it changed, and its log.")],
    policy: Annotated[str, typer.Option("--policy", metavar="SPEC", help="Whose plan gives the order.")] = "plan-best",
    go: Annotated[bool, typer.Option("--go", help="Write to Slurm, round after round; else show one plan.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Restore the order that jobs had, and end.")] = False,
    every: Annotated[float, typer.Option("--every", metavar="SECONDS", min=1, help="Between two plans.")] = 20,
    expiry: Annotated[
        float,
        typer.Option("--expiry", metavar="SECONDS", min=2, help="Silence after which Slurm's order is restored."),
    ] = 120,
    max_harm: Annotated[
        float,
        typer.Option("--max-harm", metavar="SHARE", min=0, help="How much longer a user may wait on average."),
    ] = 0.5,
    rounds: Annotated[
        int | None,
        typer.Option("--rounds", metavar="N", min=1, help="Default: until it is stopped.", show_default=False),
    ] = None,
    even_as_root: Annotated[bool, typer.Option("--even-as-root", help="Run as root, as tests do.")] = False,
) -> None:
    """Put jobs that wait in the order in which a policy would start them.

    Without --go nothing is written: one plan is shown. With it priorities (priority/basic) or site factors
    (priority/multifactor) are set, and nothing else: no job is held or cancelled. AdminLevel=Operator is enough. When
    the agent ends, is killed or cannot reach slurmctld, Slurm's own order is restored.
    """
    from forebay._live.agent.ledger import Ledger
    from forebay._live.agent.planning import check_policy
    from forebay._live.agent.running import Agent, Bounds
    from forebay._live.commands import Slurm

    if (go or undo) and os.geteuid() == 0 and not even_as_root:
        raise InputError("the agent needs no root: run it as a user with AdminLevel=Operator, or give --even-as-root")
    if expiry < 3 * every and go:
        raise InputError(f"--expiry {expiry:g} is less than three rounds of {every:g} s; give a longer one")
    if undo:
        ledger = Ledger(folder)
        ledger.lock()
        show(pairs([("restored", f"{ledger.undo(Slurm()):,}")]))
        return
    check_policy(policy)
    agent = Agent(folder, policy, go, expiry, Bounds(max_harm))
    agent.ledger.lock()
    if go:
        agent.run(every, rounds, lambda text: say(text) if sys.stdout.isatty() else print(text, flush=True))
        return
    one = agent.round()
    order = [(str(job), f"{one.plan.starts[job]:,.0f} s") for job in one.plan.order[:_SHOWN]]
    rows = [("waiting", f"{one.waiting:,}"), ("would change", f"{one.changed:,}")]
    rows += [("but", one.why_not)] if one.why_not else []
    show(pairs(rows), *([table(("job", "planned start"), order, (1,))] if order else []))
