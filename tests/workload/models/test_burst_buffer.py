"""Burst-buffer requests: the fitted distribution, and its bounds by hand."""

import numpy as np
import polars as pl
import pytest

from forebay.errors import InputError
from forebay.workload import models, read
from forebay.workload.models import burst_buffer
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small

MB, GB = 10**6, 10**9
FIT = {"sigma": 1.0972516604048774, "loc": -150361.59523836235, "scale": 2714115.5724594607}


def jobs(nodes, walltime=3600.0, **more):
    n = len(nodes)
    columns = {"id": np.arange(n), "submit": np.arange(n), "run_time": [60.0] * n, "nodes": nodes}
    walltimes = walltime if isinstance(walltime, list) else [walltime] * n
    return Workload("x", job_table(columns | {"walltime": walltimes} | more), provenance=("made for a test",))


def per_node(w):
    return (w.jobs["burst_buffer"] / w.jobs["nodes"]).to_list()


def from_memory(w, **more):
    return burst_buffer.attach(w, np.random.default_rng(0), from_="memory", **more)


def test_the_mean_before_any_bound_is_the_fitted_one():
    """4,804,884 KiB; the standard error over 10^6 draws is 7,569 KiB, 0.16 %."""
    draws = burst_buffer.draw(np.random.default_rng(1), 10**6, **FIT) / 1024
    assert draws.mean() == pytest.approx(4_804_884, rel=0.01)
    assert np.median(draws) == pytest.approx(2_563_753, rel=0.01)
    assert draws.min() > FIT["loc"]


def test_requests_are_bounded_and_spread():
    w = burst_buffer.attach(jobs([1] * 100_000), np.random.default_rng(2))
    values = np.array(per_node(w))
    assert (values.min(), values.max()) == (100 * MB, 40 * GB)
    # Below 100 MB lies a normal below ln((100e6 / 1024 - loc) / scale) / sigma = -2.180: 1.46 % +- 0.04 %.
    assert (values == 100 * MB).mean() == pytest.approx(0.0146, abs=0.0016)


def test_requests_of_jobs_that_do_not_fit_are_cut_by_hand():
    """Twelve servers of 40 GB. 24 nodes of 15 GB: two to a server, 24 fit. 25 do not: ceil(25 / 12) = 3, 40 / 3 GB.

    13 nodes of 40 GB: only 12 fit, so ceil(13 / 12) = 2 share a server, 20 GB each. 96 nodes of 5 GB: 8 to a server.
    """
    nodes = np.array([24, 25, 13, 12, 96, 97])
    w = jobs(nodes, memory=nodes * np.array([15, 15, 40, 40, 5, 5]) * GB)
    assert per_node(from_memory(w, most=40e9, servers=12)) == [
        15 * GB,
        13_333_333_333,
        20 * GB,
        40 * GB,
        5 * GB,
        4_444_444_444,
    ]


def test_short_requests_get_a_constant():
    w = jobs([2, 2, 2], [119.0, 120.0, 121.0])
    drawn = per_node(burst_buffer.attach(w, np.random.default_rng(0)))
    assert drawn[:2] == [10 * MB, 10 * MB]
    assert drawn[2] >= 100 * MB
    fewer = per_node(burst_buffer.attach(w, np.random.default_rng(0), short=MB, short_request=119.0))
    assert fewer[0] == MB
    assert fewer[1] >= 100 * MB


def test_memory_is_taken_as_it_was_recorded():
    """Whatever a paper's servers hold: to the byte, of wide and short jobs too."""
    memory = np.array([-1, 99 * GB, 7, 10**15, 5])
    w = from_memory(jobs([1, 1, 3, 400, 1], [3600.0] * 4 + [1.0], memory=memory))
    assert w.jobs["burst_buffer"].to_list() == [0, 99 * GB, 7, 10**15, 5]
    assert w.jobs["burst_buffer"].dtype == pl.Int64
    assert w.notes == ("1 job has no memory on record: it asks for no burst buffer",)
    assert "burst buffer as the memory requested" in w.provenance[-1]


