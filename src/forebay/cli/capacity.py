"""`forebay capacity`: how much of something a machine needs for a target, such as a wait that users accept."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forebay._environment import use_one_thread
from forebay._text import counted
from forebay.cli import _complete
from forebay.cli import _options as options
from forebay.cli._options import Format
from forebay.cli._outputs import output_folder, refuse_other
from forebay.cli._print import answer, is_quiet, message, notes_block, pairs, show
from forebay.cli.report import add as add_report
from forebay.errors import InputError

if TYPE_CHECKING:
    from forebay.cli._question import Question
    from forebay.cli._trials import Found, Trials
    from forebay.experiments.store import Store

KIND = "a search for a capacity"
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
            autocompletion=_complete.workload,
        ),
    ] = "default",
    target: Annotated[
        str,
        typer.Option(
            "--target", metavar="TARGET", help='What is to be kept: "p95_wait <= 2h", or any number of a summary.'
        ),
    ] = "",
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="NAME",
            help="What there may be more or less of: burst-buffer (default), nodes, pfs, a tier, or TIER.bandwidth. "
            "With prices, two may be given.",
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
        typer.Option(
            "--policy",
            metavar="SPEC",
            help="The policy. Default: fcfs-bb.",
            show_default=False,
            autocompletion=_complete.policy,
        ),
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option(
            "--policies",
            metavar="SPEC,SPEC,...",
            help="Several policies: an answer for each.",
            show_default=False,
            autocompletion=_complete.policies,
        ),
    ] = None,
    platform: options.PlatformOption = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="SPEC",
            help="Complete the jobs by this model; may be given several times.",
            autocompletion=_complete.model,
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
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget the runs that the folder holds.")] = False,
    form: options.FormatOption = Format.text,
    quiet: options.QuietOption = False,
) -> None:
    """Find the least capacity that keeps a target.

    Finished runs are kept in the folder: stop at any time with Ctrl-C, and the same command goes on from there; another
    target, range or price takes what is there already. A target that no capacity of the range reaches is an answer
    too, with exit code 0.
    """
    use_one_thread()
    from forebay.cli import _given, _pictures, _question, _runs, _sizes
    from forebay.cli._options import parse_period
    from forebay.experiments.store import Store
    from forebay.experiments.targets import parse_target

    if not target:
        raise InputError('--target is missing; write what is to be kept, such as --target "p95_wait <= 2h"')
    wanted = parse_target(target)
    names = vary or ["burst-buffer"]
    if len(names) > 2:
        raise InputError(f"--vary names {len(names)} quantities; two at most can be varied together")
    if len(names) == 2 and price is None:
        raise InputError("--vary names two quantities, which only prices can weigh; add --price")
    specs = _policies(policy, policies)
    for spec in specs:
        _runs.load_policy(spec)
    if plots and not _pictures.available():
        raise InputError("figures need the package matplotlib; install it with pip install matplotlib")
    asked = _question.Asked(
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
    )
    precise = _question.parse_precision(precision)
    question = _question.read(asked, names, ranges or [], wanted, specs, precise, price)
    refuse_other(output, KIND)
    with output_folder(output):
        found, trials = _search(question, Store(output, fresh), jobs)
        drawing = plots or (plots is None and _pictures.available())
        files = _sizes.write(question, found, output, _given.origin(context))
        files += _sizes.draw(question, found, output) if drawing else []
        _sizes.forget_pictures(output, files)
        files += add_report(output, page)
        _tell(question, found, trials, output, form, files)


def _policies(one: str | None, several: str | None) -> list[str]:
    from forebay import _plugins
    from forebay.cli._chosen import split_specs

    if one is not None and several is not None:
        raise InputError("--policy and --policies are both given; keep one")
    return split_specs(several) if several is not None else [_plugins.spelled("policies", one or "fcfs-bb")]


def _search(question: "Question", store: "Store", jobs: int | None) -> "tuple[list[Found], Trials]":
    """All answers; what is finished stays, however this ends."""
    from forebay import _compile
    from forebay.cli import _trials
    from forebay.cli._progress import progress
    from forebay.experiments import executor, sweep
    from forebay.experiments.common import uses_of_runs
    from forebay.policies import load

    policies = [load(spec) for spec in question.policies]
    _compile.prepare(policies, is_quiet(), uses_of_runs(policies, question.replicas))
    sweep.warm_up(question.policies)
    with (
        progress(_trials.expected(question), "runs") as watch,
        _trials.crew(question, jobs or executor.cores()) as crew,
    ):
        trials = _trials.Trials(question, store, crew, watch)
        try:
            return trials.answers(), trials
        except (KeyboardInterrupt, SystemExit):
            kept = counted(trials.made + trials.found, "run")
            message(f"{kept} kept in {store.folder}: the same command goes on from there")
            raise


def _tell(
    question: "Question", found: "list[Found]", trials: "Trials", folder: Path, form: Format, files: list[Path]
) -> None:
    from forebay.cli import _sizes

    counts = {"total": trials.made + trials.found, "found": trials.found, "made": trials.made}
    if form is Format.json:
        answer({**_sizes.document(question, found), "runs": counts, "files": [str(file) for file in files]})
        return
    first = "\n".join(_sizes.first_lines(question, found))
    about = [
        ("workload", question.workload),
        ("platform", str(question.machine)),
        ("replicas", question.about),
    ]
    there = f", {trials.found:,} of them found there" if trials.found else ""
    written = [
        ("written", f"{folder}: {', '.join(file.name for file in files)}"),
        ("", f"{folder / 'runs'}: {counted(counts['total'], 'run')}{there}"),
    ]
    tables = _sizes.tables(question, found)
    show(first, pairs(about), *tables, *notes_block(_sizes.notes(question, found)), pairs(written))
