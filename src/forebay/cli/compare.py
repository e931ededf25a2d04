"""`forebay compare`: the same workload and machine under several policies, best first."""

import hashlib
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay._files import file_names, replacing
from forebay.cli import _complete
from forebay.cli import _options as options
from forebay.cli._options import Format
from forebay.cli._outputs import output_folder
from forebay.cli._print import Seconds, answer, fitting, notes_block, pairs, show, table
from forebay.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from forebay.cli._runs import Setting
    from forebay.results import Result

Columns = list[tuple[str, str]]
"""Name in the summary, and title."""

FIGURES = ("letter-values", "usage", "wait-by-size", "waits")
SCHEDULE = "gantt"  # a picture a policy: drawn of the best
"""Those that show policies side by side."""

EXAMPLES = options.examples(
    "forebay compare",
    "forebay compare trace.swf.gz --platform flat:nodes=512 --policies fcfs,fcfs-easy",
    "forebay compare --policies fcfs-bb,fcfs-bb:depth=3,max_backfill=10,filler -o out",
)


def command(
    workload: options.WorkloadArgument = "default",
    policies: Annotated[
        str | None,
        typer.Option(
            "--policies",
            metavar="SPEC,SPEC,...",
            help="Which policies. Default: all that `forebay policies` lists, and that the machine can make use of.",
            show_default=False,
            autocompletion=_complete.policies,
        ),
    ] = None,
    platform: options.PlatformOption = None,
    job_model: options.JobModelOption = None,
    seed: options.SeedOption = 0,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Write the results to this folder.")
    ] = Path("forebay-results"),
    window: options.WindowOption = None,
    plots: Annotated[
        bool | None,
        typer.Option("--plots/--no-plots", help="Draw figures too, with their data. Default: yes.", show_default=False),
    ] = None,
    form: options.FormatOption = Format.text,
) -> None:
    """Rank policies on one workload, shortest mean wait first.

    The output folder gets compare.csv, with every number of every policy, and a folder for each policy with the files
    that `forebay run` writes. Figures of all policies together stand beside it, and the schedule of the best;
    `forebay plot` draws those of others.
    """
    from forebay.cli import _compile, _pictures, _runs
    from forebay.policies import names

    specs = names() if policies is None else split_specs(policies)
    schedulers = {spec: _runs.load_policy(spec) for spec in specs}
    if plots:
        _pictures.check([*FIGURES, SCHEDULE])
    setting = _runs.read_setting(workload, platform, job_model, seed, window)
    if policies is None and not setting.platform.by_choice:
        schedulers = {spec: policy for spec, policy in schedulers.items() if not getattr(policy, "needs_tiers", False)}
    with output_folder(output):
        _compile.prepare(schedulers.values())
        documents, results = _run_all(setting, schedulers, output, form)
        pictures = []
        if plots or (plots is None and _pictures.available()):
            shown = {name: results[name] for name in _distinct(documents)}
            windows = dict.fromkeys(shown, documents[0]["window"])
            pictures = _pictures.draw(FIGURES, shown, windows, output, "svg")
            best = documents[0]["policy"]
            pictures += _pictures.draw([SCHEDULE], {best: results[best]}, windows, output, "svg")
    if form is Format.json:
        answer(_comparison(documents, output, pictures))
    else:
        _report(documents, output, pictures)


def split_specs(text: str) -> list[str]:
    """The policies in `fcfs,fcfs-bb:depth=3,max_backfill=10,filler`: key=value goes on with the one before it."""
    specs: list[str] = []
    for item in (item.strip() for item in text.split(",")):
        if not item:
            raise InputError(f"--policies {text!r} names an empty policy; write names with a comma between two")
        if "=" not in item or ":" in item.partition("=")[0]:
            specs.append(item)
        elif specs and ":" in specs[-1]:
            specs[-1] += f",{item}"
        else:
            raise InputError(f"--policies {text!r}: {item!r} belongs to no policy; write NAME:{item}")
    for spec in specs:
        if specs.count(spec) > 1:
            raise InputError(f"--policies {text!r} names {spec!r} twice; keep one")
    return specs


def _run_all(
    setting: "Setting", schedulers: dict[str, Any], folder: Path, form: Format
) -> tuple[list[dict[str, Any]], dict[str, "Result"]]:
    """Every run, best first: what there is to say of it, and its result.

    Files take their names together, once the last run is over.
    """
    import polars as pl

    from forebay.cli import _runs
    from forebay.results import saving

    documents: list[dict[str, Any]] = []
    results: dict[str, Result] = {}
    n_jobs = len(setting.workload)
    with ExitStack() as files, _runs.progress_bar(n_jobs * len(schedulers), form) as bar:
        for (spec, policy), name in zip(schedulers.items(), file_names(list(schedulers)), strict=True):
            own = files.enter_context(output_folder(folder / name))
            result, document = setting.simulate(policy, spec, bar(spec, n_jobs * len(documents)))
            results[spec] = result
            written = files.enter_context(saving(own, result, document))
            times = result.jobs.select("starting_time", "finish_time").to_numpy()
            schedule = hashlib.sha256(times.tobytes()).hexdigest()
            documents.append(document | {"folder": str(own), "files": written, "schedule": schedule})
        documents.sort(key=_by_wait)
        [temporary_csv] = files.enter_context(replacing(folder / "compare.csv"))
        rows = [{"policy": document["policy"]} | document["summary"] for document in documents]
        pl.DataFrame(rows, infer_schema_length=None).write_csv(temporary_csv)
    return documents, {document["policy"]: results[document["policy"]] for document in documents}


