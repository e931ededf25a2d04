"""What the trace doctor finds odd, each in a workload that has just that, and that a sound one has nothing."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.core.schemas import PHASE_SCHEMA
from forebay.workload.info import describe
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small

HOUR, DAY = 3600.0, 86400.0


def workload(n=240, **columns):
    """An hourly job, by users in turn."""
    jobs = {"id": np.arange(1, n + 1), "submit": np.arange(n) * HOUR, "walltime": np.full(n, 100.0)}
    jobs |= {"run_time": np.full(n, 60.0), "nodes": np.ones(n, int), "user": np.arange(n) % 5}
    return Workload("w", job_table(jobs | columns).sort("submit"), platform="flat:nodes=4")


def found(w):
    return describe(w)["findings"]


def test_a_sound_workload_has_no_findings():
    assert found(workload()) == []
    assert found(fb.read("default")) == []
    assert found(fb.read("table1")) == []


def test_jobs_wider_than_the_machine():
    assert found(workload(3, nodes=[4, 5, 9])) == ["2 jobs wider than the machine's 4 nodes"]


def test_jobs_without_work_or_time():
    assert found(workload(3, run_time=[0.0, 1.0, 1.0], walltime=[1.0, 0.0, 2.0])) == [
        "1 job without any work, neither seconds nor flop",
        "1 job with a walltime that is not above 0",
    ]


def test_jobs_far_past_their_walltime():
    run = [7200.0, 3700.0, 8000.0, 3690.0]
    w = workload(4, run_time=run, walltime=[3600.0, 100.0, 5000.0, 100.0])
    assert found(w) == ["1 job runs an hour or more past its walltime, and over twice as long"]


def test_jobs_recorded_twice():
    same = {"submit": [0.0, 0.0, 0.0, 9.0], "nodes": [1, 1, 2, 1]}
    assert found(workload(4, **same, user=[3] * 4)) == [
        "1 job equals an earlier one of the same user in all but its number"
    ]
    assert found(workload(4, **same, user=[-1] * 4)) == []  # tasks of an array, perhaps of many users


def test_jobs_out_of_order_here_or_in_the_file():
    told = "2 jobs are listed after one submitted later: put in order of submission"
    assert found(replace(workload(3), notes=("a note", told))) == [told]
    w = workload(3)
    assert found(replace(w, jobs=w.jobs.sort("submit", descending=True))) == [
        "2 jobs come after one that is submitted later"
    ]


def test_records_that_readers_leave_out():
    dropped = {"cancelled before it started": 7, "run time not positive": 2, "no processors": 1}
    assert found(replace(workload(3), dropped=dropped)) == [
        "7 records cancelled before they started are left out: to keep such, `convert --keep-cancelled`",
        "2 records without a run time above 0 are left out: ended at once, or the run time was lost",
    ]


def test_cancelled_jobs_are_counted_and_their_estimates_are_not():
    cancel = np.where(np.arange(240) < 200, 30.0, np.inf)
    walltime = np.where(np.arange(240) < 200, 60.0, 100.0)
    w = workload(cancel=cancel, walltime=walltime)
    assert found(w) == ["200 jobs are cancelled by users, at the median 30 s after submission"]
    facts = describe(w)
    assert (facts["cancelled"]["jobs"], facts["estimates"]["perfect_share"]) == (200, 0.0)
    assert facts["offered_load"] == pytest.approx((200 * 30 + 40 * 60) / (4 * 239 * HOUR))


def test_work_in_phases_is_work():
    phases = pl.DataFrame([(1, 0, "write", 0.0, 0.0, 0.0, 5e9, None)], PHASE_SCHEMA, orient="row")
    w = replace(workload(2, run_time=[0.0, 0.0]), phases=phases)
    assert "1 job without any work, neither seconds nor flop" in found(w)
    assert not any("2 jobs without" in said for said in found(w))


def test_run_times_leave_out_what_phases_move():
    rows = [(1, 0, "compute", 60.0, 0.0, 0.0, 0.0, None), (1, 0, "write", 0.0, 0.0, 0.0, 3e12, None)]
    phases = pl.DataFrame(rows, PHASE_SCHEMA, orient="row")
    [said] = found(replace(workload(), phases=phases))
    assert said.startswith("phases of 1 job read and write 3 TB: run times, load and use of walltimes are without that")
    assert found(replace(workload(), phases=phases.head(1))) == []


def test_gaps_in_submission():
    submit = np.arange(240) * HOUR
    submit[120:] += 3 * DAY
    assert found(workload(submit=submit)) == [
        "1 gap of over a day without a submission; the longest, 3 d 1 h, begins 4 d 23 h after the first job"
    ]


def test_flurries_of_one_user():
    submit = np.concatenate([np.arange(240) * HOUR * 20, 3 * DAY + np.arange(400) * 10.0])  # 200 days and one day
    user = np.concatenate([np.arange(240) % 5, np.full(400, 7)])
    w = workload(640, submit=submit, user=user)
    assert found(w) == [
        "1 flurry: a user submits more in a day than all others do in a usual week; the largest is 400 jobs of user 7 "
        "(62 % of all), nine tenths of them within 59 min 50 s, from 3 d after the first job on"
    ]
    assert found(workload(640, submit=submit, user=np.full(640, -1))) == []  # nobody is known


def test_walltimes_that_nobody_asked_for():
    share = np.where(np.arange(240) < 180, 60.0, 100.0)
    assert found(workload(walltime=share)) == ["75 % of walltimes equal the run time: users did not ask so"]
    assert found(workload(walltime=np.full(240, np.inf))) == []


def test_few_jobs_tell_nothing_of_gaps():
    assert found(workload(3, submit=[0.0, 1.0, 50 * DAY], walltime=[60.0] * 3)) == []


def test_a_real_trace(data):
    text = found(fb.read(data / "swf" / "NASA-iPSC-1993-3.1-cln.swf.gz"))
    assert text[-1].endswith("of walltimes equal the run time: users did not ask so")
