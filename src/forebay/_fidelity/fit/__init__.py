"""What a record leaves open, searched for: limits that jobs obey, nodes that were out of service, jobs held back."""

from forebay._fidelity.fit.guesses import Guess
from forebay._fidelity.fit.search import Fit, Run, Trial, fit

__all__ = ["Fit", "Guess", "Run", "Trial", "fit"]
