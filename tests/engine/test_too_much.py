"""Phases that do more than a run can count: refused; what many phases do together is added up exactly."""

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
    with pytest.raises(InputError, match="job 2 has a phase that moves more bytes than the log can hold"):
        reads(1e9, amount)


def computes(seconds, job_model=None, **columns):
    columns |= {
        "id": [1],
        "submit": [0.0],
        "walltime": [60.0],
        "run_time": [0.0],
        "nodes": [2],
        "flop": [seconds * 1e9],
    }
    columns["flop"] = [seconds * 1e9]
    return fb.simulate(fb.Workload("long", job_table(columns)), "flat:nodes=4", "fcfs", job_model=job_model)


def test_a_phase_of_more_than_a_lifetime_is_refused():
    assert computes(1e200).jobs["execution_time"].to_list() == [60.0]  # its walltime ends it
    with pytest.raises(InputError, match="job 1 has a phase longer than 317 years; correct it"):
        computes(1e200, job_model="alloc-only:kill=false")


def test_nodes_that_send_more_are_refused():
    with pytest.raises(InputError, match="job 1 has a phase that moves more bytes than the log can hold"):
        computes(1.0, communication=[1e308])


def test_sums_over_phases_are_exact():
    assert metrics.moved(reads(MOST, MOST, MOST))["read"] == 3 * MOST
