"""Snapshots: a moment written and read says the same, and what makes no sense is refused."""

import json

import pytest

import forebay as fb
from _predict.made import QUEUE, QUICK, Exact, random_jobs, workload
from forebay._predict._arrivals import DAY


def _document(**changes):
    jobs = [
        {"id": 1, "submit": 0, "start": 0, "end": 50, "nodes": 1, "walltime": 60, "user": "ann"},
        {"id": 2, "submit": 10, "start": 20, "nodes": 4, "walltime": 600, "user": "ann"},
        {"id": 3, "submit": 30, "nodes": 2, "walltime": 100, "user": "bob", "partition": "short"},
    ]
    return {"snapshot": 1, "now": 100, "platform": "flat:nodes=4", "policy": "fcfs", "jobs": jobs, **changes}


def test_a_queue_by_hand():
    """Job 2 holds all until 620 s, 520 s from now."""
    found = fb.predict(_document(), estimator=Exact, **QUICK)
    assert found.table.select("job_id", "waited", "p50").rows() == [(3, 70.0, 520.0)]
    assert found.facts["policy"] == "fcfs"


def test_a_job_that_depends_on_another():
    jobs = [*_document()["jobs"], {"id": 4, "submit": 40, "nodes": 1, "walltime": 30}]
    after = [{"job": 4, "parent": 3, "kind": "afterany"}]
    found = fb.predict(_document(jobs=jobs, after=after), estimator=Exact, **QUICK)
    assert found.table["p50"].to_list() == [520.0, 620.0]


@pytest.mark.parametrize("policy", ["fcfs-easy", "sjf-bb"])
def test_written_and_read_it_says_the_same(policy, tmp_path):
    jobs, more = random_jobs(4)
    how = {"futures": 6, "calibration": 4}
    there = fb.predict(workload(jobs, **more), DAY, "flat:nodes=8", policy, **how)
    path = tmp_path / "moment.json"
    path.write_text(json.dumps(there.snapshot()))
    here = fb.predict(path, platform="flat:nodes=8", **how)
    assert here.table.height > 0
    assert here.table.equals(there.table)
    assert here.outlook.equals(there.outlook)
    again = fb.predict(here.snapshot(), platform="flat:nodes=8", **how)
    assert again.table.equals(here.table)


def test_nothing_later_is_in_it():
    document = fb.predict(QUEUE, 100, "flat:nodes=4", "fcfs", estimator=Exact, **QUICK).snapshot()
    assert [("start" in job, "end" in job) for job in document["jobs"]] == [(True, False), *[(False, False)] * 3]
    assert not any("run_time" in job for job in document["jobs"])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"snapshot": 2}, '"snapshot" is 2; this version of forebay reads 1'),
        ({"jobs": []}, "jobs is empty"),
        ({"platform": None}, "names no platform"),
        ({"platform": "flat:nodes=3"}, "hold 4 nodes, and the machine has 3"),
        ({"queue": []}, "queue"),
        ({"jobs": [{"id": 1, "submit": 0, "nodes": 0}]}, "jobs.0.nodes"),
        ({"jobs": [{"id": 1, "submit": 0, "nodes": "4"}]}, "jobs.0.nodes"),
        ({"jobs": [{"id": 1, "submit": 200, "nodes": 1}]}, "job 1 has submit <= start <= end <= now broken"),
        ({"jobs": [{"id": 1, "submit": 0, "nodes": 1, "start": 150}]}, "nothing is known of what comes later"),
        ({"jobs": [{"id": 1, "submit": 0, "nodes": 1}] * 2}, "twice"),
        ({"jobs": [{"id": 1, "submit": 0, "nodes": 1, "burst_buffer": -1}]}, "burst_buffer"),
        ({"jobs": [{"id": 1, "submit": 0, "nodes": 1, "run time": 1}]}, "'run time' is no resource"),
        ({"after": [{"job": 3, "parent": 99, "kind": "later"}]}, "later"),
        ({"down": [{"nodes": "2-9"}]}, "down.0: node 9 is down, and nodes are numbered from 0 to 3"),
        ({"down": [{"nodes": "n1"}]}, "down.0: down has node 'n1', which there is not"),
        ({"down": [{"nodes": "1", "until": 50}]}, "since <= now < until is broken"),
        ({"reservations": [{"name": "x", "start": 5}]}, "reservations.0: .*an end or a duration"),
        ({"after": [{"job": 99, "parent": 3}]}, "job 99 waits for job 3, and is not among jobs"),
    ],
)
def test_what_makes_no_sense(changes, words):
    with pytest.raises(fb.ForebayError, match=words):
        fb.predict(_document(**changes), **QUICK)


