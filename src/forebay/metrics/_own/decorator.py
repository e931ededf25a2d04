"""`forebay.metric`: a function becomes a metric by the line before it."""

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forebay import _plugins
from forebay.errors import InputError, brief, nearest, wrong_type
from forebay.metrics import _listing
from forebay.metrics._metric import HIGHER, LOWER, UNITS, Better, Function, Metric, Need, Unit, always
from forebay.metrics._own import registry
from forebay.metrics._own.own import Own

_NAME = re.compile(r"(?=.{1,100}\Z)[a-z][a-z0-9]*(?:_(?:[a-z0-9]+|[A-Z]+))*", re.ASCII)
TAKEN = frozenset(
    {"workload", "platform", "job_model", "failures", "policy", "seed", "seeds", "runs", "reference", "metric"}
    | {"value", "reference_value", "change", "low", "high", "verdict", "n", "over"}
)
"""Columns beside numbers in the tables of comparisons and sweeps."""
_FORM = '@fb.metric(unit="s", better="lower")'


def metric(
    *names: str, unit: Unit = "", group: str = "jobs", needs: Need = always, better: Better = LOWER
) -> Callable[[Function], Function]:
    """Put the function below it into every summary, and so into comparisons, sweeps and targets.

    Parameters
    ----------
    *names
        Of its numbers, by default the function's own. A function that returns a dictionary lists the names in it; what
        varies is in capitals: "utilisation_RESOURCE".
    unit
        Of all its numbers: "s", "jobs", "times", "bytes", "share", "jobs/h", "node-hours", "J", "W" or "", or a
        function that tells it by a number's name.
    group
        The part of the summary, such as "jobs" or "machine"; one of your own comes last.
    needs
        Whether a run has what the metric is taken from; its names are left out where not.
    better
        Whether "lower" or "higher" numbers are better, for verdicts, or a function that tells it by a number's name.

    Examples
    --------
    >>> @fb.metric(unit="s", better="lower")
    ... def longest_wait(result):
    ...     return result.jobs["waiting_time"].max()
    >>> fb.summary(fb.simulate("table1"))["longest_wait"]
    540.0
    """
    _check(names, unit, better)

    def mark(function: Function) -> Function:
        if not inspect.isfunction(function):
            raise wrong_type("what @fb.metric stands before", function, f"a function of a result: {_FORM}")
        about = Metric(function, names or (function.__name__,), unit, group, needs, better)
        function.metric = _joined(about)  # type: ignore[attr-defined]
        return function

    return mark


def _joined(about: Metric) -> Metric:
    """A metric that this process has from now on; one of a package is found by looking."""
    module = str(about.of.__module__)  # None where there is none
    if _is_installed(module):
        return about
    own = Own(**vars(about), module=module, file=_file_of(about.of))
    _check_names(own)
    registry.add(own)
    return own


def _check(names: tuple[Any, ...], unit: Any, better: Any) -> None:
    if names and callable(names[0]):
        raise InputError(f"metric has no brackets before {getattr(names[0], '__name__', names[0])}; write {_FORM}")
    if not callable(unit) and unit not in UNITS:
        raise InputError(f"metric: unknown unit {brief(unit)}: {nearest(unit, UNITS)}")
    if not callable(better) and better not in (LOWER, HIGHER):
        raise InputError(f'metric: better is {brief(better)}; write "lower" or "higher"')


def _is_installed(module: str) -> bool:
    """Whether it is a module of ours, or one that a package announces: these are found by looking."""
    return module.startswith("forebay.metrics.") or _plugins.is_announced("metrics", module)


def _check_names(one: Own) -> None:
    for name in one.names:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name.startswith("ci95_"):
            what = 'names are words of small letters and digits joined by _, such as @fb.metric("longest_wait")'
            raise InputError(f"{one.title}: no metric can be called {brief(name)}; {what}")
        if name in TAKEN or _listing.is_built_in(name):
            what = "tables have a column of that name" if name in TAKEN else "forebay has a number of that name"
            raise InputError(f'metric {name!r} of {one.title} exists already: {what}; write @fb.metric("other_name")')


def _file_of(function: Any) -> str:
    """The file that gives another process the function; empty for a script, a notebook, or a module of a package."""
    module = sys.modules.get(function.__module__)
    file = str(getattr(module, "__file__", None) or "")
    stays = function.__module__ == "__main__" or "<locals>" in function.__qualname__
    alone = not getattr(module, "__package__", None)
    return str(Path(file).resolve()) if file.endswith(".py") and alone and not stays else ""
