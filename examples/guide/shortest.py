"""Backfilling in an order of one's own: short jobs first, but who has waited for a day goes before them."""

import forebay as fb


class Shortest(fb.Policy):
    def __init__(self, patience: float = 24.0):
        self.patience = patience

    def decide(self, view, act):
        def place(job):
            waited = (view.now - view.jobs["submit"][job]) / 3600
            return (0, -waited) if waited >= self.patience else (1, view.walltime(job))

        act.backfill(sorted(view.queue, key=place))
