"""What a trace recorded of waits, worked out by hand; and that no schedule depends on it."""

import math
from dataclasses import replace

import pytest

import forebay
from forebay.workload import operations as op
from forebay.workload import read, recorded
from forebay.workload.info import describe
from forebay.workload.workload import Workload, job_table

LINE = "{} {} {} {} 1 -1 -1 1 {} -1 1 3 4 -1 {} -1 -1 -1\n"


@pytest.fixture
def w(tmp_path):
    """Waits of 0, 100 and 3,000 s; of one job it is not known, and one started before it arrived."""
    path = tmp_path / "w.swf"
    rows = [(1, 10, 0, 600, 900, 1), (2, 20, 100, 300, 900, 1), (3, 30, 3000, 1000, 1200, 2)]
    rows += [(4, 40, -1, 60, 60, 2), (5, 50, -20, 60, 60, 2)]
    path.write_text("; MaxProcs: 2\n; Queue: 1 day\n; Queue: 2 night\n" + "".join(LINE.format(*row) for row in rows))
    return read(path)


@pytest.mark.small
def test_waits_by_hand(w):
    assert w.jobs["recorded_start"].to_list()[:3] == [0, 110, 3020]  # the first job arrives at 0
    found = recorded.numbers(w)
    assert (found["n_jobs"], found["n_unknown"], found["n_before_submit"], found["first_before_submit"]) == (3, 1, 1, 5)
    assert found["mean_waiting_time"] == pytest.approx(3100 / 3)
    assert found["median_waiting_time"] == 100
    assert found["max_waiting_time"] == 3000
    assert found["mean_bounded_slowdown_10min"] == pytest.approx((1 + 1 + 4) / 3)
    assert recorded.notes(found) == ["1 job is recorded to start before it arrives (first: job 5): in no recorded wait"]
    assert recorded.numbers(w, (10, 30))["max_waiting_time"] == 3000
    assert recorded.numbers(w, (10, 20))["n_jobs"] == 1


@pytest.mark.small
def test_waits_by_queue(w):
    first, second = recorded.by_queue(w)
    assert (first["name"], first["jobs"], first["recorded_jobs"], first["mean_waiting_time"]) == ("night", 3, 1, 3000)
    assert (second["name"], second["jobs"], second["mean_waiting_time"]) == ("day", 2, 50)


@pytest.mark.small
def test_starts_stay_with_their_jobs(w):
    waits = dict(zip(w.jobs["id"], w.jobs["recorded_start"] - w.jobs["submit"], strict=True))
    shifted = replace(w, epoch=w.epoch + 7, jobs=w.jobs.with_columns(id=w.jobs["id"] + 100))
    both = op.join([w, shifted, Workload("plain", w.jobs.drop("recorded_start").with_columns(id=w.jobs["id"] + 500))])
    for part in (op.slice_time(w, 15, 100), op.first(w, 3), both):
        for job, start, submit in part.jobs.select("id", "recorded_start", "submit").rows():
            wanted = math.nan if job > 500 else waits[job % 100]
            assert start - submit == pytest.approx(wanted, nan_ok=True)


@pytest.mark.small
def test_a_scaled_load_has_no_recorded_starts(w):
    scaled = op.scale_load(w, 2)
    assert "recorded_start" not in scaled.jobs.columns
    assert any("recorded starts are left out" in note for note in scaled.notes)


@pytest.mark.small
def test_jobs_without_any_have_no_numbers():
    table = {"id": [1], "submit": [0], "walltime": [60], "run_time": [30], "nodes": [2]}
    assert recorded.numbers(Workload("w", job_table(table))) is None
    unknown = Workload("w", job_table(table | {"recorded_start": [math.nan]}))
    assert recorded.numbers(unknown) is None
    assert unknown.resources == ()


def test_no_schedule_depends_on_what_was_recorded(w):
    plain = replace(w, jobs=w.jobs.drop("recorded_start"), names={})
    one, two = (forebay.simulate(some, policy="fcfs-easy") for some in (w, plain))
    assert one.facts["log_sha256"] == two.facts["log_sha256"]
    assert one.jobs["recorded_start"].to_list() == [0, 110, 3020, None, 20]
    assert "recorded_start" not in two.jobs.columns


@pytest.mark.small
def test_one_old_job_does_not_ruin_the_load():
    """A job of 50 s each 100 s on one node of one: a load of a half, for two hours; and one from ten years before."""
    n = 200
    submit = [0.0, *(3e8 + 100 * k for k in range(n - 1))]
    jobs = job_table({"id": range(n), "submit": submit, "walltime": [60] * n, "run_time": [50] * n, "nodes": [1] * n})
    facts = describe(Workload("w", jobs, platform="flat:nodes=1"))
    assert facts["offered_load"] < 1e-4
    assert facts["steady"]["offered_load"] == pytest.approx(0.5, rel=0.02)
    assert describe(Workload("w", jobs.head(50), platform="flat:nodes=1"))["steady"] is None
