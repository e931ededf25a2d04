"""A run small enough to solve by hand, and the means to build others.

4 nodes and 10 units of burst buffer (bb):

    job  submit  nodes  bb  walltime  start  finish  user  what becomes of it
    1         0      2   4       100      0     100     1  completes
    2         0      4   0        50    100     150     2  is killed at its walltime
    3        10      1   6        40     20      60     1  three legs: bb from 20 to 60, a node from 30 to 45
    4        20      8   0        10      -       -     2  is rejected
"""

import polars as pl
import pytest

from forebay.results import JOBS_CSV, Result

OK, TIMEOUT, REJECTED = "COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "REJECTED"
TIMES = ("starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch", "total_wait")
COLUMNS = (*JOBS_CSV, "total_wait", "user", "group", "queue", "priority", "n_legs", "bb")


def job(job_id, times, nodes, walltime, *, state=OK, user=-1, bb=0, n_legs=1):
    """A row of the job table; *times* are submit, start and finish, the last two None for a rejected job."""
    submit, start, finish = times
    row = dict.fromkeys(COLUMNS) | dict.fromkeys(("group", "queue"), -1)
    row |= {"job_id": job_id, "submission_time": submit, "requested_number_of_resources": nodes}
    row |= {"requested_time": walltime, "final_state": state, "user": user, "bb": bb, "n_legs": n_legs}
    if start is not None:
        run, turnaround = finish - start, finish - submit
        derived = (start, run, finish, start - submit, turnaround, turnaround / run if run else None, start - submit)
        row |= dict(zip(TIMES, derived, strict=True))
    return row


def rigid_log(rows):
    """The log of jobs that hold all their nodes from start to finish."""
    ran = [row for row in rows if row["starting_time"] is not None]
    starts = [(row["starting_time"], row["job_id"], "start", row["requested_number_of_resources"]) for row in ran]
    ends = [(row["finish_time"], row["job_id"], "end", row["requested_number_of_resources"]) for row in ran]
    return [(time, job_id, kind, 0, "nodes", amount) for time, job_id, kind, amount in sorted(starts + ends)]


def result(rows, log=None, nodes=4):
    """A Result of such rows; without a log, of rigid jobs."""
    floats = dict.fromkeys((*TIMES, "submission_time", "requested_time", "priority"), pl.Float64)
    schema = {name: floats.get(name, pl.Int64) for name in COLUMNS} | {"final_state": pl.String}
    changes = pl.DataFrame(
        rigid_log(rows) if log is None else log,
        schema={
            "time": pl.Float64,
            "job": pl.Int64,
            "kind": pl.String,
            "leg": pl.Int64,
            "resource": pl.String,
            "amount": pl.Int64,
        },
        orient="row",
    ).with_columns(reason=pl.lit("none"))
    return Result(pl.DataFrame(rows, schema=schema), changes, {"nodes": nodes, "bb": 10}, {"seed": 7})


ROWS = [
    job(1, (0, 0, 100), 2, 100, user=1, bb=4),
    job(2, (0, 100, 150), 4, 50, state=TIMEOUT, user=2),
    job(3, (10, 20, 60), 1, 40, user=1, bb=6, n_legs=3),
    job(4, (20, None, None), 8, 10, state=REJECTED, user=2),
]
LOG = [
    (0, 1, "submit", 0, None, 0),
    (0, 2, "submit", 0, None, 0),
    (0, 1, "start", 0, "nodes", 2),
    (0, 1, "acquire", 0, "bb", 4),
    (10, 3, "submit", 0, None, 0),
    (20, 4, "submit", 0, None, 0),
    (20, 4, "reject", 0, None, 0),
    (20, 3, "start", 0, "nodes", 0),
    (20, 3, "acquire", 0, "bb", 6),
    (30, 3, "end", 0, "nodes", 0),
    (30, 3, "queue", 1, None, 0),
    (30, 3, "start", 1, "nodes", 1),
    (45, 3, "release", 1, "nodes", 1),
    (50, 3, "end", 1, "nodes", 0),
    (50, 3, "start", 2, "nodes", 0),
    (60, 3, "release", 2, "bb", 6),
    (60, 3, "end", 2, "nodes", 0),
    (100, 1, "release", 0, "bb", 4),
    (100, 1, "end", 0, "nodes", 2),
    (100, 2, "start", 0, "nodes", 4),
    (150, 2, "end", 0, "nodes", 4),
]


@pytest.fixture(scope="session")
def run():
    """The run above."""
    return result(ROWS, LOG)


@pytest.fixture(scope="session")
def make():
    """`make(job(...), job(...), nodes=4)`: a run of rigid jobs."""
    return lambda *rows, nodes=4: result(list(rows), nodes=nodes)


@pytest.fixture(scope="session")
def rejected():
    """A run in which no job counts."""
    return result([ROWS[3]], [])


@pytest.fixture(scope="session")
def empty():
    """A run without jobs."""
    return result([], [])


@pytest.fixture(name="job", scope="session")
def _job():
    return job
