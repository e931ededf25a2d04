"""`forebay capacity`: how much of something a machine needs for a target, such as a wait that users accept."""

from pathlib import Path
from typing import Annotated

import typer

from forebay._support.environment import use_one_thread
from forebay.cli._input import completion, options
from forebay.cli._input.options import TableFormat
from forebay.cli._render.printing import answer, papers
from forebay.errors import InputError

EXAMPLES = options.examples(
    'forebay capacity --target "p95_wait <= 12h"',
    'forebay capacity trace.swf.gz --vary nodes --target "mean_wait <= 30min" --policies fcfs,fcfs-easy',
    'forebay capacity --target "bounded_slowdown <= 5" --range 480GB:2TB --price burst-buffer=120EUR/TB',
)


def command(
    context: typer.Context,
    workload: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD",
            help="A workload file, the name of an embedded one, or a model that makes jobs: lublin99:nodes=96.",
            autocompletion=completion.workload,
        ),
    ] = "default",
    target: Annotated[
        str,
        typer.Option(
            "--target", metavar="TARGET", help='What is to be kept: "p95_wait <= 2h", "p95_wait[partition=gpu] <= 4h".'
        ),
    ] = "",
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="NAME",
            help="What there may be more or less of: burst-buffer (default), nodes, classes.NAME.nodes, pfs, a tier, "
            "or TIER.bandwidth. With prices, two may be given.",
            show_default=False,
        ),
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="LOW:HIGH",
            help="From where to where, such as 480GB:2TB; of two, nodes=64:256. Default: from a 16th of the machine's "
            "or the largest need of one job, to 16 times as much.",
            show_default=False,
        ),
    ] = None,
    precision: Annotated[
        str, typer.Option("--precision", metavar="SHARE", help="How far the answer may be above one that fails.")
    ] = "5%",
    policy: Annotated[
        str | None,
        options.policy("The policy. Default: the site's own where the platform has one, else fcfs-bb."),
    ] = None,
    policies: Annotated[
        str | None,
        options.policies("Several policies: an answer for each."),
    ] = None,
    platform: options.PlatformOption = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="SPEC",
            help="Complete the jobs by this model; may be given several times.",
            autocompletion=completion.model,
        ),
    ] = None,
    job_model: options.JobModelOption = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="The first seed; each replica has one.")] = 0,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds", metavar="N", min=1, help="Workloads that a model makes. Default: 10.", show_default=False
        ),
    ] = None,
    replicas: Annotated[
        int | None,
        typer.Option(
            "--replicas",
            metavar="N",
            min=1,
            help="Versions of one trace, the first as it is, others with arrivals shaken. Default: 10.",
            show_default=False,
        ),
    ] = None,
    shake: Annotated[
        str, typer.Option("--shake", metavar="TIME", help="How much later a job of a replica may arrive.")
    ] = "60s",
    failures: options.FailuresOption = None,
    window: options.WindowOption = None,
    metrics: options.MetricsOption = None,
    price: Annotated[
        str | None,
        typer.Option(
            "--price",
            metavar="NAME=PRICE,...",
            help="What all that is varied costs: burst-buffer=120EUR/TB,nodes=8000EUR. Draws cost against the target.",
            show_default=False,
        ),
    ] = None,
    jobs: options.CountOption = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Keep runs and results in this folder.")
    ] = Path("forebay-capacity"),
    plots: Annotated[
        bool | None,
        typer.Option("--plots/--no-plots", help="Draw figures too. Default: yes.", show_default=False),
    ] = None,
    page: options.PageOption = True,
    fresh: options.FreshOption = False,
    anonymise: options.AnonymiseOption = False,
    form: options.TableFormatOption = TableFormat.text,
    quiet: options.QuietOption = False,
) -> None:
    """Find the least capacity that keeps a target.

    Finished runs are kept in the folder: stop at any time with Ctrl-C, and the same command goes on from there; another
    target, range or price takes what is there already. A target that no capacity of the range reaches is an answer
    too, with exit code 0.
    """
    use_one_thread()
    from forebay._run.disguise import refuse_shares
    from forebay.cli._input import given_command
    from forebay.cli._input.options import parse_period
    from forebay.cli._render.capacity import report
    from forebay.cli._render.progress import Terminal
    from forebay.experiments.capacity import find, paper
    from forebay.experiments.capacity.question import Asked, asking
    from forebay.figures._folder import available, check

    options.know(metrics)
    specs = _policies(policy, policies)
    if anonymise:
        refuse_shares(*specs)
    if plots:
        check(())
    asked = Asked(
        workload=workload,
        platform=platform,
        models=tuple(models or ()),
        job_model=job_model,
        seed=seed,
        failures=failures,
        window=parse_period(window, "--window"),
        seeds=seeds,
        replicas=replicas,
        shake=shake,
        anonymise=anonymise,
    )
    question = asking(asked, target, vary or ["burst-buffer"], ranges or [], specs, precision, price)
    found = find(
        question,
        output,
        processes=jobs,
        figures=available() if plots is None else plots,
        page=page,
        fresh=fresh,
        origin=given_command.origin(context),
        reporter=Terminal(),
    )
    if form is TableFormat.text:
        report(found, output)
    elif form is TableFormat.json:
        answer(found.document())
    else:
        papers(form, [paper.table(question, found.found)])


def _policies(one: str | None, several: str | None) -> list[str]:
    from forebay.experiments.comparison.selection import split_specs

    if one is not None and several is not None:
        raise InputError("--policy and --policies are both given; keep one")
    return split_specs(several) if several is not None else [one] if one is not None else []
