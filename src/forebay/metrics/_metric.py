"""What a metric says of itself: `@metric` before a function makes it one, with nothing else to edit."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from forebay.results import Result

Number = float | int | None
Numbers = Mapping[str, Number]
Unit = str | Callable[[str], str]
Need = Callable[[Result], bool]

GROUPS = ("counts", "machine", "jobs", "staging", "tiers", "servers", "failures")
"""Parts of a summary, in its order; any other comes last."""

UNITS = ("jobs", "times", "jobs/h", "s", "node-hours", "share", "bytes", "J", "W", "")
"""What numbers are in: shares are from 0 to 1, and ratios have no unit."""

_VARIES = re.compile(r"[A-Z]+(?:_[A-Z]+)*")


@dataclass(frozen=True)
class Metric:
    """A function of a result that gives a number, or several by their names."""

    of: Callable[[Result], Number | Numbers]
    names: tuple[str, ...]  # as in summaries and in the docs; what varies is in capitals: utilisation_RESOURCE
    unit: Unit  # of all its numbers, or what tells it by a number's name
    group: str
    needs: Need  # whether a run has what the metric is taken from; its names are left out where not

    def numbers(self, result: Result) -> Numbers:
        """What the summary of a result holds of this metric."""
        if not self.needs(result):
            return {}
        found = self.of(result)
        return found if isinstance(found, Mapping) else {self.names[0]: found}

    def gives(self, name: str) -> bool:
        """Whether a number of this name is of this metric."""
        return any(re.fullmatch(_VARIES.sub(".+", re.escape(known)), name) for known in self.names)

    def unit_of(self, name: str) -> str:
        """The unit of one of its numbers."""
        return self.unit if isinstance(self.unit, str) else self.unit(name)


Function = TypeVar("Function", bound=Callable[[Result], Number | Numbers])


def always(result: Result) -> bool:
    """Of metrics that every run has."""
    return True


def metric(*names: str, unit: Unit, group: str, needs: Need = always) -> Callable[[Function], Function]:
    """Put the function below it into every summary.

    Parameters
    ----------
    *names
        Of its numbers, by default the function's own; what varies is in capitals: "utilisation_RESOURCE".
    unit
        Of all its numbers ("s", "jobs", "share", "bytes", ...), or a function that tells it by a number's name.
    group
        The part of the summary: counts, machine, jobs, staging, tiers or failures.
    needs
        Whether a run has what the metric is taken from; its names are left out where not.

    Examples
    --------
    >>> @fb.metrics.metric(unit="s", group="jobs")
    ... def longest_wait(result):
    ...     return result.jobs["waiting_time"].max()
    >>> longest_wait(fb.simulate("table1"))
    540.0
    """

    def mark(function: Function) -> Function:
        about = Metric(function, names or (function.__name__,), unit, group, needs)
        function.metric = about  # type: ignore[attr-defined]
        return function

    return mark
