"""The headline wait and slowdown where jobs are interrupted, fail, change size or have legs: by hand, and by a twin."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import forebay as fb
from cases import breaking, pooled
from cases.chunks import examples
from cases.flexible import Jobs, compute, loop, move, stage
from forebay.core.failures import Failures, Outages
from forebay.errors import StalledError
from forebay.metrics._table import counted, measure
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small

HOUR = 3600.0


def of_jobs(result, *names):
    """Measures of the jobs that count, a row a job in order of ids."""
    return counted(result).sort("job_id").select(measure(name).alias(name) for name in names).collect().rows()


def rigid(*jobs):
    """Jobs as (submit, seconds, walltime, nodes)."""
    names = ("submit", "run_time", "walltime", "nodes")
    columns = {name: [row[i] for row in jobs] for i, name in enumerate(names)}
    return fb.Workload("by hand", job_table({"id": range(1, len(jobs) + 1)} | columns))


class EveryHour:
    """Starts what fits; interrupts running jobs on the hour, `times` times, and lets them start again at once."""

    def __init__(self, times):
        self.left = times

    def decide(self, view, act):
        if view.now and view.now % HOUR == 0 and self.left and len(view.running):
            self.left -= 1
            act.interrupt(int(view.running["job"][0]))
        for job in view.queue:
            if act.fits(job):
                act.start(job)
        if self.left:
            act.wake((view.now // HOUR + 1) * HOUR)


def test_a_job_that_is_interrupted_ten_times():
    """Two hours of work, begun again at 1 h, 2 h, ... 10 h, done at 12 h: ten hours are lost."""
    result = fb.simulate(rigid((0.0, 2 * HOUR, 20 * HOUR, 1)), "flat:nodes=1", EveryHour(10))
    assert result.jobs["finish_time"].to_list() == [12 * HOUR]
    assert of_jobs(result, "waiting_time", "wait", "slowdown") == [(0.0, 10 * HOUR, 6.0)]
    told = fb.summary(result)
    assert (told["mean_waiting_time"], told["mean_wait"], told["max_wait"]) == (0.0, 10 * HOUR, 10 * HOUR)
    assert (told["median_wait"], told["p95_wait"], told["p99_wait"]) == (10 * HOUR,) * 3
    assert (told["mean_slowdown"], told["mean_bounded_slowdown_10min"]) == (6.0, 6.0)
    assert result.jobs["run_alone"].to_list() == [2 * HOUR]


def test_a_preempted_job_that_is_requeued():
    """As in the tests of preemption: job 1 runs from 0 to 100 in vain and from 400 to 1400; job 2 from 100 to 400."""
    jobs = rigid((0.0, 1000.0, 1200.0, 4), (100.0, 300.0, 600.0, 4))
    jobs = fb.Workload("by hand", jobs.jobs.with_columns(qos=pl.Series([0, 2])), names={"qos": {0: "low", 2: "high"}})
    result = fb.simulate(jobs, "flat:nodes=4", "slurm:PreemptType=qos,Preempt=high=low")
    assert of_jobs(result, "waiting_time", "wait", "slowdown") == [(0.0, 400.0, 1.4), (0.0, 0.0, 1.0)]
    assert fb.summary(result)["mean_wait"] == 200.0


def fails_once(down, up, **how):
    """Node 0 is down from then to then."""
    once = Outages("once", "", np.array([0]), np.array([float(down)]), np.array([float(up)]))
    return Failures(outages=once, **how)


def test_a_checkpointed_job_with_a_failure():
    """Work 0-100, a checkpoint 100-110, work 110-150 lost; down 150-200; recovery 200-220, work 220-320, saved 320-330,
    and the last 50 s until 380. Of 380 s, 250 were work and 20 checkpoints that counted: 110 were not.
    """
    how = fails_once(150, 200, checkpoint=10.0, recovery=20.0, period=100.0)
    result = fb.simulate(rigid((0.0, 250.0, 2000.0, 1)), "flat:nodes=1", "fcfs", failures=how)
    row = result.jobs.row(0, named=True)
    assert (row["finish_time"], row["lost_time"], row["checkpoint_time"], row["recovery_time"]) == (380, 40, 20, 20)
    assert of_jobs(result, "wait", "slowdown") == [(110.0, 380 / 250)]


def test_a_job_with_checkpoints_that_runs_once_waits_as_ever():
    """Its checkpoints are part of its run, so no wait; alone and without them it would have taken 250 s."""
    how = fails_once(5000, 5001, checkpoint=10.0, recovery=20.0, period=100.0)
    work = rigid((0.0, 250.0, 2000.0, 1), (5.0, 10.0, 20.0, 1))
    result = fb.simulate(work, "flat:nodes=1", "fcfs", failures=how)
    assert result.jobs["finish_time"].to_list() == [270.0, 280.0]
    assert of_jobs(result, "wait", "slowdown") == [(0.0, 270 / 250), (265.0, 27.5)]


def test_a_job_that_is_given_up_has_waited_for_all_of_its_time():
    """It fails at 30, and may not fail once: 30 s are lost, and alone it would have taken 60."""
    how = fails_once(30, 40, max_attempts=1)
    result = fb.simulate(rigid((0.0, 60.0, 100.0, 1)), "flat:nodes=1", "fcfs", failures=how)
    assert result.jobs["final_state"].to_list() == ["COMPLETED_FAILED"]
    assert of_jobs(result, "wait", "slowdown") == [(30.0, 0.5)]


def test_a_malleable_job_on_fewer_nodes_than_it_asked_for():
    """Job 0 has 4 of 6 nodes until 40. Job 1 asks for 4 and gets 2: a round of 80 node-seconds takes 40 s there, and
    20 s on 4. After one round it grows, and three more take 60 s. Alone it would have taken 80 s, not 100.
    """
    jobs = Jobs()
    jobs.add("rigid", 0, [4], loop(1, compute(40)))
    jobs.add("malleable", 0, [2, 4], loop(4, compute(lambda n: 80 / n)))
    result = fb.simulate(jobs.workload(), "flat:nodes=6", "fcfs-malleable")
    assert result.jobs.sort("job_id").select("finish_time", "n_resizes", "run_alone").rows() == [
        (40.0, 0, 40.0),
        (100.0, 1, 80.0),
    ]
    assert of_jobs(result, "wait", "slowdown") == [(0.0, 1.0), (0.0, 1.25)]


def test_a_reconfiguration_is_no_wait_but_slows_down():
    """The same with 10 s to reconfigure: the job is on its nodes, and takes longer than it would alone."""
    jobs = Jobs()
    jobs.add("rigid", 0, [4], loop(1, compute(40)))
    jobs.add("malleable", 0, [2, 4], loop(4, compute(lambda n: 80 / n)), stage("reconfiguration", compute(10)))
    result = fb.simulate(jobs.workload(), "flat:nodes=6", "fcfs-malleable")
    assert of_jobs(result, "wait", "slowdown")[1] == (0.0, 110 / 80)


def test_applications_that_share_the_file_system_are_slowed_down():
    """Two jobs write 10 GB each over 1 GB/s at a time: 20 s, where each alone would take 10."""
    jobs = Jobs()
    for _ in range(2):
        jobs.add("rigid", 0, [1], loop(1, move("write", 10e9)))
    result = fb.simulate(jobs.workload(), "flat:nodes=2,pfs=1GB/s", "fcfs")
    assert of_jobs(result, "wait", "slowdown") == [(0.0, 2.0), (0.0, 2.0)]


def test_an_application_is_no_faster_than_alone_for_what_runs_beside():
    """Ten seconds of work, and a write of 10 s beside it: no more than the 10 s or so that it took."""
    jobs = Jobs()
    jobs.add("rigid", 0, [1], loop(1, move("write", 10e9, beside=True), compute(10)))
    result = fb.simulate(jobs.workload(), "flat:nodes=2,pfs=1GB/s", "fcfs")
    assert of_jobs(result, "slowdown") == [(1.0,)]


def test_two_legs_with_a_wait_between_them():
    """Job 1 runs from 0 to 10, then job 2 has the node until 40, then job 1 again until 60: 30 s of wait, 30 of run."""
    names = ("id", "submit", "walltime", "nodes", "burst_buffer")
    rows = [dict(zip(names, row, strict=True)) for row in ((1, 0.0, 30.0, 1, 0), (2, 1.0, 30.0, 1, 0))]
    legs = [
        {"job": 1, "leg": k, "walltime": s, "nodes": 1, "burst_buffer": 0, "carry": ""}
        for k, s in ((0, 10.0), (1, 20.0))
    ]
    phases = [{"job": 1, "leg": k, "seconds": s, "release": None} for k, s in ((0, 10.0), (1, 20.0))]
    result = fb.simulate(pooled.workload(rows, legs, phases), pooled.platform(1, 10), LongestFirst())
    assert result.jobs["finish_time"].to_list() == [60.0, 40.0]
    assert of_jobs(result, "waiting_time", "total_wait", "wait", "slowdown") == [
        (0.0, 30.0, 30.0, 2.0),
        (9.0, 9.0, 9.0, 1.3),
    ]


class LongestFirst:
    """So that job 2 comes before the second leg of job 1."""

    def decide(self, view, act):
        for job in sorted(view.queue.tolist(), key=lambda job: -float(view.legs["walltime"][view.jobs["leg"][job]])):
            if act.fits(job):
                act.start(job)


def test_a_job_killed_at_its_walltime_ran_until_then():
    result = fb.simulate(rigid((0.0, 100.0, 50.0, 1), (0.0, 10.0, 20.0, 1)), "flat:nodes=1", "fcfs")
    assert of_jobs(result, "wait", "slowdown") == [(0.0, 1.0), (50.0, 6.0)]


def test_a_job_that_waits_for_another_waits_from_its_submission():
    after = fb.workload.dependency_table({"job": [2], "parent": [1]})
    work = rigid((0.0, 100.0, 100.0, 1), (10.0, 10.0, 20.0, 1))
    result = fb.simulate(fb.Workload("by hand", work.jobs, dependencies=after), "flat:nodes=4", "fcfs")
    assert of_jobs(result, "waiting_time", "wait") == [(0.0, 0.0), (90.0, 90.0)]


@pytest.mark.parametrize("name", ["table1", "default"])
def test_rigid_runs_without_interruption_are_as_ever_to_the_last_bit(name):
    from forebay.workload.operations import first

    work = first(fb.read(name), 8 if name == "table1" else 60)
    result = fb.simulate(work)
    assert "run_alone" not in result.jobs.columns
    jobs = counted(result).collect()
    assert jobs.select(measure("wait")).to_series().to_list() == jobs["waiting_time"].to_list()
    slow = jobs.select(measure("slowdown")).to_series().to_list()
    assert slow == (jobs["turnaround_time"] / jobs["execution_time"]).to_list()
    told = fb.summary(result)
    for new, old in (
        ("mean", "mean"),
        ("ci95", "ci95"),
        ("median", "p50"),
        ("p95", "p95"),
        ("p99", "p99"),
        ("max", "max"),
    ):
        assert told[f"{new}_wait"] == told[f"{old}_waiting_time"]


# A twin: every job's log read row by row.


def slow_wait(rows, submit, finish):
    """Turnaround less the seconds that counted: all of an attempt, or what its last complete checkpoint kept."""
    counts, attempt = 0.0, []  # (length, what) since the start
    kept, since, doing, ended = 0, None, "work", None
    given_up = [row for row in rows if row[1] in ("end", "queue")][-1][1:3] == ("end", "node_down")
    for time, kind, reason, amount in rows:
        if since is not None:
            attempt.append((time - since, doing))
            since = time
        if kind == "start":
            attempt, kept, since, doing = [], 0, time, "work"
        elif kind == "begin_phase" and reason in ("save", "recover"):
            doing = reason
        elif kind == "end_phase" and reason in ("save", "recover"):
            doing = "work"
            kept = len(attempt) if reason == "save" and amount >= 0 else kept
        elif kind == "end":
            ended = reason
            mine = attempt[:kept] if ended in ("node_down", "interrupted") else attempt
            counts += 0 if given_up else math.fsum(length for length, what in mine if what != "recover")
            since = None
    return finish - submit - counts


@settings(max_examples=examples(150), deadline=None)
@given(st.integers(0, 10_000))
@example(149)  # a job fails, and is cancelled before it starts again
def test_waits_are_those_of_a_twin_that_reads_the_log(seed):
    """Jobs with checkpoints, stages and legs, on nodes that fail; cancelled ones too."""
    work, machine, failures = breaking.make(seed)
    try:
        result = fb.simulate(work, machine, "fcfs", job_model="io-aware", failures=failures)
    except StalledError:
        return
    kinds = ("start", "end", "queue", "begin_phase", "end_phase")
    for job, submit, finish, wait in (
        counted(result).select("job_id", "submission_time", "finish_time", measure("wait")).collect().rows()
    ):
        log = result.log.filter((pl.col("job") == job) & pl.col("kind").cast(pl.String).is_in(kinds))
        rows = log.select("time", pl.col("kind").cast(pl.String), pl.col("reason").cast(pl.String), "amount").rows()
        assert wait == pytest.approx(slow_wait(rows, submit, finish), abs=1e-6)
    table = counted(result).select(w=measure("wait"), s=measure("slowdown")).collect()
    assert np.all(table["w"].to_numpy() >= -1e-9)
