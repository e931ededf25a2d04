"""Jobs that read, compute with checkpoints and write: I/O takes a given share of their time, alone on the file system.

A run time says nothing of what a job reads and writes. Here a share of it becomes I/O. Alone, a job on n nodes moves
n x `node` bytes a second, or `pfs` if that is less, so that a share of its time is a number of bytes. In the company of
others it takes longer. Shares are uniform around their mean; the same seed draws alike for every mean.

A checkpoint of a job that has reserved burst buffer goes there as far as there is room, and the rest goes to the file
system: schedulers decide on the reservation, and the user of this model on the bytes, so neither changes. With `to=pfs`
all checkpoints go to the file system, also on machines without a buffer.
"""

import numpy as np
import polars as pl

from forebay.core.units import format_bytes
from forebay.errors import InputError
from forebay.workload.models import _checks as checks
from forebay.workload.models._buffered import past, within
from forebay.workload.models._in_turn import in_turn
from forebay.workload.workload import Workload

DESCRIPTION = "input, checkpoints and output that take a given share of a job's time, alone on the file system"

_NAME = "io-share"


def attach(
    workload: Workload,
    rng: np.random.Generator,
    *,
    io: float = 0.1,
    spread: float = 0.5,
    checkpoints: float = 0.8,
    node: checks.Bytes = 2e9,
    pfs: checks.Bytes = 25e9,
    every: checks.Seconds = 3600.0,
    writes: int = 10,
    to: str = "buffer",
) -> Workload:
    """The workload with phases: read, then compute and checkpoint in turn, compute once more, write.

    I/O takes `io` x (1 - `spread`) to `io` x (1 + `spread`) of a job's run time; the rest is computing. Checkpoints
    have the share `checkpoints` of the bytes, input and output half of the rest each. A job has a checkpoint for
    `every` so many seconds, rounded, but 1 to `writes`. `node` and `pfs` are bytes a second. Walltimes stay.

    Where jobs ask for burst buffer, n checkpoints put up to an n-th of it there each, drain that, and write the rest.
    With `to="pfs"` checkpoints are writes to the file system, whatever jobs ask for.
    """
    checks.share(_NAME, io=io, spread=spread, checkpoints=checkpoints)
    checks.above(_NAME, 0, node=node, pfs=pfs, every=every)
    checks.at_least(_NAME, 1, writes=writes)
    checks.one_of(_NAME, ("buffer", "pfs"), to=to)
    checks.whole_jobs(_NAME, workload)
    if io * (1 + spread) > 1:
        raise InputError(f"model {_NAME!r}: io x (1 + spread) is {io * (1 + spread):g}; give 1 at most")
    jobs = workload.jobs
    if (jobs["flop"] > 0).any():
        raise InputError(
            f"{workload.name}: model {_NAME!r} shares out run times in seconds; here work is given in flop"
        )
    run = jobs["run_time"].to_numpy()
    share = io * (1 + spread * rng.uniform(-1.0, 1.0, len(jobs)))
    rate = np.minimum(node * jobs["nodes"].to_numpy(), pfs)
    count = np.clip(np.rint(run / every), 1, writes)
    moved = share * run * rate
    ends, between = np.rint(moved * (1 - checkpoints) / 2), np.rint(moved * checkpoints)
    total = 2 * ends + between
    computing = np.maximum(run - total / rate, 0.0)
    talk = jobs["communication"].to_numpy()
    each = format_bytes(round(float(total.sum()) / max(len(jobs), 1)))
    ids = jobs["id"].to_numpy()
    phases, there = in_turn(_NAME, ids, ends, ends, between, count, computing, talk), ""
    if to == "pfs":
        phases, there = past(phases), ", all of it to the file system"
    elif "burst_buffer" in jobs.columns:
        phases = within(_NAME, phases, ids, jobs["burst_buffer"].to_numpy())
        buffered = phases.filter(kind="checkpoint")["bytes"].sum()
        there = f"; {100 * buffered / max(between.sum(), 1):.3g} % of checkpoints within the burst buffer reserved"
    return checks.changed(
        workload,
        f"I/O for {100 * io:g} % of the time alone, {each} a job on average{there}",
        jobs=jobs.with_columns(pl.Series("run_time", computing)),
        phases=phases,
    )
