"""Small jobs of several legs at random, and the same ones with another future from a moment on.

What users said of jobs that have come stays as it is, and so does all that has happened by then: a leg that is over
does what it did, one that has begun does more behind it, and one that has not does something else. Jobs and failures
that are still to come are others altogether.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from hypothesis import strategies as st

import forebay as fb
from forebay.core.failures import Failures, Outages
from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.workload import dependency_table, job_table

GB = 10**9
SAFE = ("compute", "read", "write")
IN_BUFFER = ("stage_in", "stage_out", "checkpoint", "drain")
"""Legs with such phases write no checkpoints to start again from, and policies are told who writes some."""
WAITS = ("after", "afterany", "afterok", "afternotok", "think")
QUEUES = ("a", "b", "a,b")
AGAIN = ("interrupted", "node_down")
"""Reasons for which a leg ends that runs once more."""


@dataclass(frozen=True)
class Leg:
    """What its user says, but for the phases."""

    nodes: int
    walltime: float
    phases: tuple[tuple[str, int], ...]  # kind, and seconds or quarters of a GB

    @property
    def safe(self):
        return not any(kind in IN_BUFFER for kind, _ in self.phases)


@dataclass(frozen=True)
class Job:
    """One leg, or three that carry a buffer along."""

    gap: int  # seconds after the job before it
    legs: tuple[Leg, ...]
    buffer: int  # GB
    user: int
    queue: int
    each: int  # cores of each node
    cancel: float
    waits: tuple[tuple[int, str, int], ...]  # how many places before it the parent stands, kind and delay


amounts = st.integers(1, 40)
_phases = st.lists(st.tuples(st.sampled_from(SAFE + IN_BUFFER), amounts), min_size=1, max_size=3).map(tuple)
_run = st.builds(Leg, st.integers(1, 4), st.sampled_from([25.0, 90.0, 300.0]), _phases)
_stage = st.builds(Leg, st.just(0), st.sampled_from([20.0, math.inf]), _phases)
_legs = st.one_of(st.tuples(_run), st.tuples(_stage, _run, _stage))
_cancels = st.sampled_from([math.inf, math.inf, math.inf, 10.0, 60.0])
_waits = st.lists(st.tuples(st.integers(1, 3), st.sampled_from(WAITS), st.integers(0, 8)), min_size=1, max_size=2).map(
    tuple
)


def jobs(waits=False):
    """Two to four jobs; perhaps all but the first wait for others."""
    one = st.builds(
        Job, gap=st.integers(0, 10), legs=_legs, buffer=st.integers(0, 12), user=st.integers(0, 1),
        queue=st.integers(0, 2), each=st.integers(1, 4), cancel=_cancels, waits=_waits if waits else st.just(()),
    )  # fmt: skip
    return st.lists(one, min_size=2, max_size=4)


drawn = st.tuples(jobs(waits=True), st.lists(st.tuples(amounts, _phases), min_size=12, max_size=12))
"""Of another future: jobs to come, and what legs do instead, or besides."""


def build(some):
    """The workload of these jobs."""
    ids = range(1, len(some) + 1)
    run = [one.legs[len(one.legs) // 2] for one in some]
    submit = np.cumsum([0, *(one.gap for one in some[1:])]).astype(float)
    columns = {
        "id": ids,
        "submit": submit,
        "walltime": [leg.walltime for leg in run],
        "run_time": [1.0] * len(some),
        "nodes": [leg.nodes for leg in run],
        "cores": [leg.nodes * one.each for leg, one in zip(run, some, strict=True)],
        "burst_buffer": [one.buffer * GB for one in some],
        "user": [one.user for one in some],
        "queue": [one.queue for one in some],
        "cancel": [one.cancel for one in some],
    }
    table = job_table(columns).with_columns(
        deadline=pl.Series(submit + 7.0 * np.array(columns["nodes"])),
        application=pl.Series([f"code {k % 2}" for k in ids]),
    )
    legs = [
        (k, i, leg.walltime, leg.nodes, "burst_buffer" if i else "", one.buffer * GB, leg.nodes * one.each)
        for k, one in enumerate(some, 1)
        for i, leg in enumerate(one.legs)
        if len(one.legs) > 1
    ]
    phases = [
        (k, i, kind, *((float(much), 0.0, 0.0, 0.0) if kind == "compute" else (0.0, 0.0, 0.0, much * GB / 4)), None)
        for k, one in enumerate(some, 1)
        for i, leg in enumerate(one.legs)
        for kind, much in leg.phases
    ]
    more = {"burst_buffer": pl.Int64, "cores": pl.Int64}
    return fb.Workload(
        "two futures",
        table,
        legs=pl.DataFrame(legs, LEG_SCHEMA | more, orient="row") if legs else None,
        phases=pl.DataFrame(phases, PHASE_SCHEMA, orient="row"),
        names={"queue": dict(enumerate(QUEUES))},
        dependencies=_dependencies(some),
    )


def _parents(k, one):
    """The numbers of the jobs that the k-th waits for."""
    return {k - back: (kind, delay) for back, kind, delay in one.waits if back < k}


def _dependencies(some):
    rows = [(k, parent, *how) for k, one in enumerate(some, 1) for parent, how in _parents(k, one).items()]
    if not rows:
        return None
    job, parent, kind, delay = zip(*rows, strict=True)
    return dependency_table({"job": job, "parent": parent, "kind": kind, "delay": [float(one) for one in delay]})


def legs_by(result, moment):
    """The legs that are over by a moment, and those that have begun: pairs of a job and a number."""
    rows = result.log.filter(pl.col("time") < moment).select("kind", "job", "leg", "reason").iter_rows()
    over, begun = set(), set()
    for kind, job, leg, reason in rows:
        if kind == "start":
            begun.add((job, leg))
        elif kind == "end" and reason not in AGAIN:
            over.add((job, leg))
    return over, begun


def other_future(some, result, spy, draw):
    """The same jobs up to the moment of a spy, and other ones from then on."""
    (fresh, instead), moment = draw, spy.until
    over, begun = legs_by(result, moment)
    told = _ends(result)
    made, submit = [], 0.0
    for k, one in enumerate(some, 1):
        submit += one.gap if k > 1 else 0.0
        if submit >= moment and told[k][0] >= moment:  # who thinks may come before the time that is written
            other, before = fresh[k % len(fresh)], submit - one.gap
            legs = other.legs if len(other.legs) == len(one.legs) else one.legs  # how many rows there are is known
            gap = max(other.gap, math.ceil(moment - before)) if before < moment else other.gap
            # Who thinks after a job that is over would be there before.
            waits = tuple(one for one in other.waits if one[1] != "think")
            made.append(replace(other, gap=gap, legs=legs, waits=waits))
            continue
        legs = tuple(
            leg if (k, i) in over else _other_leg(leg, (k, i) in begun, *instead[(3 * k + i) % len(instead)])
            for i, leg in enumerate(one.legs)
        )
        stays = not told[k][0] + one.cancel < moment
        submitted = told[k][0] < moment  # then it is known for whom it waits, and its walltime
        cancel, waits = one.cancel + stays * instead[k][0], one.waits if submitted else _later(k, one, told, moment)
        hidden = {} if k - 1 in spy.shown else _said_otherwise(legs, fresh[k % len(fresh)], submitted)
        made.append(replace(one, **{"legs": legs, "cancel": cancel, "waits": waits} | hidden))
    return made


def _said_otherwise(legs, other, submitted):
    """What the user of a job that waits for its parents says, as far as no policy has heard it yet."""
    walltime = other.legs[0].walltime
    legs = legs if submitted else tuple(replace(leg, walltime=walltime) for leg in legs)
    return {"user": other.user, "buffer": other.buffer, "legs": legs}


def _other_leg(leg, begun, longer, phases):
    """What a leg does instead, or besides once it has begun; whether it writes checkpoints is known."""
    mine = tuple(phase for phase in phases if phase[0] in SAFE) if leg.safe else phases
    if not begun:
        end = (("compute", longer),) if leg.safe else (("stage_out", longer),)
        return replace(leg, phases=mine + end)
    if any(kind == "drain" for kind, _ in leg.phases):  # once only drains are left, that shows
        return leg
    return replace(leg, phases=leg.phases + mine)


def _ends(result):
    """Of each job when it came, began and was over: who never began was when it was turned away, or withdrawn."""
    left = result.log.filter(pl.col("kind").is_in(["reject", "cancel"])).select("job", "time")
    gone = dict(left.iter_rows())
    times = result.jobs.select("job_id", "submission_time", "starting_time", "finish_time").iter_rows()
    return {
        job: tuple(
            math.inf if time is None else time for time in (came, gone.get(job) if began is None else began, end)
        )
        for job, came, began, end in ((job, came, began, gone.get(job, over)) for job, came, began, over in times)
    }


def _later(k, one, told, moment):
    """Delays after what parents have not done yet are others."""
    found = []
    for back, kind, delay in one.waits:
        _, began, over = told.get(k - back, (0.0, 0.0, 0.0))
        found.append((back, kind, delay + 5 if (began if kind == "after" else over) >= moment else delay))
    return tuple(found)


outages = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 60), st.integers(1, 40)), min_size=1, max_size=4)


def failing(some, **more):
    """Failures of nodes: which, when, and for how long."""
    node, down, length = (np.array(column) for column in zip(*sorted(some, key=lambda row: row[1]), strict=True))
    trace = Outages("two futures", "", node.astype(np.int64), down.astype(float), (down + length).astype(float))
    return Failures(outages=trace, **more)


def other_outages(some, fresh, moment, known):
    """Those that have begun by a moment, of which the end may be another where nobody knows it; then other ones."""
    kept = [
        (node, down, length if known or down + length < moment else math.ceil(moment - down) + fresh[0][2])
        for node, down, length in some
        if down < moment
    ]
    return kept + [(node, math.ceil(moment) + down, length) for node, down, length in fresh]
