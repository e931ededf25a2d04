"""What the trace doctor finds odd, each in a workload that has just that, and that a sound one has nothing."""

import numpy as np
import pytest

import forebay as fb
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
    assert found(workload(3, nodes=[4, 5, 9])) == ["2 job(s) wider than the machine's 4 nodes"]


def test_jobs_without_work_or_time():
    assert found(workload(3, run_time=[0.0, 1.0, 1.0], walltime=[1.0, 0.0, 2.0])) == [
        "1 job(s) without any work, neither seconds nor flop",
        "1 job(s) with a walltime that is not above 0",
    ]


def test_gaps_in_submission():
    submit = np.arange(240) * HOUR
    submit[120:] += 3 * DAY
    assert found(workload(submit=submit)) == [
        "1 gap(s) of over a day without a submission; the longest, 3 d 1 h, begins 4 d 23 h after the first job"
    ]


def test_flurries_of_one_user():
    submit = np.concatenate([np.arange(240) * HOUR * 20, 3 * DAY + np.arange(400) * 10.0])  # 200 days and one day
    user = np.concatenate([np.arange(240) % 5, np.full(400, 7)])
    w = workload(640, submit=submit, user=user)
    assert found(w) == [
        "1 flurry(ies): a user submits over 10 times an average day's jobs in one day; "
        "the largest is 400 jobs of user 7 on day 4"
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
