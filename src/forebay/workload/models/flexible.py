"""Jobs of a trace that the scheduler may size: what if a share of them were moldable or malleable?

A trace has one size and one run time of each job. A law of speed-up tells what other sizes would have taken: with N
nodes and R seconds recorded, R x (1 - alpha + alpha x N / n) on n nodes. That is Amdahl's law for a job of which a
share `alpha` of the recorded time is parallel. Amdahl's own share is of the time on one node, which traces do not have:
with `alpha_on=one-node` it is alpha / N, against 1 - alpha, of what was recorded.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay._support.input_limits import LONGEST
from forebay._support.text import counted
from forebay.workload import _source
from forebay.workload._checks.rules import MOST_NODES
from forebay.workload.applications import Applications, empty
from forebay.workload.models import _checks as checks
from forebay.workload.operations import REFERENCE_SPEED
from forebay.workload.workload import Workload

DESCRIPTION = "a share of the jobs becomes malleable or moldable, with run times after Amdahl's law"

KINDS = ("malleable", "moldable")
MOST_ROUNDS = 10**6
_NAME = "flexible"

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def attach(
    workload: Workload,
    rng: np.random.Generator,
    *,
    share: float = 0.2,
    min_: float = 0.5,
    max_: float = 2.0,
    alpha: float = 0.9,
    alpha_on: str = "recorded",
    points: checks.Seconds = 600.0,
    kind: str = "malleable",
    sizes: int = 100,
) -> Workload:
    """The workload with applications for that share of its jobs.

    Sizes are from `min` to `max` times the recorded nodes, which a job prefers; never more than the machine has, if
    the workload names one by its nodes. Where there are more than so many `sizes`, they are spread evenly. Walltimes
    change as run times do. Malleable jobs come to a scheduling point about every `points` seconds of the recorded run.
    A larger share draws the jobs of a smaller one, and more.
    """
    checks.share(_NAME, share=share, min_=min_, alpha=alpha)
    checks.above(_NAME, 0, min_=min_, points=points)
    checks.at_least(_NAME, 1, max_=max_)
    checks.at_least(_NAME, 2, sizes=sizes)
    checks.one_of(_NAME, ("recorded", "one-node"), alpha_on=alpha_on)
    checks.one_of(_NAME, KINDS, kind=kind)
    checks.whole_jobs(_NAME, workload)
    drawn = workload.jobs.filter(pl.Series(rng.random(len(workload)) < share)).sort("id")
    least, most = _range(drawn["nodes"].to_numpy(), min_, max_, _source.machine_nodes(workload.platform))
    jobs = drawn.filter(pl.Series(least < most))
    line = f"{counted(len(jobs), 'job')} of {len(workload):,} made {kind}, {min_:g} to {max_:g} times their nodes"
    if not len(jobs):
        return checks.changed(workload, line)
    row, size = _sizes(jobs["nodes"].to_numpy(), least[least < most], most[least < most], sizes)
    factor = _factor(jobs["nodes"].to_numpy()[row], size, alpha, alpha_on)
    return checks.changed(workload, line, applications=_tables(jobs, kind, points, row, size, factor))


def _range(nodes: _Ints, least: float, most: float, machine: int | None) -> tuple[_Ints, _Ints]:
    """The smallest and the largest size of each job; the recorded one is always between."""
    low, high = (np.round(times * nodes, 6) for times in (least, most))  # 0.1 x 30 is a little above 3
    largest = np.floor(np.minimum(high, machine or MOST_NODES)).astype(np.int64)
    return np.maximum(np.ceil(low), 1).astype(np.int64), np.maximum(largest, nodes)


def _sizes(nodes: _Ints, least: _Ints, most: _Ints, limit: int) -> tuple[_Ints, _Ints]:
    """The row of a job and a size, for all of them in order; of those spread, the recorded one replaces its nearest."""
    counts = np.minimum(most - least + 1, limit)
    checks.sizes(_NAME, int(counts.sum()))
    first = np.cumsum(counts) - counts
    row = np.repeat(np.arange(len(nodes)), counts)
    apart = (most - least) / (counts - 1)
    size = least[row] + np.rint((np.arange(len(row)) - first[row]) * apart[row]).astype(np.int64)
    size[first + np.rint((nodes - least) / apart).astype(np.int64)] = nodes
    return row, size


def _factor(recorded: _Ints, size: _Ints, alpha: float, alpha_on: str) -> _Floats:
    """What a size takes, over what the recorded one took."""
    parallel = alpha if alpha_on == "recorded" else alpha / recorded
    found: _Floats = ((1 - alpha) + parallel * (recorded / size)) / ((1 - alpha) + parallel)
    return found


def _tables(jobs: pl.DataFrame, kind: str, points: float, row: _Ints, size: _Ints, factor: _Floats) -> Applications:
    """A loop of one task each, whose rounds are all alike."""
    ids = jobs["id"].to_numpy()
    run = (jobs["run_time"] + jobs["flop"] / REFERENCE_SPEED).to_numpy()
    stops = kind == "malleable"
    rounds = np.clip(np.rint(run / points), 1, MOST_ROUNDS).astype(np.int64) if stops else np.ones(len(ids), np.int64)
    walltime = jobs["walltime"].to_numpy()[row] * factor
    # What a task does in a round, at its size: the recorded work, but for what cannot be divided.
    each = {name: jobs[name].to_numpy()[row] / rounds[row] for name in ("run_time", "flop", "communication")}
    job = pl.Series("job", ids)
    zero = pl.lit(0, pl.Int64)
    tasks = pl.DataFrame(job).select(
        "job",
        task=zero,
        stage=pl.lit("run"),
        loop=zero,
        kind=pl.lit("compute"),
        beside=pl.lit(False),
        coupled=pl.lit(True),
    )
    return Applications(
        jobs=pl.DataFrame(job).with_columns(type=pl.lit(kind)),
        sizes=pl.DataFrame(
            {
                "job": ids[row],
                "nodes": size,
                "walltime": np.where(np.isinf(walltime), walltime, np.minimum(walltime, LONGEST)),
            }
        ),
        loops=pl.DataFrame({"job": ids, "loop": np.zeros(len(ids), np.int64), "rounds": rounds}).with_columns(
            point=pl.lit(stops), barrier=pl.lit(False)
        ),
        tasks=tasks,
        amounts=pl.DataFrame(
            {
                "job": ids[row],
                "task": np.zeros(len(row), np.int64),
                "nodes": size,
                "seconds": each["run_time"] * factor,
                "flop": each["flop"] * factor,
                "communication": each["communication"],
                "bytes": np.zeros(len(row)),
                "streams": size,
            }
        ),
        requests=empty("requests"),
    )
