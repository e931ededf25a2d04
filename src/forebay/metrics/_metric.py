"""What a metric says of itself: `@metric` before a function makes it one, with nothing else to edit."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from forebay.results import Result

Number = float | int | None
Numbers = Mapping[str, Number]
Unit = str | Callable[[str], str]
Better = str | Callable[[str], str]
Need = Callable[[Result], bool]

GROUPS = ("counts", "machine", "jobs", "deadlines", "users", "staging", "tiers", "servers", "failures")
"""Parts of a summary, in its order; any other comes last."""

OF_JOBS = ("jobs", "deadlines", "users")
"""Those that are taken from jobs one by one: a comparison takes them over the jobs that ran under every policy."""

LOWER, HIGHER = "lower", "higher"

UNITS = ("jobs", "times", "jobs/h", "s", "node-hours", "share", "bytes", "J", "W", "")
"""What numbers are in: shares are from 0 to 1, and ratios have no unit."""

_VARIES = re.compile(r"[A-Z]+(?:_[A-Z]+)*")


def pattern_of(name: str) -> str:
    """What the numbers of a name look like: what varies in it is anything."""
    return _VARIES.sub(".+", re.escape(name))


@dataclass(frozen=True)
class Metric:
    """A function of a result that gives a number, or several by their names."""

    of: Callable[[Result], Number | Numbers]
    names: tuple[str, ...]  # as in summaries and in the docs; what varies is in capitals: utilisation_RESOURCE
    unit: Unit  # of all its numbers, or what tells it by a number's name
    group: str
    needs: Need  # whether a run has what the metric is taken from; its names are left out where not
    better: Better = LOWER  # or "higher": which of two numbers is better, or what tells it by a number's name

    def numbers(self, result: Result) -> Numbers:
        """What the summary of a result holds of this metric."""
        if not self.needs(result):
            return {}
        found = self.of(result)
        return found if isinstance(found, Mapping) else {self.names[0]: found}

    def tried(self, result: Result) -> tuple[Numbers, str]:
        """The same, with a remark where something went wrong: of our own metrics nothing does."""
        return self.numbers(result), ""

    def gives(self, name: str) -> bool:
        """Whether a number of this name is of this metric."""
        return any(re.fullmatch(pattern_of(known), name) for known in self.names)

    def unit_of(self, name: str) -> str:
        """The unit of one of its numbers."""
        return self.unit if isinstance(self.unit, str) else self.unit(name)

    def higher_is_better(self, name: str) -> bool:
        """Whether more of one of its numbers is better."""
        return (self.better if isinstance(self.better, str) else self.better(name)) == HIGHER


Function = TypeVar("Function", bound=Callable[[Result], Number | Numbers])


def always(result: Result) -> bool:
    """Of metrics that every run has."""
    return True


def metric(
    *names: str, unit: Unit, group: str, needs: Need = always, better: Better = LOWER
) -> Callable[[Function], Function]:
    """Put the function below it into every summary: `forebay.metric` says what the arguments are."""

    def mark(function: Function) -> Function:
        about = Metric(function, names or (function.__name__,), unit, group, needs, better)
        function.metric = about  # type: ignore[attr-defined]
        return function

    return mark
