"""`forebay compare`: the same workload and machine under several policies, best first."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay._environment import use_one_thread
from forebay._files import file_names, replacing
from forebay._text import counted, write_csv
from forebay.cli import _complete
from forebay.cli import _options as options
from forebay.cli._chosen import wanted, with_reference
from forebay.cli._options import Format
from forebay.cli._outputs import forget_figures, output_folder, refuse_other
from forebay.cli._print import answer, is_quiet, message
from forebay.cli.report import add as add_report
from forebay.errors import ForebayError, InputError

if TYPE_CHECKING:
    from forebay.cli._bench import Bench, Part
    from forebay.cli._compared import Compared
    from forebay.cli._drawing import Drawing
    from forebay.cli._runs import Setting
    from forebay.experiments.executor import Failure

EXAMPLES = options.examples(
    "forebay compare",
    "forebay compare trace.swf.gz --platform flat:nodes=512 --policies fcfs,fcfs-easy",
    "forebay compare --policies fcfs-bb,fcfs-bb:depth=3,max_backfill=10,filler -o out",
)


def command(
    context: typer.Context,
    workload: options.WorkloadArgument = "default",
    policies: Annotated[
        str | None,
        typer.Option(
            "--policies",
            metavar="SPEC,SPEC,...",
            help="Which policies: names, families (queue, window, plan, tiers), or all. Default: those that "
            "`forebay policies` marks. Of all, those for tiers of storage are left out where the machine has none.",
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
    part: options.SliceOption = None,
    warm: options.WarmOption = False,
    window: options.WindowOption = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="SPEC",
            help="Compare with this policy, which is run too. Default: the site's own where the platform has one, "
            "which is run too; else, of those that are compared, fcfs-bb where jobs ask for more than nodes, else "
            "fcfs-easy, else the first.",
            show_default=False,
            autocompletion=_complete.policy,
        ),
    ] = None,
    replicas: Annotated[
        int | None,
        typer.Option(
            "--replicas",
            metavar="N",
            min=0,
            max=10_000,
            help="Run each policy on so many shaken copies of the trace too: surer verdicts. Default: up to 10 for "
            "quick policies on traces of some thousand jobs.",
            show_default=False,
        ),
    ] = None,
    fail_if: options.FailIfOption = None,
    plots: Annotated[
        bool | None,
        typer.Option("--plots/--no-plots", help="Draw figures too, with their data. Default: yes.", show_default=False),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=0, help="Rows of each table of queues, users and accounts.")
    ] = 5,
    bounds: Annotated[
        bool, typer.Option("--bounds/--no-bounds", help="Tell what no policy can have less of, too.")
    ] = True,
    page: options.PageOption = True,
    jobs: options.CountOption = None,
    form: options.FormatOption = Format.text,
    quiet: options.QuietOption = False,
) -> None:
    """Rank policies on one workload, with a verdict on each.

    The shortest mean wait comes first. A policy is better or worse than the reference where the 95 % interval of the
    change in mean wait says so, else undecided.

    The output folder gets compare.csv, with every number of every policy, verdicts.csv, groups.csv, which tells for
    whom, bounds.csv, which tells how far each is from what any could do, and a folder for each policy with the files
    that `forebay run` writes. Figures of all policies together stand beside it, and the schedule of the best; `forebay
    plot` draws those of others. All of it takes the place of an earlier comparison in that folder, whose runs are used
    again where they would be the same.

    Stop at any time with Ctrl-C: finished policies are kept, and the same command goes on from there.
    """
    use_one_thread()
    from forebay.cli import _common, _drawing, _given, _groups, _least, _pictures, _replicas, _runs, _verdicts
    from forebay.cli._bench import bench
    from forebay.cli._compared import Compared, comparison, report
    from forebay.experiments.conditions import parse_condition
    from forebay.experiments.executor import cores
    from forebay.experiments.references import usual_reference

    conditions = [parse_condition(text) for text in fail_if or ()]
    given, implied = wanted(policies)
    asked = with_reference(given, implied, reference)
    schedulers = {spec: _runs.load_policy(spec) for spec in [*given, *implied]}
    if plots:
        _pictures.check([*_drawing.FIGURES, _drawing.SCHEDULE])
    setting = _runs.read_setting(workload, platform, job_model, seed, window, failures, part, warm)
    if asked is None and setting.own is not None:
        schedulers.setdefault(setting.own, _runs.load_policy(setting.own))
        given.append(setting.own)
    schedulers = {spec: policy for spec, policy in schedulers.items() if spec in given or _is_of_use(policy, setting)}
    if not schedulers:
        raise InputError(f"--policies {policies!r}: none of these is of use on this machine with these jobs")
    standard = asked or usual_reference(list(schedulers), setting.workload, setting.platform, setting.own)
    refuse_other(output, "a comparison")
    again = _given.command(context)
    with output_folder(output), bench(output, setting.key, _parts(list(schedulers)), again) as made:
        if lost := made.replaces():
            message(lost)
        failed = _run_all(setting, schedulers, made, jobs)
        documents = _documents(made)
        if not documents:
            raise _explained(failed, len(schedulers))
        with _kept(made, len(schedulers)):
            planned = _replicas.planned(documents, standard, replicas)
            remarks = _replicas.remark(documents, planned, replicas)
            specs = [document["policy"] for document in documents]
            copies = _replicas.carry_out(setting, specs, planned, made, jobs or cores())
        jury = _verdicts.Jury(setting, documents, made, copies, standard)
        documents, numbers = _ranked(documents, {spec: jury.shown(spec) for spec in specs})
        to_draw = _to_draw(documents, made) if plots or (plots is None and _pictures.available()) else None
        with _drawing.under_way(to_draw, len(setting.workload), jobs or cores(), made.result) as drawn:
            verdicts = jury.verdicts(numbers)
            common = _common.Common(documents, made)
            unserved = _common.not_run(common, setting, made)
            least = _least.of(setting, documents, made) if bounds else None
            documents = common.documents(documents, made)
            groups = _groups.of(documents, made, standard, common)
            compared = Compared(
                documents,
                verdicts,
                standard,
                jury.basis,
                failed,
                output,
                [],
                groups,
                top,
                least,
                numbers,
                jury.runs,
                unserved,
                remarks,
            )
            _write_tables(compared, made.path)
            pictures = [output / file.name for file in drawn()]
        pictures += [output / file.name for file in add_report(made.path, page)]
        made.publish()
        forget_figures(output, pictures)
    compared = replace(compared, pictures=pictures)
    if form is Format.json:
        answer(comparison(compared))
    else:
        report(compared)
    if failed:
        raise _explained(failed, len(schedulers))
    _verdicts.refuse(_verdicts.check(conditions, verdicts, documents, jury))


def _is_of_use(policy: Any, setting: "Setting") -> bool:
    """Whether a policy can make use of what this machine and these jobs have."""
    if getattr(policy, "needs_tiers", False) and not setting.platform.by_choice:
        return False
    return not getattr(policy, "needs_times", False) or setting.workload.applications is not None


def _parts(specs: list[str]) -> "dict[str, Part]":
    """Each policy's folder and key; a policy in a user's file counts by the text of that file."""
    from forebay.cli._bench import Part
    from forebay.experiments.runs import own_file

    names = file_names(specs)
    return {spec: Part(name, f"{spec} {own_file(spec)}") for spec, name in zip(specs, names, strict=True)}


def _run_all(setting: "Setting", schedulers: dict[str, Any], made: "Bench", jobs: int | None) -> "dict[str, Failure]":
    """Every run that is not there yet; gives those that failed. What is finished stays, however this ends."""
    from forebay.cli import _parallel
    from forebay.cli._progress import progress
    from forebay.experiments.executor import cores

    found, total = made.finished(), counted(len(schedulers), "policy", "policies")
    if found:
        message(f"{len(found)} of {total} there already")
    missing = [spec for spec in schedulers if spec not in found]
    if not missing:
        return {}
    setting.prepare((schedulers[spec] for spec in missing), is_quiet())
    tasks = [_parallel.Task(spec, made.place(spec)) for spec in missing]
    with _kept(made, len(schedulers)), progress(len(setting.workload) * len(tasks)) as watch:
        return _parallel.carry_out(setting, tasks, jobs or cores(), watch)


@contextmanager
def _kept(made: "Bench", total: int) -> Iterator[None]:
    """Whoever stops here is told that what is finished stays."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        kept = len(made.finished())
        if kept:
            of_all = f"{kept} of {counted(total, 'policy', 'policies')}"
            message(f"{of_all} kept in {made.path}: the same command goes on from there")
        raise


