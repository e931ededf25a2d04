"""`forebay compare`: the same workload and machine under several policies, best first."""

from pathlib import Path
from typing import Annotated

import typer

from forebay._support.environment import use_one_thread
from forebay.cli._input import options
from forebay.cli._input.options import TableFormat
from forebay.cli._render.printing import answer, papers

EXAMPLES = options.examples(
    "forebay compare",
    "forebay compare trace.swf.gz --platform flat:nodes=512 --policies fcfs,fcfs-easy",
    "forebay compare jobs.sacct --platform site.toml --vary bf_window=720,2880 --vary classes.gpu.nodes=8,16",
    "forebay compare --policies fcfs-bb,fcfs-bb:depth=3,max_backfill=10,filler -o out",
)


def command(
    context: typer.Context,
    workload: options.WorkloadArgument = "default",
    policies: Annotated[
        str | None,
        options.policies(
            "Which policies: names, families (queue, window, plan, tiers), or all. Default: those that "
            "`forebay policies` marks. Of all, those for tiers of storage are left out where the machine has none."
        ),
    ] = None,
    platform: options.PlatformOption = None,
    job_model: options.JobModelOption = None,
    seed: options.SeedOption = 0,
    failures: options.FailuresOption = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Write the results to this folder.")
    ] = Path("forebay-results"),
    part: options.SliceOption = None,
    warm: options.WarmOption = False,
    window: options.WindowOption = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=V,V",
            help="What if the site were otherwise: bf_window=720,1440, weights.Age=5000, classes.gpu.nodes=8,16, "
            "burst_buffer=200TB, limits.qos.normal.MaxJobsPU=50, partitions.long.max_time=2d. A run for each value "
            "is held against the reference. Give it several times for several keys.",
            show_default=False,
        ),
    ] = None,
    load: Annotated[
        float | None,
        typer.Option("--scale-load", metavar="F", help="Let jobs arrive F times as fast.", show_default=False),
    ] = None,
    reference: Annotated[
        str | None,
        options.policy(
            "Compare with this policy, which is run too. Default: the site's own where the platform has one, "
            "which is run too; else, of those that are compared, fcfs-bb where jobs ask for more than nodes, else "
            "fcfs-easy, else the first.",
            "--reference",
        ),
    ] = None,
    replicas: Annotated[
        int | None,
        typer.Option(
            "--replicas",
            metavar="N",
            min=0,
            max=10_000,
            help="Run each policy on so many shaken copies of the trace too: surer verdicts. Default: up to 10 for "
            "quick policies on traces of some thousand jobs.",
            show_default=False,
        ),
    ] = None,
    metrics: options.MetricsOption = None,
    fail_if: options.FailIfOption = None,
    plots: Annotated[
        bool | None,
        typer.Option("--plots/--no-plots", help="Draw figures too, with their data. Default: yes.", show_default=False),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=0, help="Rows of each table of queues, users and accounts.")
    ] = 5,
    bounds: Annotated[
        bool, typer.Option("--bounds/--no-bounds", help="Tell what no policy can have less of, too.")
    ] = True,
    page: options.PageOption = True,
    jobs: options.CountOption = None,
    anonymise: options.AnonymiseOption = False,
    form: options.TableFormatOption = TableFormat.text,
    quiet: options.QuietOption = False,
) -> None:
    """Rank policies on one workload, with a verdict on each.

    The shortest mean wait comes first. A policy is better or worse than the reference where the 95 % interval of the
    change in mean wait says so, else undecided.

    The output folder gets compare.csv, with every number of every policy, verdicts.csv, groups.csv, which tells for
    whom, bounds.csv, which tells how far each is from what any could do, and a folder for each policy with the files
    that `forebay run` writes. Figures of all policies together stand beside it, and the schedule of the best; `forebay
    plot` draws those of others. All of it takes the place of an earlier comparison in that folder, whose runs are used
    again where they would be the same.

    Stop at any time with Ctrl-C: finished policies are kept, and the same command goes on from there.
    """
    use_one_thread()
    from forebay._run.disguise import refuse_shares
    from forebay.cli._input import given_command
    from forebay.cli._input.setting import read_setting
    from forebay.cli._render.comparison import report
    from forebay.cli._render.progress import Terminal
    from forebay.experiments import whatif
    from forebay.experiments.comparison import compare, paper
    from forebay.experiments.comparison.compared import failure
    from forebay.experiments.comparison.figures import FIGURES, SCHEDULE
    from forebay.experiments.comparison.selection import plan_of, select
    from forebay.experiments.conditions import parse_condition, refuse
    from forebay.experiments.setting import scaled
    from forebay.figures import _folder as pictures

    options.know(metrics)
    conditions = [parse_condition(text) for text in fail_if or ()]
    whatifs = whatif.parse(vary or [])
    select(policies, reference)  # to complain before anything is read
    if plots:
        pictures.check([*FIGURES, SCHEDULE])
    if anonymise:
        refuse_shares(policies or "", reference or "")
    given = read_setting(workload, platform, job_model, seed, window, failures, part, warm, anonymise)
    setting = scaled(given, load)
    compared = compare(
        plan_of(setting, policies, reference, replicas, bounds, whatifs),
        output,
        processes=jobs,
        figures=pictures.available() if plots is None else plots,
        page=page,
        command=given_command.command(context),
        reporter=Terminal(),
    )
    if form is TableFormat.text:
        report(compared, top)
    elif form is TableFormat.json:
        answer(compared.document())
    else:
        papers(form, [paper.table(compared)])
    if compared.failed:
        raise failure(compared.failed, len(compared.documents) + len(compared.failed))
    refuse(compared.holding(conditions))
