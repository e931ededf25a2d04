"""Conservative backfilling once more, reservation by reservation: a frame for rules of one's own.

Mu'alem and Feitelson, Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM SP2 with
backfilling, IEEE Transactions on Parallel and Distributed Systems 12(6), 2001.
"""

import forebay as fb


class ByProfile(fb.Policy):
    def decide(self, view, act):
        line = view.queue.tolist()
        while line and act.fits(line[0]):
            act.start(line.pop(0), fb.LogReason.IN_ORDER)
        profile = view.profile()
        for job in line:
            start = profile.earliest(job)
            if start == view.now:
                act.start(job, fb.LogReason.BACKFILLED, beside=profile)
            else:
                profile.reserve(job, start)
