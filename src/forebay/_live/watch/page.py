"""The page of a watch: one file without scripts that loads itself again. What users wrote is shown, never obeyed."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forebay._live.watch.picture import band
from forebay._live.watch.state import Standing
from forebay._predict._words import rough
from forebay._support.files import replacing
from forebay._support.text import counted
from forebay.metrics._numbers import percent, seconds
from forebay.report.page import asset, escaped
from forebay.report.tables import Cell, pairs, paragraph, sentences, table
from forebay.workload.dates import date_text

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""What a browser may do with it: show it."""
_SHOWN = 60
_LONG = 32
"""Letters of a job's name that are shown."""
_MORE = """
figure svg { width: 100%; max-width: 40rem; height: auto; font-size: 12px; }
svg text { fill: var(--soft); }
svg .grid { stroke: var(--line); }
svg .band { fill: var(--link); opacity: 0.22; }
svg .middle { fill: none; stroke: var(--link); stroke-width: 2; }
.alarm { border-left: 4px solid var(--worse); padding-left: 0.7rem; font-weight: 600; }
td { overflow-wrap: anywhere; }
"""


def write(path: Path, last: Standing | None, replay: Any, now: float, every: float, problem: str) -> None:
    """Write it, whole or not at all."""
    text = document(last, replay, now, every, problem)
    with replacing(path) as (file,):
        file.write_text(text, encoding="utf-8")


def document(last: Standing | None, replay: Any, now: float, every: float, problem: str) -> str:
    """The page as HTML."""
    name = "a queue" if last is None else str(last.found.site.machine.get("name", "a queue"))
    title = f"{name}: queue and expected waits"
    body = [f'<p class="alarm">{escaped(line)}</p>' for line in _alarms(last, now, every, problem)]
    if last is not None:
        body += _sections(last, replay)
    refresh = f'<meta http-equiv="refresh" content="{max(int(every), 5)}">'
    head = f'<meta http-equiv="Content-Security-Policy" content="{POLICY.rpartition(";")[0]}">\n{refresh}'
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="light dark">\n{head}\n<title>{escaped(title)}</title>\n'
        f"<style>\n{_style()}</style>\n</head>\n<body>\n<header><h1>{escaped(title)}</h1>\n"
        f"<p>{escaped(_when(last, now))}</p></header>\n<main>\n" + "\n".join(body) + "\n</main>\n</body>\n</html>\n"
    )


def _style() -> str:
    """That of all pages; dark where the reader's system is, as no script is there to choose."""
    style = asset("page.css")
    dark = re.search(r':root\[data-theme="dark"\] (\{[^}]*\})', style)
    assert dark is not None, "page.css has colours for the dark"
    return f"{style}{_MORE}@media screen and (prefers-color-scheme: dark) {{ :root {dark[1]} }}\n"


def _when(last: Standing | None, now: float) -> str:
    if last is None:
        return f"Nothing is read yet, at {_date(now)}."
    return f"Read at {_date(last.found.now)}; this page is from {_date(now)} and loads itself again."


def _date(now: float) -> str:
    return f"{date_text(now)} UTC"


def _alarms(last: Standing | None, now: float, every: float, problem: str) -> list[str]:
    said = [problem] if problem else []
    if last is not None and now - last.found.now > 3 * every:
        said.append(f"What is below is {rough(now - last.found.now)} old: nothing newer could be read.")
    return said


def _sections(last: Standing, replay: Any) -> list[str]:
    parts = [("", _headline(last)), ("Machine", _machine(last)), ("Queue", _queue(last)), ("Next day", _ahead(last))]
    parts += [("How good predictions have been", _reliability(last)), ("Other policies", _replayed(replay))]
    notes = "".join(paragraph(note) for note in last.found.notes)
    parts += [("Notes", notes)] if notes else []
    return [f"<section>{f'<h2>{escaped(title)}</h2>' if title else ''}\n{html}\n</section>" for title, html in parts]


def _headline(last: Standing) -> str:
    jobs = f"{counted(last.running, 'job runs', 'jobs run')}, {counted(len(last.ahead.names), 'waits', 'wait')} for "
    said = [f"{jobs}{'its' if len(last.ahead.names) == 1 else 'their'} turn."]
    if last.held:
        said.append(f"{counted(last.held, 'job is', 'jobs are')} held, or waits for what is down or for such jobs.")
    return sentences(said)


def _machine(last: Standing) -> str:
    up = last.nodes - last.down
    rows = [("nodes in use", f"{min(last.used, last.nodes):,} of {up:,} that are up")]
    rows += [("nodes down", f"{last.down:,}")] if last.down else []
    rows += [(name, f"{used:,} of {amount:,} in use") for name, used, amount in last.pools]
    for one in last.found.document.get("reservations", [])[:5]:
        what = one.get("nodes", "all nodes")
        rows.append((f"reservation {one['name']}", f"{what}, {_date(one['start'])} to {_date(one['end'])}"))
    return pairs([*rows, ("policy that predictions assume", last.found.site.policy)])


