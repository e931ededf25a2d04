"""Selective backfilling: only jobs that have waited long enough hold a reservation; the others start wherever they fit.

Srinivasan, Kettimuthu, Subramani and Sadayappan, Selective reservation strategies for backfill job scheduling, JSSPP
2002. Long enough is an expansion factor above the mean slowdown of the jobs that have ended, as they propose.
"""

import numpy as np

import forebay as fb


class Selective(fb.Policy):
    def setup(self, view: fb.View) -> None:
        self.begun: set[int] = set()
        self.slowdowns: list[float] = []

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        jobs, running = view.jobs, set(view.running["job"].tolist())
        for job in sorted(self.begun - running):
            ran = jobs["finish"][job] - jobs["start"][job]
            if jobs["finish"][job] > 0:
                self.slowdowns.append((jobs["finish"][job] - jobs["submit"][job]) / max(ran, 1.0))
        threshold = np.mean(self.slowdowns) if self.slowdowns else 1.0

        def factor(job: int) -> float:
            return 1.0 + float(view.now - jobs["submit"][job]) / max(view.walltime(job), 1.0)

        line = view.queue.tolist()
        chosen = [job for job in line if factor(job) > threshold]
        others = [job for job in line if factor(job) <= threshold]
        started = act.backfill(chosen, conservative=True)
        held = [job for job in chosen if job not in started]  # in the second call they come first, and cannot start
        started += act.backfill(held + others, depth=len(held))
        self.begun = running | set(started)
