import forebay as fb


class Picky(fb.Policy):
    limit = 128

    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job)
        if view.capacity[0] > 100_000:
            self.rush(view, act)

    def rush(self, view, act):
        for job in view.queue:
            act.start(job)
