"""`forebay sweep`: every combination of workloads, platforms, policies and seeds, each run once."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay._text import counted
from forebay.cli import _options as options
from forebay.cli._carry_out import DaskOption, SlurmOption, carry_out
from forebay.cli._options import Format
from forebay.cli._print import Seconds, answer, fitting, notes_block, pairs, show, table
from forebay.cli.report import add as add_report
from forebay.cli.report import report_line

if TYPE_CHECKING:
    from rich.table import Table

    from forebay.experiments.executor import Failure
    from forebay.experiments.runs import Run

Rows = list[dict[str, Any]]

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
    jobs: options.CountOption = None,
    dask: DaskOption = None,
    slurm: SlurmOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget the runs that the folder holds.")] = False,
    page: options.PageOption = True,
    form: options.FormatOption = Format.text,
    quiet: options.QuietOption = False,
) -> None:
    """Run every combination of a grid of settings.

    The folder gets sweep.csv and sweep.parquet, with a row a run, and report.html. Finished runs are kept in it: stop
    at any time with Ctrl-C, and the same command goes on from there. Several may work on one folder at once.
    """
    from forebay.cli._outputs import output_folder
    from forebay.experiments import grid, tidy
    from forebay.experiments.store import Store
    from forebay.experiments.sweep import RunsFailedError, records

    runs = grid.read(spec)
    folder = output or Path(f"forebay-sweep-{spec.stem}")
    failed: RunsFailedError | None = None
    with output_folder(folder):
        store = Store(folder, fresh)
        before = sum(run in store for run in runs)
        try:
            carry_out(runs, store, jobs, dask, slurm)
        except RunsFailedError as error:
            failed = error
        finished = records([run for run in runs if run in store], store)
        files = tidy.write(tidy.frame(finished), folder) if finished else []
        rows = tidy.combinations(finished)
        notes = _notes(tidy.same_under_each_seed(finished), rows)
        lost = [] if failed is None else failed.failed
        files += _page(context, spec, folder, _document({}, rows, lost, notes, []), page) if finished else []
    counts = {"total": len(runs), "found": before, "made": len(finished) - before}
    if form is Format.json:
        answer(_document(counts, rows, lost, notes, files))
    elif finished:
        _tell(runs, counts, rows, notes, folder)
    if failed is not None:
        raise failed


def _page(context: typer.Context, spec: Path, folder: Path, found: dict[str, Any], wanted: bool) -> list[Path]:
    """What a page is made of, and the page where it is wanted."""
    from forebay.cli import _given
    from forebay.experiments.tidy import METRICS

    told = {key: found[key] for key in ("combinations", "failed", "notes")} | {"metrics": METRICS}
    told |= {"name": spec.stem, "spec": spec.read_text(encoding="utf-8")}
    return [_given.keep(folder / "sweep.json", told, context), *add_report(folder, wanted)]


def _notes(same: bool, rows: Rows) -> list[str]:
    notes = []
    if same:
        notes.append("every seed gave the same schedules: nothing in these runs is drawn at random")
    if any(row["verdict"] for row in rows):
        notes.append("± is half of the 95 % interval of the paired differences over seeds")
    return notes


def _document(
    counts: dict[str, int], rows: Rows, failed: "list[tuple[Run, Failure]]", notes: list[str], files: list[Path]
) -> dict[str, Any]:
    return {
        "runs": counts,
        "combinations": rows,
        "failed": [{"run": run.name, "message": failure.text} for run, failure in failed],
        "notes": notes,
        "files": [str(file) for file in files],
    }


def _tell(runs: "list[Run]", counts: dict[str, int], rows: Rows, notes: list[str], folder: Path) -> None:
    from forebay.experiments.grid import COLUMNS

    places = [name for name in COLUMNS if name != "seed"]
    varying = [name for name in places if len({row[name] for row in rows}) > 1 or name == "policy"]
    about = [(name.replace("_", " "), rows[0][name]) for name in places if name not in varying and rows[0][name]]
    found = f", {counts['found']:,} of them found there" if counts["found"] else ""
    written = [
        ("written", f"{folder / 'sweep.csv'}: every number of every run, also as sweep.parquet"),
        ("", f"{folder / 'runs'}: {counted(counts['found'] + counts['made'], 'run')}{found}"),
        *report_line(folder),
    ]
    blocks: list[Any] = [pairs(about)] if about else []
    show(*blocks, fitting(partial(_table, rows, varying)), *notes_block(notes), pairs(written))


def _table(rows: Rows, varying: list[str], seconds: Seconds, gap: int) -> "Table":
    from forebay.cli._numbers import shown
    from forebay.experiments.tidy import METRICS

    titles = [*(name.replace("_", " ") for name in varying), "seeds", "mean\nwait", "p95\nwait"]
    titles += ["bounded\nslowdown\n(10 min)", "mean wait against\nthe reference"]
    cells = [
        [
            *(row[name] or "" for name in varying),
            str(row["seeds"]),
            *(shown(name, row[name], seconds) for name in METRICS),
            _against(row),
        ]
        for row in rows
    ]
    return table(titles, cells, numbers=range(len(varying), len(titles) - 1), gap=gap)


def _against(row: dict[str, Any]) -> str:
    """A verdict in words: "-12.3 ± 4.5 %, shorter"."""
    if row["reference"] == row["policy"]:
        return "the reference"
    if row["rise"] is None:
        return "-"
    half = "" if row["half_95"] is None else f" ± {100 * row['half_95']:.1f}"
    word = f", {row['verdict']}" if row["verdict"] else ""
    return f"{100 * row['rise']:+.1f}{half} %{word}"
