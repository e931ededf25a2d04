"""The slow twin of the policy slurm with preemption: the main scheduler, and jobs that displace others.

It is written from the documentation: who may be displaced is asked job by job, and whether victims are enough is added
up anew for each number of them. Actions are written only when a whole run of the main scheduler is thought through.
"""

from twins.slurm_scheduler import Slurm


class _DisplacedError(Exception):
    """The decision ends: somebody starts in the place of others."""


class PreemptingSlurm(Slurm):
    """`below` has the QOS that each QOS displaces; `rules` those of each QOS: priority, mode, exempt, grace."""

    def __init__(self, below, rules, youngest=False, reorder=1, strict=False, delay=121.0, **params):
        super().__init__(**params)
        self.below, self.rules, self.youngest = below, rules, youngest
        self.reorder, self.strict, self.delay = reorder, strict, delay

    def setup(self, view):
        super().setup(view)
        self.leaving = {}  # victim -> (when, for whom)

    def decide(self, view, act):
        self.leaving = {v: told for v, told in self.leaving.items() if v in view.running["job"].tolist()}
        if self._leave(view, act):
            return
        kept = self.batched, self.batch_due, self.full_due
        try:
            super().decide(view, act)
        except _DisplacedError:
            self.batched, self.batch_due, full = kept
            self.full_due = full if full is not None else self.full_due
            return
        for when, _ in self.leaving.values():
            act.wake(when)

    def _line(self, view):
        """In order of arrival, whoever has begun; without those that may not start again yet."""
        early = (view.jobs["start"] >= 0) & (view.jobs["queued_since"] + self.delay > view.now)
        return [job for job in sorted(view.queue.tolist()) if not early[job]]

    def _leave(self, view, act):
        due = [v for v, (when, _) in self.leaving.items() if when <= view.now]
        if not due:
            return False
        job = self.leaving[min(due, key=lambda v: view.running["job"].tolist().index(v))][1]
        due = [v for v in view.running["job"].tolist() if v in due and self.leaving[v][1] == job]
        free = self._free_without(view, [int(x) for x in view.free], due)
        for v in due:
            del self.leaving[v]
            self._stop(view, act, v)
        if job in view.queue.tolist() and all(n <= f for n, f in zip(view.demand(job), free, strict=True)):
            act.start(job, 1)
        return True

    def _stop(self, view, act, v):
        act.interrupt(v)
        if self.rules[int(view.jobs["qos"][v])]["mode"] == "CANCEL":
            act.kill(v)

    @staticmethod
    def _free_without(view, free, victims):
        for v in victims:
            free = [f + int(x) for f, x in zip(free, view.releases[view.jobs["leg"][v]], strict=True)]
        return free

    def _main(self, view, act, line, depth):
        """First in thought: who would start, and who would be the one that blocks; only then as it is."""
        free, tried, by_part = [int(x) for x in view.free], 0, {}
        for job in line:
            need = [int(x) for x in view.demand(job)]
            if tried == depth:
                break
            if not self.p["bf_licenses"] and any(n > f for n, f in zip(need[1:], free[1:], strict=True)):
                continue
            part = int(view.jobs["queue"][job])
            by_part[part] = by_part.get(part, 0) + 1
            if self.p["partition_job_depth"] and by_part[part] > self.p["partition_job_depth"]:
                continue
            tried += 1
            if all(n <= f for n, f in zip(need, free, strict=True)):
                free = [f - n for n, f in zip(need, free, strict=True)]
                continue
            self._displace(view, act, job, need, free)
            break
        return super()._main(view, act, line, depth)

    def _displace(self, view, act, job, need, free):
        if job in (other for _, other in self.leaving.values()):
            return
        victims = self._victims(view, job, need, free)
        if not victims:
            return
        grace = max(self.rules[int(view.jobs["qos"][v])]["grace"] for v in victims)
        if grace > 0:
            self.leaving |= dict.fromkeys(victims, (view.now + grace, job))
            return
        for v in victims:
            self._stop(view, act, v)
        act.start(job, 1)
        raise _DisplacedError

    def _victims(self, view, job, need, free):
        found = []
        for v in view.running["job"].tolist():
            qos, began = int(view.jobs["qos"][v]), float(view.jobs["leg_start"][v])
            rule = self.rules.get(qos)
            if qos not in self.below.get(int(view.jobs["qos"][job]), ()) or rule["mode"] == "OFF" or v in self.leaving:
                continue
            if began < view.now and view.now >= began + rule["exempt"]:
                found.append((rule["priority"], -began if self.youngest else int(view.jobs["held"][v]), v))
        order = [v for *_, v in sorted(found)]
        chosen = self._enough(view, need, free, order)
        for _ in range(self.reorder):
            if chosen and self.strict:
                chosen = self._enough(view, need, free, chosen[-1:] + chosen[:-1])
            elif chosen:
                chosen = self._enough(view, need, free, sorted(chosen, key=lambda v: -int(view.jobs["held"][v])))
        return chosen

    def _enough(self, view, need, free, order):
        for count in range(1, len(order) + 1):
            left = self._free_without(view, free, order[:count])
            if all(n <= f for n, f in zip(need, left, strict=True)):
                return order[:count]
        return []
