"""Jobs that read and write the smallest share of their time go first, as far as what is learned of their users says."""

import forebay as fb


class LightFirst(fb.Policy):
    known = "learned"

    def decide(self, view, act):
        for job in sorted(view.queue, key=lambda job: view.io(job) / view.time(job)):
            if act.fits(job):
                act.start(job)
