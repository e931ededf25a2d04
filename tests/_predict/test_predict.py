"""Predictions: by hand where nothing is left to chance, without a look ahead, and from a run that stands somewhere."""

import numpy as np
import polars as pl
import pytest

import forebay as fb
from _predict.made import QUEUE, QUICK, Exact, random_jobs, workload
from forebay._predict._arrivals import DAY, WEEK, Past
from forebay._predict._world import Learned, Site, simulated


def test_without_chance_it_is_the_schedule():
    """Walltimes are right and no job comes: every future is what happens."""
    found = fb.predict(QUEUE, 100, "flat:nodes=4", "fcfs", estimator=Exact, **QUICK)
    assert found.table["job_id"].to_list() == [2, 3, 4]
    assert found.table["p50"].to_list() == [500.0, 800.0, 900.0]
    assert found.table["slurm"].to_list() == [500.0, 800.0, 900.0]
    assert found.table["waited"].to_list() == [90.0, 80.0, 70.0]
    assert found.table["within_1h"].to_list() == [1.0, 1.0, 1.0]
    assert found.facts["running"] == 1
    assert found.facts["nodes_in_use"] == 4


def test_what_stands_in_the_way_is_said():
    found = fb.predict(QUEUE, 100, "flat:nodes=4", "fcfs", 2, estimator=Exact, **QUICK)
    assert "job 1 holds 4" in found.table["why"][0]


def test_a_job_that_is_not_submitted():
    """Behind all others, or beside job 3 where it fits."""
    found = fb.predict(QUEUE, 100, "flat:nodes=4", "fcfs", submit="nodes=1,walltime=10", estimator=Exact, **QUICK)
    assert found.table["asked"].to_list() == ["nodes=1,walltime=10"]
    assert found.table["p50"].to_list() == [950.0]
    assert found.facts["waiting"] == 3  # it does not count among those that wait
    early = fb.predict(QUEUE, 100, "flat:nodes=4", "filler", submit="nodes=1,walltime=10", estimator=Exact, **QUICK)
    assert early.table["p50"].to_list() == [800.0]


def test_what_if_it_asked_for_less():
    """Job 4 with two nodes runs beside job 3."""
    found = fb.predict(
        QUEUE, 100, "flat:nodes=4", "fcfs", 4, what_if=["nodes=2", {"nodes": 4}], estimator=Exact, **QUICK
    )
    assert found.what_ifs.select("what_if", "before", "p50").rows() == [
        ("nodes=2", 900.0, 800.0),
        ("nodes=4", 900.0, 900.0),
    ]


def test_a_run_that_stands_somewhere_predicts_the_same():
    sim = fb.open(QUEUE, "flat:nodes=4", policy="fcfs").run(until=30)
    here = fb.predict(sim, estimator=Exact, **QUICK).table
    there = fb.predict(QUEUE, 30, "flat:nodes=4", "fcfs", estimator=Exact, **QUICK).table
    assert here.equals(there)
    with pytest.raises(fb.ForebayError, match="its own moment"):
        fb.predict(sim, 30)


@pytest.mark.parametrize("policy", ["fcfs-easy", "sjf-bb"])
def test_nothing_after_the_moment_is_looked_at(policy):
    """What is submitted later, and how long jobs run that have not ended, may be anything."""
    jobs, more = random_jobs(1)
    before = workload(jobs, **more)
    run = fb.simulate(before, "flat:nodes=8", policy).jobs
    start, end = run["starting_time"].to_list(), run["finish_time"].to_list()
    at = next(job[0] for job, begun in zip(jobs, start, strict=True) if job[0] > DAY and begun > job[0])
    rng = np.random.default_rng(9)
    known, later = [], []
    for (submit, walltime, run_time, nodes), begun, over in zip(jobs, start, end, strict=True):
        if submit > at:
            later.append(
                (float(rng.uniform(at + 1, 3 * DAY)), 9000.0, float(rng.uniform(1, 9000)), int(rng.integers(1, 9)))
            )
        elif over <= at:
            known.append((submit, walltime, run_time, nodes))
        else:
            known.append((submit, walltime, float(rng.uniform(max(at - begun + 1, 1), walltime)), nodes))
    after = workload([*known, *sorted(later)], **more)
    how = {"futures": 6, "calibration": 4}
    a, b = (fb.predict(one, at, "flat:nodes=8", policy, **how) for one in (before, after))
    assert a.table.height > 0
    assert a.table.equals(b.table)
    assert a.outlook.equals(b.outlook)


def test_the_same_seed_says_the_same():
    jobs, more = random_jobs(2)
    a, b, c = (
        fb.predict(workload(jobs, **more), DAY, "flat:nodes=8", "fcfs-easy", seed=seed, **QUICK).table
        for seed in (1, 1, 2)
    )
    assert a.equals(b)
    assert not a.equals(c)


