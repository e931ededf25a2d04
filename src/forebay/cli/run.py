"""`forebay run`: one workload, one machine, one policy."""

import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from forebay._support.text import counted
from forebay.cli._input import options
from forebay.cli._input.options import TableFormat
from forebay.cli._render.printing import answer, is_quiet, notes_block, pairs, papers, show
from forebay.experiments.outputs import forget_figures, output_folder, refuse_other

if TYPE_CHECKING:
    from forebay._support.paper import Table

EXAMPLES = options.examples(
    "forebay run table1 --policy fcfs-easy",
    "forebay run trace.swf.gz --platform flat:nodes=512 -o out",
    "forebay run default --policy mine.py:Mine:patience=3 --format json",
    "forebay run default --failures mtbf=12h,downtime=1h",
    "forebay run table1 --metrics mine.py",
)


def command(
    workload: options.WorkloadArgument,
    platform: options.PlatformOption = None,
    policy: Annotated[
        str | None,
        options.policy(
            "A policy: fcfs-easy, fcfs-bb:depth=3, or mine.py:Mine. Default: the site's own where the platform "
            "has one, else fcfs-bb."
        ),
    ] = None,
    job_model: options.JobModelOption = None,
    seed: options.SeedOption = 0,
    failures: options.FailuresOption = None,
    output: options.FolderOption = None,
    part: options.SliceOption = None,
    warm: options.WarmOption = False,
    closed: options.ClosedLoopOption = False,
    window: options.WindowOption = None,
    metrics: options.MetricsOption = None,
    anonymise: options.AnonymiseOption = False,
    form: options.TableFormatOption = TableFormat.text,
    quiet: options.QuietOption = False,
) -> None:
    """Simulate a workload under one policy, and sum it up.

    With -o the folder gets jobs.csv (Batsim's columns), jobs.parquet (every column), log.parquet (every change) and
    run.json (what was run, with which versions, and the summary); where data moved, links.csv too (bytes by link).
    """
    from forebay._run import labels
    from forebay._run.disguise import refuse_shares
    from forebay._run.site_policy import USUAL
    from forebay.cli._input.setting import read_setting
    from forebay.experiments.setting import in_closed_loop
    from forebay.policies import load as load_policy

    options.know(metrics)
    if policy is not None:
        labels.check(policy)
    setting = read_setting(workload, platform, job_model, seed, window, failures, part, warm, anonymise)
    policy, spec = setting.called(policy, USUAL)
    scheduler = load_policy(spec)
    if anonymise:
        refuse_shares(spec)
    if closed:
        setting = in_closed_loop(setting)
    if output:
        refuse_other(output, "a run")
    with output_folder(output) if output else nullcontext():
        setting.prepare([scheduler], is_quiet())
        document, files = _simulate(setting, scheduler, (policy, spec), form, output)
    if form is TableFormat.text:
        report(document, output, files)
    elif form is TableFormat.json:
        answer(document | {"files": [str(output / name) for name in files] if output else []})
    else:
        papers(form, [_table(document)])


def _simulate(
    setting: Any, policy: Any, called: tuple[str, str], form: TableFormat, folder: Path | None
) -> tuple[dict[str, Any], list[str]]:
    """All there is to say of the run, and the names of the files written."""
    from forebay.cli._render.progress import progress
    from forebay.results import saving

    # A policy that prints must not spoil what programs read on stdout: its lines go to stderr then.
    with (
        nullcontext() if form is TableFormat.text else redirect_stdout(sys.stderr),
        progress(len(setting.workload)) as watch,
    ):
        name, spec = called
        result, document = setting.simulate(policy, name, lambda ended, _: watch.at(name, ended), spec)
    if folder is None:
        return document, []
    with saving(folder, result, document) as files:
        forget_figures(folder)
        return document, files


def _table(document: dict[str, Any]) -> "Table":
    from forebay.report import _summaries

    numbers = document["summary"]
    return _summaries.one(numbers, document["resources"], _summaries.caption([document], numbers["n_jobs"]))


def report(document: dict[str, Any], folder: Path | None, written: list[str]) -> None:
    """What a person wants to know of a run, on a page."""
    from forebay.cli._render.number_text import WAIT, seconds
    from forebay.report._summaries import lines
    from forebay.workload.recorded import AS_RECORDED

    numbers = document["summary"]
    rows = [
        ("workload", f"{document['workload']}, {counted(numbers['n_jobs'], 'job')}"),
        ("platform", document["platform"]["text"]),
        ("policy", f"{document['policy']} (job model {document['job_model']}, seed {document['seed']})"),
    ]
    if "spec" in document:
        rows.append((document["policy"], document["spec"]))
    if "failures" in document:
        rows.append(("failures", document["failures"]["text"]))
    if document["window"]:
        start, end = document["window"]
        rows.append(("window", f"jobs submitted from {seconds(start)} to {seconds(end)}{_dates(document)}"))
    if numbers["mean_wait"] != numbers["mean_waiting_time"]:  # else a wait needs no explanation
        rows.append(("wait", WAIT))
    results = lines(numbers, document["resources"])
    if "recorded" in document:
        results.append((AS_RECORDED, _recorded(document["recorded"])))
    files = [pairs([("written", f"{folder}: {', '.join(written)}")])] if folder else []
    show(pairs(rows), pairs(results), *notes_block(document["notes"]), *files)


def _recorded(found: dict[str, Any]) -> str:
    """The numbers in words, for a page on one run."""
    from forebay.cli._render.number_text import shown

    if "mean_wait" not in found:
        return "no wait is known"
    words = {
        "mean wait": "mean_wait",
        "95 % wait at most": "p95_wait",
        "longest": "max_wait",
        "bounded slowdown": "mean_bounded_slowdown_10min",
    }
    parts = [f"{word} {shown(name, found[name])}" for word, name in words.items()]
    return f"{', '.join(parts)} ({counted(found['n_jobs'], 'job')})"


def _dates(document: dict[str, Any]) -> str:
    """Both ends of the window as dates, where the trace has any."""
    from forebay.workload.dates import date_text

    dates = [date_text(document["epoch"] + moment) for moment in document["window"]] if "epoch" in document else [None]
    return f" ({' to '.join(filter(None, dates))} UTC)" if all(dates) else ""
