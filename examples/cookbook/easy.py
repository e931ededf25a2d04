"""EASY: the head of the queue holds a reservation, and jobs that do not delay it may pass.

Lifka, The ANL/IBM SP scheduling system, JSSPP 1995.
"""

import forebay as fb


class Easy(fb.Policy):
    def decide(self, view: fb.View, act: fb.Actions) -> None:
        act.backfill(view.queue)
