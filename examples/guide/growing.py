"""Jobs of several sizes: each gets what it asks for, or its largest size, when there are nodes and nobody waits."""

import forebay as fb


class Growing(fb.Policy):
    resizes = True

    def decide(self, view, act):
        for job in view.queue:
            sizes = [n for n in view.sizes(job) if act.fits(job, nodes=n)]
            if not sizes:
                break
            act.start(job, nodes=sizes[-1])
        if len(view.queue):
            return
        for job in view.points:
            size = view.wants(job) or view.sizes(job)[-1]
            if size - view.size(job) <= act.free[0]:
                act.resize(job, size)
