"""Random jobs in rounds on nodes that fail: as their slow twin has them."""

import math
import random

import numpy as np
import pytest

import forebay as fb
from cases import breaking
from cases.chunks import chunks
from cases.flexible import Jobs, compute, loop, move, stage
from cases.pooled import CLOCKS
from forebay.core.failures import Failures, Outages
from forebay.platforms import load
from twins import rounds

GB = 10**9
RATE = 2 * GB
STATES = {"ended": "COMPLETED_SUCCESSFULLY", "failed": "COMPLETED_FAILED"}
CHUNKS, CHUNK = 10, 20


def amounts(rng, *choices):
    """A function of the nodes: shared work, or the same on each."""
    each = float(rng.choice(choices))
    return (lambda n: each / n) if rng.random() < 0.5 else (lambda n: each)


def tasks(rng):
    """One to three, at least one of which takes time."""
    found = [compute(amounts(rng, 1, 10, 7.5, 20))]
    for _ in range(rng.randint(0, 2)):
        write = move("write", amounts(rng, GB, 5 * GB, 30 * GB), beside=rng.random() < 0.4)
        found.insert(rng.randint(0, len(found)), rng.choice((write, compute(amounts(rng, 2, 5)))))
    return found


def draw(seed):
    """Nodes, jobs as arguments of Jobs.add, and failures."""
    rng = random.Random(f"rounds {seed}")
    time = CLOCKS[rng.choice(list(CLOCKS))]
    nodes, found, submit = rng.randint(1, 6), [], 0.0
    for _ in range(rng.randint(1, 6)):
        kind = rng.choice(("rigid", "moldable", "moldable", "malleable"))
        sizes = sorted(rng.sample(range(1, nodes + 1), 1 if kind == "rigid" else rng.randint(1, nodes)))
        parts = [loop(rng.randint(1, 5), *tasks(rng), barrier=rng.random() < 0.7) for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.3:
            parts.insert(0, stage("init", *tasks(rng)))
        parts += [stage(name, *tasks(rng)) for name in ("reconfiguration", "expansion") if rng.random() < 0.4]
        walltime = rng.choice((math.inf, math.inf, 150.0, 40.0))
        found.append({"kind": kind, "submit": submit, "sizes": sizes, "parts": parts, "walltime": walltime})
        submit += rng.choice((0.0, time(rng, 1, 20)))
    down = sorted(time(rng, 0, 150) for _ in range(rng.randint(0, 10)))
    up = [start + time(rng, 1, 30) for start in down]
    node = [rng.randrange(nodes) for _ in down]
    known = Outages("random", "", np.array(node, np.int64), np.array(down, float), np.array(up, float))
    rules = {"max_attempts": rng.choice((2, 3, 100))}
    saves = rng.choice(("none", "seconds", "seconds", "bytes"))
    if saves == "seconds":
        rules |= {"checkpoint": time(rng, 1, 4), "recovery": rng.choice((-1.0, 2.0))}
    elif saves == "bytes":
        rules["checkpoint_bytes"] = rng.choice((GB, 3 * GB, 700_000_001))
    if saves != "none":
        rules["period"] = time(rng, 3, 20)
    return nodes, found, Failures(outages=known, **rules)


class Sizes:
    """The size of each start is drawn for the job by how often it was asked, so that both simulators do the same."""

    def __init__(self, seed):
        self.seed, self.asked = seed, {}

    def pick(self, job, sizes, free):
        """None if it waits."""
        turn = self.asked[job] = self.asked.get(job, 0) + 1
        fitting = [n for n in sizes if n <= free]
        return random.Random(f"{self.seed} {job} {turn}").choice(fitting) if fitting else None

    def at_point(self, job, sizes, held, free):
        """The size of a job that stands at a point from there on; None leaves it as it is."""
        turn = self.asked[job] = self.asked.get(job, 0) + 1
        rng = random.Random(f"{self.seed} point {job} {turn}")
        return rng.choice([n for n in sizes if n - held <= free]) if rng.random() < 0.5 else None


class Ours(fb.Policy):
    """In order, with the sizes and interrupts that are drawn."""

    resizes = True

    def __init__(self, seed, writes):
        self.sizes, self.fate, self.writes = Sizes(seed), breaking.Fate(seed), writes
        self.since, self.asked_for = {}, None

    def decide(self, view, act):
        ids, now = view.jobs["id"], view.now
        for job in sorted(view.points, key=lambda job: ids[job]):
            held = int(view.jobs["held"][job])
            goal = self.sizes.at_point(int(ids[job]), view.sizes(job), held, act.free[0])
            if goal is not None:
                act.resize(job, goal)
        for job in view.queue.tolist():
            goal = self.sizes.pick(int(ids[job]), view.sizes(job), act.free[0])
            if goal is None:
                break
            act.start(job, nodes=goal)
            self.since[job] = now
            self.fate.started(int(ids[job]))
        running = {int(ids[job]): self.writes for job in view.running["job"].tolist() if self.since[job] < now}
        for number, how in self.fate.strike(now, running):
            act.interrupt(int((ids == number).argmax()), checkpoint=how)
        if self.fate.next() not in (None, self.asked_for):
            self.asked_for = self.fate.next()
            act.wake(self.asked_for)


def theirs(seed, writes):
    """The same for the twin."""
    sizes, fate, asked_for = Sizes(seed), breaking.Fate(seed), None

    def policy(run):
        nonlocal asked_for
        for job in run.points():
            goal = sizes.at_point(job.id, job.sizes, len(job.nodes), len(run.idle))
            if goal is not None:
                run.resize(job, goal)
        for job in run.queue():
            goal = sizes.pick(job.id, job.sizes, len(run.idle))
            if goal is None:
                break
            run.start(job, goal)
            fate.started(job.id)
        running = {job.id: writes for job in run.running() if job.since < run.now}
        for number, how in fate.strike(run.now, running):
            run.interrupt(next(job for job in run.jobs if job.id == number), how)
        if fate.next() not in (None, asked_for):
            asked_for = fate.next()
            run.wakes.append(asked_for)

    return policy


def both(seed):
    nodes, drawn, failures = draw(seed)
    jobs, twins = Jobs(), []
    for number, one in enumerate(drawn):
        kind, submit, sizes, parts, walltime = one.values()
        jobs.add(kind, submit, sizes, *parts, walltime=walltime)
        twins.append(rounds.Job(number, kind, submit, sizes, parts, sizes[-1], walltime))
    slow = rounds.Run(twins, nodes, RATE, failures, theirs(seed, failures.writes)).run()
    machine = load(f"flat:nodes={nodes},pfs={RATE // GB}GB/s")
    fast = breaking.simulate(jobs.workload(), machine, Ours(seed, failures.writes), failures, seed, "application")
    return fast, slow


def check(seed):
    """One workload."""
    (jobs, log, n_decisions), slow = both(seed)
    breaking.check_log(log, slow.log)
    for row, job in zip(jobs.to_dicts(), slow.jobs, strict=True):
        assert row["final_state"] == ("COMPLETED_WALLTIME_REACHED" if job.killed else STATES[job.state])
        assert breaking.same_times(row["starting_time"], job.start)
        assert breaking.same_times(row["finish_time"], job.end)
    assert n_decisions == slow.n_decisions


@pytest.mark.small
@pytest.mark.parametrize("part", range(10))
def test_as_its_twin(part):
    for seed in range(part, 40, 10):
        check(seed)


@pytest.mark.parametrize("chunk", chunks(0, CHUNKS))
def test_as_its_twin_in_many_cases(chunk):
    for seed in range(100 + chunk * CHUNK, 100 + (chunk + 1) * CHUNK):
        check(seed)
