"""Conservative backfilling: every waiting job holds a reservation, and none is delayed.

Mu'alem and Feitelson, Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM SP2 with
backfilling, IEEE Transactions on Parallel and Distributed Systems 12(6), 2001.
"""

import forebay as fb


class Conservative(fb.Policy):
    def decide(self, view: fb.View, act: fb.Actions) -> None:
        act.backfill(view.queue, conservative=True)
