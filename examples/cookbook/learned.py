"""F1 to F4: four orders that nonlinear regression found in many simulated schedules; the lowest value goes first.

Carastan-Santos and de Camargo, Obtaining dynamic scheduling policies with simulation and machine learning, SC 2017. In
these r is the walltime, n the nodes and s the time of submission, from 1 s on.
"""

from collections.abc import Callable

import numpy as np

import forebay as fb

FUNCTIONS: dict[int, Callable[..., np.ndarray]] = {
    1: lambda r, n, s: np.log10(r) * n + 8.70e2 * np.log10(s),
    2: lambda r, n, s: np.sqrt(r) * n + 2.56e4 * np.log10(s),
    3: lambda r, n, s: r * n + 6.86e6 * np.log10(s),
    4: lambda r, n, s: r * np.sqrt(n) + 5.30e5 * np.log10(s),
}


class Learned(fb.Policy):
    def __init__(self, function: int = 1):
        self.function = FUNCTIONS[function]

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        queue = view.queue
        walltime = np.maximum(view.legs["walltime"][view.jobs["leg"][queue]], 1.0)
        submit = np.maximum(view.jobs["submit"][queue], 1.0)
        value = self.function(walltime, view.jobs["nodes"][queue], submit)
        act.backfill(queue[np.argsort(value, kind="stable")])
