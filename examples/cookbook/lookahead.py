"""LOS: of all sets of jobs that do not delay the head, start one that uses the most nodes now.

Shmueli and Feitelson, Backfilling with lookahead to optimize the packing of parallel jobs, Journal of Parallel and
Distributed Computing 65(9), 2005. Dynamic programming over the nodes free now and those spare once the head starts;
of several best sets the one with the earliest jobs.
"""

import forebay as fb


class Lookahead(fb.Policy):
    def __init__(self, window: int = 50):
        self.window = window

    def decide(self, view: fb.View, act: fb.Actions) -> None:
        line = view.queue.tolist()
        while line and act.fits(line[0]):
            act.start(line.pop(0), fb.LogReason.IN_ORDER)
        if not line:
            return
        shadow = view.earliest(line[0])
        spare = view.profile().at(shadow) - view.demand(line[0]) if shadow < float("inf") else view.capacity.copy()
        jobs = [job for job in line[1 : self.window + 1] if act.fits(job)]
        nodes = [int(view.demand(job)[0]) for job in jobs]
        later = [view.now + view.walltime(job) > shadow for job in jobs]
        # Nodes used, and by whom, by nodes free now and nodes spare then.
        best: dict[tuple[int, int], tuple[int, tuple[int, ...]]] = {(act.free[0], int(spare[0])): (0, ())}
        for place in range(len(jobs)):
            for (free, left), (used, chosen) in list(best.items()):
                n, then = nodes[place], nodes[place] * later[place]
                if n <= free and then <= left:
                    found, key = (used + n, (*chosen, place)), (free - n, left - then)
                    best[key] = max(best.get(key, found), found, key=lambda one: (one[0], [-p for p in one[1]]))
        _, chosen = max(best.values(), key=lambda one: (one[0], [-place for place in one[1]]))
        for place in chosen:
            needs = view.demand(jobs[place]) * later[place]
            if act.fits(jobs[place]) and (needs <= spare).all():
                act.start(jobs[place], fb.LogReason.BACKFILLED)
                spare = spare - needs
