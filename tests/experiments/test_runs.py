"""A run's description is all there is to it: what its key hangs on, and what it makes of jobs."""

from dataclasses import replace

import numpy as np
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.experiments.runs import Added, Jobs, Run, from_file, lengthened, perform, workload_of
from forebay.workload import models, operations

pytestmark = pytest.mark.small

RUN = Run("a", Jobs("table1"), "table1", "fcfs", "alloc-only")


def test_the_key_stays_what_it_is():
    """Keys name files that outlive a session: whoever changes this makes every store forget its runs."""
    assert RUN.key == Run("other name", Jobs("table1"), "table1", "fcfs", "alloc-only", tags={"part": 3}, effort=9).key
    assert len(RUN.key) == 24


@pytest.mark.parametrize(
    "change",
    [
        {"jobs": Jobs("default")},
        {"jobs": Jobs("table1", models=("burst-buffer",))},
        {"jobs": Jobs("table1", draw=1)},
        {"jobs": Jobs("table1", part=(0, 2))},
        {"jobs": Jobs("table1", first=3)},
        {"platform": "flat:nodes=4"},
        {"policy": "fcfs-bb"},
        {"job_model": "io-aware"},
        {"seed": 1},
        {"added": Added(5.0, (0, 1))},
        {"keep": ("waiting_time",)},
        {"failures": "mtbf=1h"},
        {"window": (0.0, 60.0)},
    ],
)
def test_whatever_changes_the_outcome_changes_the_key(change):
    assert replace(RUN, **change).key != RUN.key


def test_a_file_counts_by_its_bytes(tmp_path):
    one, two = tmp_path / "a.swf", tmp_path / "b.swf"
    fb.write(fb.read("table1"), one)
    two.write_bytes(one.read_bytes())
    assert replace(RUN, jobs=from_file(one)).key == replace(RUN, jobs=from_file(two)).key
    before = replace(RUN, jobs=from_file(one))
    one.write_text(one.read_text() + "; a remark\n")
    assert replace(RUN, jobs=from_file(one)).key != before.key
    with pytest.raises(InputError, match="has changed"):
        perform(before)
    with pytest.raises(InputError, match="cannot be read"):
        from_file(tmp_path / "none.swf")


def test_a_policy_of_ones_own_counts_by_its_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("class Mine:\n    def decide(self, view, act): pass\n")
    run = replace(RUN, policy=f"{path}:Mine")
    before = run.key
    path.write_text("class Mine:\n    def decide(self, view, act): return\n")
    assert run.key == before  # it stays the run that it was when it was laid out
    assert replace(run).key != before


def test_numbers_may_be_of_a_part_of_the_run():
    """Of Table 1's jobs two are submitted in the first minute; the schedule is that of all."""
    whole, part = perform(RUN), perform(replace(RUN, window=(0.0, 60.0), keep=("requested_nodes",)))
    assert (whole.summary["n_jobs"], part.summary["n_jobs"]) == (8, 2)
    assert part.measures["requested_nodes"].tolist() == [1, 1]
    assert part.document["facts"]["log_sha256"] == whole.document["facts"]["log_sha256"]


def test_runs_without_failures_are_described_as_ever():
    assert "failures" not in RUN.plain()


@pytest.mark.parametrize("told_by", ["the run", "the platform"])
def test_a_trace_of_failures_counts_by_its_bytes(tmp_path, told_by):
    trace, machine = tmp_path / "trace.csv", tmp_path / "mine.toml"
    trace.write_text("node,down,up\n0,1,2\n")
    machine.write_text('nodes = 4\n[failures]\ntrace = "trace.csv"\n')
    run = replace(RUN, failures=f"{trace},known=no") if told_by == "the run" else replace(RUN, platform=str(machine))
    before = run.key
    assert before not in (RUN.key, replace(RUN, failures=f"{trace}").key)
    trace.write_text("node,down,up\n0,1,3\n")
    assert run.key == before  # it stays the run that it was when it was laid out
    assert replace(run).key != before
    trace.write_text("node,down,up\n0,1,2\n")
    assert run.key == before


