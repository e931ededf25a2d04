"""What jobs leave open, settled by the machine: nodes of those that give cores or tasks alone, and walltimes.

Where nodes are not shared a job has whole ones, and policies must know how many: as few as hold what it asks for, of
the first class in the machine's order on which it may run. A job without a walltime has its partition's, as in Slurm.
"""

import dataclasses
import math
import weakref
from typing import Any

import numpy as np

from forebay._support.text import counted
from forebay.core.schemas import INSIDE
from forebay.engine.build.eligibility import eligible, partitions_of
from forebay.engine.shared_nodes.requests import PLENTY, asked, column, within
from forebay.platforms.classes import NodeClass
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload

_last: list[Any] = []
"""The workload settled last, and what it was made of: so that many runs that differ in their policy alone share one."""


def settle(workload: Workload, platform: Platform) -> Workload:
    """The workload with all that a run on this machine has to know; itself where nothing is open."""
    if _last and _last[0]() is workload and _last[1] == platform:
        kept: Workload = _last[2]
        return kept
    found = _with_walltimes(_with_nodes(workload, platform), platform)
    if found is not workload:
        _last[:] = [weakref.ref(workload, lambda gone: _last.clear() if _last[:1] == [gone] else None), platform, found]
    return found


def _with_nodes(workload: Workload, platform: Platform) -> Workload:
    """Nodes of jobs that give none, where they are not shared."""
    nodes = column(workload, "nodes")
    # Legs tell their own nodes; and a job that asks for none of all these holds storage alone.
    asks_inside = np.column_stack([column(workload, name) for name in (*INSIDE, "tasks")]).any(axis=1)
    silent = (nodes == 0) & asks_inside & (workload.legs is None)
    if platform.sharing or not silent.any():
        return workload
    asks, allowed = asked(workload, platform), eligible(workload, platform).allowed
    classes = platform.classes or (NodeClass(name="nodes", nodes=platform.nodes),)
    first = np.zeros(len(nodes), np.int64)
    for a in reversed(range(len(platform.atoms))):
        first[allowed >> a & 1 == 1] = platform.atoms[a].cls
    has = np.array([within(one) for one in classes])[first]
    by_totals = (-(-asks.total // np.maximum(has, 1))).max(axis=1)
    a_node = np.where(asks.each > 0, has // np.maximum(asks.each, 1), PLENTY).min(axis=1)
    by_tasks = -(-asks.parts // np.maximum(a_node, 1))
    fewest = np.maximum(np.where(asks.parts > 0, by_tasks, by_totals), 1)
    who = counted(int(silent.sum()), "job gives", "jobs give")
    how = "as few as hold it" if platform.classes else f"{platform.name} has no classes, so a node is taken as one core"
    jobs = workload.jobs.with_columns(nodes=np.where(silent, fewest, nodes))
    return dataclasses.replace(
        workload, jobs=jobs, notes=(*workload.notes, f"{who} cores or tasks and no nodes: {how}")
    )


def _with_walltimes(workload: Workload, platform: Platform) -> Workload:
    """Walltimes of jobs that have none: the longest that their partitions allow."""
    walltime = workload.jobs["walltime"].to_numpy()
    open_ = np.isinf(walltime)
    if not open_.any() or all(one.max_time is None for one in platform.partitions):
        return workload
    bits = partitions_of(workload, platform)[0]
    longest = np.zeros(len(walltime))
    for k, one in enumerate(platform.partitions):
        mine = bits >> k & 1 == 1
        longest[mine] = np.maximum(longest[mine], math.inf if one.max_time is None else one.max_time)
    given = open_ & np.isfinite(longest)
    if not given.any():
        return workload
    who = counted(int(given.sum()), "job has", "jobs have")
    jobs = workload.jobs.with_columns(walltime=np.where(given, longest, walltime))
    note = f"{who} no walltime: the longest that the partition allows is taken"
    return dataclasses.replace(workload, jobs=jobs, notes=(*workload.notes, note))
