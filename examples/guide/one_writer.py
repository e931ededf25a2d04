"""Any job that fits is started, and the one that started first has the file system to itself."""

import forebay as fb


class OneWriter(fb.Policy):
    """The job that started first has the file system to itself."""

    steers = True

    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job)
        running = sorted(view.running["job"], key=lambda job: (view.jobs["start"][job], job))
        for place, job in enumerate(running):
            act.io_weight(job, 1000.0 if place == 0 else 1.0)
