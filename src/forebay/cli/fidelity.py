"""`forebay fidelity`: how close a simulation comes to what a trace recorded."""

import sys
from contextlib import nullcontext, redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay._support.text import counted
from forebay.cli._input import completion, options
from forebay.cli._input.options import Format
from forebay.cli._render.printing import Seconds, answer, fitting, is_quiet, notes_block, pairs, show, table
from forebay.experiments.outputs import output_folder, refuse_other

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from rich.table import Table

    from forebay._fidelity import Fidelity

KIND = "a fidelity"
EXAMPLES = options.examples(
    "forebay fidelity jobs.sacct --platform flat:nodes=280 --policy fcfs-easy",
    "forebay fidelity trace.swf.gz --slice 2025-03-01:2025-04-01 -o march",
)


def command(
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
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="Rows of each table of users and the like.")
    ] = 5,
    output: options.FolderOption = None,
    plots: Annotated[
        bool | None,
        typer.Option("--plots/--no-plots", help="Draw a figure too, with -o. Default: yes.", show_default=False),
    ] = None,
    form: options.FormatOption = Format.text,
    quiet: options.QuietOption = False,
) -> None:
    """Tell how close a simulation comes to what was recorded.

    A recorded period is replayed. Waits are compared job by job and as distributions, in all and by size, queue, user
    and account; so is the use of the machine. What cannot match is said in words. With --slice the period begins with
    the jobs that ran and waited then, as the trace has it.

    With -o the folder gets fidelity.json (every number), groups.csv, waits.csv (a row a job), and a figure.
    """
    from forebay import _plugins
    from forebay._fidelity._replay import USUAL, refuse_unrecorded
    from forebay.cli._input.setting import read_setting
    from forebay.figures import _folder
    from forebay.policies import load as load_policy

    scheduler = None if policy is None else load_policy(policy)
    if plots:
        _folder.check([])
    setting = read_setting(workload, platform, job_model, seed, None, failures, part, warm and part is not None)
    policy = _plugins.spelled("policies", policy or setting.own or USUAL)
    scheduler = scheduler or load_policy(policy)
    refuse_unrecorded(setting.workload)
    if output:
        refuse_other(output, KIND)
    with output_folder(output) if output else nullcontext():
        setting.prepare([scheduler], is_quiet())
        found = _scored(setting, scheduler, policy, form, part is not None)
        drawing = plots or (plots is None and _folder.available())
        files = _write(found, output, drawing) if output else []
    if form is Format.json:
        from forebay._fidelity._found import document

        answer(document(found) | {"files": [str(file) for file in files]})
    else:
        report(found, top, files)


def _scored(setting: Any, scheduler: Any, policy: str, form: Format, part: bool) -> "Fidelity":
    from forebay._fidelity._replay import scored
    from forebay.cli._render.progress import progress

    # A policy that prints must not spoil JSON on stdout.
    quiet = redirect_stdout(sys.stderr) if form is Format.json else nullcontext()
    with quiet, progress(len(setting.workload)) as watch:
        result, _ = setting.simulate(scheduler, policy, lambda ended, _: watch.at(policy, ended))
    return scored(setting.workload, result, part)


def _write(found: "Fidelity", folder: "Path", drawing: bool) -> "list[Path]":
    from forebay._fidelity._found import save

    return save(found, folder, drawing)


def report(found: "Fidelity", top: int, files: "list[Path]") -> None:
    """The scores, by whom they are, and what to think of them."""
    from forebay.cli._render.number_text import seconds
    from forebay.workload.dates import date_text

    facts, numbers = found.result.facts, found.numbers
    start, end = found.use.period
    dates = [date_text(facts["epoch"] + moment) for moment in found.use.period] if "epoch" in facts else [None]
    about = [
        ("workload", f"{facts['workload']}, {counted(numbers['n_jobs'], 'job')} scored"),
        ("platform", facts["platform"]["text"]),
        ("policy", f"{facts['policy']} (job model {facts['job_model']}, seed {facts['seed']})"),
        ("period", f"{' to '.join(filter(None, dates))} UTC" if all(dates) else f"{seconds(start)} to {seconds(end)}"),
    ]
    blocks = [fitting(partial(_waits, numbers)), pairs(_scores(numbers, found.use.unit))]
    blocks += [
        fitting(partial(_groups, name, rows, top, found.use.unit)) for name, rows in found.by.items() if len(rows) > 1
    ]
    doubts = pairs([("" if place else "cannot match", text) for place, text in enumerate(found.doubts.values())])
    written = [pairs([("" if place else "written", str(file)) for place, file in enumerate(files)])] if files else []
    show(pairs(about), *blocks, doubts, *notes_block(facts["notes"]), *written)


def _waits(numbers: Any, seconds: Seconds, gap: int) -> "Table":
    columns = {"mean": "mean_wait", "median": "median_wait", "p95": "p95_wait", "max": "max_wait"}
    rows = [[kind, *(seconds(numbers[f"{kind}_{name}"]) for name in columns.values())] for kind in _KINDS]
    return table(["wait", *columns], rows, numbers=range(1, len(columns) + 1), gap=gap)


_KINDS = ("recorded", "simulated")


def _scores(numbers: Any, unit: str) -> list[tuple[str, str]]:
    from forebay.cli._render.number_text import percent, seconds

    def signed(name: str) -> str:
        value = numbers[name]
        return f"{'-' if value < 0 else '+'}{seconds(abs(value))}"

    def plain(name: str) -> str:
        return "-" if numbers[name] is None else f"{numbers[name]:.3f}"

    quantiles = ", ".join(signed(f"{name}_error") for name in ("p05", "p25", "median", "p75", "p95"))
    return [
        (
            "mean error",
            f"{signed('mean_error')} (simulated minus recorded); {seconds(numbers['mean_absolute_error'])} off",
        ),
        ("5, 25, 50, 75, 95 %", quantiles),
        ("within 10 min", percent(numbers["share_within_10min"])),
        ("ratio of mean waits", plain("ratio_of_means")),
        ("Wasserstein distance", seconds(numbers["wasserstein"])),
        ("Kolmogorov-Smirnov", plain("kolmogorov_smirnov")),
        ("rank correlation", plain("rank_correlation")),
        ("same order of starts", "-" if (kept := numbers["start_order_agreement"]) is None else percent(kept)),
        (f"{unit} in use", " recorded, ".join(percent(numbers[f"{kind}_use"]) for kind in _KINDS) + " simulated"),
    ]


def _groups(name: str, rows: "pl.DataFrame", top: int, unit: str, seconds: Seconds, gap: int) -> "Table":
    """A class of sizes a row, or those with most hours of nodes, or cores."""
    from forebay.cli._render.number_text import count

    columns = {"mean\nrecorded": "recorded_mean_wait", "mean\nsimulated": "simulated_mean_wait"}
    columns |= {"mean\nerror": "mean_error", "median\nerror": "median_error"}

    def cell(value: float) -> str:
        return f"-{seconds(-value)}" if value < 0 else seconds(value)

    shown = rows if name == "size" else rows.head(top)
    lines = [
        [row["name"], count(row["jobs"]), f"{row['node_hours']:,.0f}", *(cell(row[key]) for key in columns.values())]
        for row in shown.iter_rows(named=True)
    ]
    titles = [unit if name == "size" else name, "jobs", f"{unit.removesuffix('s')}-\nhours", *columns]
    return table(titles, lines, numbers=range(1, len(titles)), gap=gap)
