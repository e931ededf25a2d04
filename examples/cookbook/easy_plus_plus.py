"""EASY++: run times predicted from each user's last two jobs, and the shortest prediction backfilled first.

Tsafrir, Etsion and Feitelson, Backfilling using system-generated predictions rather than user runtime estimates, IEEE
Transactions on Parallel and Distributed Systems 18(6), 2007. A job that outlives its prediction gets a longer one.
"""

import numpy as np

import forebay as fb

STEPS = np.cumsum([0, 60, 300, 900, 1800, 3600, 7200, 18000, 36000, 72000, 180000, 360000])


class EasyPlusPlus(fb.Policy):
    def setup(self, view: fb.View) -> None:
        self.last: dict[int, list[float]] = {}
        self.begun: set[int] = set()
        self.first = np.zeros(len(view.jobs))

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        jobs, expected = view.jobs, np.zeros(len(view.jobs))
        running = view.running["job"].tolist()
        for job in sorted(self.begun - set(running)):
            if jobs["finish"][job] > 0:
                self.last.setdefault(jobs["user"][job], []).append(jobs["finish"][job] - jobs["start"][job])
        for job in view.queue:
            last = self.last.get(jobs["user"][job], [])[-2:]
            self.first[job] = min(max(float(np.mean(last)), 1.0), view.walltime(job)) if last else view.walltime(job)
        for job in [*running, *view.queue.tolist()]:
            ran = view.now - jobs["leg_start"][job] if job in self.begun else 0.0
            longer = self.first[job] + STEPS
            expected[job] = min(longer[longer > ran][0] if longer[-1] > ran else np.inf, view.walltime(job))
        line, started = view.queue.tolist(), []
        while line and act.fits(line[0]):
            started.append(line.pop(0))
            act.start(started[-1], fb.LogReason.IN_ORDER)
        line[1:] = sorted(line[1:], key=lambda job: expected[job])
        self.begun = {*running, *started, *act.backfill(line, expected=expected)}
