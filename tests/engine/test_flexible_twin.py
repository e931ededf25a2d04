"""Random jobs under random changes of size: as their slow twin has them."""

import math
import random

import pytest

import forebay as fb
from cases.flexible import Jobs, compute, loop, move, stage
from forebay.core.codes import JobState
from twins import flexible

GB = 10**9
NODES, RATE = 16, 8 * GB


def amounts(rng, *choices):
    """A function of the nodes: shared work, or the same on each."""
    each = float(rng.choice(choices))
    return (lambda n: each / n) if rng.random() < 0.7 else (lambda n: each)


def tasks(rng):
    """One to three, at least one of which takes time."""
    found = [compute(amounts(rng, 1, 10, 37.5, 100))]
    for _ in range(rng.randint(0, 2)):
        write = move("write", amounts(rng, 0, GB, 20 * GB, 300 * GB), beside=rng.random() < 0.3)
        found.insert(rng.randint(0, len(found)), rng.choice((write, compute(amounts(rng, 0, 5)))))
    return found


def random_loop(rng, sizes):
    wants = [(over, n, rng.choice(sizes)) for over in range(6) for n in sizes] if rng.random() < 0.4 else []
    return loop(
        rng.randint(1, 6),
        *tasks(rng),
        point=rng.random() < 0.8,
        barrier=rng.random() < 0.7,
        requests=lambda _: wants,
    )


def draw(seed):
    """Jobs as (arguments of Jobs.add)."""
    rng = random.Random(f"flexible {seed}")
    found, submit = [], 0.0
    for _ in range(rng.choice((1, 3, 6, 10))):
        kind = rng.choice(("rigid", "moldable", "malleable", "malleable", "evolving", "adaptive"))
        most = 1 if kind == "rigid" else rng.randint(2, 6)
        sizes = sorted(rng.sample(range(1, NODES + 1), most))
        parts = [random_loop(rng, sizes) for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.4:
            parts.insert(0, stage("init", *tasks(rng)))
        parts += [stage(name, *tasks(rng)) for name in ("reconfiguration", "expansion") if rng.random() < 0.4]
        walltime = rng.choice((math.inf, math.inf, 50.0, 333.0))
        found.append({"kind": kind, "submit": submit, "sizes": sizes, "parts": parts, "walltime": walltime})
        submit += rng.choice((0.0, 0.0, 5.0, 40.0))
    return found


class Fate:
    """What to do is drawn for each job by how often it was asked, so that both simulators do the same."""

    def __init__(self, seed):
        self.seed, self.asked, self.n_ended = seed, {}, 0

    def draw(self, job):
        turn = self.asked[job] = self.asked.get(job, 0) + 1
        return random.Random(f"{self.seed} {job} {turn}")

    def at_point(self, job, sizes, size, held, free, wants):
        """The size that a job at a point gets; None leaves it."""
        rng = self.draw(job)
        goal = wants if wants and rng.random() < 0.6 else rng.choice(sizes)
        return goal if rng.random() < 0.6 and goal - held <= free and (goal != size or rng.random() < 0.5) else None

    def starts(self, job, sizes, free):
        """The size to start with; None if it waits."""
        fitting = [n for n in sizes if n <= free]
        return self.draw(job).choice(fitting) if fitting else None

    def elsewhere(self, n_ended, running):
        """After an end: a running job (id, sizes, held, size, free) that is not at its point may get another size."""
        if n_ended == self.n_ended or not running:
            return None
        self.n_ended = n_ended
        rng = random.Random(f"{self.seed} end {n_ended}")
        job, sizes, held, size, free = rng.choice(running)
        goal = rng.choice(sizes)
        return (job, goal) if max(goal, size) - held <= free else None


class Ours(fb.Policy):
    """The fate of jobs, told to forebay."""

    resizes = True

    def __init__(self, seed):
        self.fate = Fate(seed)

    def decide(self, view, act):
        ids, table = view.jobs["id"], view.jobs
        held = {}
        for job in view.points:
            goal = self.fate.at_point(
                int(ids[job]), view.sizes(job), view.size(job), int(table["held"][job]), act.free[0], view.wants(job)
            )
            if goal is not None:
                act.resize(job, goal)
                held[job] = goal
        for job in view.queue.tolist():
            goal = self.fate.starts(int(ids[job]), view.sizes(job), act.free[0])
            if goal is None:
                break
            act.start(job, nodes=goal)
        running = [
            (int(ids[job]), view.sizes(job), int(table["held"][job]), view.size(job), act.free[0])
            for job in sorted(view.running["job"].tolist())
            if job not in view.points and view.flexibility(job).name in ("MALLEABLE", "ADAPTIVE")
        ]
        ended = int((table["state"] >= JobState.COMPLETED).sum())
        if (found := self.fate.elsewhere(ended, running)) is not None:
            act.resize(int((ids == found[0]).argmax()), found[1])


def theirs(seed):
    """The same for the twin."""
    fate = Fate(seed)

    def policy(run, now):
        for job in [one for one in run.points if one.state == "running"]:
            goal = fate.at_point(job.id, job.sizes, job.size, job.held, run.free, job.wants)
            if goal is not None:
                run.resize(job, goal)
        before = {job.id for job in run.jobs if job.state == "running"}
        for job in [one for one in run.jobs if one.state == "queued"]:
            goal = fate.starts(job.id, job.sizes, run.free)
            if goal is None:
                break
            run.start(job, goal)
        running = [
            (job.id, job.sizes, job.held, job.size, run.free)
            for job in run.jobs
            if job.id in before and job.state == "running" and job.waits != "point"
            and job.kind in flexible.RESIZED_BY_POLICY
        ]  # fmt: skip
        if (found := fate.elsewhere(run.n_ended, running)) is not None:
            run.resize(next(job for job in run.jobs if job.id == found[0]), found[1])

    return policy


def both(seed):
    jobs, twins = Jobs(), []
    for number, one in enumerate(draw(seed)):
        jobs.add(one["kind"], one["submit"], one["sizes"], *one["parts"], walltime=one["walltime"])
        twins.append(
            flexible.Job(
                number, one["kind"], one["submit"], one["sizes"], one["parts"], one["sizes"][-1], one["walltime"]
            )
        )
    result = fb.simulate(jobs.workload(), f"flat:nodes={NODES},pfs=8GB/s", Ours(seed))
    return result, flexible.Run(twins, NODES, RATE, theirs(seed)).run()


def check(seed):
    result, twin = both(seed)
    ours = result.jobs.select("starting_time", "finish_time").rows()
    assert len(ours) == len(twin.jobs)
    for (start, end), job in zip(ours, twin.jobs, strict=True):
        # Bytes of 1e-9 s are lost to the twin in each of some hundred steps.
        assert start == pytest.approx(job.start, abs=1e-6, rel=1e-9)
        assert end == pytest.approx(job.end, abs=1e-6, rel=1e-9)
    rows = result.log.filter(result.log["reason"] == "resized").select("time", "job", "kind", "amount").rows()
    changes = [(time, job, amount if kind == "acquire" else -amount) for time, job, kind, amount in rows]
    assert [change[1:] for change in changes] == [change[1:] for change in twin.resizes]


@pytest.mark.small
@pytest.mark.parametrize("part", range(4))
def test_as_its_twin(part):
    for seed in range(part, 60, 4):
        check(seed)


@pytest.mark.full
@pytest.mark.parametrize("part", range(10))
def test_as_its_twin_in_many_cases(part):
    for seed in range(1000 + part, 5000, 10):
        check(seed)
