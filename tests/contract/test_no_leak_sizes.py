"""No policy can look ahead where jobs have applications and change their size: see `test_no_leak`.

An application tells how long its job takes at each size, alone on the machine, and how many rounds it has. It does not
tell what a job will ask for and when, in which order its tasks run, what a change of size takes, nor when jobs end that
have none.
"""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forebay as fb
from cases.flexible import Jobs, compute, loop, move, stage
from cases.looking import Spy, hold_the_same, moment_in
from forebay.core.codes import Flexibility, JobState

pytestmark = pytest.mark.small

GB = 10**9
MACHINE = "flat:nodes=6,pfs=2GB/s"
LAST = 6  # rounds of a loop at most


@dataclass(frozen=True)
class Job:
    """A job with an application of two loops, or without any."""

    gap: int
    kind: str
    low: int
    span: int
    rounds: tuple[int, int]
    seconds: int  # of a round, and a second less for every node
    first: int  # seconds of the first task of a round of the second loop, out of these
    moves: tuple[int, int]  # quarters of a GB that a round of the second loop reads and writes
    reads_first: bool
    wants: tuple[int, ...]  # places among its sizes, by round of both loops
    change: int  # seconds that a change of size takes


jobs = st.builds(
    Job,
    gap=st.integers(0, 8),
    kind=st.sampled_from(["", "rigid", "moldable", "malleable", "evolving", "evolving", "adaptive", "adaptive"]),
    low=st.integers(1, 3),
    span=st.sampled_from([0, 1, 2, 2]),
    rounds=st.tuples(st.sampled_from(range(1, LAST + 1)), st.sampled_from(range(1, LAST + 1))),
    seconds=st.integers(6, 12),
    first=st.integers(0, 1),
    moves=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    reads_first=st.booleans(),
    wants=st.lists(st.sampled_from([0, 1, 2]), min_size=2 * LAST, max_size=2 * LAST).map(tuple),
    change=st.integers(0, 4),
)


class Resizing(Spy):
    """Gives jobs one size after the other; at its moment it keeps how far each has come."""

    resizes = True

    def __init__(self, until):
        super().__init__(until)
        self.resized, self.kept = set(), False

    def act_on(self, view, act):
        if view.now >= self.until and not self.kept:
            self._keep(view)
        for job in view.queue.tolist():
            sizes = [n for n in view.sizes(job) if act.fits(job, nodes=n)]
            if sizes and act.fits(job, nodes=sizes[job % len(sizes)]):
                act.start(job, nodes=sizes[job % len(sizes)])
        for job in view.running["job"].tolist():
            sizes, at_point = view.sizes(job), job in view.points
            open_ = view.flexibility(job) in (Flexibility.MALLEABLE, Flexibility.ADAPTIVE)
            size = view.wants(job) or sizes[int(view.now) % len(sizes)]
            may = at_point or (open_ and view.asked(job) == view.size(job))
            if may and size != view.size(job) and size - view.size(job) <= act.free[0]:
                act.resize(job, size)
                self.resized.add(job)

    def _keep(self, view):
        table, self.kept = view._state.flexible, True
        self.begun = set(view.jobs["state"].nonzero()[0]) - set(view.queue.tolist())
        self.done = {job: int(table.jobs["done"][row]) for job, row in enumerate(table.row.tolist()) if row >= 0}
        self.over = {job for job, state in enumerate(view.jobs["state"].tolist()) if state >= JobState.COMPLETED}


def build(some):
    made, submit = Jobs(), 0
    for k, one in enumerate(some):
        submit += one.gap if k else 0
        sizes = range(one.low, one.low + one.span + 1)
        if not one.kind:
            row = {"submit": float(submit), "walltime": 40.0, "run_time": float(one.seconds), "nodes": one.low}
            made.rows.append({"id": k, **row})
            continue
        parts = [
            loop(one.rounds[0], compute(lambda n, one=one: one.seconds - n), requests=_asked(one, 0)),
            loop(one.rounds[1], *_second(one), requests=_asked(one, LAST)),
            stage("reconfiguration", compute(one.change)),
        ]
        made.add(one.kind, submit, sizes, *parts, walltime=lambda n: 90.0 + n)
    return made.workload()


def _second(one):
    work = [compute(one.first), compute(lambda n, one=one: one.seconds - n - one.first)]
    moves = [move("read", one.moves[0] * GB / 4), move("write", one.moves[1] * GB / 4)]
    return [*moves, *work] if one.reads_first else [*work, *moves[::-1]]


def _asked(one, before):
    """Requests of each round of a loop, whatever its size is then."""
    if one.kind not in ("evolving", "adaptive"):
        return lambda sizes: []
    n = one.rounds[before > 0]
    return lambda sizes: [(k, size, sizes[one.wants[before + k] % len(sizes)]) for k in range(n) for size in sizes]


def other_future(some, others, spy):
    """The same jobs up to a spy's moment, and other ones from then on."""
    made, submit, moment = [], 0, spy.until
    for k, (one, other) in enumerate(zip(some, others, strict=False)):
        before, submit = submit, submit + (one.gap if k else 0)
        if submit >= moment:
            gap = max(other.gap, int(moment) - before) if before < moment else other.gap
            made.append(replace(other, gap=gap, kind=one.kind, span=one.span))  # how many rows there are is known
        elif not one.kind:
            begun = k in spy.begun
            seconds = one.seconds if k in spy.over else one.seconds + other.seconds if begun else other.seconds
            made.append(replace(one, seconds=seconds))
        else:
            done = spy.done[k] if k in spy.begun else -1
            changes = {} if k in spy.resized else {"change": other.change}
            if done < one.rounds[0]:
                changes |= {"first": other.first, "reads_first": other.reads_first}
            made.append(replace(one, wants=_later(one, other, done), **changes))
    return made


def _later(one, other, done):
    """What it asks for before rounds that it has begun stays."""
    first = one.rounds[0]
    begun = [k <= done if k < LAST else first + k - LAST <= done for k in range(2 * LAST)]
    return tuple(mine if kept else its for mine, its, kept in zip(one.wants, other.wants, begun, strict=True))


some_jobs = st.lists(jobs, min_size=2, max_size=4).filter(lambda some: any(one.kind for one in some))


@given(some_jobs, st.lists(jobs, min_size=4, max_size=4), st.sampled_from(range(5, 100, 5)))
def test_sizes_that_change(some, others, percent):
    def run(jobs, spy):
        return fb.simulate(build(jobs), MACHINE, spy, job_model="application")

    moment = moment_in(run(some, Resizing(0.0)), percent)
    spies = Resizing(moment), Resizing(moment)
    run(some, spies[0])
    if spies[0].kept:  # else nothing is left at that moment
        run(other_future(some, others, spies[0]), spies[1])
        hold_the_same(*spies)
