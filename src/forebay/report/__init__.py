"""One page of a folder of results: verdicts, waits, the schedule to look into, and what it takes to repeat it all.

`page` and `tables` are what any other page can be made of; `table` is the summary of runs for a paper.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._support.files import as_path, writable_folder
from forebay.report._summaries import table

if TYPE_CHECKING:
    from forebay.report.page import Page

__all__ = ["table", "write"]

NAME = "report.html"
_KINDS = {
    "capacity.json": "_capacity",
    "sweep.json": "_sweep",
    "study.json": "_study",
    "fidelity.json": "_fidelity",
}
"""Files that tell of an answer, and which module makes a page of it."""


def write(folder: str | Path, path: str | Path | None = None) -> Path:
    """Write a report of results: one HTML file that needs nothing else.

    Parameters
    ----------
    folder
        What `forebay compare`, `run -o`, `sweep`, `capacity`, `study` or `fidelity -o` wrote.
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
    folder = as_path(folder, "the folder")
    target = folder / NAME if path is None else as_path(path, "the report")
    return write_page(_page_of(folder), target)


def write_page(made: "Page", path: Path) -> Path:
    """Write a page that is made of an answer in memory."""
    from forebay.report import page

    writable_folder(path.parent)
    return page.write(path, made.title, made.sections, made.about)


def renew(folder: Path, wanted: bool) -> list[Path]:
    """The page of what a command has found, where it is wanted; one of an earlier answer goes."""
    if not wanted:
        (folder / NAME).unlink(missing_ok=True)
        return []
    return [write(folder)]


def _page_of(folder: Path) -> "Page":
    """The page of whatever the folder holds; what it holds is seen by its files."""
    from forebay.report import _document
    from forebay.results._format import RUN
    from forebay.results._whole import reading

    for name, module in _KINDS.items():
        if (folder / name).is_file():
            try:
                made: Page = _module(module).page_of(folder)
                return made
            except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
                raise _document.unreadable(folder / name) from None
    with reading(*(path.parent for path in [folder / RUN, *sorted(folder.glob(f"*/{RUN}"))] if path.is_file())):
        runs: Page = _module("_compared").page_of(folder)
    return runs


def _module(name: str) -> Any:
    from importlib import import_module

    return import_module(f"forebay.report.{name}")
