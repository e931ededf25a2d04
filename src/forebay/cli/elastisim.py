"""`forebay elastisim`: a whole ElastiSim project, with its own algorithm or a policy of ours."""

import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli._input import completion, options
from forebay.cli._input.options import Format
from forebay.cli._render.printing import answer, is_quiet
from forebay.cli.run import report
from forebay.errors import InputError
from forebay.experiments.outputs import forget_figures, output_folder, refuse_other

if TYPE_CHECKING:
    from forebay.elastisim.outputs import Run
    from forebay.elastisim.project import Project

EXAMPLES = options.examples(
    "forebay elastisim configuration.json -o out",
    "forebay elastisim configuration.json --algorithm algorithm.py",
    "forebay elastisim configuration.json --policy fcfs-malleable:when=idle -o out",
)

SENSED = "pfs_utilization"
"""The table for which the file system must be looked at while the run goes on."""


def command(
    configuration: Annotated[Path, typer.Argument(metavar="FILE", help="ElastiSim's configuration.json.")],
    algorithm: Annotated[
        Path | None,
        typer.Option(
            "--algorithm",
            metavar="FILE",
            help="The scheduling algorithm. Default: algorithm.py beside the configuration.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        str | None,
        options.policy("A policy of forebay's in place of the algorithm, such as fcfs-malleable:when=idle."),
    ] = None,
    tables: Annotated[
        str | None,
        typer.Option(
            "--elastisim-output",
            metavar="NAMES",
            help="ElastiSim's tables to write, with commas: job_statistics, node_utilization, pfs_utilization. "
            "Default: those that the configuration asks for.",
            show_default=False,
            autocompletion=completion.elastisim_outputs,
        ),
    ] = None,
    output: options.FolderOption = None,
    form: options.FormatOption = Format.text,
    quiet: options.QuietOption = False,
) -> None:
    """Run an ElastiSim project as it is, or under a policy.

    Its jobs, application models, platform and algorithm are taken unchanged. With -o the folder gets what `forebay run`
    writes, and ElastiSim's own tables, such as job_statistics.csv.
    """
    from forebay.elastisim import outputs, project

    if algorithm is not None and policy is not None:
        raise InputError("--algorithm and --policy were both given; the one takes the place of the other: name one")
    if tables is not None and output is None:
        raise InputError("--elastisim-output names tables, and there is no folder for them; add -o DIR")
    inputs = project.read(configuration)
    chosen, notes = outputs.choose(tables, inputs, senses=policy is None)
    if output:
        refuse_other(output, "a run")
    script, senses = algorithm or configuration.parent / "algorithm.py", output is not None and SENSED in chosen
    with output_folder(output) if output else nullcontext():
        # An algorithm that prints must not spoil JSON on stdout: its lines go to stderr then.
        with redirect_stdout(sys.stderr) if form is Format.json else nullcontext():
            done, document = _run(inputs, policy, script, senses)
        files = []
        if output:
            document["notes"] += notes
            files = _save(output, done, document, chosen)
    if form is Format.json:
        answer(document | {"files": [str(output / name) for name in files] if output else []})
    else:
        report(document, output, files)


def _run(inputs: "Project", policy: str | None, script: Path, senses: bool) -> tuple["Run", dict[str, Any]]:
    """The run, and all there is to say of it."""
    from forebay import _plugins
    from forebay.cli._render.progress import progress
    from forebay.elastisim.algorithm import Algorithm, Schedule
    from forebay.elastisim.outputs import Run
    from forebay.elastisim.script import run_script
    from forebay.experiments.setting import Setting
    from forebay.policies import load as load_policy

    grace = inputs.configuration.grace
    model = f"application:grace={grace}" if grace else "application"
    setting = Setting(inputs.workload, inputs.machine.platform, model, seed=0, window=None)
    found: list[tuple[Run, dict[str, Any]]] = []

    def simulate(scheduler: Any, name: str) -> None:
        setting.prepare([scheduler], is_quiet())
        with progress(len(inputs.workload)) as watch:
            result, document = setting.simulate(scheduler, name, lambda ended, _: watch.at(name, ended))
        found.append((Run(inputs, result, getattr(scheduler, "samples", ())), document))

    def ask(schedule: Schedule) -> None:
        simulate(Algorithm(schedule, inputs, senses), str(script))

    if policy is None:
        run_script(script, ask, inputs.configuration.url)
    else:
        simulate(load_policy(policy), _plugins.spelled("policies", policy))
    return found[0]


def _save(folder: Path, done: "Run", document: dict[str, Any], tables: list[str]) -> list[str]:
    """Write the run and ElastiSim's tables of it; returns the names of all files."""
    from forebay._support.files import replacing
    from forebay.elastisim import outputs
    from forebay.results import saving

    names = [f"{table}.csv" for table in tables]
    with replacing(*(folder / name for name in names)) as temporary, saving(folder, done.result, document) as files:
        for table, path in zip(tables, temporary, strict=True):
            path.write_text(outputs.table(table, done), encoding="utf-8")
        forget_figures(folder)
    return [*files, *names]
