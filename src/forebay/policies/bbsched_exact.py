"""bbsched with all undominated choices, instead of those that a genetic algorithm finds."""

from dataclasses import dataclass

from forebay.policies._families.window import Windowed


@dataclass(frozen=True)
class BBSchedExact(Windowed):
    """The same rule on the exact front."""

    method: str = "exact"
