"""A run small enough to solve by hand, on 4 nodes with 10 TB of burst buffer (bb), and some that are hard to draw.

job  submit  nodes   bb  start  finish  on nodes  what it does besides compute
1         0      2  4e12      0     100  0 2       stages 1 GB in from 0 to 10, drains 2 GB from 50 to 90
2         0      4     0    100     150  0-3
3        10      1  6e12     20      60  1
4        20      8     0      -       -            is rejected
"""

import polars as pl
import pytest

from forebay.results import JOBS_CSV, Result

GB, TB = 10**9, 10**12
TIMES = ("submission_time", "starting_time", "finish_time", "waiting_time", "turnaround_time", "execution_time")
LOG = {
    "time": pl.Float64,
    "job": pl.Int64,
    "kind": pl.String,
    "leg": pl.Int16,
    "resource": pl.String,
    "amount": pl.Int64,
    "reason": pl.String,
}


def job(job_id, submit, start, finish, nodes, where, bb=0):
    """A row of the job table; start and finish are None for a rejected job."""
    row = dict.fromkeys((*JOBS_CSV, "total_wait", "bb")) | {"job_id": job_id, "submission_time": float(submit)}
    row |= {"requested_number_of_resources": nodes, "requested_time": 100.0, "allocated_resources": where, "bb": bb}
    row["final_state"] = "REJECTED" if start is None else "COMPLETED_SUCCESSFULLY"
    if start is not None:
        times = (start, finish, start - submit, finish - submit, finish - start)
        row |= dict(zip(TIMES[1:], map(float, times), strict=True)) | {"total_wait": float(start - submit)}
    return row


def log_of(rows):
    """Submissions, starts, ends and rejections of rigid jobs, in order of time; ends come first in an instant."""
    found = []
    for row in rows:
        j, nodes, bb, submit = row["job_id"], row["requested_number_of_resources"], row["bb"], row["submission_time"]
        found.append((submit, 1, j, "submit", "nodes", nodes, "none"))
        if row["starting_time"] is None:
            found.append((submit, 2, j, "reject", None, 0, "too_large"))
            continue
        for time, order, kinds in (
            (row["starting_time"], 3, ("start", "acquire")),
            (row["finish_time"], 0, ("end", "release")),
        ):
            found.append((time, order, j, kinds[0], "nodes", nodes, "none"))
            if bb:
                found.append((time, order, j, kinds[1], "bb", bb, "none"))
    found.sort(key=lambda row: row[:3])
    return [(time, j, kind, 0, resource, amount, reason) for time, _, j, kind, resource, amount, reason in found]


def result(*rows, log=()):
    """A Result of such rows, with further rows of the log."""
    floats = dict.fromkeys((*TIMES, "total_wait", "stretch", "requested_time"), pl.Float64)
    texts = dict.fromkeys(("allocated_resources", "final_state", "workload_name", "profile", "metadata"), pl.String)
    schema = {name: (floats | texts).get(name, pl.Int64) for name in (*JOBS_CSV, "total_wait", "bb")}
    changes = pl.DataFrame([*log_of(rows), *log], schema=LOG, orient="row").sort("time", maintain_order=True)
    return Result(
        pl.DataFrame(rows, schema=schema),
        changes,
        {"nodes": 4, "bb": 10 * TB},
        {"seed": 7},
        placements=placed(rows, changes),
    )


def placed(rows, changes):
    """The nodes of every start."""
    where = {row["job_id"]: row["allocated_resources"] for row in rows}
    found = [
        (place, *(int(node) for node in (piece.partition("-")[0], piece.rpartition("-")[2])))
        for place, (j, kind) in enumerate(changes.select("job", "kind").rows())
        if kind == "start"
        for piece in where[j].split()
    ]
    return pl.DataFrame(found, schema={"row": pl.UInt32, "low": pl.Int32, "high": pl.Int32}, orient="row")


PHASES = [
    (0, 1, "begin_phase", 0, None, 0, "stage_in"),
    (10, 1, "end_phase", 0, None, GB, "stage_in"),
    (50, 1, "begin_phase", 0, None, 0, "drain"),
    (90, 1, "end_phase", 0, None, 2 * GB, "drain"),
]
RUNS = {
    "normal": result(
        job(1, 0, 0, 100, 2, "0 2", 4 * TB),
        job(2, 0, 100, 150, 4, "0-3"),
        job(3, 10, 20, 60, 1, "1", 6 * TB),
        job(4, 20, None, None, 8, ""),
        log=PHASES,
    ),
    "one-job": result(job(1, 5, 6, 8, 1, "3")),
    "no-length": result(job(1, 0, 0, 0, 1, "0")),
    "rejected": result(job(1, 0, None, None, 8, "")),
    "no-wait": result(*(job(k, 100 * k, 100 * k, 100 * k + 50, 2, "0-1") for k in range(30))),
    "empty": result(),
}


@pytest.fixture(scope="session")
def runs():
    return RUNS


@pytest.fixture
def run():
    """The run above, under one name."""
    return {"a": RUNS["normal"]}
