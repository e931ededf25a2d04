"""Jobs after Feitelson, "Packing schemes for gang scheduling" (JSSPP 1996), as far as it is known without its program.

From its author's description: sizes have a harmonic distribution of order 1.5, with powers of two emphasised; run times
are hyper-exponential, and the larger the job, the likelier the longer branch; jobs are run several times over.
Recalled, not checked against the source: the number of runs has P(r) ~ r^-2.5, arrivals are exponential, and, from
the author's version of 1997, two branches whose means are as 1 to 7, the short one with probability 0.95 - 0.20 n/N.
Calibrated here: how much powers of two are emphasised, the mean of the short branch, the load, and the bound on the
number of runs. The original submits a run when the one before it ends, as `closed` does; else, since a workload knows
no schedule, it is submitted when the one before it would end if it did not wait.
"""

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay._support.text import counted
from forebay.workload._source import in_order
from forebay.workload.dependencies import dependency_table
from forebay.workload.models import _checks as checks
from forebay.workload.workload import Workload, job_table

DESCRIPTION = "rigid jobs that are run repeatedly, mostly small (after Feitelson 1996)"

_NAME = "feitelson96"

_Floats = NDArray[np.float64]


def generate(
    rng: np.random.Generator,
    *,
    jobs: int = 1000,
    nodes: int = 128,
    order: float = 1.5,
    power_of_two: float = 4.0,
    mean: checks.Seconds = 1800.0,
    ratio: float = 7.0,
    short: float = 0.95,
    short_slope: float = 0.2,
    shortest: checks.Seconds = 1.0,
    longest: checks.Seconds = 86400.0,
    repeat_order: float = 2.5,
    repeats: int = 64,
    gap: checks.Seconds = 0.0,
    load: float = 0.8,
    closed: bool = False,
) -> Workload:
    """`jobs` runs for a machine of `nodes` nodes; users know their run times.

    P(n nodes) ~ n^-order, times `power_of_two` where n is one. Run times have mean `mean`, or `ratio` times it with
    probability 1 - (short - short_slope x n / nodes), each branch confined to [shortest, longest]. A job is run r times
    with P(r) ~ r^-repeat_order, `repeats` at most, alike each time. Jobs arrive every `gap` seconds on average; 0 takes
    the gap that lets the runs ask for a share `load` of the machine. The first `jobs` runs to be submitted are kept.
    With `closed` each further run of a job is submitted once the one before it has ended.
    """
    checks.at_least(_NAME, 1, jobs=jobs, nodes=nodes, repeats=repeats, shortest=shortest, ratio=ratio)
    checks.at_least(_NAME, 0, order=order, repeat_order=repeat_order, gap=gap)
    checks.above(_NAME, 0, power_of_two=power_of_two, mean=mean, load=load)
    checks.load(_NAME, load)
    checks.share(_NAME, short=short, short_slope=short_slope)
    checks.ordered(_NAME, short_slope=short_slope, short=short)
    checks.finite(_NAME, longest=longest)
    checks.ordered(_NAME, shortest=shortest, longest=longest)
    runs = 1 + rng.choice(repeats, jobs, p=size_shares(repeats, repeat_order, 1.0))
    checks.runs(_NAME, int(runs.sum()))
    size = 1 + rng.choice(nodes, jobs, p=size_shares(nodes, order, power_of_two))
    long_run = rng.random(jobs) >= short - short_slope * size / nodes
    run = _times(rng.random(jobs), np.where(long_run, ratio * mean, mean), shortest, longest)
    job = np.repeat(np.arange(jobs), runs)
    since = (np.arange(len(job)) - (np.cumsum(runs) - runs)[job]) * run[job]
    arrival = np.cumsum(rng.exponential(1.0, jobs))[job]
    mean_gap = gap or _gap_for(nodes * load, arrival, since, (size * run)[job], jobs)
    submit = arrival * mean_gap + since
    kept = np.argsort(submit, kind="stable")[:jobs]
    job, submit = job[kept], submit[kept]
    table, _ = in_order(
        job_table(
            {
                "id": np.arange(1, jobs + 1),
                "submit": np.floor(submit),
                "walltime": run[job],
                "run_time": run[job],
                "nodes": size[job],
            }
        )
    )
    made = f"{counted(len(np.unique(job)), 'job')} in {counted(jobs, 'run')} for {counted(nodes, 'node')}"
    made += f", {mean_gap:.4g} s apart"
    platform = f"flat:nodes={nodes}"
    w = Workload(_NAME, table, platform=platform, records=jobs, provenance=(f"made by feitelson96: {made}",))
    return replace(w, dependencies=_after_one_another(job)) if closed else w


def _after_one_another(job: NDArray[np.int64]) -> pl.DataFrame:
    """Who is submitted when the run before it has ended: `job` says what each run is of, in order of submission."""
    runs = np.argsort(job, kind="stable")
    again = job[runs[1:]] == job[runs[:-1]]
    return dependency_table(
        {"job": 1 + runs[1:][again], "parent": 1 + runs[:-1][again], "kind": ["think"] * again.sum()}
    )


def size_shares(nodes: int, order: float, power_of_two: float) -> _Floats:
    """The probability of each size from 1 to `nodes`."""
    n = np.arange(1, nodes + 1)
    weight = n.astype(np.float64) ** -order * np.where(n & (n - 1) == 0, power_of_two, 1.0)
    shares: _Floats = weight / weight.sum()
    return shares


def _gap_for(rate: float, arrival: _Floats, since: _Floats, area: _Floats, n: int) -> float:
    """The mean gap with which the first `n` runs ask for `rate` node-seconds a second, by bisection."""

    def too_fast(gap: float) -> bool:
        submit = arrival * gap + since
        kept = np.argpartition(submit, n - 1)[:n]
        return float(area[kept].sum()) > rate * float(np.ptp(submit[kept]))

    low = high = float(area.mean()) / rate
    while too_fast(high) and high < 1e12:
        high *= 2
    while not too_fast(low) and low > 1e-12:
        low /= 2
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if too_fast(middle) else (low, middle)
    return high


def _times(u: _Floats, mean: _Floats, shortest: float, longest: float) -> _Floats:
    """Whole seconds from an exponential confined to [shortest, longest], by inversion."""
    inside = -np.expm1(-(longest - shortest) / mean)
    times: _Floats = np.ceil(shortest - mean * np.log1p(-u * inside))
    return np.minimum(times, longest)
