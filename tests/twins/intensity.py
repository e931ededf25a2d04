"""I/O-intensity-aware scheduling as ADMIRE's D3.3 (2023), section 4.2, has it: every number counted again each time."""

import forebay as fb


class Naive(fb.Policy):
    """io-intensity, or io-intensity-adaptive, in plain Python."""

    resizes = True

    def __init__(self, alpha, workload="mean", adaptive=False, fitting=False):
        self.alpha, self.workload, self.adaptive, self.fitting = alpha, workload, adaptive, fitting
        self.chosen = []  # at each start: |W - S|, the least there could be, the job's place, how many waited

    def decide(self, view, act):
        """Algorithm 2."""
        self.view, self.act = view, act
        self.runs = {int(job): view.size(job) for job in view.running["job"]}
        self.line = [int(job) for job in view.queue]
        for job in view.points:
            held = int(view.jobs["held"][job])
            if view.wants(job) and view.wants(job) - held <= act.free[0]:
                act.resize(job, view.wants(job), again=False)
                self.runs[job] = view.wants(job)
        if view.triggers != fb.Trigger.SCHEDULING_POINT:
            self.admit()
        shrunk = [self.reconfigure(job) for job in view.points if not view.wants(job)]
        if any(shrunk):
            self.admit()

    def intensity(self, job, nodes):
        seconds = self.view.time(job, nodes)
        return self.view.io(job, nodes) / seconds if seconds > 0 else 0.0

    def system(self, runs):
        nodes = sum(runs.values())
        return sum(self.intensity(job, n) * n for job, n in runs.items()) / nodes if nodes else 0.0

    def target(self):
        everybody = self.runs | {job: self.view.size(job) for job in self.line}
        total = sum(self.intensity(job, n) * n for job, n in everybody.items())
        nodes = self.view.capacity[0] if self.workload == "cluster" else sum(everybody.values())
        return total / nodes if nodes else 0.0

    def distance(self, target, **changed):
        return abs(target - self.system(self.runs | changed.get("to", {})))

    def weight(self):
        everybody = self.runs | {job: self.view.size(job) for job in self.line}
        if not self.adaptive or not everybody:
            return self.alpha
        nodes = sum(everybody.values())
        mean = sum(self.intensity(job, n) * n for job, n in everybody.items()) / nodes
        return self.alpha * min(1.0, self.view.capacity[0] / (nodes / len(everybody)) * mean)

    def admit(self):
        """Algorithm 3, which stops where the best candidate does not fit."""
        while self.line and self.act.free[0] > 0:
            target, alpha = self.target(), self.weight()
            options = [
                (self.distance(target, to={job: nodes}), place, job, nodes)
                for place, job in enumerate(self.line)
                for nodes in self.view.sizes(job)
            ]
            deltas = [option[0] for option in options]
            width = max(deltas) - min(deltas)
            ranked = []
            for delta, place, job, nodes in options:
                fair = place / (len(self.line) - 1) if len(self.line) > 1 else 0.0
                norm = (delta - min(deltas)) / width if width > 0 else 0.0
                fits = self.act.fits(job, nodes=nodes)
                ranked.append(((1 - alpha) * fair + alpha * norm, place, not fits, -nodes, job, delta))
            ranked = [one for one in ranked if -one[3] <= self.view.capacity[0]]
            fitting = self.fitting or not self.runs
            ranked = [one for one in ranked if not (fitting and one[2])] or ranked
            _, place, unfit, minus, job, delta = min(ranked)
            if unfit:
                return
            self.chosen.append((delta, min(deltas), place, len(self.line)))
            self.act.start(job, nodes=-minus)
            self.runs[job] = -minus
            self.line.remove(job)

    def reconfigure(self, job):
        """Eqs. 4.12 and 4.13; whether the job gave back nodes."""
        old, free, target = self.runs[job], self.act.free[0], self.target()
        now = self.distance(target)
        options = [n for n in self.view.sizes(job) if n != old and n - old <= free]
        for sizes in (options, [n for n in options if n > old]):
            better = [
                (self.distance(target, to={job: n}), n) for n in sizes if self.distance(target, to={job: n}) < now
            ]
            if not better:
                return False
            nodes = min(better)[1]
            if nodes > old or self.helps(job, nodes, free + old - nodes, target, now):
                self.act.resize(job, nodes, again=False)
                self.runs[job] = nodes
                return nodes < old
        return False

    def helps(self, job, nodes, free, target, now):
        return any(
            n <= free and self.distance(target, to={job: nodes, other: n}) < now
            for other in self.line
            for n in self.view.sizes(other)
        )
