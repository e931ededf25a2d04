"""Runs in which nodes fail and jobs are interrupted, written down by hand: the log first, the job table from it."""

import polars as pl

from forebay.engine.failures.frames import with_attempts
from forebay.results import JOBS_CSV, Result
from forebay.results._waits import with_run_alone

LOG = {
    "time": pl.Float64,
    "job": pl.Int64,
    "kind": pl.String,
    "leg": pl.Int64,
    "resource": pl.String,
    "amount": pl.Int64,
    "reason": pl.String,
}
STATES = {
    "completed": "COMPLETED_SUCCESSFULLY",
    "walltime": "COMPLETED_WALLTIME_REACHED",
    "node_down": "COMPLETED_FAILED",
}
TIMES = ("starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch", "total_wait")
NUMBERS = ("job_id", "requested_number_of_resources", "success", "n_legs", "user", "group", "queue")
WORDS = ("workload_name", "profile", "final_state", "allocated_resources", "metadata")


class Tape:
    """Rows of a log, one method a kind. Nodes are text: "0-2 5"; an end gives back all that its job has."""

    def __init__(self, nodes):
        self.nodes, self.rows, self.placed, self.held = nodes, [], [], {}

    def row(self, time, job, kind, resource, amount, reason, where=""):
        for piece in where.split():
            low, _, high = piece.partition("-")
            self.placed.append((len(self.rows), int(low), int(high or low)))
        self.rows.append((time, job, kind, 0, resource, amount, reason))

    def submit(self, time, job, nodes):
        self.row(time, job, "submit", "nodes", nodes, "none")

    def start(self, time, job, where, reason="in_order"):
        self.held[job] = size(where)
        self.row(time, job, "start", "nodes", self.held[job], reason, where)

    def grow(self, time, job, where):
        self.held[job] += size(where)
        self.row(time, job, "acquire", "nodes", size(where), "resized", where)

    def shrink(self, time, job, where):
        self.held[job] -= size(where)
        self.row(time, job, "release", "nodes", size(where), "resized", where)

    def phase(self, start, end, job, reason, complete=True):
        """Both rows of a checkpoint or recovery: nothing else happens in between."""
        self.row(start, job, "begin_phase", None, 0, reason)
        self.row(end, job, "end_phase", None, 0 if complete else -1, reason)

    def end(self, time, job, reason="completed", again=False):
        self.row(time, job, "end", "nodes", self.held.pop(job), reason)
        if again:
            self.row(time, job, "queue", None, 0, "none")

    def fails(self, time, job, node, again=True):
        """A node fails, and so does the job on it."""
        self.end(time, job, "node_down", again)
        self.down(time, node)

    def stolen(self, time, job):
        self.end(time, job, "interrupted", again=True)

    def down(self, time, node):
        self.row(time, None, "node_down", None, node, "none")

    def up(self, time, node):
        self.row(time, None, "node_up", None, node, "none")

    def result(self, **facts):
        log = pl.DataFrame(self.rows, schema=LOG, orient="row")
        schema = dict.fromkeys((*JOBS_CSV, *TIMES), pl.Float64) | dict.fromkeys(NUMBERS, pl.Int64)
        schema |= dict.fromkeys(WORDS, pl.String)
        jobs = pl.DataFrame([self.job(job) for _, job, kind, *_ in self.rows if kind == "submit"], schema=schema)
        placements = pl.DataFrame(
            self.placed, schema={"row": pl.UInt32, "low": pl.Int32, "high": pl.Int32}, orient="row"
        )
        told = {"workload": "by hand", "policy": "by hand", **facts}
        jobs = with_run_alone(with_attempts(jobs, log), None)
        return Result(jobs, log, {"nodes": self.nodes}, told, placements=placements)

    def job(self, job):
        """The row of the job table."""
        mine = [row for row in self.rows if row[1] == job]
        submit, start, finish = (
            [row for row in mine if row[2] == kind][place] for kind, place in (("submit", 0), ("start", 0), ("end", -1))
        )
        times = {"starting_time": start[0], "finish_time": finish[0], "submission_time": submit[0]}
        times |= {"waiting_time": start[0] - submit[0], "turnaround_time": finish[0] - submit[0]}
        ran = sum(row[0] if row[2] == "end" else -row[0] for row in mine if row[2] in ("start", "end"))
        waited = finish[0] - submit[0] - ran
        times |= {"execution_time": finish[0] - start[0], "total_wait": waited, "requested_time": 100}
        more = {"job_id": job, "requested_number_of_resources": submit[5], "final_state": STATES[finish[6]]}
        always = {"user": -1, "n_legs": 1, "success": 1, "consumed_energy": -1} | dict.fromkeys(WORDS, "")
        return dict.fromkeys((*JOBS_CSV, *TIMES, *NUMBERS)) | always | times | more


