"""`forebay compare`: the same workload and machine under several policies, best first."""

import hashlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay._environment import use_one_thread
from forebay._files import file_names, replacing
from forebay._text import counted, for_spreadsheets
from forebay.cli import _complete
from forebay.cli import _options as options
from forebay.cli._options import Format
from forebay.cli._outputs import forget_figures, output_folder, refuse_other
from forebay.cli._print import Seconds, answer, fitting, is_quiet, message, notes_block, pairs, show, table
from forebay.errors import ForebayError, InputError

if TYPE_CHECKING:
    from rich.table import Table

    from forebay.cli._bench import Bench, Part
    from forebay.cli._runs import Setting
    from forebay.experiments.executor import Failure

Columns = list[tuple[str, str]]
"""Name in the summary, and title."""

ALL = "all"
FIGURES = ("letter-values", "usage", "wait-by-size", "waits")
"""Those that show policies side by side."""
SCHEDULE = "gantt"  # a picture a policy: drawn of the best

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
            help="Which policies, or all. Default: those that `forebay policies` marks. Of these and of all, "
            "those for tiers of storage are left out where the machine has none.",
            show_default=False,
            autocompletion=_complete.policies,
        ),
    ] = None,
    platform: options.PlatformOption = None,
    job_model: options.JobModelOption = None,
    seed: options.SeedOption = 0,
    failures: options.FailuresOption = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Write the results to this folder.")
    ] = Path("forebay-results"),
    window: options.WindowOption = None,
    plots: Annotated[
        bool | None,
        typer.Option("--plots/--no-plots", help="Draw figures too, with their data. Default: yes.", show_default=False),
    ] = None,
    jobs: options.CountOption = None,
    form: options.FormatOption = Format.text,
    quiet: options.QuietOption = False,
) -> None:
    """Rank policies on one workload, shortest mean wait first.

    The output folder gets compare.csv, with every number of every policy, and a folder for each policy with the files
    that `forebay run` writes. Figures of all policies together stand beside it, and the schedule of the best;
    `forebay plot` draws those of others. All of it takes the place of an earlier comparison in that folder.

    Stop at any time with Ctrl-C: finished policies are kept, and the same command goes on from there.
    """
    use_one_thread()
    from forebay.cli import _pictures, _runs
    from forebay.cli._bench import bench

    given, implied = _wanted(policies)
    schedulers = {spec: _runs.load_policy(spec) for spec in [*given, *implied]}
    if plots:
        _pictures.check([*FIGURES, SCHEDULE])
    setting = _runs.read_setting(workload, platform, job_model, seed, window, failures)
    schedulers = {spec: policy for spec, policy in schedulers.items() if spec in given or _is_of_use(policy, setting)}
    refuse_other(output, "a comparison")
    with output_folder(output), bench(output, setting.key, _parts(list(schedulers))) as made:
        if lost := made.replaces():
            message(lost)
        failed = _run_all(setting, schedulers, made, jobs)
        documents = _documents(made)
        if not documents:
            raise _explained(failed, len(schedulers))
        _write_table(documents, made.path / "compare.csv")
        drawing = plots or (plots is None and _pictures.available())
        pictures = [output / file.name for file in _draw(documents, made)] if drawing else []
        made.publish()
        forget_figures(output, pictures)
    if form is Format.json:
        answer(_comparison(documents, failed, output, pictures))
    else:
        _report(documents, output, pictures)
    if failed:
        raise _explained(failed, len(schedulers))


def _is_of_use(policy: Any, setting: "Setting") -> bool:
    """Whether a policy can make use of what this machine and these jobs have."""
    if getattr(policy, "needs_tiers", False) and not setting.platform.by_choice:
        return False
    return not getattr(policy, "needs_times", False) or setting.workload.applications is not None


def _wanted(text: str | None) -> tuple[list[str], list[str]]:
    """Policies that are named, and those that are meant: by `all`, or if none is named."""
    from forebay.policies import COMPARED, names

    if text is None:
        return [], list(COMPARED)
    given = split_specs(text)
    if ALL not in given:
        return given, []
    given.remove(ALL)
    return given, [name for name in names() if name not in given]


def split_specs(text: str) -> list[str]:
    """The policies in `fcfs,fcfs-bb:depth=3,max_backfill=10,filler`: key=value goes on with the one before it."""
    from forebay._plugins import spelled

    specs: list[str] = []
    for item in (item.strip() for item in text.split(",")):
        if not item:
            raise InputError(f"--policies {text!r} names an empty policy; write names with a comma between two")
        if "=" not in item or ":" in item.partition("=")[0]:
            specs.append(spelled("policies", item))
        elif specs and ":" in specs[-1]:
            specs[-1] += f",{item}"
        else:
            raise InputError(f"--policies {text!r}: {item!r} belongs to no policy; write NAME:{item}")
    for spec in specs:
        if specs.count(spec) > 1:
            raise InputError(f"--policies {text!r} names {spec!r} twice; keep one")
    return specs


def _parts(specs: list[str]) -> "dict[str, Part]":
    """Each policy's folder and key; a policy in a user's file counts by the text of that file."""
    from forebay.cli._bench import Part
    from forebay.experiments.runs import own_file

    names = file_names(specs)
    return {spec: Part(name, f"{spec} {own_file(spec)}") for spec, name in zip(specs, names, strict=True)}


