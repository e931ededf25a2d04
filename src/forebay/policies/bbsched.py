"""A window of jobs chosen by multi-objective optimisation, with a genetic algorithm: BBSched (Fan et al. 2019)."""

from dataclasses import dataclass

from forebay.policies._families.window import Windowed


@dataclass(frozen=True)
class BBSched(Windowed):
    """Nodes first, unless twice as much is to be gained elsewhere."""
