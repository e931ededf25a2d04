"""HEFT on a cluster: the job with the longest chain of work behind it goes first, and each begins at its earliest time.

Topcuoglu, Hariri and Wu, Performance-effective and low-complexity task scheduling for heterogeneous computing, IEEE
Transactions on Parallel and Distributed Systems 13(3), 2002. The upward rank of a task is its critical path, as nodes
are alike; laying a reservation finds the gaps that it inserts tasks into. Walltimes stand for run times.
"""

import forebay as fb


class Heft(fb.Policy):
    def decide(self, view: fb.View, act: fb.Actions) -> None:
        profile = view.profile()
        ranked = sorted(view.queue.tolist(), key=lambda job: (-view.critical_path(job), view.jobs["id"][job]))
        for job, start in zip(ranked, profile.lay(ranked), strict=True):
            if start == view.now:
                act.start(job, beside=profile)
