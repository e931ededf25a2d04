"""Rounds of computing and checkpoints with peaks of I/O, against Table 4.3 of ADMIRE's D3.3 and what the docs say.

Bounds are four standard errors wide where something is drawn.
"""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import forebay as fb
from forebay.errors import InputError
from forebay.platforms import load
from forebay.workload import applications, models

pytestmark = pytest.mark.small

GIB = 2**30
FIRST = (447, 1283, 2414, 3355)


def make(spec="", seed=1):
    return models.generate(f"admire-io:{spec}", seed)


def preferred(workload, task):
    """What a task takes in a round at the preferred sizes, job by job."""
    wanted = workload.jobs.select(job="id", nodes="nodes")
    return workload.applications.amounts.filter(task=task).join(wanted, on=["job", "nodes"]).sort("job")


def compute(workload):
    """TFLOP of all nodes in a round."""
    rows = preferred(workload, 0)
    return (rows["flop"] * rows["nodes"]).to_numpy() / 1e12


def checkpoints(workload):
    """GiB in a round."""
    return preferred(workload, 1)["bytes"].to_numpy() / GIB


def in_peaks():
    return np.isin(np.arange(4000), [first + k for first in FIRST for k in range(200)])


def near(values, mean, deviation):
    return values.mean() == pytest.approx(mean, abs=4 * deviation / len(values) ** 0.5)


def test_jobs_of_the_table():
    w = make()
    assert w.jobs["id"].to_list() == [*range(4000)]
    assert w.jobs["submit"].is_sorted()
    assert w.applications.jobs["type"].value_counts().sort("type").rows() == [("malleable", 800), ("rigid", 3200)]
    assert load(w.platform) == load("admire2023")
    assert w.provenance[0].startswith("made by admire-io: 4,000 jobs, 800 malleable and 800 in peaks of I/O")


def test_loads():
    """Means and deviations of beta distributions: a / (a + b), sqrt(ab / (a + b + 1)) / (a + b)."""
    w, peaks = make(), in_peaks()
    assert near(compute(w), 200 / 2, 200 / 12**0.5)
    assert near(checkpoints(w)[~peaks], 256 * 0.2, 256 * (16 / 11) ** 0.5 / 10)
    assert near(checkpoints(w)[peaks], 256 / 1.1, 256 * (0.1 / 2.1) ** 0.5 / 1.1)
    assert checkpoints(w).max() <= 256
    assert compute(w).max() <= 200
    assert (preferred(w, 1)["streams"] == w.jobs["nodes"]).all()  # all nodes write


def test_peaks_are_where_they_should_be():
    """Few checkpoints are above 150 GiB but in peaks, where four of five are: 1 - (1 - 150 / 256)^0.1 is 0.084."""
    large = checkpoints(make()) > 150
    for first in FIRST:
        assert large[first : first + 200].mean() > 0.8
        assert large[first - 20 : first].mean() < 0.2
        assert large[first + 200 : first + 220].mean() < 0.2
    assert large[~in_peaks()].mean() < 0.01


@pytest.mark.parametrize("jobs", [400, 8000])
def test_peaks_scale_with_the_number_of_jobs(jobs):
    large = checkpoints(make(f"jobs={jobs}")) > 150
    for first in FIRST:
        start, length = round(first * jobs / 4000), jobs // 20
        assert large[start + 1 : start + length - 1].mean() > 0.7
    assert large.sum() < 0.2 * jobs + 0.02 * jobs


def test_rounds_are_uniform():
    rounds = make().applications.loops["rounds"].to_numpy()
    assert sorted(set(rounds)) == [*range(10, 26)]
    assert near(rounds, 17.5, (255 / 12) ** 0.5)


