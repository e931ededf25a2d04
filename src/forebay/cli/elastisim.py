"""`forebay elastisim`: a whole ElastiSim project, with its own algorithm or a policy of ours."""

from pathlib import Path
from typing import Annotated, Any

import typer

from forebay._text import counted
from forebay.cli import _complete
from forebay.cli import _options as options
from forebay.cli._outputs import output_folder, refuse_other
from forebay.cli._print import is_quiet, notes_block, pairs, show

EXAMPLES = options.examples(
    "forebay elastisim configuration.json -o out",
    "forebay elastisim configuration.json --algorithm algorithm.py -o out",
    "forebay elastisim configuration.json --policy fcfs-malleable:when=idle -o out",
)


def command(
    configuration: Annotated[Path, typer.Argument(metavar="FILE", help="ElastiSim's configuration.json.")],
    algorithm: Annotated[
        Path | None,
        typer.Option(
            "--algorithm", metavar="FILE", help="The project's scheduling algorithm, algorithm.py beside it by default."
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy", metavar="SPEC", help="A policy instead of an algorithm.", autocompletion=_complete.policy
        ),
    ] = None,
    output: options.FolderOption = None,
    quiet: options.QuietOption = False,
) -> None:
    """Run an ElastiSim project: its jobs, application models, platform and algorithm, unchanged.

    With -o the folder gets what `forebay run` writes, and the tables that the configuration asks for, in ElastiSim's
    form.
    """
    from forebay.elastisim import project
    from forebay.errors import InputError

    if algorithm is not None and policy is not None:
        raise InputError("--algorithm and --policy were both given; an algorithm takes the place of a policy: name one")
    told = project.read(configuration)
    beside = configuration.parent / "algorithm.py"
    if policy is None and algorithm is None and not beside.is_file():
        raise InputError(f"{beside}: no such file; name the algorithm with --algorithm FILE, or a policy with --policy")
    if output:
        refuse_other(output, "a run")
        with output_folder(output):
            _run(told, policy, algorithm or beside, output)
    else:
        _run(told, policy, algorithm or beside, None)


def _run(told: Any, policy: str | None, algorithm: Path, folder: Path | None) -> None:
    from forebay import _compile, simulate
    from forebay.cli import _runs
    from forebay.cli._numbers import seconds
    from forebay.elastisim import outputs
    from forebay.elastisim.algorithm import Algorithm
    from forebay.elastisim.script import run_script
    from forebay.metrics import summary
    from forebay.results import saving

    workload, platform, found = told.workload, told.machine.platform, []
    model = f"application:grace={told.configuration.grace}" if told.configuration.grace else "application"
    if policy is not None:
        scheduler = _runs.load_policy(policy)
        _compile.prepare([scheduler], is_quiet())
        found.append(simulate(workload, platform, scheduler, job_model=model))
    else:

        def ask(schedule: Any) -> None:
            asked = Algorithm(schedule, told.told, told.configuration.interval, told.configuration.calls)
            found.append(simulate(workload, platform, asked, job_model=model))

        run_script(algorithm, ask)
    result = found[0]
    numbers = summary(result)
    written: list[str] = []
    if folder is not None:
        with saving(folder, result, {"summary": numbers, **result.facts}) as files:
            for name in told.configuration.outputs:
                if name in outputs.WRITERS:
                    path = folder / f"{name}.csv"
                    path.write_text(outputs.WRITERS[name](result, workload, told.machine), encoding="utf-8")
                    files.append(path.name)
            written = files
    rows = [
        ("jobs", counted(len(workload), "job")),
        ("platform", str(platform)),
        ("scheduled by", policy or str(algorithm)),
        ("mean wait", seconds(numbers["mean_waiting_time"])),
        ("makespan", seconds(numbers["makespan"])),
    ]
    files_line = [pairs([("written", f"{folder}: {', '.join(written)}")])] if folder else []
    show(pairs(rows), *notes_block(result.facts["notes"]), *files_line)