def test_jobs_are_made_completed_and_cut():
    spec = "lublin99:jobs=60,nodes=16"
    whole = models.attach(models.generate(spec, 5), ("burst-buffer",), 5)
    made = Jobs(spec, made=True, models=("burst-buffer",), draw=5)
    assert workload_of(made).jobs.equals(whole.jobs)
    assert workload_of(replace(made, part=(1, 2))).jobs.equals(operations.split(whole, 2)[1].jobs)
    assert len(workload_of(replace(made, first=7))) == 7


def test_replicas_only_add_seconds_to_run_times():
    given = fb.read("table1")
    longer = lengthened(given, Added(5.0, (0, 3)))
    extra = longer.jobs["run_time"].to_numpy() - given.jobs["run_time"].to_numpy()
    assert np.allclose(extra, np.random.default_rng([0, 3]).uniform(0, 5, 8))
    assert longer.jobs.drop("run_time").equals(given.jobs.drop("run_time"))
    assert "stream 0, 3" in longer.provenance[-1]


def test_replicas_may_arrive_later():
    """In another order then; what else is known of a job stays with it, and run times are as without."""
    given = fb.read("table1")
    plain, later = lengthened(given, Added(5.0, (0, 3))), lengthened(given, Added(5.0, (0, 3), later=300.0))
    assert later.jobs["submit"].is_sorted()
    assert later.jobs["id"].to_list() != given.jobs["id"].to_list()
    back = later.jobs.sort("id")
    delay = (back["submit"] - given.jobs.sort("id")["submit"]).to_numpy()
    assert (delay >= 0).all()
    assert 100 < delay.max() <= 300
    assert back.drop("submit").equals(plain.jobs.sort("id").drop("submit"))
    assert perform(replace(RUN, added=Added(5.0, (0, 3), later=300.0))).summary["n_jobs"] == 8


def test_users_come_from_another_trace_by_number(tmp_path):
    """A key counts the trace's bytes, not where it lies; one that has changed is refused."""
    trace = tmp_path / "log.swf"
    line = "{} 0 0 10 1 -1 -1 1 10 -1 1 {} -1 -1 -1 -1 -1 -1\n"
    trace.write_text("".join(line.format(job, 100 + job) for job in range(1, 9)))
    there = tmp_path / "moved.swf"
    fb.write(fb.read("table1"), tmp_path / "t.parquet.zip")
    jobs = from_file(tmp_path / "t.parquet.zip", users=trace)
    assert workload_of(jobs).jobs["user"].to_list() == [100 + job for job in workload_of(jobs).jobs["id"].to_list()]
    there.write_bytes(trace.read_bytes())
    moved = from_file(tmp_path / "t.parquet.zip", users=there)
    assert replace(RUN, jobs=moved).key == replace(RUN, jobs=jobs).key
    assert replace(RUN, jobs=jobs).key != replace(RUN, jobs=from_file(tmp_path / "t.parquet.zip")).key
    there.write_text(there.read_text().replace("101", "107"))
    with pytest.raises(InputError, match=r"moved.swf: has changed"):
        workload_of(moved)


def test_run_times_may_be_known():
    """Also those of a replica: nobody is killed."""
    run = replace(RUN, policy="sjf-bb", known=True, added=Added(5.0, (0, 3)))
    assert run.key != replace(run, known=False).key
    assert perform(run).summary["n_killed"] == 0
    known = operations.perfect_estimates(lengthened(fb.read("table1"), run.added))
    assert perform(run).summary == fb.summary(fb.simulate(known, policy="sjf-bb", platform=RUN.platform))


def test_what_is_kept_of_a_run():
    record = perform(replace(RUN, policy="fcfs-easy", keep=("waiting_time", "bounded_slowdown_10min")))
    result = fb.simulate(fb.read("table1"), policy="fcfs-easy")
    assert record.summary == fb.summary(result)
    assert record.measures["waiting_time"].tolist() == result.jobs["waiting_time"].to_list()
    assert record.measures["bounded_slowdown_10min"].min() >= 1
    assert record.document["facts"]["log_sha256"] == result.facts["log_sha256"]
