"""A policy with a mistake: it forgets what it has just started. `forebay check-policy` finds it."""


class Greedy:
    def decide(self, view, act):
        for job in view.queue:
            if view.demand(job)[0] <= view.free[0]:
                act.start(job)
