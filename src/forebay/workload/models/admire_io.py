"""Jobs that compute and write checkpoints in rounds, with four peaks of I/O, after ADMIRE's deliverable D3.3 (2023).

Numbers are those of its Table 4.3. Ours, since the text does not say: arrivals are Poisson; loads are of a round, and
the same in all rounds of a job; users ask for a multiple of what the job takes alone; and the nodes that a job asks for
grow in proportion to its loads, the two counted alike.
"""

import numpy as np
from numpy.typing import NDArray

from forebay._support.input_limits import LONGEST
from forebay._support.text import counted
from forebay.workload.models import _checks as checks
from forebay.workload.models._rounds import Sizes, Task, applications
from forebay.workload.workload import Workload, job_table

DESCRIPTION = "rigid and malleable jobs that compute and write in rounds, with peaks of I/O (after ADMIRE D3.3, 2023)"

_NAME = "admire-io"

SPEED, PORT, FILES = 100e9, 12.5e9, 48e9
"""Of the machine: flop/s of a node, bytes/s of a node and of the file system."""

COMPUTE, CHECKPOINT = 200e12, 256 * 2.0**30
"""Flop and bytes of a round: the most there are."""

LEAST, MOST = 2, 20
"""Nodes of a job."""

PUBLISHED = 4000
PEAKS, PEAK = (447, 1283, 2414, 3355), 200
"""Of so many jobs, the first of each peak and how many it has."""

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def generate(
    rng: np.random.Generator,
    *,
    jobs: int = PUBLISHED,
    nodes: int = 500,
    malleable: float = 0.2,
    load: float = 0.0,
    walltime: float = 3.0,
    bandwidth: bool = False,
) -> Workload:
    """`jobs` jobs, of which a share is `malleable`, numbered from 0 in the order of submission.

    From the first submission to the last, jobs ask for a share `load` of the machine's `nodes`, each at its preferred
    size for as long as it takes alone; with 0 all are submitted at once. Users ask for `walltime` times what a job
    takes alone, at each size. Neither changes what is drawn. A larger share has the malleable jobs of a smaller one.
    With `bandwidth` each job asks for what it writes on average while it is alone at its preferred size, in bytes/s.
    """
    checks.at_least(_NAME, 1, jobs=jobs)
    checks.at_least(_NAME, MOST, nodes=nodes)
    checks.share(_NAME, malleable=malleable)
    checks.load(_NAME, load)
    checks.above(_NAME, 0, walltime=walltime)
    flexible = rng.permutation(jobs) < round(malleable * jobs)
    rounds = rng.integers(10, 25, jobs, endpoint=True)
    compute = rng.beta(1, 1, jobs)
    usual, peak = rng.beta(2, 8, jobs), rng.beta(1, 0.1, jobs)
    gaps = rng.exponential(1.0, jobs)
    in_peak = peaks(jobs)
    checkpoint = np.where(in_peak, peak, usual)
    preferred = LEAST + np.rint((MOST - LEAST) * (compute + checkpoint) / 2).astype(np.int64)
    flop, written = COMPUTE * compute, CHECKPOINT * checkpoint
    length = rounds * alone(flop, written, preferred)
    least, most = np.where(flexible, LEAST, preferred), np.where(flexible, MOST, preferred)
    checks.amounts(_NAME, 2 * int((most - least + 1).sum()))
    sizes = Sizes.between(least, most)
    row = sizes.row
    limits = np.minimum(walltime * rounds[row] * alone(flop[row], written[row], sizes.nodes), LONGEST)
    tasks = (
        Task("run", "compute", flop=flop[row] / sizes.nodes),
        Task("run", "write", bytes=written[row]),
    )
    columns = {
        "id": np.arange(jobs),
        "submit": _submissions(gaps, float(preferred @ length) / nodes, load),
        "walltime": limits[sizes.nodes == preferred[row]],
        "run_time": np.zeros(jobs),
        "flop": rounds * flop / preferred,
        "nodes": preferred,
    }
    if bandwidth:
        columns["bandwidth"] = np.rint(rounds * written / length).astype(np.int64)
    types = np.where(flexible, "malleable", "rigid")
    made = f"{counted(jobs, 'job')}, {flexible.sum():,} malleable and {in_peak.sum():,} in peaks of I/O"
    return Workload(
        _NAME,
        job_table(columns),
        applications=applications(types, rounds, sizes, limits, tasks),
        platform=f"admire2023:nodes={nodes}{',share=1' if bandwidth else ''}",
        records=jobs,
        provenance=(f"made by {_NAME}: {made}",),
    )


def peaks(jobs: int) -> NDArray[np.bool_]:
    """Which jobs belong to a peak; where there are more jobs or fewer, peaks lie and last in proportion."""
    place = np.arange(jobs) * PUBLISHED // jobs
    found: NDArray[np.bool_] = np.logical_or.reduce([(first <= place) & (place < first + PEAK) for first in PEAKS])
    return found


def alone(flop: _Floats | float, written: _Floats, nodes: _Ints) -> _Floats:
    """Seconds that computing and then writing takes on a machine of its own."""
    seconds: _Floats = flop / (nodes * SPEED) + written / np.minimum(nodes * PORT, FILES)
    return seconds


def _submissions(gaps: _Floats, area: float, load: float) -> _Floats:
    """Times, the first 0, between which `area` seconds of the whole machine are a share `load`."""
    since = np.cumsum(gaps) - gaps[0]
    if load == 0 or len(gaps) == 1:
        return np.zeros(len(gaps))
    times: _Floats = since * (area / load / since[-1])
    return times
