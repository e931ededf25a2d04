"""A period of a trace with what ran and waited as it began, worked out by hand."""

import math

import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.workload import operations as op
from forebay.workload.periods import period

pytestmark = pytest.mark.small

EPOCH = 1735689600.0  # 2025-01-01
NEVER, UNKNOWN = math.inf, math.nan


@pytest.fixture
def w():
    """Of the jobs before second 1,000 one is over, two run, two wait, and of one nobody knows."""
    rows = [
        # id, submit, recorded start, run time, walltime, cancelled after
        (1, 0, 0, 900, 900, NEVER),  # over
        (2, 100, 200, 801, 2000, NEVER),  # runs for one second more
        (3, 300, 300, 5000, 4000, NEVER),  # runs, past its limit
        (4, 400, 1000, 50, 60, NEVER),  # starts as the period begins
        (5, 500, UNKNOWN, 50, 60, 700),  # is withdrawn while it waits, in the period
        (6, 600, UNKNOWN, 50, 60, NEVER),
        (7, 700, UNKNOWN, 50, 60, 200),  # withdrawn before
        (8, 1000, 1500, 50, 60, NEVER),
        (9, 1999, 2999, 50, 60, NEVER),
        (10, 2000, 2000, 50, 60, NEVER),  # behind the period
    ]
    names = ("id", "submit", "recorded_start", "run_time", "walltime", "cancel")
    columns = {
        name: [float(value) if name != "id" else value for value in column]
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
    jobs = fb.workload.job_table(columns | {"nodes": [2] * len(rows)})
    return fb.Workload("w", jobs, epoch=EPOCH, platform="flat:nodes=8")


def test_who_is_in_it(w):
    part = period(w, 1000, 2000)
    assert part.jobs["id"].to_list() == [2, 3, 4, 5, 8, 9]
    assert part.jobs["submit"].to_list() == [-900, -700, -600, -500, 0, 999]
    assert part.jobs["running_since"].to_list()[:2] == [-800, -700]
    assert part.jobs["running_since"].is_nan().sum() == 4
    assert part.jobs["recorded_start"].to_list()[-1] == 1999
    assert part.jobs["walltime"].to_list()[:3] == [2000, 5000, 60]
    assert part.epoch == EPOCH + 1000
    assert "the period begins with 2 jobs that run already, on 4 nodes, and 2 jobs that wait" in part.notes
    assert "1 job from before the period without a recorded start: left out" in part.notes
    assert part.provenance[-1].endswith("6 of 10 jobs, 2 running and 2 waiting as it begins")


def test_dates_say_the_same_as_seconds(w):
    dated = period(w, "2025-01-01T00:16:40", "2025-01-01T00:33:20")
    assert dated.jobs.equals(period(w, 1000, 2000).jobs, null_equal=True)
    assert "[2025-01-01 00:16:40, 2025-01-01 00:33:20) UTC" in dated.provenance[-1]


def test_a_run_of_it(w):
    jobs = fb.simulate(period(w, 1000, math.inf), policy="fcfs").jobs
    begun = dict(zip(jobs["job_id"], jobs["starting_time"], strict=True))
    assert (begun[2], begun[3], begun[4], begun[5]) == (-800, -700, 0, 0)
    assert jobs["finish_time"].to_list()[:2] == [1, 4300]


def test_a_part_of_it_keeps_its_second_0(w):
    part = op.filter_jobs(period(w, 1000, 2000), op.parse_condition("id>3"))
    assert part.jobs["submit"].to_list() == [-600, -500, 0, 999]
    assert part.epoch == EPOCH + 1000


def test_it_survives_its_own_format(w, tmp_path):
    part = period(w, 1000, 2000)
    fb.write(part, tmp_path / "w.parquet.zip")
    again = fb.read(tmp_path / "w.parquet.zip")
    assert again.jobs.equals(part.jobs)
    for name in ("w.swf", "w.json", "w.sacct"):
        with pytest.raises(InputError, match="cannot say which jobs run already"):
            fb.write(part, tmp_path / name)


def test_what_cannot_be(w):
    with pytest.raises(InputError, match="empty"):
        period(w, 5, 5)
    with pytest.raises(InputError, match="no job is submitted in the period"):
        period(w, 5000, 6000)
    plain = fb.Workload("plain", w.jobs.drop("recorded_start"))
    with pytest.raises(InputError, match="a warm start needs the times at which jobs started"):
        period(plain, 0, 50)
    with pytest.raises(InputError, match="join the traces, then take the period"):
        op.join([period(w, 1000, 2000), w])
