"""`forebay fidelity`: how close a simulation comes to what a trace recorded."""

import sys
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay._support.text import counted
from forebay.cli._input import completion, options
from forebay.cli._input.options import TableFormat
from forebay.cli._render.printing import (
    Seconds,
    answer,
    drawn,
    fitting,
    is_quiet,
    notes_block,
    pairs,
    papers,
    show,
)
from forebay.experiments.outputs import output_folder, refuse_other

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.table import Table as Shown

    from forebay._fidelity import Fidelity
    from forebay._support.paper import Table
    from forebay.platforms import Platform
    from forebay.results import Result
    from forebay.workload import Workload

KIND = "a fidelity"
EXAMPLES = options.examples(
    "forebay fidelity jobs.sacct --platform flat:nodes=280 --policy fcfs-easy",
    "forebay fidelity trace.swf.gz --slice 2025-03-01:2025-04-01 -o march",
)


def command(
    context: typer.Context,
    workload: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD",
            help="A trace that tells when its jobs started, such as SWF or sacct.",
            autocompletion=completion.workload,
        ),
    ],
    platform: options.PlatformOption = None,
    policy: Annotated[
        str | None,
        options.policy(
            "The policy most like the machine's own. Default: the site's where the platform has one, else fcfs-easy."
        ),
    ] = None,
    part: options.SliceOption = None,
    warm: Annotated[
        bool,
        typer.Option("--warm/--cold", help="Begin a slice with the jobs that ran and waited then, or without them."),
    ] = True,
    job_model: options.JobModelOption = None,
    seed: options.SeedOption = 0,
    failures: options.FailuresOption = None,
    fit: Annotated[
        bool,
        typer.Option(
            "--fit",
            help="Search for what the trace does not tell: limits that jobs obey, nodes out of service, held jobs.",
        ),
    ] = False,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="Rows of each table of users and the like.")
    ] = 5,
    output: options.FolderOption = None,
    plots: Annotated[
        bool | None,
        typer.Option("--plots/--no-plots", help="Draw figures too, with -o. Default: yes.", show_default=False),
    ] = None,
    page: options.PageOption = True,
    anonymise: options.AnonymiseOption = False,
    form: options.TableFormatOption = TableFormat.text,
    quiet: options.QuietOption = False,
) -> None:
    """Tell how close a simulation comes to what was recorded.

    A recorded period is replayed. Waits are compared job by job and as distributions, in all and by size, queue, user
    and account; so is the use of the machine. What cannot match is said in words. With --slice the period begins with
    the jobs that ran and waited then, as the trace has it.

    With --fit, limits that the jobs obey, nodes that may have been out of service, and jobs that may have been held are
    tried one after the other, and kept where the first half of the jobs then comes closer, and the second half does not
    get further off.

    With -o the folder gets fidelity.json (every number), groups.csv, waits.csv (a row a job), figures, and report.html;
    with --fit fitted.toml, too, the lines that the platform's file lacks.
    """
    from forebay._fidelity import _files, _paper
    from forebay._fidelity._replay import USUAL, refuse_unrecorded
    from forebay._run import labels
    from forebay._run.disguise import refuse_shares
    from forebay.cli._input import given_command
    from forebay.cli._input.setting import read_setting
    from forebay.figures import _folder
    from forebay.policies import load as load_policy

    if policy is not None:
        labels.check(policy)
    if plots:
        _folder.check([])
    warmed = warm and part is not None
    setting = read_setting(workload, platform, job_model, seed, None, failures, part, warmed, anonymise)
    policy, spec = setting.called(policy, USUAL)
    scheduler = load_policy(spec)
    if anonymise:
        refuse_shares(spec)
    refuse_unrecorded(setting.workload)
    if output:
        refuse_other(output, KIND)
    with output_folder(output) if output else nullcontext():
        setting.prepare([scheduler], is_quiet())
        found = _scored(setting, scheduler, (policy, spec), form, part is not None, fit)
        drawing = plots or (plots is None and _folder.available())
        origin = given_command.origin(context)
        files = _files.save(found, output, drawing, page, origin) if output else []
    if form is TableFormat.text:
        report(found, top, files)
    elif form is TableFormat.json:
        answer(found.document() | {"files": [str(file) for file in files]})
    else:
        papers(form, list(_paper.tables(found, top).values()))


def _scored(
    setting: Any, scheduler: Any, called: tuple[str, str], form: TableFormat, part: bool, fit: bool
) -> "Fidelity":
    from forebay._fidelity._replay import fitted, scored
    from forebay.cli._render.progress import progress

    # A policy that prints must not spoil what programs read on stdout.
    quiet = nullcontext() if form is TableFormat.text else redirect_stdout(sys.stderr)
    with quiet, progress(len(setting.workload)) as watch:
        name, spec = called

        def run(w: "Workload", platform: "Platform") -> "Result":
            asked = replace(setting, workload=w, platform=platform)
            result: Result = asked.simulate(scheduler, name, lambda ended, _: watch.at(name, ended), spec)[0]
            return result

        if fit:
            return fitted(setting.workload, setting.platform, run, part)
        result = run(setting.workload, setting.platform)
    return scored(setting.workload, result, part)


def _drawn(make: "Callable[[Seconds], Table]", seconds: Seconds, gap: int) -> "Shown":
    return drawn(make(seconds), gap)


def report(found: "Fidelity", top: int, files: "list[Path]") -> None:
    """The scores, by whom they are, and what to think of them."""
    from forebay._fidelity import _paper
    from forebay.cli._render.number_text import seconds
    from forebay.workload.dates import date_text

    facts, numbers = found.result.facts, found.numbers
    start, end = found.use.period
    dates = [date_text(facts["epoch"] + moment) for moment in found.use.period] if "epoch" in facts else [None]
    about = [
        ("workload", f"{facts['workload']}, {counted(numbers['n_jobs'], 'job')} scored"),
        ("platform", facts["platform"]["text"]),
        ("policy", f"{facts['policy']} (job model {facts['job_model']}, seed {facts['seed']})"),
        *([(facts["policy"], facts["spec"])] if "spec" in facts else []),
        ("period", f"{' to '.join(filter(None, dates))} UTC" if all(dates) else f"{seconds(start)} to {seconds(end)}"),
    ]
    blocks = [fitting(partial(_drawn, partial(_paper.waits, found))), pairs(_paper.scores(found))]
    blocks += [
        fitting(partial(_drawn, partial(_paper.groups, found, name, top)))
        for name, rows in found.by.items()
        if len(rows) > 1
    ]
    blocks += [drawn(_paper.tables(found)[name]) for name in ("reasons", "fit") if getattr(found, name) is not None]
    doubts = pairs([("" if place else "cannot match", text) for place, text in enumerate(found.doubts.values())])
    written = [pairs([("" if place else "written", str(file)) for place, file in enumerate(files)])] if files else []
    show(pairs(about), *blocks, doubts, *notes_block(facts["notes"]), *written)
