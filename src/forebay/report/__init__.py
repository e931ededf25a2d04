"""One page of a folder of results: verdicts, waits, the schedule to look into, and what it takes to repeat it all.

`page` and `tables` are what any other page can be made of.
"""

from pathlib import Path

from forebay._files import as_path, writable_folder
from forebay._text import counted

__all__ = ["write"]

NAME = "report.html"


def write(folder: str | Path, path: str | Path | None = None) -> Path:
    """Write a report of a comparison or of a run: one HTML file that needs nothing else.

    Parameters
    ----------
    folder
        What `forebay compare` or `forebay run -o` wrote.
    path
        The file; by default report.html in the folder.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> files = fb.simulate("table1").save("out")
    >>> fb.report.write("out").name
    'report.html'
    """
    from forebay.metrics.window import window
    from forebay.report import _folder, _inputs, _schedule, _verdicts, _waits, page
    from forebay.results import load

    folder = as_path(folder, "the folder")
    target = folder / NAME if path is None else as_path(path, "the report")
    runs = _folder.read(folder)
    writable_folder(target.parent)
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
    about = [f"{counted(int(first.get('jobs', 0)), 'job')} on {_inputs.platform(first)}"]
    return page.write(target, title, sections, about)
