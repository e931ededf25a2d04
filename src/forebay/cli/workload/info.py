"""`forebay workload info`: what a workload holds, what of it was left out, and why."""

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay._support.text import counted
from forebay.cli._input import options
from forebay.cli._input.options import Format
from forebay.cli._input.reading import read
from forebay.cli._render.printing import Seconds, answer, fitting, notes_block, pairs, show, table

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLES = options.examples(
    "forebay workload info trace.swf.gz",
    "forebay workload info default --format json",
    "forebay workload info trace.sacct --write-platform site.toml",
)

_SPREAD = ("min", "median", "mean", "p95", "max")
_MORE = (("accounts", "account"), ("qos", "QOS", "QOS"))
_MOST = 12  # queues that a page has room for
_COUNTED = re.compile(r"license_|gres_(?!gpumem)|resource_\d|cores$|gpus$")
"""Demands in pieces, as formats name them; all others are in bytes."""


def command(
    workload: options.WorkloadArgument,
    machine: Annotated[
        Path | None,
        typer.Option(
            "--write-platform",
            metavar="FILE",
            help="Write a machine on which all jobs can run to this TOML file: nodes that they share, as many as hold "
            "what was in use at once, with the cores, memory, GPUs and features that jobs ask for.",
        ),
    ] = None,
    skip: options.SkipOption = False,
    columns: options.ColumnsOption = None,
    form: options.FormatOption = Format.text,
) -> None:
    """Describe a workload, and say what was left out of it and why."""
    from forebay import platforms
    from forebay.workload.info import describe

    jobs = read(workload, skip_bad_lines=skip, columns=columns)
    facts = describe(jobs, platforms.load(jobs.platform).nodes if jobs.platform else None)
    if machine is not None:
        _write(facts, machine)
    if form is Format.json:
        answer(facts)
    else:
        show(
            *([pairs([("written", str(machine))])] if machine is not None else []),
            pairs([*_origin(facts), *_shape(facts)]),
            fitting(partial(_spreads, facts)),
            *([fitting(partial(_queues, facts))] if len(facts["by_queue"]) > 1 else []),
            *notes_block([*(note for note in facts["notes"] if note not in facts["findings"]), *_notes(facts)]),
        )


def _write(facts: dict[str, Any], path: Path) -> None:
    """The machine that the jobs suggest, as a platform file."""
    from forebay._support.files import replacing
    from forebay.errors import InputError

    if facts["suggested_platform"] is None:
        raise InputError(
            f"{facts['name']}: its jobs do not determine a machine: that takes the cores and the start of each "
            "(sacct: NCPUS and Start); name a platform when you simulate"
        )
    if path.suffix != ".toml":
        raise InputError(f"{path}: a platform file ends in .toml; write {path.stem or 'site'}.toml")
    with replacing(path) as [temporary]:
        temporary.write_text(facts["suggested_platform"]["toml"], encoding="utf-8")


def _origin(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Where the jobs come from, and what became of records that are not among them."""
    left_out = sum(facts["dropped"].values())
    rows = [("workload", facts["name"]), *(("from", line) for line in facts["provenance"])]
    of = f" of {counted(facts['records'], 'record')}" if facts["records"] else ""  # none: they were made, not read
    rows.append(("jobs", f"{facts['jobs']:,}{of}"))
    if left_out:
        rows.append(("left out", counted(left_out, "record")))
        rows += [("", f"{count:,}: {why}") for why, count in facts["dropped"].items()]
    return rows


def _shape(facts: dict[str, Any]) -> list[tuple[str, str]]:
    from forebay.core.units import format_seconds

    rows = []
    if facts["period"] and all(facts["period"]):
        rows.append(("period", f"{' to '.join(facts['period'])} UTC"))
    rows.append(("submitted over", format_seconds(facts["span"])))
    per_day = facts["arrivals_per_day"]
    if per_day and facts["span"] >= 86400:
        rows.append(("jobs a day", f"{per_day['mean']:,.0f} ({per_day['min']:,} to {per_day['max']:,})"))
    rows.append(("machine", facts["platform"] or "not said: name one with --platform when you simulate"))
    if facts["offered_load"] is not None:
        rows.append(("offered load", f"{100 * facts['offered_load']:.1f} % of its node-seconds"))
    steady = facts["steady"]
    if steady and steady["offered_load"] is not None:
        length = format_seconds(steady["end"] - steady["start"])
        text = f"{100 * steady['offered_load']:.1f} % from the 1st to the 99th percentile of submissions, {length}"
        rows.append(("steady load", text))
    known = [counted(facts[f"{word}s"], word) for word in ("user", "group", "queue") if facts[f"{word}s"]]
    known += [counted(facts[word], *forms) for word, *forms in _MORE if facts.get(word)]
    if known:
        rows.append(("known", ", ".join(known)))
    if facts["peaks"]:
        from forebay.workload._suggest import peaks_text

        own = ", each at its own peak" if len(facts["peaks"]) > 1 else " at once"
        rows.append(("most in use", f"{peaks_text(facts['peaks'])}{own}, as recorded"))
    rows.append(("sizes", _sizes(facts)))
    rows += [
        (name.replace("_", " "), f"asked for by {counted(demand['jobs'], 'job')}")
        for name, demand in facts["resources"].items()
    ]
    rows += _dependencies(facts["dependencies"])
    odd = [("looks odd" if not k else "", text) for k, text in enumerate(facts["findings"])]
    return [*rows, *_estimates(facts), *odd]


def _sizes(facts: dict[str, Any]) -> str:
    """Shares of jobs by their size: in cores where these are known, and then in nodes, too."""
    serial, on_one = f"{100 * facts['serial_share']:.0f} % serial", facts["one_node_share"]
    powers = f"{100 * facts['power_of_two_share']:.0f} % powers of two"
    if on_one is None:
        return f"{serial}, {powers}"
    return f"{serial} (one core), {100 * on_one:.0f} % on one node, {powers} in cores"


def _dependencies(found: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Who waits for whom."""
    if found is None:
        return []
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in found["kinds"].items())
    who = counted(found["jobs"], "job waits", "jobs wait")
    return [("dependencies", f"{who} for others ({kinds}), up to {found['longest_chain']:,} one behind the other")]


