"""Preemption: a job of higher priority that does not fit takes the place of the lowest one that runs."""

import forebay as fb


class Preempting(fb.Policy):
    def decide(self, view, act):
        priority = view.jobs["priority"]
        for job in sorted(view.queue, key=lambda job: -priority[job]):
            if act.fits(job):
                act.start(job)
                continue
            lower = [one for one in view.running["job"] if priority[one] < priority[job]]
            victims = [one for one in lower if view.jobs["leg_start"][one] < view.now]
            if victims:
                act.interrupt(min(victims, key=lambda one: priority[one]))
            if victims or len(view.running):
                return