def _documents(made: "Bench") -> list[dict[str, Any]]:
    """All there is to say of every run."""
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
    return documents


def _ranked(documents: list[dict[str, Any]], numbers: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Both with the shortest mean wait first; where no job counts, last."""

    def by_wait(spec: str) -> tuple[bool, float]:
        wait = numbers[spec]["mean_wait"]
        return wait is None, wait or 0.0

    order = sorted(numbers, key=by_wait)
    by_policy = {document["policy"]: document for document in documents}
    return [by_policy[spec] for spec in order], {spec: numbers[spec] for spec in order}


def _write_tables(compared: "Compared", folder: Path) -> None:
    """All tables of a comparison that it has something for."""
    import polars as pl

    from forebay.cli import _common, _groups, _least, _verdicts
    from forebay.cli._compared import RANKING, ranking

    rows = [{"policy": document["policy"]} | document["summary"] for document in compared.documents]
    tables = {"compare.csv": pl.DataFrame(rows, infer_schema_length=None), RANKING: ranking(compared)}
    for name, frame in tables.items():
        with replacing(folder / name) as [temporary]:
            write_csv(frame, temporary)
    if compared.verdicts:
        _verdicts.write(compared.verdicts, folder / _verdicts.TABLE)
    if compared.not_run:
        _common.write(compared.not_run, folder / _common.TABLE)
    if compared.groups is not None:
        _groups.write(compared.groups, folder / _groups.TABLE)
    if compared.least is not None:
        _least.write(compared.least, folder / _least.TABLE)


def _to_draw(documents: list[dict[str, Any]], made: "Bench") -> "Drawing":
    from forebay.cli._compared import distinct
    from forebay.cli._drawing import Drawing

    runs = {spec: made.place(spec) for spec in distinct(documents)}
    return Drawing(runs, documents[0]["policy"], documents[0]["window"], made.path)


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
