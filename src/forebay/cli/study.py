"""`forebay study`: repeat the experiments of a paper, and put our numbers beside the published ones."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay._support.text import counted
from forebay.cli._input import completion, options
from forebay.cli._input.options import Format
from forebay.cli._input.runs import DaskOption, SlurmOption, carry_out
from forebay.cli._render.printing import Seconds, answer, fitting, message, notes_block, pairs, show, table
from forebay.cli.report import report_line
from forebay.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from forebay.studies import Options, Plan, Report
    from forebay.studies._frame import Finished, Table

EXAMPLES = options.examples(
    "forebay study",
    "forebay study kopanski2021 --quick",
    "forebay study kopanski2021 --data kopanski --section parts --policies fcfs-bb,sjf-bb --parts 3,13",
)


def command(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Which study; without it, all are listed.", autocompletion=completion.study
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="DIR", help="The authors' files. Default: those in FOREBAY_DATA.", show_default=False
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A reduced version, in about a minute.")] = False,
    sections: Annotated[
        list[str] | None,
        typer.Option("--section", metavar="NAME", help="Only this part of the study; may be given several times."),
    ] = None,
    policies: Annotated[
        str | None,
        options.policies("Only these policies, or others."),
    ] = None,
    parts: Annotated[
        str | None, typer.Option("--parts", metavar="N,N,...", help="Only these parts of the workload.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", metavar="N", min=1, help="How many seeds for policies that draw at random.")
    ] = None,
    jobs: options.CountOption = None,
    dask: DaskOption = None,
    slurm: SlurmOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="The folder. Default: forebay-study-NAME."),
    ] = None,
    fresh: options.FreshOption = False,
    page: options.PageOption = True,
    fail_if: options.FailIfOption = None,
    form: options.FormatOption = Format.text,
    quiet: options.QuietOption = False,
) -> None:
    """Repeat a paper's experiments, and compare with its numbers.

    Finished runs are kept in the folder: stop at any time with Ctrl-C, and the same command goes on from there. It also
    gets report.html and report.md, tables/ with every number as CSV, and figures/.
    """
    if name is None:
        _list(form)
        return
    from forebay import _plugins, studies
    from forebay.experiments.comparison.selection import split_specs
    from forebay.experiments.conditions import parse_condition, refuse
    from forebay.studies._verdicts import holding

    conditions = [parse_condition(text) for text in fail_if or ()]
    wanted = studies.Options(
        data=data,
        quick=quick,
        policies=None if policies is None else tuple(split_specs(policies)),
        parts=None if parts is None else _numbers(parts),
        seeds=seeds,
        sections=None if sections is None else tuple(sections),
    )
    proper = _plugins.find("studies", name) or name
    folder = output or Path(f"forebay-study-{proper}")

    def finish(plan: "Plan", report: "Report", files: list[Path]) -> list[Path]:
        return _page(context, proper, folder, plan, report, files, page)

    finished = _carry_out(proper, wanted, folder, (jobs, dask, slurm), fresh, form, finish)
    refuse(holding(conditions, finished))


def _page(
    context: typer.Context, name: str, folder: Path, plan: "Plan", report: "Report", files: list[Path], wanted: bool
) -> list[Path]:
    """What a page is made of, and the page where it is wanted."""
    from dataclasses import asdict

    from forebay.cli._input import given_command
    from forebay.report import renew

    document = {
        "study": name,
        "title": plan.title,
        "sections": list(plan.sections),
        "notes": report.notes,
        "shown": [asdict(one) for one in report.shown],
        "detailed": [asdict(one) for one in report.detailed],
        "figures": [file.name for file in files if file.suffix == ".svg"],
    }
    return [given_command.keep(folder / "study.json", document, context), *renew(folder, wanted)]


def _list(form: Format) -> None:
    from forebay.cli._render.lists import describe, listing

    found = describe("studies", "study")
    listing(found, {"name": "study", "description": "what it repeats"}, "repeat one: forebay study NAME", form)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise InputError(f"--parts {text!r} is not a list of whole numbers; write them as 3,13") from None


Finish = Callable[["Plan", "Report", list[Path]], list[Path]]
"""Writes what more there is to write of a study, and gives the files."""
Where = tuple[int | None, str | None, str | None]
"""How many runs at a time, the address of a Dask scheduler, and what to ask Slurm for."""


def _carry_out(
    name: str, wanted: "Options", folder: Path, where: Where, fresh: bool, form: Format, finish: "Finish"
) -> "Finished":
    from forebay import studies
    from forebay.experiments import sweep
    from forebay.experiments.outputs import output_folder
    from forebay.experiments.store import Store
    from forebay.studies._verdicts import add as add_verdicts
    from forebay.studies._write import write_report

    plan = studies.load(name).plan(wanted)
    with output_folder(folder):
        store = Store(folder, fresh)
        for note in plan.notes:
            message(f"note: {note}")
        before = sum(run in store for run in plan.runs)
        carry_out(plan.runs, store, *where)
        finished = sweep.records(plan.runs, store)
        report = plan.report(finished)
        add_verdicts(report, finished)
        files = write_report(plan, report, folder)
        files += finish(plan, report, files)
    counts = {"total": len(plan.runs), "found": before, "made": len(plan.runs) - before}
    if form is Format.json:
        answer(_document(name, plan, report, counts, files))
    else:
        _tell(plan, report, counts, folder, files)
    return finished


def _document(name: str, plan: "Plan", report: "Report", counts: dict[str, int], files: list[Path]) -> dict[str, Any]:
    return {
        "study": name,
        "title": plan.title,
        "sections": list(plan.sections),
        "runs": counts,
        "notes": report.notes,
        "tables": {key: frame.to_dicts() for key, frame in report.frames.items() if key != "runs"},
        "files": [str(file) for file in files],
    }


def _as_wide_as(one: "Table", seconds: Seconds, gap: int) -> "RichTable":
    titles = [title.replace(" ", "\n") for title in one.columns]
    return table(titles, one.rows, numbers=range(one.words, len(titles)), gap=gap)


def _tell(plan: "Plan", report: "Report", counts: dict[str, int], folder: Path, files: list[Path]) -> None:
    from rich.console import Group
    from rich.text import Text

    blocks: list[Any] = [plan.title]
    for one in report.shown:
        blocks.append(Group(Text(one.title, style="bold"), Text(), fitting(partial(_as_wide_as, one))))
    pictures = [file for file in files if file.suffix == ".svg"]
    found = f", {counts['found']:,} of them found there" if counts["found"] else ""
    written = [
        ("written", f"{folder / 'report.md'}: these tables, and those of every part"),
        ("", f"{folder / 'tables'}: {', '.join(f'{key}.csv' for key in report.frames)}"),
        ("", f"{folder / 'runs'}: {counted(counts['total'], 'run')}{found}"),
        *report_line(folder),
    ]
    if pictures:
        written.insert(2, ("", f"{folder / 'figures'}: {len(pictures)} pictures, and the data of each as CSV"))
    show(*blocks, *notes_block(report.notes), pairs(written))
