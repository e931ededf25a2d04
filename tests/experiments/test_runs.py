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
    assert run.key != before


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


def test_what_is_kept_of_a_run():
    record = perform(replace(RUN, policy="fcfs-easy", keep=("waiting_time", "bounded_slowdown_10min")))
    result = fb.simulate(fb.read("table1"), policy="fcfs-easy")
    assert record.summary == fb.summary(result)
    assert record.measures["waiting_time"].tolist() == result.jobs["waiting_time"].to_list()
    assert record.measures["bounded_slowdown_10min"].min() >= 1
    assert record.document["facts"]["log_sha256"] == result.facts["log_sha256"]
