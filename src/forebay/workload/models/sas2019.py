"""Jobs that read, compute with checkpoints and write, after Lackner, Fard & Wolf (CCGrid 2019): SAS.

Sizes, run times and repetitions are those of feitelson96 with the parameters of the paper's Table I. A job spends a
share of its run time, alone on slow storage, on input and output (a tenth for both together, on average, normal), and
unless it is short another share on checkpoints of its nodes' memory. It asks for fast storage to hold a checkpoint and
the larger of input and output. Ours, since the paper does not say: the slow tier's rate, the share of time that goes
into checkpoints, the spread of the shares, below which length a job is short, and into how many writes the checkpoints
of a job are put together.
"""

from dataclasses import replace

import numpy as np
import polars as pl

from forebay.core.schemas import STATED
from forebay.workload.models import _checks as checks
from forebay.workload.models import feitelson96
from forebay.workload.models._in_turn import in_turn
from forebay.workload.workload import Workload

DESCRIPTION = "jobs with input, checkpoints and output that may run on slow or fast storage (after Lackner et al. 2019)"

_NAME = "sas2019"


def generate(
    rng: np.random.Generator,
    *,
    jobs: int = 500,
    nodes: int = 128,
    gap: checks.Seconds = 500.0,
    mean: checks.Seconds = 5400.0,
    shortest: checks.Seconds = 1800.0,
    longest: checks.Seconds = 86400.0,
    repeats: int = 2,
    rate: checks.Bytes = 3e8,
    io: float = 0.1,
    spread: float = 0.5,
    data: float = 0.04,
    short: checks.Seconds = 3600.0,
    memory: checks.Bytes = 16e9,
    writes: int = 10,
    theta: float = 0.0,
    noise: int = 0,
) -> Workload:
    """`rate` is the slow tier's, in bytes a second; `mean` and those up to `repeats` are feitelson96's.

    Input and output take io/2 of the run time each, with a standard deviation of `spread` times that, and never less
    than 0. Checkpoints of `memory` bytes a node take `data` of it, in at most `writes` writes; of jobs below `short`
    seconds nothing. Users are mistaken about the bytes they read, write and move in between: what they say is normal
    around the truth with `theta` times it as standard deviation, and never less than 0. `noise` draws that again.
    """
    checks.above(_NAME, 0, rate=rate, memory=memory)
    checks.at_least(_NAME, 0, spread=spread, short=short, noise=noise)
    checks.at_least(_NAME, 1, writes=writes)
    checks.share(_NAME, io=io, data=data, theta=theta)
    mistakes = _child(rng, noise)
    plain = feitelson96.generate(
        rng, jobs=jobs, nodes=nodes, gap=gap, mean=mean, shortest=shortest, longest=longest, repeats=repeats
    )
    run, size = plain.jobs["run_time"].to_numpy(), plain.jobs["nodes"].to_numpy()
    shares = np.clip(rng.normal(io / 2, spread * io / 2, (2, jobs)), 0.0, None)
    shares *= np.minimum(1.0, (1.0 - data) / np.maximum(shares.sum(axis=0), 1e-9))  # no more than there is
    one = memory * size
    count = np.where(run >= short, np.floor(data * run * rate / one), 0.0)
    read, write = np.rint(shares * run * rate)
    moved = np.rint(count * one)
    computing = np.maximum(run - (read + write + moved) / rate, 0.0)
    asks = np.maximum(read, write) + np.where(count > 0, one, 0.0)
    table = plain.jobs.with_columns(
        pl.Series("run_time", computing), pl.Series("fast", np.ceil(asks).astype(np.int64), pl.Int64)
    )
    if theta > 0:
        for name, true in zip(STATED, (read, write, moved), strict=True):
            said = np.rint(np.clip(mistakes.normal(true, theta * true), 0.0, None))
            table = table.with_columns(pl.Series(name, said.astype(np.int64), pl.Int64))
    in_and_out, checkpoints = (100 * size.sum() / rate / run.sum() for size in (read + write, moved))
    line = (
        f"{plain.provenance[0].replace('feitelson96', _NAME)}; {in_and_out:.3g} % of their time on input and output, "
        f"{checkpoints:.3g} % on checkpoints"
    )
    phases = in_turn(_NAME, table["id"].to_numpy(), read, write, moved, np.minimum(count, writes), computing)
    return replace(
        plain, name=_NAME, jobs=table, phases=phases, platform=f"sas2019:nodes={nodes},slow={rate:.17g}B/s",
        provenance=(line,),
    )  # fmt: skip


def _child(rng: np.random.Generator, k: int) -> np.random.Generator:
    """The k-th generator that `rng` would spawn first, without those before it."""
    own = rng.bit_generator.seed_seq
    assert isinstance(own, np.random.SeedSequence)
    return np.random.default_rng(np.random.SeedSequence(own.entropy, spawn_key=(*own.spawn_key, k)))