def test_newcomers_are_those_of_earlier_weeks():
    jobs = [(k * 3600.0, 600.0, 300.0, 1) for k in range(24 * 21)]
    world = simulated(workload(jobs), Site(fb.platform("flat:nodes=4"), "fcfs"))
    past = Past(world, 20 * DAY + 10)
    assert past.rhythm == WEEK
    drawn = past.draw(np.random.default_rng(1), 2 * DAY)
    assert np.allclose(np.sort(drawn.submit), np.arange(1, 49) * 3600.0 - 10)
    assert (world.submit[drawn.jobs] <= 20 * DAY + 10).all()
    assert Past(world, 3 * DAY).rhythm == DAY
    assert not len(Past(world, 3600.0).draw(np.random.default_rng(1), DAY).jobs)


def test_learning_goes_on_in_order_of_ends():
    jobs, more = random_jobs(3)
    world = simulated(workload(jobs, **more), Site(fb.platform("flat:nodes=8"), "fcfs-easy"))
    seen = []

    class Notes(Exact):
        def learn(self, asked, seconds):
            seen.append(seconds)

    learned = Learned(world, Notes)
    learned.to(DAY)
    assert len(seen) == (world.end <= DAY).sum()
    learned.to(2 * DAY).to(DAY)
    order = np.argsort(world.end, kind="stable")
    assert np.allclose(seen, (world.end - world.start)[order][: len(seen)])


def test_dependencies_of_waiting_jobs_hold():
    """Job 2 waits for job 1, which runs: it starts when that ends, though there is room."""
    waits = fb.workload.dependency_table({"job": [2], "parent": [1], "kind": ["afterok"]})
    jobs = workload([(0, 600, 600, 1), (10, 60, 60, 1)])
    w = fb.Workload("chained", jobs.jobs, dependencies=waits)
    found = fb.predict(w, 100, "flat:nodes=4", "fcfs", estimator=Exact, **QUICK)
    assert found.table["p50"].to_list() == [500.0]


def test_no_job_waits():
    found = fb.predict(workload([(0, 600, 600, 1), (10, 60, 60, 1)]), 20, "flat:nodes=4", "fcfs", **QUICK)
    assert found.table.height == 0
    assert found.outlook["in_use_middle"][0] == 0.5
    assert "no job waits" in repr(found)


def test_an_answer_has_pictures_and_tables(tmp_path):
    found = fb.predict(QUEUE, 100, "flat:nodes=4", "fcfs", estimator=Exact, **QUICK)
    names = {path.name for path in found.save(tmp_path)}
    assert names == {"prediction.json", "starts.csv", "starts.svg", "ahead.svg", "ahead.csv"} | ({"starts.csv"})
    assert r"\toprule" in found.to_latex()
    assert "8 min" in found.to_markdown()
    assert "Job 2 starts in 8 min" in str(found)
    assert [file.name for file in found.draw(tmp_path / "a.pdf", "ahead", "ieee-column")] == ["a.pdf", "a.csv"]
    with pytest.raises(fb.ForebayError, match="starts"):
        found.plot("start")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"at": -5}, "no job has been submitted"),
        ({"at": 1e9}, "the trace is over"),
        ({"at": None}, "at which moment"),
        ({"jobs": 99}, "no job 99"),
        ({"jobs": 1}, "runs already"),
        ({"at": 700, "jobs": 1}, "ended at 600 s"),
        ({"submit": "walltime=60"}, "no nodes"),
        ({"submit": "nodes=4,wall=60"}, "walltime"),
        ({"submit": "nodes=four,walltime=60"}, "nodes is 'four'"),
        ({"submit": ""}, "says nothing"),
        ({"jobs": 2, "what_if": "nodes=0"}, "nodes is '0'"),
        ({"futures": 1}, "futures is 1"),
        ({"estimator": "none"}, "unknown estimator"),
        ({"recorded": True}, "no recorded starts"),
    ],
)
def test_bad_questions(how, words):
    asked = {"at": 100, "platform": "flat:nodes=4", "policy": "fcfs", **QUICK, **how}
    with pytest.raises(fb.ForebayError, match=words):
        fb.predict(QUEUE, **asked)


def test_jobs_in_several_legs_are_refused():
    w = fb.read("table1")
    legs = pl.DataFrame(
        {
            "job": w.jobs["id"],
            "leg": [0] * 8,
            "walltime": w.jobs["walltime"],
            "nodes": w.jobs["nodes"],
            "carry": [""] * 8,
        }
    )
    with pytest.raises(fb.ForebayError, match="one leg"):
        fb.predict(fb.Workload("legs", w.jobs, legs=legs), 100, "flat:nodes=4", "fcfs")
