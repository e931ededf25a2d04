"""Philly's log: attempts, servers and GPUs of a job, by hand; what is left out and what is refused."""

import json

import pytest

import forebay as fb
from forebay.errors import InputError

pytestmark = pytest.mark.small


def job(submit="2017-10-09 07:00:00", spans=((10, 40),), gpus=(2,), **more):
    def at(minute):
        return minute and f"2017-10-09 07:{minute:02d}:00"

    detail = [{"ip": f"m{k}", "gpus": [f"gpu{g}" for g in range(n)]} for k, n in enumerate(gpus)]
    attempts = [{"start_time": at(a), "end_time": at(b), "detail": detail} for a, b in spans]
    said = {"status": "Pass", "vc": "ee9e8c", "jobid": "application_1506638472019_10258", "user": "ce2c4f"}
    return said | {"attempts": attempts, "submitted_time": submit} | more


@pytest.fixture
def read(tmp_path):
    def made(*jobs, **how):
        (tmp_path / "cluster_job_log").write_text(json.dumps(jobs, indent=2))
        return fb.read(tmp_path / "cluster_job_log", **how)

    return made


def test_jobs_have_the_gpus_of_their_servers_and_the_time_of_their_attempts(read):
    w = read(
        job(),
        job("2017-10-09 07:05:00", [(10, 20), (30, 45)], (8, 8), vc="11cb48"),
        job(spans=[]),
        job(spans=[(10, None)]),
        job(gpus=()),
    )
    columns = ("id", "submit", "run_time", "nodes", "gpus", "recorded_start")
    assert w.jobs.select(columns).rows() == [(1, 0, 1800, 1, 2, 600), (2, 300, 1500, 2, 16, 600)]
    assert [w.names["queue"][number] for number in w.jobs["queue"]] == ["ee9e8c", "11cb48"]
    assert w.dropped == {"never started": 1, "still running when the log ends": 1, "no GPUs": 1}
    assert any("1 job had several attempts" in note for note in w.notes)
    assert w.epoch == 1507532400


def test_what_is_wrong_is_named_by_its_job(read):
    with pytest.raises(InputError, match="job 2: 'submitted_time' is 'soon'; write it as"):
        read(job(), job("soon"))
    with pytest.raises(InputError, match="job 1: 'attempts' is 3"):
        read(job(attempts=3))
    assert len(read(job(), job("soon"), skip_bad_lines=True)) == 1
