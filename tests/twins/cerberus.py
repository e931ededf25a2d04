"""A slow, obvious twin of the Cerberus policies: plain Python, every set of a knapsack tried."""

import math

from twins import knapsack

QUEUES = ("in", "run", "out")


class Cerberus:
    """Takes the parameters of the compiled policy as an object. Two resources at most: nodes and one pool."""

    def __init__(self, policy):
        self.policy = policy

    def queue_of(self, view, job):
        leg = view.jobs["leg"][job]
        if view.demands[leg][0] > 0:
            return "run"
        return "in" if view.legs["number"][leg] == 0 else "out"

    def decide(self, view, act):
        lines = {name: [job for job in view.queue.tolist() if self.queue_of(view, job) == name] for name in QUEUES}
        for name in self.policy.service.split("/"):
            if name in self.policy.knapsack.split("/"):
                self.by_knapsack(view, act, name, lines[name])
            else:
                for job in lines[name]:
                    if not act.fits(job):
                        break
                    act.start(job)

    def by_knapsack(self, view, act, name, line):
        p = self.policy
        n = min(p.considered, math.ceil(len(line) / p.alpha))
        some = [job for job in line[:n] if act.fits(job)]
        rows = [tuple(view.demand(job).tolist()) for job in some]
        if name != "run":
            rows = [row[-1:] for row in rows]
        values = [self.value(view, name, job, row, rows) for job, row in zip(some, rows, strict=True)]
        room = tuple(act.free) if name == "run" else tuple(act.free)[-1:]
        units = [p.unit_nodes, p.unit_bytes][: len(room)] if name == "run" else [p.unit_bytes]
        if len(act.free) == 1:
            units = [p.unit_nodes]
        if p.method == "table":
            if p.round == "down":
                rows = [tuple(need // unit for need, unit in zip(row, units, strict=True)) for row in rows]
                room, units = tuple(have // unit for have, unit in zip(room, units, strict=True)), [1] * len(room)
            _, chosen = knapsack.by_recursion(rows, values, room, units)
        else:
            _, chosen = knapsack.by_enumeration(rows, values, room)
        n_started = 0
        for job, taken in zip(some, chosen, strict=True):
            if taken and act.fits(job):
                act.start(job)
                n_started += 1
        for job in some[: 1 - min(n_started, 1)]:
            act.start(job)

    def value(self, view, name, job, row, rows):
        if name != "run":
            return 1.0 if self.policy.stage_value == "jobs" else float(row[0])
        if self.policy.run_value == "one":
            return 1.0
        value = float(row[0])
        if len(row) > 1 and any(other[1] for other in rows):
            value *= row[1]
        if self.policy.run_value in ("by-time", "by-prediction"):
            value /= self.seconds(view, job) ** 2
        return value

    def seconds(self, view, job):
        return view.walltime(job)


class Seen:
    """Actions, and what they have started."""

    def __init__(self, act):
        self.act, self.started = act, []

    def __getattr__(self, name):
        return getattr(self.act, name)

    def start(self, job):
        self.started.append(job)
        self.act.start(job)


class Predicted(Cerberus):
    """The same with the run times that ended runs of a user predict, each run's end seen as it comes."""

    def setup(self, view):
        self.began, self.ran = {}, {}

    def like(self, view, job):
        row = view.jobs[job]
        return tuple(int(row[name]) for name in ("user", "walltime", "nodes")[: self.n_alike])

    @property
    def n_alike(self):
        return 1 + ("user", "request", "shape").index(self.policy.like)

    def decide(self, view, act):
        running = {(int(row["job"]), int(row["leg"])) for row in view.running}
        for job, leg in [one for one in self.began if one not in running]:
            self.ran.setdefault(self.like(view, job), []).append(view.now - self.began.pop((job, leg)))
        seen = Seen(act)
        super().decide(view, seen)
        for job in seen.started:
            leg = int(view.jobs["leg"][job])
            if view.demands[leg][0] > 0 and view.jobs["user"][job] >= 0:
                self.began[job, leg] = view.now

    def seconds(self, view, job):
        known, asked, weight = self.ran.get(self.like(view, job), []), view.walltime(job), self.policy.weight
        known = known[-self.policy.last :]
        if not known or view.jobs["user"][job] < 0:
            return max(asked, 1.0)
        return min(max((sum(known) + weight * asked) / (len(known) + weight), 1.0), max(asked, 1.0))
