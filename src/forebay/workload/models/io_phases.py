"""Compute time and communication of jobs that also stage data, after Kopański & Rządca (2021).

A trace's run time includes its input and output. Where these are simulated, they must not be counted twice: the time
that moving `kappa` times the burst-buffer request of a node takes over its network port is taken off, but never more
than 95 % of the run time. The factor 40 is theirs, found by trial. Jobs of several nodes also exchange data.
"""

import numpy as np
import polars as pl

from forebay.errors import InputError
from forebay.workload.models import _checks as checks
from forebay.workload.workload import Workload

DESCRIPTION = "run times without I/O, and communication (Kopański & Rządca 2021)"

_NAME = "io-phases"


def attach(
    workload: Workload,
    rng: np.random.Generator,
    *,
    kappa: float = 40.0,
    bandwidth: float = 1.25e9,
    floor: float = 0.05,
    communication: checks.Bytes = 100e6,
    spread: checks.Bytes = 20e6,
    speed: float = 0.0,
) -> Workload:
    """The workload with run time max(run - kappa x request per node / bandwidth, floor x run), and communication.

    `communication` and `spread` are mean and standard deviation of a normal, in bytes from each node to each other;
    draws below 0 become 0, and jobs of one node have none. Walltimes stay. With a `speed` in flop/s above 0 the run
    time is given as so many flop instead, as the authors do (1e9): a Batsim file keeps communication during flop only.
    """
    checks.at_least(_NAME, 0, kappa=kappa, communication=communication, spread=spread, speed=speed)
    checks.above(_NAME, 0, bandwidth=bandwidth)
    checks.share(_NAME, floor=floor)
    checks.whole_jobs(_NAME, workload)
    jobs = workload.jobs
    if "burst_buffer" not in jobs.columns:
        raise InputError(
            f"{workload.name}: model {_NAME!r} needs the jobs' burst buffers; attach the model 'burst-buffer' first"
        )
    if (jobs["flop"] > 0).any():
        raise InputError(
            f"{workload.name}: model {_NAME!r} shortens run times in seconds; here work is given in flop, "
            "most likely with its I/O already taken off"
        )
    nodes = jobs["nodes"].to_numpy()
    run = jobs["run_time"].to_numpy()
    moving = kappa * (jobs["burst_buffer"].to_numpy() / nodes) / bandwidth
    compute = np.maximum(run - moving, floor * run)
    pairs = np.maximum(communication + spread * rng.standard_normal(len(jobs)), 0.0)
    kept = compute.sum() / run.sum() if run.sum() else 1.0
    return checks.changed(
        workload,
        f"run times without I/O (kappa {kappa:g}): {100 * kept:.3g} % of the time left; communication added",
        jobs=jobs.with_columns(
            pl.Series("run_time", compute if speed == 0 else np.zeros(len(jobs))),
            pl.Series("flop", compute * speed),
            pl.Series("communication", np.where(nodes > 1, pairs, 0.0)),
        ),
    )