def _queue(last: Standing) -> str:
    if not last.ahead.names:
        return paragraph("No job waits for its turn.")
    jobs = {job.called: job for job in last.found.jobs} | {
        f"{job.array}_": job for job in last.found.jobs if job.waits and job.tasks
    }
    ordered = sorted(zip(last.ahead.names, last.ahead.bands, strict=True), key=lambda one: float(one[1][3]))
    rows = []
    for name, bands in ordered[:_SHOWN]:
        job = jobs.get(name) or jobs.get(f"{name.partition('_')[0]}_")
        about = ["", "", "", ""]
        if job is not None:
            waited = rough(max(last.found.now - job.submit, 0.0))
            about = [f"{job.user} {_short(job.name)}", job.partition, f"{job.nodes:,}", waited]
        said = last.said.get(name)
        times = [rough(float(bands[place])) for place in (1, 3, 5)]
        rows.append([name, *about, *times, "not known" if said is None else rough(said)])
    titles = ("job", "user, name", "partition", "nodes", "waited", "10 %", "50 %", "90 %", "squeue --start")
    caption = "Time from now within which jobs start, by chance, and what squeue --start says."
    more = len(ordered) - len(rows)
    rest = paragraph(f"{more:,} more wait: forebay slurm predict lists them.") if more else ""
    return paragraph(caption) + table(titles, rows, range(3, 9)) + rest


def _short(name: str) -> str:
    return name if len(name) <= _LONG else f"{name[:_LONG]}…"


def _ahead(last: Standing) -> str:
    ahead, waits = last.ahead.outlook, last.ahead.waits
    if ahead is None or waits is None:
        return paragraph("Nothing runs or waits.")
    hours = (ahead["seconds"] / 3600).to_list()
    waiting, used = (
        [ahead[f"{what}_{part}"].to_list() for part in ("low", "middle", "high")] for what in ("waiting", "in_use")
    )
    top = 2.0 * math.ceil(max(*waiting[2], 3.0) / 2)
    pictures = band("jobs that wait, with a band of 80 %", hours, waiting, top)
    pictures += band("nodes in use, %", hours, [[100 * one for one in row] for row in used], 100.0, " %")
    coming = [
        [row["queue"], f"{row['jobs']:.0f}", *(rough(row[part]) for part in ("low", "middle", "high"))]
        for row in waits.iter_rows(named=True)
    ]
    titles = ("partition", "jobs that come", "wait 10 %", "50 %", "90 %")
    said = (
        paragraph("What jobs that come within a day will wait:") + table(titles, coming, range(1, 5)) if coming else ""
    )
    if not last.ahead.rhythm:
        said += paragraph("Less than a day is recorded: no job is expected to come, and waits may be longer.")
    return f'<div class="pair">{pictures}</div>{said}'


def _reliability(last: Standing) -> str:
    if not last.reliability:
        return paragraph("No job that was seen waiting has started yet.")
    rows: list[Sequence[str | Cell]] = []
    for one in last.reliability:
        cover = [f"{percent(one.coverage[share])}" for share in (0.5, 0.8, 0.9)]
        pair = [seconds(one.ours), seconds(one.slurm)] if one.both else ["", ""]
        rows.append([one.partition, f"{one.jobs:,}", *cover, seconds(one.error), f"{one.both:,}", *pair])
    titles = ("partition", "jobs", "in 50 %", "in 80 %", "in 90 %", "off by", "both", "off by, ours", "squeue --start")
    caption = (
        "Starts within intervals that were to cover 50, 80 and 90 %; the median of how far the middle was off, and "
        "of jobs for which squeue --start had an answer, of both at the same moment. Of each job the first "
        "prediction counts."
    )
    lost = counted(last.lost, "job that was predicted", "jobs that were predicted")
    note = paragraph(f"{lost} went without starting, or unseen.") if last.lost else ""
    return paragraph(caption) + table(titles, rows, range(1, 9)) + note


def _replayed(replay: Any) -> str:
    if not isinstance(replay, dict):
        return paragraph("Nothing is replayed yet: --policies names policies for it.")
    if not replay.get("rows"):
        return paragraph(f"No replay: {replay.get('why_not', 'nothing came of it')}.")
    rows: list[Sequence[str | Cell]] = []
    for row in replay["rows"]:
        tone = {"better": "better", "worse": "worse"}.get(row["verdict"], "soft")
        values = [seconds(row["value"]), seconds(row["reference_value"])]
        rows.append(
            [row["policy"], str(row["metric"]).replace("_", " "), *values, _change(row), Cell(row["verdict"], tone)]
        )
    titles = ("policy", "", "with it", "as it is", "change, with 95 %", "verdict")
    about = f"{counted(replay['jobs'], 'job')} of {_date(replay['since'])} to {_date(replay['until'])}, replayed "
    basis = f"against {replay['reference']}, the nearest to this site's scheduler; the machine is empty at first."
    failed = "".join(paragraph(f"{name}: {why}") for name, why in replay.get("failed", {}).items())
    return paragraph(about + basis) + table(titles, rows, range(2, 5)) + failed


def _change(row: dict[str, Any]) -> str:
    if row["change"] is None:
        return "not known"
    text = f"{row['change']:+.0%}"
    return text if row["low"] is None else f"{text} ({row['low']:+.0%} to {row['high']:+.0%})"
