"""All numbers of a run in one flat dictionary, for tables, comparisons and run.json."""

import warnings
from collections.abc import Iterable
from typing import Any

from forebay.errors import InputError, MetricWarning, brief, nearest, wrong_type
from forebay.metrics._listing import built_in, in_order
from forebay.metrics._metric import Metric, Number
from forebay.metrics._own import registry
from forebay.metrics.window import window as restrict
from forebay.results import Result
from forebay.results._format import EARLIER


class Numbers(dict[str, Number]):
    """A dictionary that names the nearest of its keys where it is asked for one that it lacks."""

    def __missing__(self, name: str) -> Number:
        if EARLIER.get(name) in self:
            return self[EARLIER[name]]
        raise KeyError(f"the summary has no number {brief(name)}: {nearest(name, self)}")


def summary(result: Result, window: tuple[float, float] | None = None) -> dict[str, Any]:
    """Every number of a run by name; None where no job counts.

    Parameters
    ----------
    result
        The run.
    window
        Only jobs submitted from the first of these seconds up to, not including, the second.

    Returns
    -------
    dict
        ci95_* is 1.96 s / sqrt(n) over the jobs of this one run. Numbers of staging and traffic are there only where
        the run has any. A metric of your own that raises gives a `MetricWarning`, and its number is None.

    Examples
    --------
    >>> result = fb.simulate("table1")
    >>> numbers = fb.summary(result)
    >>> numbers["n_jobs"], numbers["mean_wait"]
    (8, 142.5)
    >>> fb.summary(result, window=(0, 120))["n_jobs"]
    3
    """
    if not isinstance(result, Result):
        raise wrong_type("the result", result, "what forebay.simulate or forebay.load returns")
    if window is not None:
        if not isinstance(window, tuple | list) or len(window) != 2:
            raise wrong_type("the window", window, "its start and end in seconds: (0, 86400)")
        result = restrict(result, *window)
    numbers, remarks = collected(result, registry.own())
    for remark in remarks:
        warnings.warn(remark, MetricWarning, stacklevel=2)
    return numbers


def collected(result: Result, own: Iterable[Metric] = ()) -> tuple[Numbers, list[str]]:
    """The numbers of installed metrics and of these, and remarks on those that are left empty."""
    numbers, remarks = Numbers(), list[str]()
    for one in in_order((*built_in(), *own)) if own else built_in():
        found, remark = one.tried(result)
        twice = numbers.keys() & found.keys()
        if twice:
            raise InputError(f"two metrics are called {min(twice)}; rename that of {one.of.__module__}")
        numbers.update(found)
        remarks += [remark] if remark else []
    return numbers, remarks
