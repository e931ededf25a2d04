"""Conservative backfilling by hand: everybody who cannot start holds a reservation."""

import forebay as fb


class ByHand(fb.Policy):
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