def _estimates(facts: dict[str, Any]) -> list[tuple[str, str]]:
    found = facts["estimates"]
    parts = []
    if found["mean_accuracy"] is not None:
        parts.append(f"{100 * found['mean_accuracy']:.0f} % of the walltime is used on average")
        parts.append(counted(found["jobs_past_walltime"], "job runs past it", "jobs run past it"))
    if found["perfect_share"]:
        parts.append(f"{_percent(found['perfect_share'])} of jobs ask for just their run time")
    if found["jobs_without_walltime"]:
        parts.append(counted(found["jobs_without_walltime"], "job asks for none", "jobs ask for none"))
    rows = [("estimates", "; ".join(parts))] if parts else []
    if facts["flop"]:
        speed = facts["flop"]["assumed_speed"]
        who = counted(facts["flop"]["jobs"], "job gives", "jobs give")
        rows.append(("work", f"{who} flop: times below are at {speed:g} flop/s a node"))
    return rows


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"


def _spreads(facts: dict[str, Any], seconds: Seconds, gap: int) -> "Table":
    """Sizes, times and demands side by side."""
    from forebay.core.units import format_bytes

    def row(name: str, spread: dict[str, Any] | None, text: Any) -> list[str]:
        return [name, *(text(spread[key]) if spread and key in spread else "-" for key in _SPREAD)]

    def count(value: float) -> str:
        return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"

    rows = [row("nodes", facts["nodes"], count)]
    rows += [row(key.replace("_", " "), facts[key], seconds) for key in ("run_time", "walltime")]
    if facts["recorded"]:
        rows.append(row("recorded wait", _wait(facts["recorded"]), seconds))
    for name, demand in facts["resources"].items():
        text = count if _COUNTED.match(name) else lambda value: format_bytes(round(value))
        rows.append(row(name.replace("_", " "), demand, text))
    return table(["each job", *_SPREAD], rows, numbers=range(1, 6), gap=gap)


def _wait(found: dict[str, Any]) -> dict[str, float]:
    """Waits as recorded, by the words of the table."""
    return {key: found[f"{key}_waiting_time"] for key in _SPREAD if f"{key}_waiting_time" in found}


def _queues(facts: dict[str, Any], seconds: Seconds, gap: int) -> "Table":
    """The queues with most jobs, and how long these waited when they were recorded."""
    waits = facts["recorded"] is not None
    columns = ["queue", "jobs", *(("mean wait as recorded", "median", "p95") if waits else ())]
    rows = []
    for found in facts["by_queue"][:_MOST]:
        wait = _wait(found)
        times = [seconds(wait[key]) if key in wait else "-" for key in ("mean", "median", "p95")]
        rows.append([found["name"], f"{found['jobs']:,}", *(times if waits else ())])
    rest = facts["by_queue"][_MOST:]
    if rest:
        jobs = sum(found["jobs"] for found in rest)
        rows.append([f"{len(rest):,} more", f"{jobs:,}", *(["", "", ""] if waits else ())])
    return table(columns, rows, numbers=range(1, len(columns)), gap=gap)


def _notes(facts: dict[str, Any]) -> list[str]:
    from forebay.workload import recorded

    return recorded.notes(facts["recorded"])
