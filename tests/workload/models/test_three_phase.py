"""Three-phase jobs: volumes as drawn, the legs of both versions by hand, the same draws for every system."""

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.workload import models
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small

GB, TB = 10**9, 10**12
KILL_NOBODY = "io-aware:kill=false"


def jobs(n=3, **more):
    columns = {"id": np.arange(1, n + 1), "submit": 100.0 * np.arange(n), "run_time": [100.0] * n, "nodes": [8] * n}
    return Workload("x", job_table(columns | {"walltime": [60.0] * n} | more), provenance=("made for a test",))


def known(**volumes):
    """One job with volumes of its own."""
    return jobs(1, **{name: [size] for name, size in volumes.items()})


def attach(w, spec="", seed=1):
    return models.attach(w, [f"three-phase:{spec}" if spec else "three-phase"], seed)


def moved(w):
    """(leg, kind) -> bytes of all jobs, in the order of the job table."""
    return {key: frame["bytes"].to_list() for key, frame in w.phases.group_by("leg", "kind", maintain_order=True)}


def test_volumes_are_whole_and_even():
    """Uniform from 1 to 59 TB: mean 30 TB, deviation 17.03 TB, so 0.054 TB standard error over 10^5 jobs."""
    w = attach(jobs(100_000))
    for kind in ("stage_in", "checkpoint", "stage_out"):
        size = w.phases.filter(pl.col("kind") == kind)["bytes"].to_numpy() / TB
        assert (size == np.rint(size)).all()
        assert (size.min(), size.max()) == (1, 59)
        assert size.mean() == pytest.approx(30, abs=0.2)
    gaps = np.diff(w.jobs["submit"].to_numpy())
    assert gaps.mean() == pytest.approx(1, abs=0.02)
    assert (gaps == np.rint(gaps)).all()
    assert np.mean(gaps == 0) == pytest.approx(np.exp(-1), abs=0.01)


def test_inputs_of_april_are_small_and_all_else_is_as_in_march():
    march, april = attach(jobs(50)), attach(jobs(50), "version=april")
    assert march.jobs["submit"].equals(april.jobs["submit"])
    assert moved(march)[1, "checkpoint"] == moved(april)[1, "checkpoint"]
    assert moved(march)[2, "stage_out"] == moved(april)[2, "stage_out"]
    inputs = np.array(moved(april)[0, "stage_in"]) / GB
    assert inputs.min() >= 1
    assert inputs.max() <= 29
    assert (march.jobs["nodes"].unique().to_list(), april.jobs["nodes"].unique().to_list()) == ([8], [256])


@pytest.mark.parametrize("version", ["march", "april"])
def test_every_system_meets_the_same_draws(version):
    three, one, io = (
        attach(jobs(20), f"version={version},system={name}") for name in ("three-phase", "one-phase", "io")
    )
    assert three.jobs["submit"].equals(one.jobs["submit"])
    assert moved(three)[0, "stage_in"] == moved(one)[0, "stage_in"] == moved(io)[0, "read"]
    assert moved(three)[1, "compute"] == [0.0] * 20
    assert moved(three)[2, "stage_out"] == moved(one)[0, "stage_out"]


def test_who_tells_one_demand_holds_the_largest_throughout():
    given = known(data_in=2 * TB, data_run=5 * TB, data_out=3 * TB)
    told = attach(given, "from=columns,demand=d")
    assert told.legs["burst_buffer"].to_list() == [5 * TB] * 3
    assert moved(told)[0, "stage_in"] == [2 * TB]
    whole = attach(given, "from=columns,demand=d,volumes=max")
    assert moved(whole)[0, "stage_in"] == moved(whole)[2, "stage_out"] == [5 * TB]
    one = attach(given, "from=columns,system=one-phase")
    assert one.jobs["burst_buffer"].to_list() == [5 * TB]
    assert one.legs is None
    io = attach(given, "from=columns,system=io")
    assert "burst_buffer" not in io.jobs.columns
    assert moved(io)[0, "read"] == [2 * TB]
    assert moved(attach(given, "from=columns,system=io,volumes=max"))[0, "read"] == [5 * TB]


def test_aprils_program_takes_the_largest_volume_for_gigabytes():
    given = known(data_in=2 * GB, data_run=5 * TB, data_out=3 * TB)
    three = attach(given, "version=april,from=columns,demand=d,volumes=max")
    assert moved(three)[0, "stage_in"] == moved(three)[1, "fetch"] == [5 * GB]
    assert moved(three)[2, "stage_out"] == [5 * TB]
    assert three.legs["burst_buffer"].to_list() == [5 * GB, 5 * GB + 5 * TB, 5 * TB]
    one = attach(given, "version=april,from=columns,system=one-phase,volumes=max")
    assert one.jobs["burst_buffer"].to_list() == [5 * GB]
    assert moved(one)[0, "stage_out"] == [5 * TB]


