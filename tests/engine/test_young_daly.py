"""What checkpoints cost one job on one node, against the closed form; and the best period, against its own optimum.

With failures at rate r, also during recovery, a segment of T work and a checkpoint C takes on average
e^(r R) (1 / r + D) (e^(r (T + C)) - 1): Bougeret, Casanova, Rabie, Robert & Vivien (2011). All segments but the first
may begin with a recovery.
"""

import math

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.core.failures import Failures
from forebay.workload.workload import Workload, job_table

MTBF, COST, RECOVERY, DOWNTIME = 36_000.0, 60.0, 40.0, 100.0


def expected(period):
    rate = 1.0 / MTBF
    return math.exp(rate * RECOVERY) * (MTBF + DOWNTIME) * (math.exp(rate * (period + COST)) - 1.0)


def segments(period, n_segments, seed):
    """The seconds that each segment of one long job took."""
    work = n_segments * period
    table = {"id": [1], "submit": [0.0], "walltime": [math.inf], "run_time": [work], "nodes": [1]}
    job = Workload("long", job_table({name: np.array(values) for name, values in table.items()}))
    failures = Failures(
        mtbf=MTBF, downtime=DOWNTIME, checkpoint=COST, recovery=RECOVERY, period=period, max_attempts=10_000
    )
    result = fb.simulate(job, "flat:nodes=1", "fcfs", failures=failures, seed=seed)
    saved = result.log.filter((pl.col("kind") == "end_phase") & (pl.col("reason") == "save"))
    # An unfinished checkpoint ends when its node fails.
    broken = result.log.filter((pl.col("kind") == "end") & (pl.col("reason") == "node_down"))["time"]
    ends = saved.filter(~pl.col("time").is_in(broken.implode()))["time"].to_numpy()
    n_failures = int((result.log["kind"] == "node_down").sum())
    return np.diff(ends), n_failures


def test_waste_is_that_of_the_closed_form():
    """10,000 failures; the mean of so many segments is within 3 of its standard errors."""
    period = math.sqrt(2 * COST * MTBF)
    times, n_failures = segments(period, 175_000, seed=1)
    assert n_failures >= 10_000
    error = times.std(ddof=1) / math.sqrt(len(times))
    assert abs(times.mean() - expected(period)) < 3 * error
    assert error < 0.01 * expected(period)  # so that 3 of them tell something


@pytest.mark.parametrize("n_seeds", [1, pytest.param(4, marks=pytest.mark.full)])
def test_the_best_period_is_that_of_the_closed_form(n_seeds):
    """Time per work over periods around the optimum, of the same failures: a parabola's minimum is within 5 %."""
    fine = np.linspace(1000.0, 4000.0, 30_001)
    best = fine[np.argmin([expected(period) / period for period in fine])]
    assert best == pytest.approx(math.sqrt(2 * COST * MTBF), rel=0.05)  # Young and Daly are near it
    periods = best * np.linspace(0.6, 1.6, 11)
    cost = []
    for period in periods:
        runs = [segments(period, int(2e8 / period), seed)[0] for seed in range(n_seeds)]
        cost.append(np.mean([times.mean() for times in runs]) / period)
    a, b, _ = np.polyfit(np.log(periods), cost, 2)
    assert math.exp(-b / (2 * a)) == pytest.approx(best, rel=0.05)