def test_sizes():
    """Rigid jobs have one, by their loads; malleable ones prefer that of 2 to 20, and they alone have points."""
    w = make()
    tables = w.applications
    nodes = w.jobs["nodes"].to_numpy()
    assert (nodes == 2 + np.rint(9 * (compute(w) / 200 + checkpoints(w) / 256))).all()
    assert (nodes.min(), nodes.max()) == (2, 20)
    sizes = tables.sizes.group_by("job", maintain_order=True).agg("nodes")["nodes"].to_list()
    kinds = tables.jobs["type"].to_list()
    assert all(
        have == ([*range(2, 21)] if kind == "malleable" else [one])
        for have, kind, one in zip(sizes, kinds, nodes, strict=True)
    )
    assert (tables.loops["point"] == (tables.jobs["type"] == "malleable")).all()


def test_walltimes_by_hand():
    """Three times all rounds alone: flop at 100 Gflop/s a node, bytes at 12.5 GB/s a node, 48 GB/s at most."""
    w = make()
    job = w.applications.jobs.filter(type="malleable")["job"][0]
    rounds = w.applications.loops.filter(job=job)["rounds"].item()
    flop, size = compute(w)[job] * 1e12, checkpoints(w)[job] * GIB
    limits = dict(w.applications.sizes.filter(job=job).select("nodes", "walltime").rows())
    assert limits[2] == pytest.approx(3 * rounds * (flop / 200e9 + size / 25e9))
    assert limits[3] == pytest.approx(3 * rounds * (flop / 300e9 + size / 37.5e9))
    assert limits[4] == pytest.approx(3 * rounds * (flop / 400e9 + size / 48e9))
    assert limits[20] == pytest.approx(3 * rounds * (flop / 2000e9 + size / 48e9))
    assert w.jobs["walltime"][job] == pytest.approx(limits[w.jobs["nodes"][job]])


def test_alone_a_job_takes_a_third_of_its_walltime():
    w = make()
    for job in (0, 1, 447):
        only = pl.Series([job])
        one = fb.Workload("one", w.jobs.filter(id=job), applications=w.applications.only(only))
        took = fb.simulate(one, "admire2023", "fcfs").jobs["execution_time"].item()
        assert took == pytest.approx(w.jobs["walltime"][job] / 3, rel=1e-6)


@pytest.mark.parametrize("share", [0.5, 1.2, 5.0])
def test_load(share):
    """Node-seconds alone over those of the machine, from the first submission to the last."""
    w = make(f"load={share},jobs=1000,nodes=100")
    area = (w.jobs["nodes"] * w.jobs["walltime"]).sum() / 3
    assert area / (100 * w.jobs["submit"][-1]) == pytest.approx(share)
    assert w.jobs["submit"][0] == 0


def test_arrivals_are_poisson():
    """Exponential gaps have a deviation as large as their mean; their ratio has an error of n^-1/2."""
    gaps = make("load=1.2").jobs["submit"].diff().drop_nulls().to_numpy()
    assert gaps.std() / gaps.mean() == pytest.approx(1, abs=4 / len(gaps) ** 0.5)


def test_without_a_load_all_come_at_once():
    assert make().jobs["submit"].to_list() == [0] * 4000
    assert make("load=1.2,jobs=1").jobs["submit"].to_list() == [0]
    same_but(make(), make("load=1.2"), jobs=["submit"])


def same_but(one, two, jobs=(), sizes=()):
    """Equal in all but some columns of jobs and of their sizes."""
    assert_frame_equal(one.jobs.drop(jobs), two.jobs.drop(jobs), check_exact=True)
    for name in applications.TABLES:
        gone = sizes if name == "sizes" else ()
        assert_frame_equal(
            getattr(one.applications, name).drop(gone), getattr(two.applications, name).drop(gone), check_exact=True
        )


def test_load_and_walltime_change_nothing_else():
    plain, slower, longer = make("load=1.2"), make("load=0.6"), make("load=1.2,walltime=6")
    same_but(plain, slower, jobs=["submit"])
    assert slower.jobs["submit"].to_numpy() == pytest.approx(2 * plain.jobs["submit"].to_numpy())
    same_but(plain, longer, jobs=["walltime"], sizes=["walltime"])
    assert longer.jobs["walltime"].to_numpy() == pytest.approx(2 * plain.jobs["walltime"].to_numpy())


