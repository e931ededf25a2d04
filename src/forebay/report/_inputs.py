"""What the runs were made of, and how to make them again."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from forebay._run.labels import SITE
from forebay._support.text import counted, together
from forebay.core.units import format_seconds
from forebay.report import tables
from forebay.report._folder import Runs
from forebay.report.page import Section, escaped


def section(runs: Runs) -> Section:
    """Inputs, versions, seeds and hashes, from run.json."""
    first = runs.first
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
    rows += versions(first)
    notes = dict.fromkeys(str(note) for document in runs.documents for note in document.get("notes", []))
    rows += [("note", note) for note in together(notes)]
    each = list(zip(runs.labels, runs.documents, strict=True))
    rows += [
        (f"policy {label}", str(one["spec"]))
        for label, one in each
        if "spec" in one and not _is_derived(label, runs.labels)
    ]
    logs = [[label, str(one.get("log_sha256", "-"))] for label, one in each]
    table = tables.table(["policy", "SHA-256 of its log"], logs)
    return Section("Inputs", f"{tables.pairs(rows)}{again(command(runs), bool(runs.command))}{table}")


_HASHES = "The same versions give logs with the same hashes."
_BY_NAME = "Files are named as they were then, seen from the folder in which the command was given."
_GUESSED = (
    "Name the workload by its file, a platform that is no preset by the options or the file it came from, and a policy "
    "that was an object of a program by the file of its class."
)


def again(text: str, exact: bool = True) -> str:
    """The command that gives the same results, as HTML."""
    note = f"{_BY_NAME if exact else _GUESSED} {_HASHES}"
    return f"<h3>Make it again</h3><pre>{escaped(text)}</pre>{tables.paragraph(note)}"


def again_by(words: Sequence[str]) -> str:
    """The same of the words of a command; nothing where there are none."""
    return again(shlex.join(words)) if words else ""


def versions(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Versions of what made the numbers, as a row of facts."""
    found = document.get("versions") or {}
    return [("versions", ", ".join(f"{name} {number}" for name, number in found.items()))] if found else []


def platform(document: Mapping[str, Any]) -> str:
    """The machine in words."""
    machine = document.get("platform")
    return str(machine.get("text", machine.get("name", ""))) if isinstance(machine, Mapping) else str(machine or "")


def machine(document: Mapping[str, Any]) -> str:
    """The machine's name; what it has stands under the inputs."""
    found = document.get("platform")
    return str(found.get("name") or found.get("text", "")) if isinstance(found, Mapping) else str(found or "")


def command(runs: Runs) -> str:
    """What to type; where it was not recorded, what the runs tell of it."""
    if runs.command:
        return shlex.join(runs.command)
    first = runs.first
    machine = first.get("platform")
    words = ["forebay", "compare" if len(runs.documents) > 1 else "run", str(first.get("workload", "default"))]
    words += [
        "--policies" if len(runs.documents) > 1 else "--policy",
        ",".join(_named(label, one, runs.labels) for label, one in zip(runs.labels, runs.documents, strict=True)),
    ]
    if isinstance(machine, Mapping) and machine.get("name"):
        words += ["--platform", str(machine["name"])]
    for option, key in (("--job-model", "job_model"), ("--seed", "seed")):
        if first.get(key) is not None:
            words += [option, str(first[key])]
    if first.get("window"):
        words += ["--window", ":".join(f"{time:.15g}" for time in first["window"])]
    return shlex.join(words)


def _named(label: str, document: Mapping[str, Any], labels: Sequence[str]) -> str:
    """A policy as commands take it: with its label, where tables do not show its spec and the platform has none."""
    known = "spec" not in document or label == SITE or _is_derived(label, labels)
    return label if known else f"{label}={document['spec']}"


def _is_derived(label: str, labels: Sequence[str]) -> bool:
    """Whether it names one of the others with something changed."""
    return any(label.startswith(f"{other}, ") for other in labels)
