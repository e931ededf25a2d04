"""Jobs like those of Mira, the Blue Gene/Q of 49,152 nodes at Argonne's Leadership Computing Facility (ALCF).

Published: partitions and the longest times of the queues (ALCF, "Machine Partitions on Mira/Cetus/Vesta"); 32.44
billion core-hours in 2,001 days, which is 86 % of the machine (Di et al., "Characterizing and understanding HPC job
failures over the 2K-day life of IBM BlueGene/Q system", DSN 2019); and of the public job log of 2020, 6,337 jobs in 84
days, how many jobs are of up to 1,024, 2,048 to 4,096, and at least 8,192 nodes, and their shares of the node-hours.
Ours: how sizes are spread inside these classes, the times that users ask for (spread so that the shares of node-hours
come out), the share of it that jobs take, and arrivals that are independent of one another.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forebay._support.text import counted
from forebay.workload._source import in_order
from forebay.workload.models import _checks as checks
from forebay.workload.workload import Workload, job_table

DESCRIPTION = "rigid jobs of 512 to 49,152 nodes, with walltimes above their run times (after Mira's logs)"

NODES = 49152
HOURS = (0.5, 1.0, 2.0, 3.0, 6.0, 12.0, 24.0)
"""Walltimes; 6 and 12 h were the limits of the short and the long queue, 24 h that of capability jobs."""

SHORTEST = 60.0  # s, of run times

_NAME = "mira"

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Kind:
    """A class of sizes: its share of the jobs, sizes, and how often users ask for each of HOURS."""

    share: float
    sizes: dict[int, float]  # by nodes, the weight of each
    hours: tuple[float, ...]


KINDS = (
    Kind(4670 / 6337, {512: 0.68, 1024: 0.32}, (0.06, 0.08, 0.10, 0.08, 0.32, 0.36, 0.0)),
    Kind(1152 / 6337, {2048: 0.66, 4096: 0.34}, (0.10, 0.14, 0.17, 0.16, 0.26, 0.17, 0.0)),
    Kind(
        515 / 6337,
        {8192: 0.62, 12288: 0.11, 16384: 0.16, 24576: 0.04, 32768: 0.05, 49152: 0.02},
        (0.08, 0.12, 0.14, 0.12, 0.19, 0.17, 0.18),
    ),
)


def generate(
    rng: np.random.Generator,
    *,
    jobs: int = 4000,
    load: float = 0.86,
    accuracy: float = 0.6,
    largest: int = NODES,
) -> Workload:
    """`jobs` jobs that ask for that share of the machine from the first to the last arrival.

    `accuracy` is the mean share of its walltime that a job takes; no job is killed. Jobs have `largest` nodes at
    most: on a machine whose nodes fail, one that needs all of them may never find them all up.
    """
    checks.at_least(_NAME, 1, jobs=jobs)
    checks.above(_NAME, 0, load=load)
    checks.load(_NAME, load)
    checks.share(_NAME, accuracy=accuracy)
    checks.above(_NAME, 0, accuracy=accuracy)
    checks.at_least(_NAME, 1, largest=largest)
    checks.ordered(_NAME, largest=largest, nodes=NODES)
    kind = rng.choice(len(KINDS), jobs, p=[one.share for one in KINDS])
    size, walltime = np.empty(jobs, np.int64), np.empty(jobs)
    for k, one in enumerate(KINDS):
        mine = kind == k
        size[mine] = rng.choice(list(one.sizes), int(mine.sum()), p=list(one.sizes.values()))
        walltime[mine] = 3600 * rng.choice(HOURS, int(mine.sum()), p=one.hours)
    size, run = np.minimum(size, largest), _run_times(rng, walltime, accuracy)
    table, _ = in_order(
        job_table(
            {
                "id": np.arange(1, jobs + 1),
                "submit": np.floor(_arrivals(rng, jobs, float((size * run).sum()) / (NODES * load))),
                "walltime": walltime,
                "run_time": run,
                "nodes": size,
            }
        )
    )
    line = f"made by mira: {counted(jobs, 'job')} for {counted(NODES, 'node')}, load {load:g}"
    return Workload(_NAME, table, platform=_NAME, records=jobs, provenance=(line,))


def _run_times(rng: np.random.Generator, walltime: _Floats, accuracy: float) -> _Floats:
    """Whole seconds: shares of the walltimes, u^(1 / accuracy - 1) of a uniform u, whose mean is `accuracy`."""
    share = rng.random(len(walltime)) ** (1 / accuracy - 1)
    found: _Floats = np.clip(np.ceil(share * walltime), SHORTEST, walltime)
    return found


def _arrivals(rng: np.random.Generator, n: int, span: float) -> _Floats:
    """Times of `n` arrivals over `span` seconds, the first at 0, the last at its end, the others anywhere between."""
    between = np.sort(rng.random(max(n - 2, 0)))
    return span * np.concatenate([[0.0], between, [1.0]])[:n]
