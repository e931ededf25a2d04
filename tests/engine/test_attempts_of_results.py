"""What results say of legs that were interrupted, and of nodes that failed."""

import numpy as np
import polars as pl
import pytest

from cases import pooled
from cases.chunks import compiles
from forebay._numba.pointer import pointer
from forebay.core.codes import LegEnd, LogKind, LogReason
from forebay.core.tables import STATE
from forebay.engine.build.tables import build, make_program
from forebay.engine.contention.transfers import stop_phase
from forebay.engine.driver import batch as engine
from forebay.engine.driver.history import Piece, Record
from forebay.engine.failures.frames import with_attempts
from forebay.engine.legs import cancel_timer, end_leg
from forebay.engine.results import tables as collect
from forebay.engine.truth import LOG, TRUTH

pytestmark = pytest.mark.small

ATTEMPTS = ["n_attempts", "lost_time", "checkpoint_time", "recovery_time"]


def tables(jobs, legs=(), phases=()):
    made, machine = pooled.workload(jobs, legs, phases), pooled.platform(4, 10)
    state, truth, _ = build(made, machine, make_program(made, machine, "alloc-only"))
    return made, machine, state, truth


def rigid(job, submit, run_time, nodes):
    times = {"submit": float(submit), "walltime": 20.0, "run_time": float(run_time)}
    return {"id": job, "nodes": nodes, "burst_buffer": 0, **times}


class Interrupts:
    """Starts jobs in order; at 4 the first is interrupted, and starts again at once."""

    def __init__(self, *tables):
        self.tables = tables

    def decide(self, view, act):
        if view.now == 4:
            state, truth = self.tables
            cancel_timer(truth, 0)
            stop_phase(truth, 0, 4.0)
            end_leg(state, truth, 0, 4.0, LegEnd.AGAIN, LogReason.INTERRUPTED, 1)
            act.start(0)
        for job in view.queue:
            if act.fits(job):
                act.start(job)


@compiles
def test_an_interrupted_job_has_two_attempts():
    """Job 10 runs on 3 nodes from 0 to 4 in vain, then from 4 to 11; job 20 comes at 4."""
    made, machine, state, truth = tables([rigid(10, 0, 7, 3), rigid(20, 4, 1, 1)])
    policy = Interrupts(pointer(state, STATE), pointer(truth, TRUTH))
    record = engine.run(state, truth, policy, machine.resources, np.random.default_rng(0))
    left = collect.left_of(state, truth)
    jobs = collect.jobs_frame(left, record, made, machine)
    found = with_attempts(jobs, collect.log_frame(record, left.jobs, machine.resources))
    assert found.select("job_id", "starting_time", "finish_time", *ATTEMPTS).rows() == [
        (10, 0, 11, 2, 4, 0, 0),
        (20, 4, 5, 1, 0, 0, 0),
    ]


def record_of(*rows):
    """A record of rows of the log: time, job, kind, leg, resource, amount and reason."""
    columns = ("time", "job", "kind", "leg", "resource", "amount", "reason")
    table = np.zeros(len(rows), LOG)
    for name, column in zip(columns, zip(*rows, strict=True), strict=True):
        table[name] = column
    log = Piece(None, tuple(table[name] for name in LOG.names))
    return Record((log, None, None, None))


START = (0, 0, LogKind.START, 0, 0, 4, LogReason.IN_ORDER)
END = (9, 0, LogKind.END, 0, 0, 4, LogReason.COMPLETED)
DOWN, UP = ((time, -1, kind, 0, -1, 3, LogReason.NONE) for time, kind in ((2, LogKind.NODE_DOWN), (5, LogKind.NODE_UP)))


def test_rows_of_nodes_have_no_job():
    _, machine, state, _ = tables([rigid(10, 0, 9, 4)])
    state.jobs["id"] = 10
    log = collect.log_frame(record_of(START, DOWN, UP, END), state.jobs, machine.resources)
    plain = collect.log_frame(record_of(START, END), state.jobs, machine.resources)
    assert log.schema == plain.schema
    assert log.select("job", "kind", "resource", "amount").rows() == [
        (10, "start", "nodes", 4),
        (None, "node_down", None, 3),
        (None, "node_up", None, 3),
        (10, "end", "nodes", 4),
    ]
    jobs = pl.DataFrame({"job_id": [10, 11]})
    assert with_attempts(jobs, log).select(ATTEMPTS).rows() == [(1, 0, 0, 0), (0, None, None, None)]
    assert with_attempts(jobs, plain) is jobs
