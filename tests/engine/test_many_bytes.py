"""More bytes than int64 holds: refused where a phase moves them, added up exactly where all phases do."""

import polars as pl
import pytest

import forebay as fb
from forebay import metrics
from forebay.core.schemas import PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small

MOST = 2**62


def reads(*amounts):
    """Jobs 1, 2, ... that read so many bytes, and compute for a second."""
    n = len(amounts)
    columns = {"submit": [0.0] * n, "walltime": [1e9] * n, "run_time": [1.0] * n, "nodes": [1] * n}
    rows = [
        (job, 0, kind, seconds, 0.0, 0.0, float(amount), None)
        for job, moved in enumerate(amounts, 1)
        for kind, seconds, amount in (("read", 0.0, moved), ("compute", 1.0, 0.0))
    ]
    phases = pl.DataFrame(rows, PHASE_SCHEMA, orient="row")
    workload = fb.Workload("large", job_table({"id": range(1, n + 1), **columns}), phases=phases)
    return fb.simulate(workload, "flat:nodes=4,pfs=1e9PB/s", "fcfs", job_model="io-aware")


@pytest.mark.parametrize("amount", [2.0**63, 1e308])
def test_a_phase_of_more_than_the_log_holds_is_refused(amount):
    with pytest.raises(InputError, match=r"job 2 moves .* bytes in one phase; 9.2e18 are the most"):
        reads(1e9, amount)


def test_sums_over_phases_are_exact():
    assert metrics.moved(reads(MOST, MOST, MOST))["read"] == 3 * MOST
