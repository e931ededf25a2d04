"""`forebay predict`: when waiting jobs will start, and how good such predictions are."""

import re
import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli._input import options
from forebay.cli._input.options import TableFormat
from forebay.cli._render.printing import answer, drawn, notes_block, pairs, papers, show
from forebay.errors import InputError
from forebay.experiments.outputs import output_folder, refuse_other

if TYPE_CHECKING:
    from forebay._predict import Prediction, Reliability

KIND = "a prediction"
EXAMPLES = options.examples(
    "forebay predict trace.swf.gz --at 30d 4711 --policy fcfs-easy",
    "forebay predict trace.swf.gz --at 2025-03-01T12:00 --submit nodes=4,walltime=2h --what-if walltime=1h",
    "forebay predict trace.swf.gz --score --policy fcfs-easy --moments 400",
)
_SHOWN = 20


def command(
    workload: options.WorkloadArgument,
    jobs: Annotated[
        list[int] | None,
        typer.Argument(metavar="[JOB]...", help="Jobs that wait at the moment. Default: all.", show_default=False),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="The moment: 30d, 3600 or 2025-03-01T12:00.", show_default=False),
    ] = None,
    platform: options.PlatformOption = None,
    policy: Annotated[
        str | None, options.policy("Who decides. Default: the site's where the platform has one, else fcfs-bb.")
    ] = None,
    submit: Annotated[
        list[str] | None,
        typer.Option(
            "--submit",
            metavar="REQUEST",
            help="A job that is not submitted yet: nodes=4,walltime=2h,partition=gpu. May be given several times.",
            show_default=False,
        ),
    ] = None,
    what_if: Annotated[
        list[str] | None,
        typer.Option(
            "--what-if",
            metavar="REQUEST",
            help="What if the job asked for this instead: walltime=4h, nodes=2. May be given several times.",
            show_default=False,
        ),
    ] = None,
    score: Annotated[
        bool, typer.Option("--score", help="Predict at many moments of the trace, and tell how good that is.")
    ] = False,
    moments: Annotated[int, typer.Option("--moments", metavar="N", min=1, help="How many, with --score.")] = 200,
    futures: Annotated[
        int | None,
        typer.Option("--futures", metavar="N", min=2, help="Played for a moment. Default: 100, with --score 30."),
    ] = None,
    estimator: Annotated[
        str, typer.Option("--estimator", metavar="SPEC", help="What run times are learned by.")
    ] = "survival",
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Jobs started as the trace has it; else the policy is simulated.")
    ] = False,
    job_model: options.JobModelOption = None,
    seed: options.SeedOption = 0,
    snapshot: Annotated[
        Path | None,
        typer.Option(
            "--snapshot",
            metavar="FILE",
            help="Write the moment to this file (JSON), which can be predicted from.",
            show_default=False,
        ),
    ] = None,
    output: options.FolderOption = None,
    form: options.TableFormatOption = TableFormat.text,
    quiet: options.QuietOption = False,
) -> None:
    """Tell when waiting jobs will start, with intervals.

    What runs and waits at a moment of a trace, or in a snapshot, is played on, many times: run times are drawn from
    what was learned of jobs that had ended, and jobs come as they came in earlier weeks. Nothing after the moment is
    looked at. Intervals are as wide as those of earlier predictions should have been.

    With --score it predicts at many moments and compares with what came. With -o the folder gets the answer as JSON,
    tables as CSV, and figures.
    """
    from forebay import _predict
    from forebay._predict import _snapshot
    from forebay._predict._given import How
    from forebay._support.files import replacing
    from forebay._support.text import as_json

    _check(at, score, jobs, submit, what_if, _snapshot.found(workload) is not None, snapshot)
    if output:
        refuse_other(output, KIND)
    given = How(recorded=recorded, estimator=estimator, seed=seed, job_model=job_model, progress=_progress(quiet))
    if futures is not None:
        given["futures"] = futures
    # A policy that prints must not spoil what programs read on stdout.
    silent = nullcontext() if form is TableFormat.text else redirect_stdout(sys.stderr)
    with output_folder(output) if output else nullcontext():
        with silent:
            found: Prediction | Reliability
            if score:
                found = _predict.reliability(workload, platform, policy, moments, **given)
            else:
                moment = None if at is None else _moment(at)
                found = _predict.predict(workload, moment, platform, policy, jobs, submit or (), what_if or (), **given)
        files = found.save(output) if output else []
        if snapshot is not None and not isinstance(found, _predict.Reliability):
            with replacing(snapshot) as (file,):
                file.write_text(as_json(found.snapshot()) + "\n", encoding="utf-8")
            files = [*files, snapshot]
    if form is TableFormat.json:
        answer(found.document() | {"files": [str(file) for file in files]})
    elif form is not TableFormat.text:
        papers(form, _tables(found))
    else:
        _report(found, files)


def _check(at: str | None, score: bool, jobs: Any, submit: Any, what_if: Any, placed: bool, snapshot: Any) -> None:
    """What does not go together."""
    if not score and at is None and not placed:
        raise InputError("at which moment? give --at 30d or --at 2025-03-01T12:00, or --score for many moments")
    if score and (at is not None or jobs or submit or what_if or snapshot):
        raise InputError(
            "--score predicts at moments of its own: leave out --at, jobs, --submit, --what-if, --snapshot"
        )
    if what_if and not (jobs or submit):
        raise InputError("--what-if asks about a job: name one that waits, or give --submit")


def _moment(text: str) -> Any:
    """Seconds after the first job, or a date."""
    from forebay.core.units import parse_seconds
    from forebay.workload.dates import parse_date

    try:
        return parse_date(text) if re.match(r"\s*\d{4}-", text) else parse_seconds(text)
    except InputError as error:
        raise InputError(f"--at {text!r}: {error}") from None


def _progress(quiet: bool) -> Any:
    """A bar, where there is a terminal."""
    return None if quiet or not sys.stderr.isatty() else True


def _tables(found: Any) -> list[Any]:
    from forebay._predict import Reliability, _words

    if isinstance(found, Reliability):
        return [found.for_papers(), *found.groups()]
    return [one for one in (_words.starts(found), _words.requests(found), _words.partitions(found)) if one is not None]


def _report(found: Any, files: list[Path]) -> None:
    """Tables, then what to know of them."""
    from forebay._predict import Reliability, _words

    facts = found.facts
    about = pairs([("workload", facts["workload"]), ("platform", facts["platform"]), ("policy", facts["policy"])])
    written = [pairs([("" if place else "written", str(file)) for place, file in enumerate(files)])] if files else []
    if isinstance(found, Reliability):
        show(about, *(drawn(one) for one in _tables(found)), "\n".join(found.sentences()), *written)
        return
    starts = _words.starts(found)
    shown = drawn(type(starts)(starts.titles, starts.rows[:_SHOWN], starts.numbers))
    more = [f"{len(starts.rows) - _SHOWN:,} more wait; -o writes all"] if len(starts.rows) > _SHOWN else []
    blocks: list[Any] = [about, "\n".join(_words.sentences(found)[:1])]
    blocks += [shown, *more] if starts.rows else []
    blocks += [drawn(one) for one in (_words.requests(found), _words.partitions(found)) if one is not None and one.rows]
    reasons = [(_words.called(row), row["why"]) for row in found.table.head(3).iter_rows(named=True) if row["why"]]
    show(*blocks, *([pairs(reasons)] if reasons else []), *notes_block(_words.notes(facts)), *written)