def _by_wait(document: dict[str, Any]) -> tuple[bool, float]:
    """Shortest mean wait first; where no job counts, last."""
    wait = document["summary"]["mean_waiting_time"]
    return wait is None, wait or 0.0


def _alike(documents: list[dict[str, Any]]) -> list[list[str]]:
    """Policies whose schedules are one and the same."""
    alike: dict[str, list[str]] = {}
    for document in documents:
        alike.setdefault(document["schedule"], []).append(document["policy"])
    return list(alike.values())


def _distinct(documents: list[dict[str, Any]]) -> list[str]:
    """Policies to draw: of those with the same schedule the first, as the others would hide it."""
    return [twins[0] for twins in _alike(documents)]


def _notes(documents: list[dict[str, Any]]) -> list[str]:
    """What is to be said of any of the runs, and which of them are one and the same."""
    same = [f"{' and '.join(twins)} gave the same schedule" for twins in _alike(documents) if len(twins) > 1]
    return [*dict.fromkeys(note for document in documents for note in document["notes"]), *same]


def _comparison(documents: list[dict[str, Any]], folder: Path, pictures: list[Path]) -> dict[str, Any]:
    """The answer as JSON: what the runs share, then a summary for each policy, best first."""
    shared = ("workload", "workload_sha256", "provenance", "platform", "job_model", "seed", "window", "dropped")
    return {
        **{key: documents[0][key] for key in (*shared, "versions")},
        "notes": _notes(documents),
        "policies": [
            {key: document[key] for key in ("policy", "seconds", "log_sha256", "folder", "summary")}
            for document in documents
        ],
        "files": [str(file) for file in (folder / "compare.csv", *pictures)],
    }


def _report(documents: list[dict[str, Any]], folder: Path, pictures: list[Path]) -> None:
    from forebay.cli import _numbers

    first = documents[0]
    about = [
        ("workload", f"{first['workload']}, {first['summary']['n_jobs']:,} jobs"),
        ("platform", first["platform"]["text"]),
    ]
    if first["window"]:
        about.append(("window", f"jobs submitted from {' to '.join(map(_numbers.seconds, first['window']))}"))
    tables = [fitting(partial(_ranking, documents))]
    if "mean_io_time" in first["summary"]:
        tables.append(fitting(partial(_staging, documents)))
    files = [("written", f"{folder / 'compare.csv'}: every number of every policy")]
    files.append(("", f"{folder / 'POLICY'}: {', '.join(first['files'])}"))
    drawn = [picture.name for picture in pictures if picture.suffix != ".csv"]
    if drawn:
        files.append(("", f"{folder}: {', '.join(drawn)}, and the data of each as CSV"))
    show(pairs(about), *tables, *notes_block(_notes(documents)), pairs(files))


def _ranking(documents: list[dict[str, Any]], seconds: Seconds, gap: int) -> "Table":
    columns: Columns = [
        ("mean_waiting_time", "mean\nwait"),
        ("ci95_waiting_time", "±\n95 %"),
        ("p95_waiting_time", "p95\nwait"),
        ("max_waiting_time", "max\nwait"),
        ("mean_bounded_slowdown_10min", "bounded\nslowdown\n(10 min)"),
        *((f"utilisation_{name}", "\n".join([*name.split("_"), "%"])) for name in documents[0]["resources"]),
        ("n_killed", "killed"),
        ("n_waiting_over_a_day", "waiting\n> 1 day"),
    ]
    return _table(documents, columns, seconds, gap)


def _staging(documents: list[dict[str, Any]], seconds: Seconds, gap: int) -> "Table":
    """What runs that stage data have besides; a table of its own, for the first fills a narrow screen."""
    columns: Columns = [
        ("mean_stage_in_time", "mean\nstage-in"),
        ("mean_io_time", "mean\nI/O time"),
        ("pfs_utilisation", "file\nsystem\n%"),
    ]
    return _table(documents, [column for column in columns if column[0] in documents[0]["summary"]], seconds, gap)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _table(documents: list[dict[str, Any]], columns: Columns, seconds: Seconds, gap: int) -> "Table":
    from forebay.cli._numbers import shown

    rows = [
        [document["policy"], *(shown(name, document["summary"][name], seconds, _share) for name, _ in columns)]
        for document in documents
    ]
    titles = ["policy", *(title for _, title in columns)]
    return table(titles, rows, numbers=range(1, len(titles)), gap=gap)
