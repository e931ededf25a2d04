"""SAF: the job with the smallest area, nodes times walltime, is the head of the queue; the others may pass it.

Carastan-Santos, de Camargo, Trystram and Zrigui, One can only gain by replacing EASY backfilling: a simple scheduling
policies case study, CCGrid 2019.
"""

import forebay as fb


class SmallestArea(fb.Policy):
    def decide(self, view: fb.View, act: fb.Actions) -> None:
        act.backfill("area")
