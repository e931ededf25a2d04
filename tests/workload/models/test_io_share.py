"""Input, checkpoints and output as a share of run times, by hand."""

import numpy as np
import polars as pl
import pytest

from forebay.errors import InputError
from forebay.workload.models import io_share
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small

GB = 10**9


def jobs(nodes, run, **more):
    n = len(nodes)
    columns = {"id": np.arange(n), "submit": np.arange(n), "walltime": [9e4] * n, "run_time": run, "nodes": nodes}
    return Workload("x", job_table(columns | more), provenance=("made for a test",))


def attached(w, seed=0, **given):
    return io_share.attach(w, np.random.default_rng(seed), **given)


def test_phases_by_hand():
    """A tenth of 1,000 s at 4 GB/s is 400 GB; of 8,000 s at the 10 GB/s of the file system 8 TB, in two checkpoints."""
    w = attached(jobs([2, 8], [1000.0, 8000.0]), io=0.1, spread=0.0, node=2 * GB, pfs=10 * GB)
    first, second = (w.phases.filter(job=job).select("kind", "seconds", "bytes").rows() for job in (0, 1))
    assert first == [
        ("read", 0, 40 * GB),
        ("compute", 450, 0),
        ("checkpoint", 0, 320 * GB),
        ("compute", 450, 0),
        ("write", 0, 40 * GB),
    ]
    assert [kind for kind, _, _ in second] == ["read", *["compute", "checkpoint"] * 2, "compute", "write"]
    assert second[1] == ("compute", pytest.approx(2400), 0)
    assert second[2] == ("checkpoint", 0, 3200 * GB)
    assert w.jobs["run_time"].to_list() == pytest.approx([900, 7200])
    assert w.jobs["walltime"].to_list() == [9e4] * 2


def test_shares_are_around_their_mean_and_alike_for_every_mean():
    w = jobs([1] * 4000, [3600.0] * 4000)
    low, high = (1 - attached(w, io=io).jobs["run_time"].to_numpy() / 3600 for io in (0.1, 0.4))
    assert low.mean() == pytest.approx(0.1, abs=0.002)
    assert (low.min(), low.max()) == pytest.approx((0.05, 0.15), abs=0.001)
    assert high == pytest.approx(4 * low, abs=1e-9)


def test_a_job_has_at_most_so_many_checkpoints_and_at_least_one():
    w = attached(jobs([1, 1, 1], [10.0, 7200.0, 90000.0]), writes=4)
    counts = w.phases.filter(kind="checkpoint").group_by("job").len().sort("job")["len"].to_list()
    assert counts == [1, 2, 4]


def test_without_checkpoints_or_ends_their_phases_are_left_out():
    w = jobs([1], [100.0])
    assert attached(w, checkpoints=0.0).phases["kind"].to_list() == ["read", "compute", "compute", "write"]
    assert attached(w, checkpoints=1.0).phases["kind"].to_list() == ["compute", "checkpoint", "compute"]


def test_communication_goes_with_computing():
    w = attached(jobs([2], [100.0], communication=[5e6])).phases
    assert w.filter(pl.col("communication") > 0)["kind"].unique().to_list() == ["compute"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"io": 0.8}, r"io x \(1 \+ spread\) is 1\.2; give 1 at most"),
        ({"io": 30}, "write 0.3 for 30 %"),
        ({"node": 0}, "node is 0"),
        ({"writes": 0}, "writes is 0"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        attached(jobs([1], [100.0]), **given)
    with pytest.raises(InputError, match="work is given in flop"):
        attached(jobs([1], [0.0], flop=[1e9]))
