"""ElastiSim's own tables, written from a result of ours."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from forebay.elastisim.platform import Machine
from forebay.errors import InputError
from forebay.results import Result
from forebay.workload import Workload

_STATUS = {"COMPLETED_SUCCESSFULLY": "completed"}
_NODE_STATES = ("free", "allocated")


def _number(value: float) -> str:
    """As C++ streams write it: six digits that count."""
    return f"{value:.6g}"


def _csv(header: Sequence[str], rows: list[list[str]]) -> str:
    return "\n".join(",".join(row) for row in [list(header), *rows]) + "\n"


def job_statistics(result: Result, workload: Workload, machine: Machine) -> str:
    """A row a job that has begun, by number."""
    assert workload.applications is not None
    types = dict(workload.applications.jobs.rows())
    rows = []
    for job in result.jobs.sort("job_id").iter_rows(named=True):
        if job["starting_time"] is None:
            continue
        times = (job["submission_time"], job["starting_time"], job["finish_time"])
        spans = (job["waiting_time"], job["execution_time"], job["turnaround_time"])
        status = _STATUS.get(job["final_state"], "killed")
        rows.append([str(job["job_id"]), types[job["job_id"]], *map(_number, (*times, *spans)), status])
    header = (
        "ID",
        "Type",
        "Submit Time",
        "Start Time",
        "End Time",
        "Wait Time",
        "Makespan",
        "Turnaround Time",
        "Status",
    )
    return _csv(header, rows)


def node_utilization(result: Result, workload: Workload, machine: Machine) -> str:
    """A row whenever a node comes to a job or becomes free."""
    changes = (
        result.placements.join(result.log.with_row_index("row"), on="row", how="inner")
        .filter(pl.col("resource") == "nodes")
        .sort("row")
    )  # fmt: skip
    rows, holder = [], np.full(machine.platform.nodes, -1, np.int64)
    ends = result.log.with_row_index("row").filter(pl.col("kind") == "end").select("row", "time", "job")
    events = [(row, time, job, kind in ("start", "acquire"), low, high) for row, low, high, time, job, kind in
              changes.select("row", "low", "high", "time", "job", "kind").iter_rows()]  # fmt: skip
    events += [(row, time, job, False, -1, -1) for row, time, job in ends.iter_rows()]
    for _, time, job, comes, low, high in sorted(events, key=lambda event: event[0]):
        nodes = range(low, high + 1) if low >= 0 else np.flatnonzero(holder == job)
        for node in nodes:
            holder[node] = job if comes else -1
            state = _NODE_STATES[comes]
            rows.append([_number(time), machine.names[node], state, str(job) if comes else "", ""])
    return _csv(("Time", "Node", "State", "Running jobs", "Expected jobs"), rows)


WRITERS: dict[str, Callable[[Result, Workload, Machine], str]] = {
    "job_statistics": job_statistics,
    "node_utilization": node_utilization,
}


def refuse(names: Sequence[str]) -> None:
    """Refuse tables that are not written, by name."""
    unknown = [name for name in names if name not in WRITERS]
    if unknown:
        raise InputError(f"{unknown[0]} is not written; known: {', '.join(WRITERS)}")
