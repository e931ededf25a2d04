"""Malleable jobs that read, compute and write, all there at once, against what the docs say of them.

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

READ, SCATTER, COMPUTE, WRITE, RECONFIGURE = range(5)


def make(spec="", seed=1):
    return models.generate(f"admire-mebf:{spec}", seed)


def preferred(workload, task, column):
    """What a task takes at the preferred sizes, job by job."""
    wanted = workload.jobs.select(job="id", nodes="nodes")
    rows = workload.applications.amounts.filter(task=task).join(wanted, on=["job", "nodes"])
    return rows.sort("job")[column].to_numpy()


def rounds(workload):
    return workload.applications.loops["rounds"].to_numpy()


def lengths(workload, walltime=2):
    """Seconds that jobs take alone at their preferred sizes."""
    return workload.jobs["walltime"].to_numpy() / walltime


def near(values, mean, deviation):
    return values.mean() == pytest.approx(mean, abs=4 * deviation / len(values) ** 0.5)


def busy(workload, task):
    """Seconds in which a file system of 48 GB/s is busy with it, over those that all jobs fill 500 nodes."""
    times = rounds(workload) if task == WRITE else 1
    area = (workload.jobs["nodes"].to_numpy() * lengths(workload)).sum() / 500
    return (times * preferred(workload, task, "bytes")).sum() / 48e9 / area


def test_jobs():
    w = make("jobs=2000")
    assert w.jobs["submit"].to_list() == [0] * 2000
    assert w.applications.jobs["type"].unique().to_list() == ["malleable"]
    assert w.applications.loops.select(pl.all_horizontal("point", "barrier").all()).item()
    nodes, priority = w.jobs["nodes"].to_numpy(), w.jobs["priority"].to_numpy()
    assert sorted(set(nodes)) == [*range(2, 13)]
    assert near(nodes, 7, 10**0.5)
    assert sorted(set(priority)) == [*range(10)]
    assert near(priority, 4.5, (99 / 12) ** 0.5)
    assert sorted(set(rounds(w))) == [*range(20, 61)]
    assert near(rounds(w), 40, (1680 / 12) ** 0.5)
    # Of the cube of a uniform draw: a mean of 1/4, a variance of 1/7 - 1/16.
    assert near(lengths(w), 1800 + 41_400 / 4, 41_400 * (9 / 112) ** 0.5)
    assert np.median(lengths(w)) == pytest.approx(1800 + 41_400 / 8, rel=0.1)
    assert lengths(w).min() >= 1800
    assert lengths(w).max() <= 43_200
    assert load(w.platform) == load("admire2023")


def sizes(workload):
    return workload.applications.sizes.group_by("job", maintain_order=True).agg("nodes")["nodes"].to_list()


def test_sizes_are_the_preferred_to_four_times_it():
    assert sizes(make()) == [[*range(n, 4 * n + 1)] for n in make().jobs["nodes"]]


def test_sizes_in_shares_of_the_preferred():
    """The least is rounded up and the largest down; nobody has more nodes than the machine."""
    w = make("least=0.55,most=1.1,jobs=300")
    assert sizes(w) == [[*range(-(-55 * n // 100), 110 * n // 100 + 1)] for n in w.jobs["nodes"]]
    assert max(map(max, sizes(make("most=50,jobs=30")))) == 500


def test_tasks():
    tasks = make().applications.tasks.filter(job=0).select("stage", "loop", "kind").rows()
    assert tasks == [
        ("init", -1, "read"),
        ("init", -1, "compute"),
        ("run", 0, "compute"),
        ("run", 0, "write"),
        ("reconfiguration", -1, "compute"),
    ]


def test_one_node_reads_and_all_write():
    amounts = make().applications.amounts
    assert (amounts.filter(task=READ)["streams"] == 1).all()
    writes = amounts.filter(task=WRITE)
    assert (writes["streams"] == writes["nodes"]).all()


def test_data_and_work_are_the_same_at_every_size():
    amounts = make().applications.amounts
    for task, what in ((READ, pl.col("bytes")), (WRITE, pl.col("bytes")), (COMPUTE, pl.col("flop") * pl.col("nodes"))):
        spread = amounts.filter(task=task).group_by("job").agg(what.max() / what.min())
        assert spread.to_series(1).to_numpy() == pytest.approx(1)


@pytest.mark.parametrize(
    ("kind", "read", "write"), [("read", 0.5, 0.05), ("write", 0.05, 0.5), ("compute", 0.05, 0.05)]
)
def test_kinds_differ_in_what_they_move(kind, read, write):
    w = make(f"application={kind},jobs=300")
    assert busy(w, READ) == pytest.approx(read)
    assert busy(w, WRITE) == pytest.approx(write)
    assert w.provenance[0].startswith(f"made by admire-mebf: 300 malleable jobs, 300 {kind}-intensive [")


def test_a_mixed_workload_has_a_half_and_two_quarters():
    w = make()
    part = w.jobs["nodes"].to_numpy() * lengths(w) * 48e9 / 500
    assert np.isclose(preferred(w, READ, "bytes"), 0.5 * part).sum() == 25
    assert np.isclose(rounds(w) * preferred(w, WRITE, "bytes"), 0.5 * part).sum() == 25
    assert "50 compute-intensive, 25 read-intensive, 25 write-intensive" in w.provenance[0]


def test_walltimes_by_hand():
    """Twice: the root's reading at 12.5 GB/s and its scattering of 1 GB, then all rounds, which write at 48 GB/s."""
    w = make("least=0.5")
    job = int(w.jobs["nodes"].arg_max())
    n = w.jobs["nodes"][job]
    flop = preferred(w, COMPUTE, "flop")[job] * n
    read, write = (preferred(w, task, "bytes")[job] for task in (READ, WRITE))
    limits = dict(w.applications.sizes.filter(job=job).select("nodes", "walltime").rows())
    for size in (n // 2, n, 2 * n):
        before = read / 12.5e9 + (size - 1) / size / 12.5
        assert limits[size] == pytest.approx(2 * (before + rounds(w)[job] * (flop / (size * 1e11) + write / 48e9)))
    assert w.jobs["walltime"][job] == limits[n]


@pytest.mark.parametrize("size", ["least", "preferred", "most"])
def test_alone_a_job_takes_half_of_its_walltime(size):
    w = make("least=0.5")
    for job in range(4):
        limits = w.applications.sizes.filter(job=job)
        n = {"least": limits["nodes"][0], "preferred": w.jobs["nodes"][job], "most": limits["nodes"][-1]}[size]
        jobs = w.jobs.filter(id=job).with_columns(nodes=pl.lit(n, pl.Int64))
        one = fb.Workload("one", jobs, applications=w.applications.only(pl.Series([job])))
        took = fb.simulate(one, "admire2023", "fcfs").jobs["execution_time"].item()
        assert took == pytest.approx(limits.filter(nodes=n)["walltime"].item() / 2, rel=1e-6)


def test_a_change_of_size_costs_seconds():
    assert set(make("cost=7").applications.amounts.filter(task=RECONFIGURE)["seconds"]) == {7}
    assert "reconfiguration" not in make("cost=0").applications.tasks["stage"].to_list()


def same_but(one, two, jobs=(), **gone):
    """Equal in all but some columns of jobs and of other tables."""
    assert_frame_equal(one.jobs.drop(jobs), two.jobs.drop(jobs), check_exact=True)
    for name in applications.TABLES:
        first, second = (getattr(w.applications, name).drop(gone.get(name, ())) for w in (one, two))
        assert_frame_equal(first, second, check_exact=True)


@pytest.mark.parametrize("given", ["application=read", "io=0.1", "shortest=1h", "longest=3h", "walltime=5", "cost=1"])
def test_parameters_change_no_other_draws(given):
    amounts = ["seconds", "flop", "bytes"]
    same_but(make(), make(given), jobs=["walltime", "flop"], sizes=["walltime"], amounts=amounts)


def test_walltime_and_cost_change_nothing_else():
    plain = make()
    same_but(plain, make("walltime=4"), jobs=["walltime"], sizes=["walltime"])
    same_but(plain, make("cost=20"), amounts=["seconds"])


def test_it_is_read_as_it_was_written(tmp_path):
    w = make("jobs=20")
    fb.workload.write(w, tmp_path / "jobs.parquet.zip")
    again = fb.read(tmp_path / "jobs.parquet.zip")
    same_but(w, again)
    assert again.platform == w.platform


@pytest.mark.parametrize("given", ["", "io=0,cost=0", "io=1,application=read,shortest=60,longest=60"])
def test_it_runs(given):
    result = fb.simulate(
        make(f"jobs=30,{given}"), "admire2023:nodes=60", "fcfs-malleable", job_model="application:kill=false"
    )
    assert (result.jobs["final_state"] == "COMPLETED_SUCCESSFULLY").all()
    assert result.jobs["n_resizes"].sum() > 0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("jobs=0", "jobs is 0; give a number from 1 up"),
        ("application=both", "application is 'both'; give one of mixed, compute, read, write"),
        ("shortest=59", "shortest is 59; give a number from 60 up"),
        ("shortest=2h,longest=1h", "shortest is 7200; give at most longest, which is 3600"),
        ("longest=inf", "longest is inf; give a finite number"),
        ("least=0", "least is 0; give a number above 0"),
        ("least=2", "least is 2; give a share from 0 to 1"),
        ("most=0.5", "most is 0.5; give a number from 1 up"),
        ("io=50", "io is 50; give a share from 0 to 1: write 0.5 for 50 %"),
        ("cost=-1", "cost is -1; give a number from 0 up"),
        ("walltime=0", "walltime is 0; give a number above 0"),
    ],
)
def test_what_makes_no_sense_is_refused(given, says):
    with pytest.raises(InputError, match="model 'admire-mebf': ") as caught:
        make(given)
    assert says in str(caught.value)


def test_what_would_not_fit_in_memory_is_refused(monkeypatch):
    monkeypatch.setenv("FOREBAY_MAX_STEPS", "1000")
    with pytest.raises(InputError, match=r"its jobs have [\d,]+ amounts, 1,000 at most; lower jobs"):
        make("jobs=100")
