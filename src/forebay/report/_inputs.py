"""What the runs were made of, and how to make them again."""

import shlex
from collections.abc import Mapping
from typing import Any

from forebay._text import counted
from forebay.core.units import format_seconds
from forebay.report import tables
from forebay.report._folder import Runs
from forebay.report.page import Section, escaped


def section(runs: Runs) -> Section:
    """Inputs, versions, seeds and hashes, from run.json."""
    first = runs.documents[0]
    rows = [("workload", f"{first.get('workload', 'a workload')}, {counted(int(first.get('jobs', 0)), 'job')}")]
    rows += [("" if place else "made of", str(line)) for place, line in enumerate(first.get("provenance", []))]
    if first.get("workload_sha256"):
        rows.append(("SHA-256 of it", str(first["workload_sha256"])))
    rows.append(("platform", platform(first)))
    rows += [(word, str(first[key])) for word, key in (("job model", "job_model"), ("seed", "seed")) if key in first]
    if isinstance(first.get("failures"), Mapping):
        rows.append(("failures", str(first["failures"].get("text", ""))))
    if first.get("window"):
        rows.append(("window", f"jobs submitted from {' to '.join(map(format_seconds, first['window']))}"))
    versions = first.get("versions", {})
    rows.append(("versions", ", ".join(f"{name} {number}" for name, number in versions.items())))
    notes = dict.fromkeys(str(note) for document in runs.documents for note in document.get("notes", []))
    rows += [("note", note) for note in notes]
    logs = [[label, str(one.get("log_sha256", "-"))] for label, one in zip(runs.labels, runs.documents, strict=True)]
    table = tables.table(["policy", "SHA-256 of its log"], logs)
    again = f"<h3>Make it again</h3><pre>{escaped(command(runs))}</pre>{tables.paragraph(_AGAIN)}"
    return Section("Inputs", f"{tables.pairs(rows)}{again}{table}")


_AGAIN = (
    "Name the workload by its file, and a platform that is no preset by the options or the file it came from. "
    "The same versions give logs with the same hashes."
)


def platform(document: Mapping[str, Any]) -> str:
    """The machine in words."""
    machine = document.get("platform")
    return str(machine.get("text", machine.get("name", ""))) if isinstance(machine, Mapping) else str(machine or "")


def command(runs: Runs) -> str:
    """What to type."""
    first = runs.documents[0]
    machine = first.get("platform")
    words = ["forebay", "compare" if len(runs.documents) > 1 else "run", str(first.get("workload", "default"))]
    words += ["--policies" if len(runs.documents) > 1 else "--policy", ",".join(runs.labels)]
    if isinstance(machine, Mapping) and machine.get("name"):
        words += ["--platform", str(machine["name"])]
    for option, key in (("--job-model", "job_model"), ("--seed", "seed")):
        if first.get(key) is not None:
            words += [option, str(first[key])]
    if first.get("window"):
        words += ["--window", ":".join(f"{time:.15g}" for time in first["window"])]
    return shlex.join(words)
