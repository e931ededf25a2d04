"""WFP3 and UNICEF: large jobs that have waited long go first, or small and short ones do.

Tang, Lan, Desai and Buettner, Fault-aware, utility-based job scheduling on Blue Gene/P systems, CLUSTER 2009. Of a job
with wait w, walltime t and n nodes, the score is n (w / t)^3, or w / (t log2 n).
"""

import numpy as np

import forebay as fb


class Wfp3(fb.Policy):
    def decide(self, view: fb.View, act: fb.Actions) -> None:
        queue = view.queue
        walltime = np.maximum(view.legs["walltime"][view.jobs["leg"][queue]], 1.0)
        waited = view.now - view.jobs["submit"][queue]
        score = self.score(waited, walltime, view.jobs["nodes"][queue])
        act.backfill(queue[np.argsort(-score, kind="stable")])

    def score(self, waited: np.ndarray, walltime: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        return np.asarray(nodes * (waited / walltime) ** 3)


class Unicef(Wfp3):
    def score(self, waited: np.ndarray, walltime: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        return np.asarray(waited / (walltime * np.log2(np.maximum(nodes, 2))))
