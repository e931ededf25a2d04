"""The front door: what it takes, what it hands back, what it writes down."""

import os
import re
import subprocess
import sys
import time

import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.policies._families.backfill import Backfill
from forebay.results import JOBS_CSV
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small


class Mine:
    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job)


def test_the_job_table_begins_with_batsims_columns():
    jobs = fb.simulate(fb.read("table1"), policy="fcfs-bb").jobs
    assert tuple(jobs.columns[: len(JOBS_CSV)]) == JOBS_CSV
    assert jobs.columns[len(JOBS_CSV) :] == [
        "total_wait",
        "n_legs",
        "user",
        "group",
        "queue",
        "priority",
        "burst_buffer",
    ]


def test_columns_follow_their_definitions():
    """Job 3 of Table 1 under fcfs-easy: submitted at 60 s, runs from 600 to 660 s."""
    job = fb.simulate(fb.read("table1"), policy="fcfs-easy").jobs.row(2, named=True)
    assert (job["starting_time"], job["finish_time"], job["execution_time"]) == (600, 660, 60)
    assert (job["waiting_time"], job["turnaround_time"], job["stretch"]) == (540, 600, 10)
    assert (job["success"], job["final_state"], job["allocated_resources"]) == (1, "COMPLETED_SUCCESSFULLY", "0-2")


def test_facts_name_the_run_and_nothing_of_the_machine_it_ran_on():
    facts = fb.simulate(fb.read("table1"), policy="fcfs", seed=7).facts
    assert (facts["policy"], facts["seed"], facts["jobs"], facts["workload"]) == ("fcfs", 7, 8, "table1")
    assert len(facts["log_sha256"]) == 64
    assert fb.simulate(fb.read("table1"), policy=Mine()).facts["policy"] == "Mine"
    assert (
        fb.simulate(fb.read("table1"), policy=Backfill(depth=2)).facts["policy"].startswith("Backfill(order='arrival'")
    )


def test_a_machine_of_another_size_than_the_trace_names_is_noted(tmp_path):
    trace = tmp_path / "t.swf"
    trace.write_text("; MaxProcs: 4\n1 0 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n")
    assert fb.simulate(trace, "flat:nodes=1").facts["notes"] == ["the machine has 1 node, but t names one of 4"]
    for same in (None, "flat:nodes=4", "flat:nodes=4,burst_buffer=1TB"):
        assert not any("names one of" in note for note in fb.simulate(trace, same).facts["notes"])


def test_a_trace_whose_own_machine_cannot_be_runs_on_another(tmp_path):
    trace = tmp_path / "t.swf"
    trace.write_text("; MaxProcs: 100000000\n1 0 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n")
    assert fb.simulate(trace, "flat:nodes=4").facts["notes"] == []


def test_names_are_shown_as_they_are_listed():
    facts = fb.simulate("table1", policy="SJF_BB:depth=2+limits:user_jobs=4", job_model="Alloc_Only").facts
    assert (facts["policy"], facts["job_model"]) == ("sjf-bb:depth=2+limits:user_jobs=4", "alloc-only")


def test_jobs_larger_than_the_machine_are_rejected_and_the_run_goes_on():
    jobs = job_table(
        {"id": [1, 2, 3], "submit": [0.0, 1.0, 2.0], "walltime": [5.0] * 3, "run_time": [5.0] * 3, "nodes": [1, 9, 1]}
    )
    result = fb.simulate(fb.Workload("w", jobs), "flat:nodes=4", "fcfs")
    assert result.jobs["final_state"].to_list() == ["COMPLETED_SUCCESSFULLY", "REJECTED", "COMPLETED_SUCCESSFULLY"]
    assert result.jobs["starting_time"].to_list() == [0, None, 2]
    assert result.log.filter(pl.col("job") == 2)["reason"].to_list() == ["none", "too_large"]


def test_flops_become_seconds_by_the_speed_of_the_machine():
    jobs = job_table({"id": [1], "submit": [0.0], "walltime": [50.0], "run_time": [1.0], "flop": [6e9], "nodes": [1]})
    slow, fast = (
        fb.simulate(fb.Workload("w", jobs), f"flat:nodes=1,speed={speed}Gflop/s", "fcfs").jobs["execution_time"][0]
        for speed in (1, 2)
    )
    assert (slow, fast) == (7.0, 4.0)  # 1 s + 6 Gflop at 1 and at 2 Gflop/s


def test_a_workload_that_names_no_machine_needs_one():
    jobs = job_table({"id": [1], "submit": [0.0], "walltime": [5.0], "run_time": [5.0], "nodes": [1]})
    with pytest.raises(InputError, match="--platform flat:nodes=100"):
        fb.simulate(fb.Workload("w", jobs))


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("walltime", 0.0, "job 1 has a walltime that is not positive"),
        ("run_time", float("inf"), "no finite length"),
        ("nodes", -1, "negative demand"),
        ("submit", float("nan"), "no finite submit"),
    ],
)
def test_impossible_jobs_are_named(column, value, says):
    columns = {"id": [1], "submit": [0.0], "walltime": [5.0], "run_time": [5.0], "nodes": [1]} | {column: [value]}
    with pytest.raises(InputError, match=says):
        fb.simulate(fb.Workload("w", job_table(columns)), "flat:nodes=4", "fcfs")


