"""`forebay sweep`: every combination of workloads, platforms, policies and seeds, each run once."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay._support.reading import read_text
from forebay._support.text import counted
from forebay.cli._input import options
from forebay.cli._input.options import TableFormat
from forebay.cli._input.runs import DaskOption, SlurmOption, carry_out
from forebay.cli._render.printing import Seconds, answer, fitting, notes_block, pairs, papers, show, table
from forebay.cli.report import report_line

if TYPE_CHECKING:
    from rich.table import Table

    from forebay.experiments.conditions import Condition
    from forebay.experiments.tidy import Combination

EXAMPLES = options.examples(
    "forebay sweep sweep.toml",
    "forebay sweep sweep.toml -o out --jobs 4",
    "forebay sweep sweep.toml --dask tcp://head:8786",
    "forebay sweep sweep.toml --slurm queue=normal,cores=4,memory=8GB,walltime=1h,jobs=10",
)


def command(
    context: typer.Context,
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The TOML file that says what to run.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="The folder. Default: forebay-sweep-NAME, by the file."),
    ] = None,
    reference: Annotated[
        str | None,
        options.policy(
            "Compare with this one of the policies. Default: what the file says, else the site's own where the "
            "platform has one, which is run too; else, of the policies, fcfs-bb where jobs ask for more than nodes, "
            "else fcfs-easy, else the first.",
            "--reference",
        ),
    ] = None,
    metrics: options.MetricsOption = None,
    fail_if: options.FailIfOption = None,
    jobs: options.CountOption = None,
    dask: DaskOption = None,
    slurm: SlurmOption = None,
    fresh: options.FreshOption = False,
    page: options.PageOption = True,
    form: options.TableFormatOption = TableFormat.text,
    quiet: options.QuietOption = False,
) -> None:
    """Run every combination of a grid of settings.

    The folder gets sweep.csv and sweep.parquet, with a row a run, verdicts.csv, with every policy against the
    reference, and report.html. Finished runs are kept in it: stop at any time with Ctrl-C, and the same command goes on
    from there. Several may work on one folder at once.
    """
    from forebay.experiments import grid, tidy
    from forebay.experiments.conditions import parse_condition, refuse
    from forebay.experiments.outputs import output_folder
    from forebay.experiments.store import Store
    from forebay.experiments.sweep import RunsFailedError, records
    from forebay.experiments.swept import paper
    from forebay.experiments.swept import runs as swept

    options.know(metrics)
    runs = grid.read(spec, reference)  # it may bring metrics that conditions name
    conditions = [parse_condition(text) for text in fail_if or ()]
    folder = output or Path(f"forebay-sweep-{spec.stem}")
    failed: RunsFailedError | None = None
    with output_folder(folder):
        store = Store(folder, fresh)
        swept.keep(runs, folder)
        before = sum(run in store for run in runs)
        try:
            carry_out(runs, store, jobs, dask, slurm)
        except RunsFailedError as error:
            failed = error
        finished = records([run for run in runs if run in store], store)
        found = tidy.combinations(finished)
        notes = tidy.notes(finished)
        lost = {} if failed is None else {run.name: failure.text for run, failure in failed.failed}
        files = tidy.write(finished, folder) if finished else []
        document = tidy.document(found, notes, lost) | tidy.about_metrics(finished)
        files += _page(context, spec, folder, document, page) if finished else []
    counts = {"total": len(runs), "found": before, "made": len(finished) - before}
    if form is TableFormat.json:
        answer({"runs": counts, **tidy.document(found, notes, lost), "files": [str(file) for file in files]})
    elif finished and form is TableFormat.text:
        _tell(counts, found, notes, files, folder)
    elif finished:
        papers(form, [paper.table(found)])
    if failed is not None:
        raise failed
    refuse(_holding(conditions, found))


def _page(context: typer.Context, spec: Path, folder: Path, found: dict[str, Any], wanted: bool) -> list[Path]:
    """What a page is made of, and the page where it is wanted."""
    from forebay.cli._input import given_command
    from forebay.report import renew

    document = {**found, "name": spec.stem, "spec": read_text(spec)}
    return [given_command.keep(folder / "sweep.json", document, context), *renew(folder, wanted)]


def _holding(conditions: "Sequence[Condition]", found: "Sequence[Combination]") -> list[str]:
    """Why conditions hold, a line each; one on a number itself is about its mean over seeds."""
    from dataclasses import replace

    from forebay.experiments.conditions import failing, failing_alone

    lines = []
    for condition in conditions:
        for one in found:
            if not condition.relative:
                lines.append(failing_alone(condition, one.name, {condition.metric: one.mean(condition.metric)}))
            elif one.reference and not one.is_reference:
                lines.append(failing(condition, replace(one.verdict(condition.metric), policy=one.name)))
    return [line for line in lines if line]


def _tell(
    counts: dict[str, int], found: "list[Combination]", notes: list[str], files: list[Path], folder: Path
) -> None:
    from forebay.cli._render.comparison import REFERENCE
    from forebay.experiments.grid import COLUMNS
    from forebay.experiments.tidy import TABLE

    rows = [one.row() for one in found]
    places = [name for name in COLUMNS if name != "seed"]
    varying = [name for name in places if len({row[name] for row in rows}) > 1 or name == "policy"]
    about = [(name.replace("_", " "), rows[0][name]) for name in places if name not in varying and rows[0][name]]
    judged = any(row["verdict"] for row in rows)
    if judged:
        names = " or ".join(dict.fromkeys(row["reference"] for row in rows if row["reference"]))
        most = max(row["seeds"] for row in rows)
        over = f"95 % interval over {counted(most, 'seed')}" if most > 1 else "no interval over a single seed"
        about.append((REFERENCE, f"{names}; change of the mean wait against it, {over}"))
    there = f", {counts['found']:,} of them found there" if counts["found"] else ""
    written = [("written", f"{folder / 'sweep.csv'}: every number of every run, also as sweep.parquet")]
    if folder / TABLE in files:
        written.append(("", f"{folder / TABLE}: every policy against the reference"))
    written.append(("", f"{folder / 'runs'}: {counted(counts['found'] + counts['made'], 'run')}{there}"))
    written += report_line(folder)
    blocks: list[Any] = [pairs(about)] if about else []
    show(*blocks, fitting(partial(_table, found, varying, judged)), *notes_block(notes), pairs(written))


def _table(found: "list[Combination]", varying: list[str], judged: bool, seconds: Seconds, gap: int) -> "Table":
    from forebay.cli._render import number_text
    from forebay.cli._render.comparison import REFERENCE
    from forebay.experiments import tidy

    narrow = seconds is number_text.shortest_seconds

    def cells_of(one: "Combination") -> list[str]:
        if not judged:
            return []
        if one.is_reference or not one.reference:
            return [REFERENCE if one.is_reference else number_text.NONE, ""]
        verdict = one.verdict(tidy.METRICS[0])
        return [verdict.word, number_text.change(verdict, narrow)]

    titles = [*(name.replace("_", " ") for name in varying), *(["verdict", "change"] if judged else [])]
    words = len(titles) - judged
    metrics = tidy.shown([run for one in found for run in one.runs])
    own = ["\n".join(name.split("_")) for name in metrics[len(tidy.METRICS) :]]
    titles += ["seeds", "mean\nwait", "p95\nwait", "bounded\nslowdown\n(10 min)", *own]
    cells = [
        [
            *(one.place[name] or "" for name in varying),
            *cells_of(one),
            str(len(one.runs)),
            *(number_text.shown(name, one.mean(name), seconds) for name in metrics),
        ]
        for one in found
    ]
    return table(titles, cells, numbers=range(words, len(titles)), gap=gap)
