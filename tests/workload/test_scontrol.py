"""What `scontrol show job` prints, in several lines and in one: the same jobs as a listing of sacct has."""

import pytest

import forebay as fb

pytestmark = pytest.mark.small

JOB = """JobId={job} JobName=my UserId=eve(9) job
   UserId=ann(1000) GroupId=phys(100) MCS_label=N/A
   Priority=429 Nice=0 Account=(null) QOS=normal
   JobState={state} Reason=None Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0
   RunTime={run} TimeLimit=1-00:00:00 TimeMin=N/A
   SubmitTime=2025-03-01T10:00:00 EligibleTime=2025-03-01T10:05:00
   StartTime=2025-03-01T11:00:00 EndTime=2025-03-01T12:00:00 Deadline=N/A
   Partition=gpu AllocNode:Sid=login:77
   NumNodes=2 NumCPUs=8 NumTasks=8 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   TRES=cpu=8,mem=16G,node=2,billing=8,gres/gpu=4
   Features=(null) DelayBoot=00:00:00
   OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null)
   Command=/home/ann/run it.sh
   WorkDir=/home/ann
"""


@pytest.mark.parametrize("lines", [True, False])
def test_jobs_that_have_ended_are_read_and_others_counted(lines, tmp_path):
    records = [
        JOB.format(job=7, state="COMPLETED", run="01:00:00"),
        JOB.format(job=8, state="PENDING", run="00:00:00"),
        JOB.replace(" JobName", " ArrayJobId=9 ArrayTaskId=3 JobName").format(
            job=11, state="TIMEOUT", run="1-00:00:00"
        ),
    ]
    if not lines:  # scontrol -o
        records = [" ".join(record.split("\n   ")) for record in records]
    (tmp_path / "jobs.txt").write_text("\n".join(records))
    w = fb.read(tmp_path / "jobs.txt")
    assert len(w) == 2
    columns = ("submit", "run_time", "walltime", "nodes", "gpus")
    assert w.jobs.select(columns).rows() == [(0, 3600, 86400, 2, 4), (0, 86400, 86400, 2, 4)]
    assert w.jobs["recorded_start"].to_list() == [3300, 3300]
    assert w.jobs["array_task"].to_list() == [-1, 3]
    assert set(w.names["user"].values()) == {"ann"}
    assert set(w.names["queue"].values()) == {"gpu"}
    assert sum(w.dropped.values()) == 1
