"""Relaxed backfilling: others may delay the head, but by no more than a part of the wait that it was first told.

Ward, Mahood and West, Scheduling jobs on parallel systems using a relaxed backfill strategy, JSSPP 2002. A job that
becomes the head is told when it will start; from then on it may start later by `slack` times its wait until then.
"""

import numpy as np

import forebay as fb


class Relaxed(fb.Policy):
    def __init__(self, slack: float = 0.5):
        self.slack = slack

    def setup(self, view: fb.View) -> None:
        self.latest: dict[int, float] = {}

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        line = view.queue.tolist()
        while line and act.fits(line[0]):
            act.start(line.pop(0), fb.LogReason.IN_ORDER)
        if not line:
            return
        head = line[0]
        begin, submit = view.earliest(head), view.jobs["submit"][head]
        if begin < np.inf:
            self.latest.setdefault(head, begin + self.slack * (begin - submit))
        latest = max(self.latest.get(head, begin), begin)
        spare = view.profile().at(latest) - view.demand(head) if latest < np.inf else np.array(act.free)
        for job in line[1:]:
            needs = view.demand(job) * (view.now + view.walltime(job) > latest)
            if act.fits(job) and (needs <= spare).all():
                act.start(job, fb.LogReason.BACKFILLED)
                spare = spare - needs
