"""Malleable EASY backfilling as ADMIRE's D3.3 (2023), Algorithm 1, has it, in plain Python."""

import math

import forebay as fb


class Naive(fb.Policy):
    """mebf in plain Python."""

    resizes = True

    def __init__(self, sharing_factor=0.2, gamma=1.24, alpha=10.0, recorded=False, guard=False, **pools):
        self.low, self.high, self.minimum = (pools.get(name) for name in ("low", "high", "minimum"))
        self.sharing, self.gamma, self.alpha, self.recorded, self.guard = sharing_factor, gamma, alpha, recorded, guard

    def decide(self, view, act):
        self.view, self.act, self.resized, self.started = view, act, {}, {}
        self.shadow, self.spare = math.inf, act.free[0]
        for job in view.points:
            if view.wants(job) and view.wants(job) - int(view.jobs["held"][job]) <= act.free[0]:
                act.resize(job, view.wants(job), again=False)
                self.resized[job] = view.wants(job)
        self.spare = act.free[0]
        pending = sorted((int(job) for job in view.queue), key=lambda job: (-self.priority(job), view.jobs["id"][job]))
        running = [int(job) for job in view.running["job"]]
        coming = sum(max(view.size(job) - view.asked(job), 0) for job in running if job not in self.resized)
        head = None
        while pending:
            job = pending.pop(0)
            reason = fb.LogReason.IN_ORDER if head is None else fb.LogReason.BACKFILLED
            if self.start(job, view.sizes(job)[0], view.size(job), reason):
                continue
            if act.free[0] == 0:
                coming = self.shrink(job, coming)
                if self.start(job, view.sizes(job)[0], view.size(job), reason):
                    continue
            if head is None:
                head = job
                self.shadow, self.spare = self.reservation(job)
            if act.free[0] > 0:
                other = next(
                    (o for o in pending if self.start(o, self.least(o), view.size(o), fb.LogReason.BACKFILLED)), None
                )
                if other is None:
                    self.expand(self.priority(job))
                else:
                    pending.remove(other)
        if head is None:
            self.expand(-math.inf)

    def least(self, job):
        return self.view.sizes(job)[0] if self.minimum else self.view.size(job)

    def may_give(self, one, job):
        return self.priority(one) in self.low if self.low else self.priority(one) < self.priority(job)

    def may_take(self, job, priority):
        if self.high and priority > -math.inf:
            return self.priority(job) in self.high
        return self.priority(job) >= priority

    def priority(self, job):
        return float(self.view.jobs["priority"][job])

    def seconds(self, job, nodes):
        """How long a job that waits is said to take."""
        if self.recorded:
            return self.view.time(job, nodes)
        return float(self.view._size(job, nodes)["walltime"])

    def whole(self, job):
        return self.view.time(job) if self.recorded else self.view.walltime(job)

    def left(self, job):
        if self.recorded:
            return self.view.time(job) * (1 - self.view.done(job))
        return max(float(self.view.jobs["end"][job]) - self.view.now, 0.0)

    def start(self, job, least, most, reason):
        """At the largest size that fits and delays no reservation."""
        for nodes in sorted(self.view.sizes(job), reverse=True):
            end = self.view.now + self.seconds(job, nodes)
            early = end <= self.shadow + min(1e-9 * max(1.0, self.shadow), 1e-6)
            if least <= nodes <= most and self.act.fits(job, nodes=nodes) and (early or nodes <= self.spare):
                self.act.start(job, reason, nodes=nodes)
                self.started[job] = nodes
                self.spare -= 0 if early else nodes
                return True
        return False

    def reservation(self, head):
        """When the head will have the fewest nodes that it can run on, and what will be left."""
        ends = [(self.left(job) or 1.0, int(self.view.jobs["held"][job])) for job in map(int, self.view.running["job"])]
        ends += [(self.seconds(job, nodes), nodes) for job, nodes in self.started.items()]
        free, at = self.act.free[0], self.view.now
        needs = self.view.sizes(head)[0]
        for left, nodes in sorted(ends, key=lambda one: one[0]):
            end = self.view.now + left
            if free >= needs and end > at + min(1e-9 * max(1.0, at), 1e-6):
                break
            free, at = free + nodes, end
        return (at if free >= needs else math.inf), free - needs

    def resizable(self):
        found = []
        for job in map(int, self.view.running["job"]):
            kind = self.view.flexibility(job).name.lower()
            settled = self.view.asked(job) == self.view.size(job) and not self.view.wants(job)
            if kind in ("malleable", "adaptive") and settled and job not in self.resized:
                found.append(job)
        return found

    def granted(self, job):
        """Eqs. 4.1 to 4.4."""
        nodes, left = self.view.size(job), self.left(job)
        wanted = math.floor(self.sharing * nodes)
        sizes = [n for n in self.view.sizes(job) if nodes - wanted <= n < nodes]
        if not sizes or left <= 0:
            return 0
        give = nodes - sizes[0]
        longer = left + give / nodes * left + self.alpha
        return give if left == math.inf or longer / left <= self.gamma else 0

    def shrink(self, job, coming):
        """Jobs of lower priority give back nodes, lowest first, if that is enough; the nodes that are then to come."""
        needs = self.view.sizes(job)[0]
        if coming >= needs:
            return coming - needs
        givers = [one for one in self.resizable() if self.may_give(one, job) and self.granted(one)]
        if coming + sum(map(self.granted, givers)) < needs:
            return coming
        for one in sorted(givers, key=lambda one: (self.priority(one), -self.view.jobs["id"][one])):
            if coming >= needs:
                break
            give = self.granted(one)
            self.act.resize(one, self.view.size(one) - give, again=False)
            self.resized[one] = self.view.size(one) - give
            coming += give
        return coming - needs

    def expand(self, priority):
        """Idle nodes go to the longest job that ranks so high, then to the next."""
        while self.act.free[0] > 0:
            options = []
            for job in self.resizable():
                left, nodes = self.left(job), self.grown(job)
                worth = left == math.inf or left > 0.25 * self.whole(job)
                if self.may_take(job, priority) and worth and nodes:
                    options.append((-left, int(self.view.jobs["id"][job]), job, nodes))
            if not options:
                return
            minus, _, job, nodes = min(options)
            if self.view.now - minus * self.view.size(job) / nodes > self.shadow:
                more = nodes - self.view.size(job)
                self.spare -= min(more, self.spare)
            self.act.resize(job, nodes, again=False)
            self.resized[job] = nodes

    def grown(self, job):
        now, left, free = self.view.size(job), self.left(job), self.act.free[0]
        fits = max(n for n in self.view.sizes(job) if n <= now + free)
        if self.guard and self.view.now + left * now / fits > self.shadow:
            fits = max(n for n in self.view.sizes(job) if n <= now + max(min(self.spare, free), 0))
        saved = left if left == math.inf else left * (1 - now / fits)
        return fits if fits > now and saved > self.alpha else 0
