"""Malleable jobs that read, compute and write, all submitted at once, after ADMIRE's deliverable D3.3 (2023): MEBF.

From section 4.1: a root node reads data and scatters it; then rounds of computing, whose results are gathered, and of
writing; a workload is compute-, read- or write-intensive, or mixed. The text gives no number of a job. Ours are nodes,
lengths, rounds, priorities, messages, the cost of a change of size, walltimes, and how much is read and written. Nodes
and lengths are such that EASY takes as long, and gives each node to as many jobs, as the text says.
"""

import numpy as np
from numpy.typing import NDArray

from forebay._support.input_limits import LONGEST
from forebay._support.text import counted
from forebay.workload.models import _checks as checks
from forebay.workload.models._rounds import Sizes, Task, applications
from forebay.workload.models.admire_io import FILES, PORT, SPEED, alone
from forebay.workload.workload import Workload, job_table

DESCRIPTION = "malleable jobs that read, compute and write in rounds, all submitted at once (after ADMIRE D3.3, 2023)"

_NAME = "admire-mebf"

APPLICATIONS = ("mixed", "compute", "read", "write")
NODES = 500
MESSAGES = 1e9
"""Bytes that the root scatters, and gathers in each round: little beside what jobs compute."""

_SHORTEST = 60  # seconds; below, messages would begin to count
_QUARTERS = np.array(["compute", "compute", "read", "write"])

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def generate(
    rng: np.random.Generator,
    *,
    jobs: int = 100,
    application: str = "mixed",
    shortest: checks.Seconds = 1800.0,
    longest: checks.Seconds = 43200.0,
    least: float = 1.0,
    most: float = 4.0,
    io: float = 0.5,
    cost: checks.Seconds = 10.0,
    walltime: float = 2.0,
) -> Workload:
    """`jobs` jobs that take `shortest` to `longest` seconds alone, on 2 to 12 nodes that they prefer.

    Most are short: a length is the cube of a uniform draw of the way from one to the other. A job can run on `least` to
    `most` times the nodes that it prefers.

    A read-intensive job reads as much as keeps the file system busy for a share `io` of the job's part of the makespan:
    of its node-seconds over the nodes of the machine. A write-intensive one writes as much. Whatever else jobs read or
    write is a tenth of that. A change of size costs `cost` seconds. Users ask for `walltime` times what a job takes
    alone, at each size. No parameter but `jobs` changes what is drawn.
    """
    checks.at_least(_NAME, 1, jobs=jobs)
    checks.one_of(_NAME, APPLICATIONS, application=application)
    checks.at_least(_NAME, _SHORTEST, shortest=shortest)
    checks.finite(_NAME, longest=longest)
    checks.ordered(_NAME, shortest=shortest, longest=longest)
    checks.share(_NAME, io=io, least=least)
    checks.above(_NAME, 0, least=least)
    checks.at_least(_NAME, 1, most=most)
    checks.at_least(_NAME, 0, cost=cost)
    checks.above(_NAME, 0, walltime=walltime)
    preferred = rng.integers(2, 12, jobs, endpoint=True)
    length = shortest + rng.random(jobs) ** 3 * (longest - shortest)
    rounds = rng.integers(20, 60, jobs, endpoint=True)
    quarter = rng.permutation(jobs) * 4 // jobs
    priority = rng.integers(0, 9, jobs, endpoint=True)
    kind = _QUARTERS[quarter] if application == "mixed" else np.full(jobs, application)
    most_moved = io * FILES * length * preferred / NODES
    read, written = (np.where(kind == one, most_moved, most_moved / 10) for one in ("read", "write"))
    written /= rounds
    before = read / PORT + _messages(preferred)
    flop = SPEED * preferred * ((length - before) / rounds - alone(0.0, written, preferred))
    fewest = np.maximum(np.ceil(np.round(least * preferred, 6)), 1).astype(np.int64)
    largest = np.minimum(np.floor(np.round(most * preferred, 6)), NODES).astype(np.int64)
    checks.amounts(_NAME, 5 * int((largest - fewest + 1).sum()))
    sizes = Sizes.between(fewest, largest)
    row, nodes = sizes.row, sizes.nodes
    takes = read[row] / PORT + _messages(nodes) + rounds[row] * alone(flop[row], written[row], nodes)
    limits = np.minimum(walltime * takes, LONGEST)
    tasks = [
        Task("init", "read", bytes=read[row], streams=1),
        Task("init", "compute", communication=MESSAGES / nodes),
        Task("run", "compute", flop=flop[row] / nodes, communication=MESSAGES / nodes),
        Task("run", "write", bytes=written[row]),
    ]
    if cost > 0:
        tasks.append(Task("reconfiguration", "compute", seconds=cost))
    table = job_table(
        {
            "id": np.arange(jobs),
            "submit": np.zeros(jobs),
            "walltime": limits[nodes == preferred[row]],
            "run_time": np.zeros(jobs),
            "flop": rounds * flop / preferred,
            "communication": (rounds + 1) * MESSAGES / preferred,
            "nodes": preferred,
            "priority": priority,
        }
    )
    kinds = ", ".join(f"{(kind == one).sum():,} {one}-intensive" for one in APPLICATIONS if (kind == one).any())
    return Workload(
        _NAME,
        table,
        applications=applications(np.full(jobs, "malleable"), rounds, sizes, limits, tasks),
        platform=f"admire2023:nodes={NODES}",
        records=jobs,
        provenance=(f"made by {_NAME}: {counted(jobs, 'malleable job')}, {kinds}",),
    )


def _messages(nodes: _Ints) -> _Floats:
    """Seconds in which a root sends each of the others its part."""
    seconds: _Floats = MESSAGES * (nodes - 1) / nodes / PORT
    return seconds
