"""What results are made of when a run is over."""

from typing import NamedTuple

import numpy as np

from forebay.core.codes import LogKind
from forebay.engine.driver.history import Record


class Left(NamedTuple):
    """What results are made of besides the record: the jobs, and a few columns of tables that can then go."""

    jobs: np.ndarray  # State's
    eligible: np.ndarray | None  # [job] when nobody was in its way any more; NaN = never; None where no job waits
    nodes: np.ndarray  # [job] that it asked for, whatever it was given; cores where nodes are shared
    cores: np.ndarray  # [node + 1] ids of cores, where nodes are shared; else empty
    number: np.ndarray  # [job] of its last leg
    way: np.ndarray  # [job] to run that was taken
    logged: np.ndarray  # [leg] whether its phases are in the log
    by_choice: bool  # whether jobs had several ways to run
    links: np.ndarray  # Truth's
    flexibility: np.ndarray  # [job] code; empty where nobody has an application
    compute_nodes: np.ndarray | None  # Program's
    allowed: np.ndarray | None  # [job] atoms that its last leg might run on, as bits; None where nodes are alike
    parts: np.ndarray  # [job] that it is on nodes that are shared; else empty
    placing: np.ndarray  # [job] how these are placed, as an index of PLACING; else empty
    alone: np.ndarray | None = None  # [job] seconds alone, where the log lacks them, else NaN; None if not needed
    io: np.ndarray | None = None  # [job] what reads and writes took; None without an I/O scheduler


def mean_nodes(left: Left, record: Record) -> np.ndarray:
    """The nodes that each job had on average over its run; NaN of those without any length."""
    log, n_jobs, finish = record.log, len(left.jobs), left.jobs["finish"]
    job, time, kind = log["job"], log["time"], log["kind"]
    sign = np.isin(kind, (LogKind.START, LogKind.ACQUIRE)) * 1 - np.isin(kind, (LogKind.END, LogKind.RELEASE))
    held = (sign != 0) & (log["resource"] == 0)
    # From the job's own end back: sums of times since the beginning of a long run would lose digits.
    area = np.bincount(job[held], (sign * log["amount"] * (finish[job] - time))[held], n_jobs)
    length = finish - left.jobs["start"]
    mean: np.ndarray = np.divide(area, length, out=np.full(n_jobs, np.nan), where=length > 0)
    return mean
