"""The page of a comparison or a run: verdicts, waits, the schedule to look into, inputs."""

from pathlib import Path

from forebay._support.text import counted
from forebay.metrics.window import window
from forebay.report import _folder, _inputs, _schedule, _verdicts, _waits
from forebay.report.page import Page
from forebay.results import load


def page_of(folder: Path) -> Page:
    """The page of a folder that `forebay compare` or `forebay run -o` wrote."""
    runs = _folder.read(folder)
    results = {label: load(place) for label, place in zip(runs.labels, runs.folders, strict=True)}
    first = runs.documents[0]
    period = first.get("window")
    within = {label: window(result, *period) if period else result for label, result in results.items()}
    sections = [
        *_verdicts.sections(runs),
        _waits.section(_waits.of(within)),
        _schedule.section(results),
        _inputs.section(runs),
    ]
    policies = runs.labels[0] if len(runs.labels) == 1 else counted(len(runs.labels), "policy", "policies")
    title = f"{first.get('workload', 'A workload')} under {policies}"
    return Page(title, sections, [f"{counted(int(first.get('jobs', 0)), 'job')} on {_inputs.platform(first)}"])
