"""Phases as workloads write them: tables of any width, and checkpoints of any size."""

import polars as pl
import pytest

import forebay as fb
from forebay.core.schemas import PHASE_SCHEMA
from forebay.workload import read, write
from forebay.workload.workload import Workload, job_table

MACHINE = "flat:nodes=4,burst_buffer=10TB,pfs=1GB/s"


def staged(*reserved, size=5e10):
    """Jobs that compute, checkpoint `size` bytes and compute; the last one has no phases of its own."""
    n = len(reserved)
    jobs = job_table(
        {
            "id": list(range(1, n + 2)),
            "submit": [0.0] * (n + 1),
            "walltime": [1e6] * (n + 1),
            "run_time": [20.0] * (n + 1),
            "nodes": [1] * (n + 1),
            "burst_buffer": [*reserved, 1000],
        }
    )
    rows = [
        (job, 0, kind, 10.0 if kind == "compute" else 0.0, 0.0, 0.0, 0.0 if kind == "compute" else size, None)
        for job in range(1, n + 1)
        for kind in ("compute", "checkpoint", "compute")
    ]
    return Workload("w", jobs, phases=pl.DataFrame(rows, PHASE_SCHEMA, orient="row"))


@pytest.mark.parametrize("model", ["io-aware", "three-legs", "tiered"])
def test_a_checkpoint_larger_than_the_reservation_is_noted(model):
    notes = fb.simulate(staged(1, 10**11, 1), MACHINE, "fcfs", job_model=model).facts["notes"]
    assert [note for note in notes if "reserved" in note] == [
        "2 jobs put more into burst_buffer at once than reserved: moved as written, while only what is reserved is held"
    ]


@pytest.mark.parametrize("model", ["io-aware", "alloc-only"])
def test_one_that_fits_or_is_not_moved_is_not(model):
    workload = staged(10**11) if model == "io-aware" else staged(1)
    notes = fb.simulate(workload, MACHINE, "fcfs", job_model=model).facts["notes"]
    assert not [note for note in notes if "reserved" in note]


@pytest.mark.parametrize("model", ["io-aware", "three-legs"])
def test_further_columns_and_another_order_of_them(tmp_path, model):
    workload = staged(10**11)
    phases = workload.phases.with_columns(comment=pl.lit(7)).select("comment", *reversed(PHASE_SCHEMA))
    odd = Workload("w", workload.jobs, phases=phases)
    write(odd, tmp_path / "w.parquet.zip")
    for one in (odd, read(tmp_path / "w.parquet.zip")):
        again = fb.simulate(one, MACHINE, "fcfs", job_model=model)
        assert again.jobs.equals(fb.simulate(workload, MACHINE, "fcfs", job_model=model).jobs)