def test_a_job_past_its_walltime_ends_soon():
    jobs = _document()["jobs"]
    jobs[1]["walltime"] = 60
    found = fb.predict(_document(jobs=jobs), estimator=Exact, **QUICK)
    assert 0 <= found.table["p50"][0] <= 60


def test_a_parent_that_is_gone_is_met():
    found = fb.predict(_document(after=[{"job": 3, "parent": 77}]), estimator=Exact, **QUICK)
    assert found.table["p50"].to_list() == [520.0]


def test_nodes_that_are_down_are_missed_until_they_are_back():
    """Two of four nodes run job 2; of the others two are down for 200 s more, and jobs never sit on those."""
    jobs = _document()["jobs"]
    jobs[1]["nodes"] = 2
    jobs[2]["nodes"] = 1
    for nodes in ("0-1", "2-3"):
        down = [{"nodes": nodes, "since": 90, "until": 300}]
        document = _document(jobs=jobs, down=down)
        assert fb.predict(document, estimator=Exact, **QUICK).table["p50"].to_list() == [200.0]
        written = fb.predict(document, estimator=Exact, **QUICK).snapshot()
        assert written["down"] == [{"nodes": nodes, "since": 90.0, "until": 300.0}]
        down[0].pop("until")  # for good, as far as is known: job 3 waits for job 2
        found = fb.predict(_document(jobs=jobs, down=down), estimator=Exact, **QUICK)
        assert found.table["p50"].to_list() == [520.0]


def test_no_job_starts_that_would_run_into_a_reservation():
    jobs = _document()["jobs"]
    jobs[1]["nodes"] = 2
    service = {"name": "service", "start": 150, "end": 1000, "nodes": "0-3", "flags": ["maint"]}
    document = _document(jobs=jobs, reservations=[service])
    assert fb.predict(document, estimator=Exact, **QUICK).table["p50"].to_list() == [900.0]
    written = fb.predict(document, estimator=Exact, **QUICK).snapshot()
    assert fb.predict(written, estimator=Exact, **QUICK).table["p50"].to_list() == [900.0]
    jobs[2]["walltime"] = 40
    assert fb.predict(document, estimator=Exact, **QUICK).table["p50"].to_list() == [0.0]


def test_jobs_that_may_not_start_yet_are_in_no_ones_way():
    jobs = [*_document()["jobs"], {"id": 4, "submit": 40, "nodes": 4, "walltime": 30}]
    jobs[1]["nodes"] = 2
    jobs[2]["nodes"], jobs[2]["begin"] = 4, 1000
    found = fb.predict(_document(jobs=jobs), estimator=Exact, **QUICK)
    assert dict(found.table.select("job_id", "p50").iter_rows()) == {3: 900.0, 4: 520.0}
    assert found.table["waited"].to_list() == [70.0, 60.0]
    jobs[2] = {"id": 3, "submit": 30, "nodes": 4, "walltime": 100, "held": True}
    found = fb.predict(_document(jobs=jobs), estimator=Exact, **QUICK)
    assert found.table["job_id"].to_list() == [4]
    assert [job.get("held") for job in found.snapshot()["jobs"]] == [None, None, True, None]