def test_arrivals_and_machine_stay_where_volumes_are_given():
    w = attach(jobs(3, data_in=[1, 2, 3], data_run=[0, 0, 0], data_out=[1, 1, 1]), "from=columns,gap=0")
    assert w.jobs["submit"].to_list() == [0, 100, 200]
    assert w.platform is None
    assert w.resources == ("burst_buffer",)
    assert attach(jobs()).platform == "trinity"
    assert attach(jobs(), "system=io").platform == "trinity-io"


def told(result, job=1):
    """What the log has of a job: (time, kind, resource, amount) of takings and givings."""
    rows = result.log.filter((pl.col("job") == job) & pl.col("kind").is_in(["start", "acquire", "release", "end"]))
    return [row for row in rows.select("time", "kind", "resource", "amount").rows() if row[3] > 0]


def run(spec, policy="cerberus-fcfs", **volumes):
    sizes = {"data_in": 8 * GB, "data_run": 16 * GB, "data_out": 24 * GB} | volumes
    w = attach(known(**sizes), f"from=columns,gap=0,{spec}")
    return fb.simulate(w, "trinity-io" if "system=io" in spec else "trinity", policy, job_model=KILL_NOBODY)


def test_march_by_hand():
    # 1 s in with 8 GB; 100 s and 2 s of writing with 8 cores and 16 GB; 3 s out with 24 GB.
    assert told(run("version=march")) == [
        (0, "acquire", "burst_buffer", 8 * GB),
        (1, "release", "burst_buffer", 8 * GB),
        (1, "start", "nodes", 8),
        (1, "acquire", "burst_buffer", 16 * GB),
        (103, "end", "nodes", 8),
        (103, "release", "burst_buffer", 16 * GB),
        (103, "acquire", "burst_buffer", 24 * GB),
        (106, "release", "burst_buffer", 24 * GB),
    ]


def test_april_by_hand():
    # The input stays until it is fetched (1 to 2 s); cores stay until the output is drained (104 to 107 s).
    assert told(run("version=april")) == [
        (0, "acquire", "burst_buffer", 8 * GB),
        (1, "start", "nodes", 256),
        (1, "acquire", "burst_buffer", 16 * GB),
        (2, "release", "burst_buffer", 8 * GB),
        (104, "release", "burst_buffer", 16 * GB),
        (104, "acquire", "burst_buffer", 24 * GB),
        (107, "release", "nodes", 256),
        (110, "release", "burst_buffer", 24 * GB),
    ]


@pytest.mark.parametrize(
    ("spec", "seconds"),
    [
        ("version=march,system=one-phase", 1 + 102 + 3),
        ("version=april,system=one-phase", 1 + 1 + 102 + 3 + 3),
        ("version=march,system=one-phase,volumes=max", 3 + 103 + 3),
        ("version=march,system=io", (8 + 16 + 24) / 2.5 + 100),
        ("version=april,system=io", (8 + 16 + 24) / 2.5 + 100),
    ],
)
def test_one_leg_by_hand(spec, seconds):
    result = run(spec, "fcfs")
    assert result.jobs["finish_time"].to_list() == [pytest.approx(seconds, rel=1e-12)]
    assert all(row[0] in (0, pytest.approx(seconds)) for row in told(result))  # all taken at once, and given back


@pytest.mark.parametrize("version", ["march", "april"])
def test_nothing_to_move_takes_no_time(version):
    result = run(f"version={version}", data_in=0, data_run=0, data_out=0)
    assert result.jobs["finish_time"].to_list() == [100]


@pytest.mark.parametrize(
    ("w", "spec", "said"),
    [
        (jobs(), "from=columns", "data_in, data_run, data_out is missing"),
        (jobs(1, data_in=[1], data_out=[1]), "from=columns", "data_run is missing"),
        (jobs(2, data_in=[1, -5], data_run=[0, 0], data_out=[0, 0]), "from=columns", "job 2: data_in is -5"),
        (jobs(), "version=may", "version is 'may'"),
        (jobs(), "system=two-phase", "system is 'two-phase'"),
        (jobs(), "demand=all", "demand is 'all'"),
        (jobs(), "volumes=min", "volumes is 'min'"),
        (jobs(), "gap=-1", "gap is -1"),
    ],
)
def test_what_makes_no_sense_is_refused(w, spec, said):
    with pytest.raises(InputError) as error:
        attach(w, spec)
    assert said in str(error.value)


def test_a_job_larger_than_the_buffer_is_rejected_and_named():
    w = attach(known(data_in=1, data_run=5 * 10**15, data_out=1), "from=columns,gap=0")
    result = fb.simulate(w, "trinity", "cerberus-fcfs", job_model=KILL_NOBODY)
    assert result.jobs["final_state"].to_list() == ["REJECTED"]
    assert any("job 1 is rejected" in note and "5 PB" in note for note in result.facts["notes"])
