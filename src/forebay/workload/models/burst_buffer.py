"""Burst-buffer requests: drawn after Kopański & Rządca, "Plan-based Job Scheduling for Supercomputers with Shared Burst
Buffers" (2021), a log-normal per node fitted on the memory requests of METACENTRUM-2013-3; or the trace's own memory.

No drawn request is more than its nodes' share of the buffers can hold: with `servers` of `most` bytes each, a node's
request lies on one server, and a job of n nodes that does not fit that way gets the largest request that does. Jobs
that ask for two minutes or less are tests, and get a small constant. Memory that was recorded is taken as it is.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay._support.text import counted
from forebay.errors import InputError
from forebay.workload._source import machine_nodes
from forebay.workload.models import _checks as checks
from forebay.workload.workload import Workload

DESCRIPTION = "burst-buffer requests: log-normal (Kopański & Rządca 2021), or the trace's memory"

_NAME = "burst-buffer"
_KIB = 1024
_LEAST, _MOST = 100e6, 40e9  # bytes
_SERVERS, _NODES = 12, 96  # of the paper's machine


def attach(
    workload: Workload,
    rng: np.random.Generator,
    *,
    from_: str = "lognormal",
    sigma: float = 1.0972516604048774,
    loc: float = -150361.59523836235,
    scale: float = 2714115.5724594607,
    least: checks.Bytes = 0.0,
    most: checks.Bytes = 0.0,
    servers: int = 0,
    short: checks.Bytes = 10e6,
    short_request: checks.Seconds = 120.0,
    factor: float = 1.0,
    keep: bool = True,
) -> Workload:
    """The workload with a demand `burst_buffer`; jobs that have one above 0 keep it, unless `keep` is false.

    `sigma`, `loc` and `scale` are those of a shifted log-normal, in KiB per node; `from_="memory"` (in a spec
    `from=memory`) takes the column `memory` (a job's total, as of any demand) instead. Either is multiplied by
    `factor`. `least` and `most` bound the request per node, and `most` is also what one of the `servers` holds. 0 means
    those of the paper, 100 MB and 40 GB, with its 12 servers for each 96 nodes; of memory it means no bound at all.
    `short` is the request of jobs that ask for at most `short_request` seconds, where it is drawn.
    """
    checks.one_of(_NAME, ("lognormal", "memory"), from_=from_)
    checks.above(_NAME, 0, sigma=sigma, scale=scale, factor=factor)
    checks.finite(_NAME, loc=loc)
    checks.at_least(_NAME, 0, least=least, most=most, servers=servers, short=short, short_request=short_request)
    checks.whole_jobs(_NAME, workload)
    jobs = workload.jobs
    nodes = np.maximum(jobs["nodes"].to_numpy(), 1)
    if from_ == "memory":
        total, notes = _memory(workload, nodes, factor, (least, most), servers)
        what = "as the memory requested" if factor == 1 else f"{factor:g} times the memory requested"
    else:
        least, most, servers = (
            least or _LEAST,
            most or _MOST,
            servers or _SERVERS * max(1, _machine(workload) // _NODES),
        )
        checks.ordered(_NAME, least=least, most=most)
        checks.ordered(_NAME, short=short, most=most)
        drawn = factor * draw(rng, len(jobs), sigma=sigma, loc=loc, scale=scale)
        per_node = packed(np.clip(drawn, least, most).astype(np.int64), nodes, int(most), servers)
        short_jobs = jobs["walltime"].to_numpy() <= short_request
        total, notes = np.where(short_jobs, np.int64(short), per_node) * nodes, []
        what = "from a log-normal"
    if keep and "burst_buffer" in jobs.columns and (jobs["burst_buffer"] > 0).any():
        recorded = jobs["burst_buffer"].to_numpy()
        total = np.where(recorded > 0, recorded, total)
        one, many = "job keeps the burst buffer it", "jobs keep the burst buffer they"
        who = counted(int((recorded > 0).sum()), one, many)
        notes.append(f"{who} asked for: requests are for those that had none (keep=false: for all)")
    line = f"burst buffer {what}: {(total / nodes).mean() / 1e9:.3g} GB a node on average"
    demand = pl.Series("burst_buffer", total, pl.Int64)
    return checks.changed(workload, line, *notes, jobs=jobs.with_columns(demand))


def _memory(
    workload: Workload, nodes: NDArray[np.int64], factor: float, bounds: tuple[float, float], servers: int
) -> tuple[NDArray[np.int64], list[str]]:
    """A job's memory in all, within what bounds there are, and what is to say of it."""
    if "memory" not in workload.jobs.columns:
        raise InputError(
            f"{workload.name}: model {_NAME!r} with from=memory needs a job column 'memory' (a job's total), "
            f"which this workload lacks; leave from out to draw requests"
        )
    least, most = bounds
    if servers and not most:
        raise InputError(f"model {_NAME!r}: servers is {servers}, and nothing tells what one holds; give most, too")
    if most:
        checks.ordered(_NAME, least=least, most=most)
    memory = np.maximum(workload.jobs["memory"].to_numpy(), 0)
    asked = memory if factor == 1 else np.floor(memory * factor).astype(np.int64)
    if not least and not most:
        total = asked
    else:
        per_node = np.clip(asked // nodes, int(least), int(most) if most else None)
        per_node = packed(np.maximum(per_node, 1), nodes, int(most), servers) if servers else per_node
        total = np.where(per_node == asked // nodes, asked, per_node * nodes)  # what is within bounds stays exact
    notes = []
    if (changed := int((total != asked).sum())) > 0:
        notes.append(
            f"{counted(changed, 'request is', 'requests are')} not the memory: brought within the bounds given"
        )
    if (unknown := int((total == 0).sum())) > 0:
        who = counted(unknown, "job has no memory on record: it asks", "jobs have no memory on record: they ask")
        notes.append(f"{who} for no burst buffer")
    return total, notes


def _machine(workload: Workload) -> int:
    """The nodes of the workload's machine; as many as its widest job where it does not say."""
    return machine_nodes(workload.platform) or int(workload.jobs["nodes"].to_numpy().max(initial=1))


def draw(rng: np.random.Generator, n: int, *, sigma: float, loc: float, scale: float) -> NDArray[np.float64]:
    """Bytes per node of `n` jobs, before any bound: loc + scale x exp(sigma x normal), in KiB."""
    with np.errstate(over="ignore"):  # where sigma is large; whatever is too large is cut to `most`
        kibibytes: NDArray[np.float64] = loc + scale * np.exp(sigma * rng.standard_normal(n))
        return _KIB * kibibytes


def packed(per_node: NDArray[np.int64], nodes: NDArray[np.int64], most: int, servers: int) -> NDArray[np.int64]:
    """Requests cut to what fits: each of `servers` holds floor(most / request) of a job's nodes."""
    fits = nodes <= most // per_node * servers
    nodes_each = -(-nodes // servers)
    return np.where(fits, per_node, most // nodes_each)
