"""Input, checkpoints and output as a share of run times, by hand."""

import numpy as np
import polars as pl
import pytest

import forebay as fb
from cases.buffered import most_buffered
from forebay.errors import InputError
from forebay.workload import models
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


def test_what_is_reserved_holds_the_checkpoints_and_drains():
    """The same; the first has room for 100 of its 320 GB, the second for 2 x 500 GB, a third has reserved nothing."""
    reserved = jobs([2, 8, 2], [1000.0, 8000.0, 1000.0], burst_buffer=[100 * GB, 1000 * GB, 0])
    w = attached(reserved, io=0.1, spread=0.0, node=2 * GB, pfs=10 * GB)
    first, second, third = (w.phases.filter(job=job).select("kind", "seconds", "bytes").rows() for job in range(3))
    assert first == [
        ("read", 0, 40 * GB),
        ("compute", 450, 0),
        ("checkpoint", 0, 100 * GB),
        ("drain", 0, 100 * GB),
        ("write", 0, 220 * GB),
        ("compute", 450, 0),
        ("write", 0, 40 * GB),
    ]
    saved = ["checkpoint", "drain", "write", "compute"]
    assert [kind for kind, _, _ in second] == ["read", "compute", *saved, *saved, "write"]
    assert [size for kind, _, size in second if kind in saved[:3]][:3] == [500 * GB, 500 * GB, 2700 * GB]
    assert [kind for kind, _, _ in third] == ["read", "compute", "write", "compute", "write"]
    assert w.jobs["burst_buffer"].to_list() == [100 * GB, 1000 * GB, 0]
    # (100 + 2 x 500) of 2 x 320 + 6400 GB
    assert w.provenance[-1].endswith("; 15.6 % of checkpoints within the burst buffer reserved")


def test_a_reservation_that_is_large_enough_holds_all():
    w = attached(jobs([2], [8000.0], burst_buffer=[10**13])).phases
    saves = ["compute", "checkpoint", "drain"]
    assert w["kind"].to_list() == ["read", *saves, *saves, "compute", "write"]


@pytest.mark.parametrize(("files", "options"), [("25GB/s", ""), ("500MB/s", "every=60")])
def test_no_job_has_more_in_the_buffer_than_it_reserved(files, options):
    """Also where the file system is so slow that checkpoints follow one another while all before them still drain."""
    made = ["tsafrir05", "burst-buffer", f"io-share:io=0.02,checkpoints=1,{options}".rstrip(",")]
    w = models.attach(models.generate("lublin99:nodes=32,load=0.8", 1, jobs=60), made, 1)
    result = fb.simulate(w, f"flat:nodes=32,burst_buffer=10TB,pfs={files},port=2GB/s", "fcfs-bb", progress=False)
    most, reserved = most_buffered(result), dict(w.jobs.select("id", "burst_buffer").iter_rows())
    assert max(most[job] / reserved[job] for job in most) == pytest.approx(1.0, abs=0.1)
    assert [job for job in most if most[job] > reserved[job]] == []
    assert not [note for note in result.facts["notes"] if "than reserved" in note]
    moved = {kind: w.phases.filter(kind=kind)["bytes"].sum() for kind in ("checkpoint", "drain")}
    assert moved["checkpoint"] == moved["drain"] > 0


@pytest.mark.parametrize("more", [{}, {"burst_buffer": [100 * GB, 1000 * GB]}])
def test_checkpoints_to_the_file_system_are_writes_of_as_many_bytes(more):
    """Whatever is reserved; nothing else changes."""
    w = jobs([2, 8], [1000.0, 8000.0], **more)
    made = attached(w, to="pfs", seed=3)
    plain = attached(jobs([2, 8], [1000.0, 8000.0]), seed=3)
    assert set(plain.phases["kind"]) == {"read", "compute", "checkpoint", "write"}
    assert made.phases.equals(plain.phases.with_columns(pl.col("kind").replace("checkpoint", "write")))
    assert made.jobs["run_time"].equals(plain.jobs["run_time"])
    assert made.provenance[-1].endswith(", all of it to the file system")


def test_a_machine_without_a_buffer_takes_them_and_a_refusal_says_how():
    w = jobs([2, 4], [100.0, 200.0])
    with pytest.raises(InputError, match=r"no buffer for it; .*io-share: to=pfs"):
        fb.simulate(attached(w), "flat:nodes=8,pfs=20GB/s", "fcfs", progress=False)
    result = fb.simulate(attached(w, to="pfs"), "flat:nodes=8,pfs=20GB/s", "fcfs", progress=False)
    assert result.jobs["success"].to_list() == [1, 1]
    assert result.links["bytes"].sum() == attached(w, to="pfs").phases["bytes"].sum()


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
        ({"to": "disk"}, "to is 'disk'; give one of buffer, pfs"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        attached(jobs([1], [100.0]), **given)
    with pytest.raises(InputError, match="work is given in flop"):
        attached(jobs([1], [0.0], flop=[1e9]))
