"""First come, first served: jobs start in order of arrival, up to the first that does not fit."""


class InOrder:
    def decide(self, view, act):
        for job in view.queue:
            if not act.fits(job):
                break
            act.start(job)
