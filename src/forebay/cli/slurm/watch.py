"""`forebay slurm watch`: a snapshot and predictions every minute, kept and scored, with a page."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from forebay.cli._input import options
from forebay.cli._render.printing import message, say

EXAMPLES = options.examples(
    "forebay slurm watch /var/lib/forebay",
    "forebay slurm watch /var/lib/forebay --policies fcfs-bb,plan-best --serve 127.0.0.1:8047",
    "forebay slurm watch /var/lib/forebay --textfile /var/lib/node_exporter/forebay.prom",
)


def command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where all is kept, and status.html is written.")],
    every: Annotated[float, typer.Option("--every", metavar="SECONDS", min=30, help="Between two readings.")] = 60,
    futures: Annotated[int, typer.Option("--futures", metavar="N", min=2, help="How many are played each time.")] = 30,
    policies: Annotated[
        str | None,
        typer.Option(
            "--policies", metavar="SPEC,SPEC", help="Replay the recorded days under these, too.", show_default=False
        ),
    ] = None,
    serve: Annotated[
        str | None,
        typer.Option(
            "--serve", metavar="127.0.0.1:PORT", help="Serve the page, read only, on this machine.", show_default=False
        ),
    ] = None,
    textfile: Annotated[
        Path | None,
        typer.Option("--textfile", metavar="FILE.prom", help="Numbers for node_exporter.", show_default=False),
    ] = None,
    keep: Annotated[float, typer.Option("--keep", metavar="DAYS", min=1, help="After which records are deleted.")] = 30,
    cycles: Annotated[
        int | None,
        typer.Option("--cycles", metavar="N", min=1, help="Default: until it is stopped.", show_default=False),
    ] = None,
    seed: options.SeedOption = 0,
) -> None:
    """Watch the live queue: predict every minute, keep it, and score it against what came and squeue --start.

    Reads only, with at most 4 calls of Slurm's commands in any minute; needs no root and no privilege. After a restart
    it goes on where it stopped. FOLDER/status.html is a page that loads itself again.
    """
    from forebay import policies as known
    from forebay._live.watch.running import PAGE, Watch
    from forebay._live.watch.serving import Server, address
    from forebay.experiments.comparison.selection import split_specs

    where = None if serve is None else address(serve)
    shadow = split_specs(policies) if policies else []
    for one in shadow:
        known.load(one)
    watch = Watch(folder, every=every, futures=futures, days=keep, textfile=textfile, policies=shadow, seed=seed)
    if where is not None:
        server = Server(folder / PAGE, *where)
        server.begin()
        message(f"http://{where[0] if ':' not in where[0] else f'[{where[0]}]'}:{server.port}/")
    watch.run(cycles, lambda text: say(text) if sys.stdout.isatty() else print(text, flush=True))
