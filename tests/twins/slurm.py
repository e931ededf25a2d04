"""The slow twin of slurm-bb, in plain Python.

Start times are estimated on nodes alone. A job whose stage-in has not begun holds no reservation, neither of nodes nor
of buffer: one that needs much of it may starve behind a stream of small ones (Kopański & Rządca 2021, section 3). For
jobs of three legs: see job model three-legs. Jobs whose buffer comes with their nodes wait until both are free.
"""

from bisect import bisect_left, bisect_right

from forebay import Policy
from forebay.core.codes import LogReason


class _Plan:
    """Free nodes over time: free[i] from times[i] on."""

    def __init__(self, view):
        self.times, self.free = [view.now], [int(view.free[0])]
        for end, leg in zip(view.running["end"].tolist(), view.running["leg"].tolist(), strict=True):
            nodes = int(view.releases[leg][0])
            if nodes:
                self._add(end if end > view.now else view.now + 1.0, nodes)

    def _split(self, time):
        at = bisect_left(self.times, time)
        if at == len(self.times) or self.times[at] != time:
            self.times.insert(at, time)
            self.free.insert(at, self.free[at - 1])
        return at

    def _add(self, time, nodes):
        for i in range(self._split(time), len(self.free)):
            self.free[i] += nodes

    def earliest(self, nodes, seconds):
        """The first time from which so many nodes are free for so long; infinity if there is none."""
        i = 0
        while i < len(self.times):
            until = bisect_left(self.times, self.times[i] + seconds)
            short = next((k for k in range(i, max(until, i + 1)) if self.free[k] < nodes), None)
            if short is None:
                return self.times[i]
            i = short + 1
        return float("inf")

    def reserve(self, time, nodes, seconds):
        """Take nodes away from a time on."""
        first = bisect_right(self.times, time) - 1
        last = len(self.times) if seconds == float("inf") else self._split(time + seconds)
        for i in range(first, last):
            self.free[i] -= nodes


class SlurmBb(Policy):
    """Backfilling by estimated starts for jobs that have their buffer, buffers by estimated starts for the others.

    `max_planned` jobs are looked at in a decision, as Slurm's bf_max_job_test.
    """

    def __init__(self, max_planned=500):
        self.max_planned = max_planned

    def decide(self, view, act):
        """Start what can run, then grant buffers."""
        waiting = view.queue.tolist()
        if not waiting:
            return
        plan, wanting = _Plan(view), []
        for place, job in enumerate(waiting[: self.max_planned]):
            demand = view.demand(job).tolist()
            if demand[0] == 0:
                if not any(demand):  # it holds all it needs: staging out, or running on nodes that it kept
                    act.start(job, LogReason.IN_ORDER)
                else:
                    wanting.append((self._expected(view, plan, job), place, job))
                continue
            seconds = view.walltime(job)
            when = plan.earliest(demand[0], seconds)
            if when <= view.now and act.fits(job):
                act.start(job, LogReason.IN_ORDER if place == 0 else LogReason.BACKFILLED)
            elif any(demand[1:]):
                continue  # its buffer is not granted: nothing is held for it
            if when < float("inf"):
                plan.reserve(when, demand[0], seconds)
        for _, place, job in sorted(wanting):
            if act.fits(job):
                act.start(job, LogReason.IN_ORDER if place == 0 else LogReason.BACKFILLED)

    def _expected(self, view, plan, job):
        """When the nodes of the leg after this one are expected to be free."""
        leg = int(view.jobs["leg"][job])
        if leg == view.jobs["last_leg"][job]:
            return view.now
        return plan.earliest(int(view.demands[leg + 1][0]), float(view.legs["walltime"][leg + 1]))
