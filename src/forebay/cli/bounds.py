"""`forebay bounds`: what no policy can do better than, and how far policies are from it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay._support.text import counted
from forebay.cli._input import options
from forebay.cli._input.options import TableFormat
from forebay.cli._render.printing import answer, drawn, is_quiet, notes_block, pairs, papers, show

if TYPE_CHECKING:
    from forebay._bounds import Bounds
    from forebay.experiments.setting import Setting
    from forebay.results import Result

EXAMPLES = options.examples(
    "forebay bounds table1 --exact",
    "forebay bounds trace.swf.gz --metric mean_wait --policies fcfs,fcfs-easy",
)


def command(
    workload: options.WorkloadArgument,
    platform: options.PlatformOption = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="A number of summaries, such as mean_wait or makespan; may be given several times. Default: all that "
            "a bound is known for.",
            show_default=False,
        ),
    ] = None,
    policies: Annotated[
        str | None,
        options.policies("Run these too, and tell how far each is above the largest bound."),
    ] = None,
    lp: Annotated[bool, typer.Option("--lp", help="Solve linear programs, too: some seconds to minutes.")] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help='Find optima of windows of jobs, too; needs pip install "forebay[ortools]".')
    ] = False,
    window: Annotated[int, typer.Option("--window", metavar="N", min=1, help="Jobs of a window of --exact.")] = 40,
    force: Annotated[bool, typer.Option("--force", help="Allow windows of more than 40 jobs.")] = False,
    limit: Annotated[
        str, typer.Option("--time-limit", metavar="TIME", help="For the solvers of each metric; what is proved counts.")
    ] = "60s",
    part: options.SliceOption = None,
    job_model: options.JobModelOption = None,
    seed: options.SeedOption = 0,
    form: options.TableFormatOption = TableFormat.text,
    quiet: options.QuietOption = False,
) -> None:
    """Tell what no policy can do better than.

    Bounds hold for every policy, whatever it knows, that runs each job once, to its end and in one piece. Where jobs
    move data, each transfer is taken to have every link to itself. With --policies each is run, and its distance from
    the largest bound is shown.
    """
    from forebay._bounds import bounds
    from forebay._run import labels
    from forebay.cli._input.setting import read_setting
    from forebay.core.units import parse_seconds
    from forebay.policies import load as load_policy

    seconds = parse_seconds(limit)
    specs = _specs(policies)
    for spec in specs:
        labels.check(spec)
    setting = read_setting(workload, platform, job_model, seed, None, None, part)
    schedulers = {name: load_policy(spec) for name, spec in (setting.called(one, one) for one in specs)}
    found = bounds(
        setting.workload,
        setting.platform,
        metric or None,
        lp=lp,
        exact="force" if exact and force else exact,
        window=window,
        time_limit=seconds,
        job_model=job_model,
    )
    if schedulers:
        found = found.against(_runs(setting, schedulers))
    if form is TableFormat.text:
        report(found)
    elif form is TableFormat.json:
        answer(found.document())
    else:
        papers(form, found.tables())


def _specs(text: str | None) -> list[str]:
    from forebay.experiments.comparison.selection import wanted

    if text is None:
        return []
    given, implied = wanted(text)
    return [*given, *implied]


def _runs(setting: "Setting", schedulers: dict[str, Any]) -> "dict[str, Result]":
    """A run under each policy."""
    from forebay.cli._render.progress import progress

    setting.prepare(schedulers.values(), is_quiet())
    results = {}
    with progress(len(setting.workload) * len(schedulers)) as watch:
        for spec, scheduler in schedulers.items():
            tell = _Teller(watch, spec)
            results[spec] = setting.simulate(scheduler, spec, tell)[0]
    return results


class _Teller:
    """Says how far the run of one policy is."""

    def __init__(self, watch: Any, spec: str) -> None:
        self._watch, self._spec = watch, spec

    def __call__(self, ended: int, _: int) -> None:
        self._watch.at(self._spec, ended)


def report(found: "Bounds") -> None:
    """The answer as text: every bound, then every policy against the largest of each metric."""
    about = [
        ("workload", f"{found.workload}, {counted(found.n_jobs, 'job')}"),
        ("platform", found.platform),
        ("job model", found.job_model),
    ]
    show(pairs(about), *map(drawn, found.tables()), *notes_block(found.notes))