def _run_all(setting: "Setting", schedulers: dict[str, Any], made: "Bench", jobs: int | None) -> "dict[str, Failure]":
    """Every run that is not there yet; gives those that failed. What is finished stays, however this ends."""
    from forebay import _compile
    from forebay.cli import _parallel
    from forebay.cli._progress import progress
    from forebay.experiments.executor import cores

    found, total = made.finished(), counted(len(schedulers), "policy", "policies")
    if found:
        message(f"{len(found)} of {total} there already")
    missing = [spec for spec in schedulers if spec not in found]
    if not missing:
        return {}
    _compile.prepare((schedulers[spec] for spec in missing), is_quiet())
    tasks = [_parallel.Task(spec, made.place(spec)) for spec in missing]
    try:
        with progress(len(setting.workload) * len(tasks)) as watch:
            return _parallel.carry_out(setting, tasks, jobs or cores(), watch)
    except (KeyboardInterrupt, SystemExit):
        kept = len(made.finished())
        if kept:
            message(f"{kept} of {total} kept in {made.path}: the same command goes on from there")
        raise


def _documents(made: "Bench") -> list[dict[str, Any]]:
    """All there is to say of every run, best first."""
    import polars as pl

    from forebay.results import read_document

    documents = []
    for spec in made.finished():
        place = made.place(spec)
        times = pl.read_parquet(place / "jobs.parquet", columns=["starting_time", "finish_time"]).to_numpy()
        about = {
            "folder": str(made.target(spec)),
            "files": sorted(path.name for path in place.iterdir()),
            "schedule": hashlib.sha256(times.tobytes()).hexdigest(),
        }
        documents.append(read_document(place) | about)
    return sorted(documents, key=_by_wait)


def _write_table(documents: list[dict[str, Any]], path: Path) -> None:
    import polars as pl

    rows = [{"policy": document["policy"]} | document["summary"] for document in documents]
    with replacing(path) as [temporary]:
        for_spreadsheets(pl.DataFrame(rows, infer_schema_length=None)).write_csv(temporary)


def _draw(documents: list[dict[str, Any]], made: "Bench") -> list[Path]:
    from forebay.cli import _pictures
    from forebay.results import load

    shown = {spec: load(made.place(spec)) for spec in _distinct(documents)}
    windows = dict.fromkeys(shown, documents[0]["window"])
    best = documents[0]["policy"]
    pictures = _pictures.draw(FIGURES, shown, windows, made.path, "svg")
    return pictures + _pictures.draw([SCHEDULE], {best: shown[best]}, windows, made.path, "svg")


def _explained(failed: "dict[str, Failure]", total: int) -> ForebayError:
    """One error for all that failed; what is wrong with every policy is said once."""
    texts: dict[str, list[str]] = {}
    for spec, failure in failed.items():
        texts.setdefault(failure.text, []).append(spec)
    if len(failed) == total and len(texts) == 1:
        text = next(iter(texts))
    else:
        stand = "; the results of the others stand" if len(failed) < total else ""
        lines = [f"  {', '.join(specs)}: {text}" for text, specs in texts.items()]
        text = "\n".join([f"{len(failed)} of {counted(total, 'policy', 'policies')} failed{stand}", *lines])
    error = ForebayError(text)
    error.exit_code = max(failure.exit_code for failure in failed.values())
    return error


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


def _comparison(
    documents: list[dict[str, Any]], failed: "dict[str, Failure]", folder: Path, pictures: list[Path]
) -> dict[str, Any]:
    """The answer as JSON: what the runs share, then a summary for each policy, best first."""
    shared = ("workload", "workload_sha256", "provenance", "platform", "job_model", "seed", "window", "dropped")
    return {
        **{key: documents[0][key] for key in (*shared, "versions")},
        **{key: documents[0][key] for key in ("failures",) if key in documents[0]},
        "notes": _notes(documents),
        "policies": [
            {key: document[key] for key in ("policy", "seconds", "log_sha256", "folder", "summary")}
            for document in documents
        ],
        "failed": [{"policy": spec, "message": failure.text} for spec, failure in failed.items()],
        "files": [str(file) for file in (folder / "compare.csv", *pictures)],
    }


def _report(documents: list[dict[str, Any]], folder: Path, pictures: list[Path]) -> None:
    from forebay.cli import _numbers

    first = documents[0]
    about = [
        ("workload", f"{first['workload']}, {counted(first['summary']['n_jobs'], 'job')}"),
        ("platform", first["platform"]["text"]),
    ]
    if "failures" in first:
        about.append(("failures", first["failures"]["text"]))
    if first["window"]:
        about.append(("window", f"jobs submitted from {' to '.join(map(_numbers.seconds, first['window']))}"))
    tables = [fitting(partial(_ranking, documents))]
    if "mean_io_time" in first["summary"]:
        tables.append(fitting(partial(_staging, documents)))
    if any("useful_utilisation" in document["summary"] for document in documents):
        tables.append(fitting(partial(_failures, documents)))
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


def _failures(documents: list[dict[str, Any]], seconds: Seconds, gap: int) -> "Table":
    """What runs have besides in which nodes fail or jobs are interrupted."""
    columns: Columns = [
        ("useful_utilisation", "useful\n%"),
        ("checkpoint_share", "check-\npoints\n%"),
        ("recovery_share", "recovery\n%"),
        ("lost_to_failures_share", "lost to\nfailures\n%"),
        ("lost_to_stealing_share", "lost to\nstealing\n%"),
        ("max_flow", "max\nflow"),
        ("node_weighted_flow", "node-weighted\nmean flow"),
        ("n_failures", "failures"),
        ("n_steals", "steals"),
    ]
    return _table(documents, columns, seconds, gap)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _table(documents: list[dict[str, Any]], columns: Columns, seconds: Seconds, gap: int) -> "Table":
    from forebay.cli._numbers import shown

    rows = [
        [document["policy"], *(shown(name, document["summary"].get(name), seconds, _share) for name, _ in columns)]
        for document in documents
    ]
    titles = ["policy", *(title for _, title in columns)]
    return table(titles, rows, numbers=range(1, len(titles)), gap=gap)
