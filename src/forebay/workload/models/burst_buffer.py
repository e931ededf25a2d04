"""Burst-buffer requests after Kopański & Rządca, "Plan-based Job Scheduling for Supercomputers with Shared Burst
Buffers" (2021): a log-normal per node, fitted on the memory requests of METACENTRUM-2013-3.

No job may ask for more than its nodes' share of the buffers can hold: with `servers` of `most` bytes each, a node's
request lies on one server, and a job of n nodes that does not fit that way gets the largest request that does. Jobs
that ask for two minutes or less are tests, and get a small constant.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay.errors import InputError
from forebay.workload.models import _checks as checks
from forebay.workload.workload import Workload

DESCRIPTION = "burst-buffer requests: log-normal (Kopański & Rządca 2021), or the trace's memory"

_NAME = "burst-buffer"
_KIB = 1024


def attach(
    workload: Workload,
    rng: np.random.Generator,
    *,
    from_: str = "lognormal",
    sigma: float = 1.0972516604048774,
    loc: float = -150361.59523836235,
    scale: float = 2714115.5724594607,
    least: checks.Bytes = 100e6,
    most: checks.Bytes = 40e9,
    servers: int = 12,
    short: checks.Bytes = 10e6,
    short_request: checks.Seconds = 120.0,
) -> Workload:
    """The workload with a demand `burst_buffer`; one that it had is replaced.

    `sigma`, `loc` and `scale` are those of a shifted log-normal, in KiB per node; `from_="memory"` (in a spec
    `from=memory`) takes the column `memory` (a job's total, as of any demand) instead. `least` and `most` bound the
    request per node, `most` is also what one of the `servers` holds, and `short` is the request of jobs that ask for at
    most `short_request` seconds.
    """
    checks.one_of(_NAME, ("lognormal", "memory"), from_=from_)
    checks.above(_NAME, 0, sigma=sigma, scale=scale)
    checks.finite(_NAME, loc=loc)
    checks.at_least(_NAME, 1, least=least, most=most, servers=servers)
    checks.at_least(_NAME, 0, short=short, short_request=short_request)
    checks.ordered(_NAME, least=least, most=most)
    checks.ordered(_NAME, short=short, most=most)
    checks.whole_jobs(_NAME, workload)
    jobs = workload.jobs
    nodes = jobs["nodes"].to_numpy()
    if from_ == "memory":
        if "memory" not in jobs.columns:
            raise InputError(
                f"{workload.name}: model {_NAME!r} with from=memory needs a job column 'memory' (a job's total), "
                f"which this workload lacks; leave from out to draw requests"
            )
        draws = jobs["memory"].to_numpy() / nodes
    else:
        draws = draw(rng, len(jobs), sigma=sigma, loc=loc, scale=scale)
    per_node = packed(np.clip(draws, least, most).astype(np.int64), nodes, int(most), servers)
    per_node = np.where(jobs["walltime"].to_numpy() <= short_request, np.int64(short), per_node)
    what = "as the memory requested" if from_ == "memory" else "from a log-normal"
    line = f"burst buffer {what}: {per_node.mean() / 1e9:.3g} GB a node on average"
    demand = pl.Series("burst_buffer", per_node * nodes, pl.Int64)
    return checks.changed(workload, line, jobs=jobs.with_columns(demand))


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
