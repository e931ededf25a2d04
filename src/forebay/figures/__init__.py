"""One file a figure: `DESCRIPTION` and `draw(results, path)`, which writes the picture and, as CSV, the data behind it.

A module dropped in this folder, or an entry point `forebay.figures`, is a figure; nothing else to edit. Names in
`results` are what legends show. A figure of what goes on over time sets `OVER_TIME`: it wants whole runs, where others
are as glad of a window. Pictures that only studies draw stand in `panels`.
"""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from forebay import _plugins
from forebay._support.files import as_path
from forebay._support.text import plain
from forebay.errors import InputError, wrong_type
from forebay.figures import _look
from forebay.results import Result

if TYPE_CHECKING:
    from forebay.figures._plan import Plan

__all__ = ["draw", "names", "plot"]

Results = Mapping[str, Result] | Result


def names() -> list[str]:
    """Every figure, as users write it.

    Examples
    --------
    >>> fb.figures.names()
    ['gantt', 'letter-values', 'usage', 'wait-by-size', 'waits']
    """
    return [name for name in _plugins.names("figures") if name != "panels"]


def proper(name: str) -> str:
    """The figure that a user means by `name`, as `names` spells it."""
    if not isinstance(name, str):
        raise wrong_type("the figure", name, 'its name, such as "waits"')
    found = _plugins.find("figures", name)
    if found not in names():
        raise _plugins.unknown("figure", name, names())
    return str(found)


def draw(name: str, results: Results, path: str | Path, width: str | float | None = None) -> list[Path]:
    """Write one figure, and beside it the data behind it as CSV.

    Parameters
    ----------
    name
        One of `names()`.
    results
        Runs by the name that legends show, or one run, named by its policy.
    path
        The picture; its ending says as what: svg, pdf or png.
    width
        That of a paper: "ieee-column", "ieee-page", "acm-column", "acm-page", or inches. The grey line above is then
        left out: it is for a caption. Without it, the figure's own.

    Returns
    -------
    list of Path
        The files written.

    Examples
    --------
    >>> [file.name for file in fb.figures.draw("waits", fb.simulate("table1"), "waits.svg")]
    ['waits.svg', 'waits.csv']
    """
    module, named = _checked(name, results)
    inches = None if width is None else _look.inches(width)
    if inches is not None and not hasattr(module, "plan"):
        raise InputError(f"figure {name!r} writes files of one size alone: it has no plan(results)")
    with _look.sized(inches):
        written: list[Path] = module.draw(named, as_path(path, "the picture to write"))
    return written


def plot(name: str, results: Results, ax: Any = None, width: str | float | None = None) -> Any:
    """Draw one figure with matplotlib, to show or to change; nothing is written. Your own settings of matplotlib count.

    Parameters
    ----------
    name
        One of `names()`.
    results
        Runs by the name that legends show, or one run, named by its policy. A schedule (gantt) is of one run.
    ax
        Axes to draw into: one, whose place is divided and which goes where the figure has several panels, or as many as
        there are panels. Without it, a new figure is made.
    width
        Of a new figure, as `draw` takes it. It has forebay's look then, with text of the size that papers print, and
        your own settings do not count.

    Returns
    -------
    matplotlib.axes.Axes or array of them
        One for letter-values and wait-by-size; from top to bottom, 2 for waits, 1 and one for each resource for usage,
        and 1 and one for each buffer and the file system for gantt. Of more than eight runs, waits and wait-by-size
        have a panel for each, row by row; of waits, first the shares of all. `.figure` of each is the whole figure.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> runs = {policy: fb.simulate("table1", policy=policy) for policy in ("fcfs", "fcfs-bb")}
    >>> figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    >>> axes = fb.figures.plot("letter-values", runs, ax=left)
    >>> share, tail = fb.figures.plot("waits", runs, ax=right)
    >>> tail.get_xlabel()
    'waiting time'
    """
    from forebay.figures import _plan

    module, named = _checked(name, results)
    if not hasattr(module, "plan"):
        raise InputError(f"figure {name!r} writes files alone: it has no plan(results); use forebay.figures.draw")
    return _plan.fill(module.plan(named), ax, width)


def _checked(name: str, results: Results) -> tuple[ModuleType, Mapping[str, Result]]:
    """The figure's module, and the runs by name; a run alone is named by its policy."""
    name = proper(name)
    if isinstance(results, Result):
        results = {str(results.facts.get("policy", "run")): results}
    if not isinstance(results, Mapping):
        raise wrong_type("what to draw", results, 'a Result, or several by name: {"fcfs": a, "fcfs-bb": b}')
    if not results:
        raise InputError(f"figure {name!r}: no run to draw")
    for label, result in results.items():
        if not isinstance(result, Result):
            raise wrong_type(f"the run {label!r}", result, "a Result, of forebay.simulate or forebay.load")
    # Names may come out of files, and neither fonts nor XML have control characters.
    return _plugins.load("figures", name, "figure"), {plain(label): result for label, result in results.items()}


class InFigures:
    """An answer with figures by name.

    Of a class, `_plan` gives one, without a name the usual one, and `_drawn_of` the facts of its run.
    """

    def _plan(self, figure: str = "") -> "Plan":
        raise NotImplementedError

    def _drawn_of(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def draw(
        self, path: str | PathLike[str], figure: str | None = None, width: str | float | None = None
    ) -> list[Path]:
        """Write a figure, and beside it the data behind it as CSV; gives the files.

        Parameters
        ----------
        path
            The picture; its ending says as what: svg, pdf or png.
        figure
            As `plot` takes it.
        width
            As `forebay.figures.draw` takes it.
        """
        from forebay.figures import _plan

        facts = self._drawn_of()
        about = [str(facts.get(word) or "") for word in ("workload", "policy")]
        return _plan.draw(self._plan(*([] if figure is None else [figure])), path, width, about)
