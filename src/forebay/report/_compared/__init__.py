"""The page of a comparison or a run: the answer, verdicts, who loses, waits, the schedule to look into, inputs."""

from pathlib import Path

from forebay._support.text import counted
from forebay.metrics.window import window
from forebay.report import _folder, _inputs, _ranking, _schedule, _waits, tables
from forebay.report._compared import answer, groups, matrix
from forebay.report.page import Page, Section
from forebay.results import load


def page_of(folder: Path) -> Page:
    """The page of a folder that `forebay compare` or `forebay run -o` wrote."""
    runs = _folder.read(folder)
    results = {label: load(place) for label, place in zip(runs.labels, runs.folders, strict=True)}
    first = runs.first
    period = first.get("window")
    within = {label: window(result, *period) if period else result for label, result in results.items()}
    judged = runs.verdicts is not None and not runs.verdicts.is_empty()
    title = "Ranking" if len(runs.documents) > 1 else "Summary"
    sections = [
        *([Section("Answer", tables.sentences(texts))] if (texts := answer.sentences(runs)) else []),
        *matrix.sections(runs),
        Section(title, _ranking.ranking(runs)),
        *(matrix.changes(runs) if judged else _ranking.means(runs)),
        *groups.sections(runs, runs.other),
        _waits.section(_waits.of(within)),
        _schedule.section(results, runs.pair),
        _inputs.section(runs),
    ]
    policies = runs.labels[0] if len(runs.labels) == 1 else counted(len(runs.labels), "policy", "policies")
    name = f"{first.get('workload', 'A workload')} under {policies}"
    return Page(name, sections, [f"{counted(int(first.get('jobs', 0)), 'job')} on {_inputs.machine(first)}"])