def size(where):
    ends = [piece.partition("-") for piece in where.split()]
    return sum(int(high or low) - int(low) + 1 for low, _, high in ends)


def toy(steals):
    """The example of D3.3 of ADMIRE, Table 3.1: eight nodes, five jobs at 0, node 2 fails at 1 and is down for 5 s.

    Without checkpoints. Job 3 waits until 5; if it steals the node of job 2, it starts again at once.
    """
    tape = Tape(8)
    for job, nodes in enumerate((1, 1, 6, 6, 1), 1):
        tape.submit(0, job, nodes)
    for job, where in ((1, "0"), (2, "1"), (3, "2-7")):
        tape.start(0, job, where)
    tape.fails(1, 3, 2)
    if steals:
        tape.stolen(1, 2)
        tape.start(1, 3, "1 3-7")
        tape.up(6, 2)
        tape.start(6, 2, "2")
        tape.end(8, 1)
        tape.start(8, 5, "0", "backfilled")
        tape.end(10, 5)
        tape.end(11, 2)
        tape.end(11, 3)
        tape.start(11, 4, "0-5")
        tape.end(21, 4)
    else:
        tape.start(1, 5, "5", "backfilled")
        tape.end(3, 5)
        tape.end(5, 2)
        tape.start(5, 3, "1 3-7")
        tape.up(6, 2)
        tape.end(8, 1)
        tape.end(15, 3)
        tape.start(15, 4, "0-5")
        tape.end(25, 4)
    return tape.result()


def guarded():
    """Ten nodes; jobs that write checkpoints, are interrupted in every way, and change their size.

    Job 1 on 4 nodes saves at 10-12 and fails at 20 (node 0, down 20-40). It recovers at 25-28, gives up 2 nodes at 30,
    saves at 35-37 with 2 left, and ends at 50. Job 2 on 3 nodes fails at 20 in a checkpoint that it began at 18 (node
    4, down for good): all of it is lost. It runs again from 21, saves at 31-33, and is interrupted just then; again at
    64, after its recovery from 60 to 62; again at 67, in that from 66 on. It recovers at 70-73 and ends at 80. Job 3 on
    1 node saves at 40-41, fails at 45 (node 9, down 45-46), recovers at 46-47, fails at 49 (node 9 again, down for
    good) and is given up.
    """
    tape = Tape(10)
    tape.submit(0, 1, 4)
    tape.submit(0, 2, 3)
    tape.start(0, 1, "0-3")
    tape.start(0, 2, "4-6")
    tape.phase(10, 12, 1, "save")
    tape.phase(18, 20, 2, "save", complete=False)
    tape.fails(20, 2, 4)
    tape.fails(20, 1, 0)
    tape.start(21, 2, "5-7")
    tape.start(25, 1, "1-3 8")
    tape.phase(25, 28, 1, "recover")
    tape.submit(30, 3, 1)
    tape.shrink(30, 1, "3 8")
    tape.start(30, 3, "9")
    tape.phase(31, 33, 2, "save")
    tape.stolen(33, 2)
    tape.phase(35, 37, 1, "save")
    tape.up(40, 0)
    tape.phase(40, 41, 3, "save")
    tape.fails(45, 3, 9)
    tape.up(46, 9)
    tape.start(46, 3, "9")
    tape.phase(46, 47, 3, "recover")
    tape.fails(49, 3, 9, again=False)
    tape.end(50, 1)
    tape.start(60, 2, "5-7")
    tape.phase(60, 62, 2, "recover")
    tape.stolen(64, 2)
    tape.start(66, 2, "5-7")
    tape.phase(66, 67, 2, "recover")
    tape.stolen(67, 2)
    tape.start(70, 2, "0-2")
    tape.phase(70, 73, 2, "recover")
    tape.end(80, 2)
    return tape.result()
