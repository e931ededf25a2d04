"""Large burst-buffer requests for a share of the jobs, after Fan et al., "Scheduling Beyond CPUs for HPC" (HPDC 2019).

Their workloads S1 to S4 give half, or three quarters, of the jobs a request of over 5 TB, or over 20 TB, out of a log
that is not public. Here requests are log-uniform between `least` and `most`: the shape, and `most`, are ours.
"""

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.workload.models import _checks as checks
from forebay.workload.workload import Workload

DESCRIPTION = "large burst-buffer requests for a share of the jobs (after Fan et al. 2019)"

_NAME = "fan2019"
_GB = 10**9


def attach(
    workload: Workload,
    rng: np.random.Generator,
    *,
    share: float = 0.5,
    least: checks.Bytes = 5e12,
    most: checks.Bytes = 150e12,
) -> Workload:
    """The workload with a demand `burst_buffer`, in whole gigabytes, of that share of its jobs; others have none."""
    checks.share(_NAME, share=share)
    checks.at_least(_NAME, _GB, least=least, most=most)
    checks.ordered(_NAME, least=least, most=most)
    checks.whole_jobs(_NAME, workload)
    n = len(workload)
    asks = rng.random(n) < share
    sizes = np.exp(rng.uniform(np.log(least / _GB), np.log(most / _GB), n))
    # Rounded after a first rounding, so that the last bits of an exponential, which differ by processor, do not count.
    request = np.where(asks, np.clip(np.rint(np.round(sizes, 6)), least // _GB, most // _GB), 0).astype(np.int64) * _GB
    mean = request[asks].mean() / 1e12 if asks.any() else 0
    line = f"{counted(int(asks.sum()), 'job asks', 'jobs ask')} for burst buffer, {mean:.3g} TB each"
    return checks.changed(workload, line, jobs=workload.jobs.with_columns(pl.Series("burst_buffer", request, pl.Int64)))
