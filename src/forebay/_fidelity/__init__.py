"""How faithful a simulation is: a recorded period replayed, and held against what was recorded."""

from forebay._fidelity._found import Fidelity
from forebay._fidelity._replay import fidelity

__all__ = ["Fidelity", "fidelity"]