def test_memory_within_the_bounds_that_are_given():
    memory = np.array([1, 99 * GB, 6 * GB, 7 * GB])
    w = from_memory(jobs([1, 1, 3, 3], memory=memory), least=100e6, most=40e9)
    assert w.jobs["burst_buffer"].to_list() == [100 * MB, 40 * GB, 6 * GB, 7 * GB]
    assert w.notes == ("2 requests are not the memory: brought within the bounds given",)
    half = from_memory(jobs([1], memory=np.array([9])), factor=0.5)
    assert half.jobs["burst_buffer"].to_list() == [4]
    assert "0.5 times the memory requested" in half.provenance[-1]


def test_what_was_recorded_is_kept():
    """A job that asked for 2 TB has them, whatever the model would draw."""
    w = jobs([4, 4, 4], burst_buffer=[2 * 10**12, 0, 5], memory=np.array([GB, 3 * GB, GB]))
    for made in (from_memory(w), burst_buffer.attach(w, np.random.default_rng(0))):
        found = made.jobs["burst_buffer"].to_list()
        assert (found[0], found[2]) == (2 * 10**12, 5)
        assert found[1] > 0
        assert made.notes[-1].startswith("2 jobs keep the burst buffer they asked for")
    anew = from_memory(w, keep=False)
    assert anew.jobs["burst_buffer"].to_list() == [GB, 3 * GB, GB]
    assert anew.notes == ()


def test_servers_grow_with_the_machine():
    """Twelve for each 96 nodes: a job of 960 nodes on 960 is to 120 servers what one of 96 is to 12."""
    wide = burst_buffer.attach(jobs([960]), np.random.default_rng(0), least=40e9)
    narrow = burst_buffer.attach(jobs([96]), np.random.default_rng(0), least=40e9)
    assert per_node(wide) == per_node(narrow) == [5 * GB]
    assert per_node(burst_buffer.attach(jobs([960]), np.random.default_rng(0), least=40e9, servers=12)) == [GB // 2]


def test_a_spec_says_from_where():
    w = jobs([1, 2], memory=np.array([5 * GB, 8 * GB]))
    assert per_node(models.attach(w, ["burst-buffer:from=memory"], 0)) == [5 * GB, 4 * GB]
    assert "from" in models.describe("burst-buffer")["parameters"]


def test_memory_must_be_there():
    with pytest.raises(InputError, match="needs a job column 'memory'"):
        from_memory(jobs([1]))


def test_bounds_may_be_written_with_units():
    w = models.attach(jobs([1] * 1000), ["burst-buffer:least=1GB,most=2GB,short_request=2min"], 0)
    assert set(per_node(w)) >= {GB, 2 * GB}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"sigma": 0.0}, "sigma is 0; give a number above 0"),
        ({"loc": np.nan}, "loc is nan"),
        ({"least": 41e9}, "least is 4.1e\\+10; give at most most"),
        ({"servers": -1}, "servers is -1"),
        ({"from_": "memory", "servers": 3}, "servers is 3, and nothing tells what one holds; give most, too"),
        ({"from_": "disk"}, "from is 'disk'; give one of lognormal, memory"),
    ],
)
def test_bad_parameters_are_named(given, says):
    with pytest.raises(InputError, match=says):
        burst_buffer.attach(jobs([1], memory=[1]), np.random.default_rng(0), **given)


@pytest.mark.parametrize("model", ["alloc-only", "io-aware"])
def test_published_requests_could_be_draws_of_the_model(data, model):
    """The authors' own parts against new requests of the same jobs: a two-sample distance below its 5 % point.

    They take single bytes off equal requests; rounding to 0.1 MB undoes that.
    """
    parts = [read(path) for path in sorted((data / "kopanski" / model).glob("part-*.json.gz"))]
    drawn = [models.attach(part, ["burst-buffer:keep=false"], seed) for seed, part in enumerate(parts, 1)]
    theirs, mine = (np.sort(np.round(np.concatenate([per_node(w) for w in some]), -5)) for some in (parts, drawn))
    at = np.concatenate([theirs, mine])
    below = [np.searchsorted(some, at, side="right") / len(some) for some in (theirs, mine)]
    assert np.abs(below[0] - below[1]).max() < 1.36 * (2 / len(mine)) ** 0.5
    assert (mine == 10 * MB).mean() == (theirs == 10 * MB).mean()  # short requests are the same jobs