def test_a_larger_share_has_the_malleable_jobs_of_a_smaller_one():
    few, many = (
        set(make(f"malleable={share}").applications.jobs.filter(type="malleable")["job"]) for share in (0.2, 0.5)
    )
    assert few < many
    assert len(many) == 2000
    assert_frame_equal(make("malleable=0").jobs, make("malleable=1").jobs, check_exact=True)


def test_it_is_read_as_it_was_written(tmp_path):
    w = make("jobs=50")
    fb.workload.write(w, tmp_path / "jobs.parquet.zip")
    again = fb.read(tmp_path / "jobs.parquet.zip")
    same_but(w, again)
    assert again.platform == w.platform


def test_it_runs():
    result = fb.simulate(make("jobs=40,nodes=40"), policy="fcfs-malleable", job_model="application:kill=false")
    assert result.facts["platform"]["name"] == "admire2023"
    assert (result.jobs["final_state"] == "COMPLETED_SUCCESSFULLY").all()
    assert result.jobs["n_resizes"].sum() > 0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("jobs=0", "jobs is 0; give a number from 1 up"),
        ("nodes=19", "nodes is 19; give a number from 20 up"),
        ("malleable=20", "malleable is 20; give a share from 0 to 1: write 0.2 for 20 %"),
        ("load=-1", "load is -1; give a number from 0 up"),
        ("load=120", "load is a share of the machine, 5 at most: write 1.2 for 120 %"),
        ("walltime=0", "walltime is 0; give a number above 0"),
        ("walltime=inf", "walltime is inf"),
    ],
)
def test_what_makes_no_sense_is_refused(given, says):
    with pytest.raises(InputError, match="model 'admire-io': ") as caught:
        make(given)
    assert says in str(caught.value)


def test_what_would_not_fit_in_memory_is_refused(monkeypatch):
    monkeypatch.setenv("FOREBAY_MAX_STEPS", "1000")
    with pytest.raises(InputError, match=r"its jobs have [\d,]+ amounts, 1,000 at most; lower jobs"):
        make("jobs=600")


def test_bandwidth_is_what_a_job_writes_on_average():
    w = make("bandwidth=true")
    job = w.jobs.row(0, named=True)
    rounds = w.applications.loops.filter(job=0)["rounds"].item()
    # Alone it takes a third of its walltime, in which it writes all its checkpoints.
    alone = rounds * checkpoints(w)[0] * GIB / (job["walltime"] / 3)
    assert job["bandwidth"] == pytest.approx(alone, rel=1e-9, abs=1)
    assert_frame_equal(make().jobs, w.jobs.drop("bandwidth"), check_exact=True)


def test_jobs_that_would_crowd_the_file_system_do_not_run_together():
    w = make("jobs=60,nodes=200,bandwidth=true")
    assert w.platform == "admire2023:nodes=200,share=1"
    assert w.jobs["bandwidth"].max() < 48e9
    result = fb.simulate(w, policy="fcfs-bb", job_model="application:kill=false")
    assert result.resources["bandwidth"] == 48 * 10**9
    held = fb.metrics.machine.usage(result, "bandwidth")["amount"]
    assert 40e9 < held.max() <= 48e9
    # Without the pool they do.
    crowd = fb.simulate(w, "admire2023:nodes=200", "fcfs-bb", job_model="application:kill=false").jobs
    both = crowd.select("starting_time", "finish_time", asks=w.jobs["bandwidth"])
    most = max(
        both.filter((pl.col("starting_time") <= t) & (t < pl.col("finish_time")))["asks"].sum()
        for t in crowd["starting_time"]
    )
    assert most > 48e9
