"""Requests of SSDs in nodes of two kinds, after the case study of Fan et al., "Scheduling Beyond CPUs for HPC" (2019).

Half of their nodes have 128 GB, half 256 GB; the workloads S5 to S7 mix jobs that ask for no more than a small node has
with jobs that need large ones as 80/20, 50/50 and 20/80. Requests are uniform, each kind in its range: that is ours.
"""

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.workload.models import _checks as checks
from forebay.workload.workload import Workload

DESCRIPTION = "requests of SSDs in the nodes, which are of two sizes (after Fan et al. 2019)"

_NAME = "fan2019-ssd"
_GB = 10**9


def attach(
    workload: Workload,
    rng: np.random.Generator,
    *,
    large: float = 0.2,
    small_node: checks.Bytes = 128e9,
    large_node: checks.Bytes = 256e9,
    large_nodes: int = 2196,
) -> Workload:
    """The workload with a demand `ssd`, in whole gigabytes a node.

    A share `large` of the jobs asks for more than a small node has; jobs on more than `large_nodes` nodes, which no
    machine with so many large ones could run, ask for small ones.
    """
    checks.share(_NAME, large=large)
    checks.at_least(_NAME, _GB, small_node=small_node, large_node=large_node)
    checks.ordered(_NAME, small_node=small_node + _GB, large_node=large_node)
    checks.at_least(_NAME, 1, large_nodes=large_nodes)
    checks.whole_jobs(_NAME, workload)
    n, nodes = len(workload), workload.jobs["nodes"].to_numpy()
    needs_large = (rng.random(n) < large) & (nodes <= large_nodes)
    place, least, most = rng.random(n), int(small_node) // _GB, int(large_node) // _GB
    each = np.where(needs_large, least + 1 + (place * (most - least)).astype(np.int64), 1 + (place * least).astype(int))
    who = counted(int(needs_large.sum()), "job asks", "jobs ask")
    line = f"{who} for more than {small_node / 1e9:g} GB of SSD a node, others for less"
    demand = pl.Series("ssd", each.astype(np.int64) * _GB * nodes, pl.Int64)
    return checks.changed(workload, line, jobs=workload.jobs.with_columns(demand))
