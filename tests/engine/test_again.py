"""A leg that ends as AGAIN: its job gives back what it took for it, waits, and does all of it once more."""

import numpy as np
import polars as pl

from cases import pooled
from cases.chunks import compiles
from forebay._numba.jit import kernel
from forebay._numba.pointer import pointer
from forebay.core.codes import JobState, LegEnd, LogKind, LogReason
from forebay.core.tables import STATE
from forebay.engine.build.tables import build, make_program
from forebay.engine.contention.transfers import stop_phase
from forebay.engine.driver import batch as engine
from forebay.engine.legs import end_leg
from forebay.engine.timers import cancel_timer
from forebay.engine.truth import TRUTH

pytestmark = compiles


@kernel
def interrupt(state, truth, j, time):
    """As whoever takes a node from a running job would."""
    cancel_timer(truth, 2 * j)
    stop_phase(truth, j, time)
    end_leg(state, truth, j, time, LegEnd.AGAIN, LogReason.INTERRUPTED, JobState.QUEUED)
    return 0


class Acts:
    """What is done at which decision: `actions` has start and interrupt by time."""

    def __init__(self, actions, *tables):
        self.actions, self.tables = actions, tables

    def decide(self, view, act):
        for what, j in self.actions.get(view.now, ()):
            act.start(j) if what == "start" else interrupt(*self.tables, j, view.now)


def run(jobs, legs, phases, actions):
    made, machine = pooled.workload(jobs, legs, phases), pooled.platform(4, 10)
    state, truth, _ = build(made, machine, make_program(made, machine, "alloc-only"))
    acts = Acts(actions, pointer(state, STATE), pointer(truth, TRUTH))
    return state, engine.run(state, truth, acts, machine.resources, np.random.default_rng(0))


def changes(record):
    log = {name: record.log[name] for name in ("time", "kind", "resource", "amount", "reason")}
    kinds = [LogKind(kind).name for kind in log["kind"]]
    return list(zip(log["time"].tolist(), kinds, log["resource"].tolist(), log["amount"].tolist(), strict=True))


def test_one_leg():
    """Job 0 has 3 nodes and 5 B from 0 to 7 and is interrupted at 4, when job 1 comes. It runs again from 4 to 11."""
    jobs = [
        {"id": 1, "submit": 0.0, "walltime": 20.0, "run_time": 7.0, "nodes": 3, "burst_buffer": 5},
        {"id": 2, "submit": 4.0, "walltime": 20.0, "run_time": 1.0, "nodes": 1, "burst_buffer": 0},
    ]
    actions = {0.0: [("start", 0)], 4.0: [("interrupt", 0), ("start", 0), ("start", 1)]}
    state, record = run(jobs, (), (), actions)
    assert changes(record) == [
        (0, "SUBMIT", 0, 3),
        (0, "START", 0, 3),
        (0, "ACQUIRE", 1, 5),
        (4, "SUBMIT", 0, 1),
        (4, "END", 0, 3),
        (4, "RELEASE", 1, 5),
        (4, "QUEUE", -1, 0),
        (4, "START", 0, 3),
        (4, "ACQUIRE", 1, 5),
        (4, "START", 0, 1),
        (5, "END", 0, 1),
        (11, "END", 0, 3),
        (11, "RELEASE", 1, 5),
    ]
    assert state.jobs["start"].tolist() == [0, 4]
    assert state.jobs["finish"].tolist() == [11, 5]
    assert state.jobs["state"].tolist() == [JobState.COMPLETED] * 2
    assert state.resources["free"].tolist() == [4, 10]
    assert state.jobs["held"].tolist() == [0, 0]


def test_a_later_leg_keeps_what_it_carried_into_it():
    """Leg 0 holds 6 B for 2 s; leg 1 keeps them and takes 2 nodes. Interrupted, it gives back its nodes alone."""
    jobs = [{"id": 1, "submit": 0.0, "walltime": 9.0, "nodes": 2, "burst_buffer": 6}]
    jobs.append({"id": 2, "submit": 3.0, "walltime": 1.0, "run_time": 1.0, "nodes": 1, "burst_buffer": 0})
    legs = [
        {"job": 1, "leg": 0, "walltime": 2.0, "nodes": 0, "carry": "", "burst_buffer": 6},
        {"job": 1, "leg": 1, "walltime": 5.0, "nodes": 2, "carry": "burst_buffer", "burst_buffer": 6},
    ]
    phases = [{"job": 1, "leg": 0, "seconds": 2.0}, {"job": 1, "leg": 1, "seconds": 5.0}]
    actions = {0.0: [("start", 0)], 2.0: [("start", 0)], 3.0: [("interrupt", 0), ("start", 0), ("start", 1)]}
    state, record = run(jobs, legs, phases, actions)
    mine = pl.DataFrame(changes(record), schema=["time", "kind", "resource", "amount"], orient="row")
    assert mine.filter(pl.col("time") == 3).rows() == [
        (3, "SUBMIT", 0, 1),
        (3, "END", 0, 2),
        (3, "QUEUE", -1, 0),
        (3, "START", 0, 2),
        (3, "START", 0, 1),
    ]
    assert mine.filter(pl.col("time") == 8).rows() == [(8, "END", 0, 2), (8, "RELEASE", 1, 6)]
    assert state.jobs["finish"][0] == 8
    assert np.array_equal(state.resources["free"], state.resources["capacity"])


def test_withdrawn_while_it_waits_to_take_a_part_again():
    """The second leg carries 5 B, gives 3 back at 5 and is interrupted at 6; withdrawn at 8, it has 2 to give."""
    jobs = [
        {"id": 1, "submit": 0.0, "walltime": 20.0, "run_time": 7.0, "nodes": 3, "burst_buffer": 5, "cancel": 8.0},
        {
            "id": 2,
            "submit": 6.0,
            "walltime": 9.0,
            "run_time": 1.0,
            "nodes": 1,
            "burst_buffer": 0,
            "cancel": float("inf"),
        },
    ]
    legs = [
        {"job": 1, "leg": 0, "walltime": 9.0, "nodes": 3, "carry": "", "burst_buffer": 5},
        {"job": 1, "leg": 1, "walltime": 9.0, "nodes": 3, "carry": "burst_buffer", "burst_buffer": 5},
    ]
    phases = [
        {"job": 1, "leg": 0, "kind": "compute", "seconds": 2.0},
        {"job": 1, "leg": 1, "kind": "compute", "seconds": 3.0, "release": "burst_buffer=3"},
        {"job": 1, "leg": 1, "kind": "compute", "seconds": 9.0},
    ]
    actions = {0.0: [("start", 0)], 2.0: [("start", 0)], 6.0: [("interrupt", 0), ("start", 1)]}
    state, record = run(jobs, legs, phases, actions)
    given = [change for change in changes(record) if change[1] == "RELEASE"]
    assert given == [(5, "RELEASE", 1, 3), (8, "RELEASE", 1, 2)]
    assert state.resources["free"].tolist() == [4, 10]
