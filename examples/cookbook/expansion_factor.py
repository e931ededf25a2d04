"""LXF&W: the job whose wait has stretched it most goes first, and with a weight also those that have waited long.

Chiang, Arpaci-Dusseau and Vernon, The impact of more accurate requested runtimes on production job scheduling
performance, JSSPP 2002. The expansion factor is (wait + walltime) / walltime; the weight counts per hour of wait.
"""

import numpy as np

import forebay as fb


class ExpansionFactor(fb.Policy):
    def __init__(self, weight: float = 0.02):
        self.weight = weight

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        queue = view.queue
        walltime = np.maximum(view.legs["walltime"][view.jobs["leg"][queue]], 1.0)
        waited = view.now - view.jobs["submit"][queue]
        score = (waited + walltime) / walltime + self.weight * waited / 3600
        act.backfill(queue[np.argsort(-score, kind="stable")])