def test_progress_counts_up_to_every_job():
    seen = []
    fb.simulate(fb.read("table1"), policy="fcfs", progress=lambda ended, jobs: seen.append((ended, jobs)))
    assert seen[-1] == (8, 8)
    assert seen == sorted(seen)


def test_notes_tell_what_workload_and_machine_do_not_share():
    notes = fb.simulate(fb.read("table1"), "flat:nodes=4", "fcfs").facts["notes"]
    assert notes == ["flat has no burst_buffer: what jobs ask of it is ignored"]


def test_what_is_done_before_the_run_begins_is_not_counted():
    class Slow(Backfill):
        def kernel(self):
            time.sleep(1.0)
            return super().kernel()

    assert fb.simulate(fb.read("table1"), policy=Slow()).facts["seconds"] < 1.0


FORKS = """
import multiprocessing, sys
import forebay as fb
from forebay.errors import ForebayError

def work(policy):
    try:
        return fb.simulate(jobs, policy=policy).facts["jobs"]
    except ForebayError as error:
        return str(error)

jobs = fb.read("table1")
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(work, ["fcfs", "fcfs-bb"]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_says_so_and_does_not_hang():
    words = [sys.executable, "-W", "ignore", "-c", FORKS]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.count("this process was forked after its parent had used forebay") == 2


@pytest.fixture
def told(monkeypatch):
    """What each run draws its failures from."""
    from forebay._run import case

    draws, calls = case.draws, []

    def spy(truth, failures, nodes, seed):
        calls.append({"failures": failures, "seed": seed})
        return draws(truth, failures, nodes, seed)

    monkeypatch.setattr(case, "draws", spy)
    return calls


def test_failures_reach_the_engine_and_the_facts(told):
    result = fb.simulate("table1", seed=5, failures="mtbf=1h,checkpoint=60s")
    wanted = fb.platforms.Failures(mtbf=3600, checkpoint=60)
    assert told == [{"failures": wanted, "seed": 5}]
    assert result.facts["failures"] == wanted.describe()
    fb.simulate("table1", seed=5, failures="mtbf=1h,seed=7")
    assert told[-1]["seed"] == 7


def test_failures_are_those_of_the_platform_unless_others_are_given(told):
    own = fb.platform("table1").model_copy(update={"failures": fb.platforms.Failures(mtbf=60)})
    assert fb.simulate("table1", own).facts["failures"]["mtbf"] == 60
    assert fb.simulate("table1", own, failures={"mtbf": "2 min"}).facts["failures"]["mtbf"] == 120
    assert [call["failures"].mtbf for call in told] == [60, 120]


def test_without_failures_there_is_nothing_to_tell(told):
    own = fb.platform("table1").model_copy(update={"failures": fb.platforms.Failures(mtbf=60)})
    assert "failures" not in fb.simulate("table1").facts
    for none in ("mtbf=inf", "downtime=1min"):
        assert "failures" not in fb.simulate("table1", own, failures=none).facts
    assert told == []
    assert fb.simulate("table1", failures="checkpoint=1s,period=1min").facts["failures"]["period"] == 60


def test_checkpoints_in_bytes_need_a_file_system(told):
    with pytest.raises(InputError, match="table1 has none; add a tier of kind pfs"):
        fb.simulate("table1", failures="mtbf=1h,checkpoint_bytes=1GB")
    fb.simulate("table1", "flat:nodes=4,burst_buffer=10TB,pfs=5GB/s", failures="mtbf=1h,checkpoint_bytes=1GB")
    assert told[-1]["failures"].checkpoint_bytes == 10**9


def test_a_run_of_a_study_has_its_failures(told):
    from forebay.experiments.runs import Jobs, Run, perform

    perform(Run("a", Jobs("table1"), "table1", "fcfs", "alloc-only", seed=3, failures="mtbf=1h"))
    assert told == [{"failures": fb.platforms.Failures(mtbf=3600), "seed": 3}]


def test_commands_pass_failures_on(told, tmp_path, capsys):
    import json

    from forebay.cli.main import main

    shared = ("table1", "--failures", "mtbf=1h,downtime=1min", "--seed", "2", "-o", tmp_path / "out")
    for command in (("run", *shared), ("compare", *shared, "--policies", "fcfs,filler", "--no-plots")):
        for form in ("text", "json"):
            with pytest.raises(SystemExit) as left:
                main([*map(str, command), "--format", form])
            assert left.value.code == 0
            out = capsys.readouterr().out
            if form == "text":
                assert re.search(r"\nfailures +a failure every 1 h, 1 min down\n", out)
            else:
                assert json.loads(out)["failures"]["downtime"] == 60
        (tmp_path / "out").rename(tmp_path / command[0])
    wanted = {"failures": fb.platforms.Failures(mtbf=3600, downtime=60), "seed": 2}
    assert told == [wanted] * 4  # the second comparison takes the runs of the first
