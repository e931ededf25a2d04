"""Reasons that Slurm recorded against those of the simulation, by hand."""

import polars as pl
import pytest

import forebay as fb
from forebay._fidelity import _reasons

pytestmark = pytest.mark.small

HEADER = "JobID|User|Partition|Submit|Start|ElapsedRaw|Timelimit|NNodes|State|Reason"


@pytest.fixture
def w(tmp_path):
    # Ann may have two jobs at a time by the record; here she may have as many as she likes.
    rows = [
        "1|ann|std|2025-01-01T00:00:00|2025-01-01T00:00:00|3600|01:00:00|1|COMPLETED|None",
        "2|ann|std|2025-01-01T00:01:00|2025-01-01T00:01:00|3600|01:00:00|1|COMPLETED|None",
        "3|ann|std|2025-01-01T00:02:00|2025-01-01T01:00:00|3600|01:00:00|1|COMPLETED|QOSMaxJobsPerUserLimit",
        "4|bob|std|2025-01-01T00:03:00|2025-01-01T02:00:00|3600|01:00:00|4|COMPLETED|Priority",
        "5|ann|std|2025-01-01T00:04:00|2025-01-01T01:01:00|3600|01:00:00|1|COMPLETED|QOSMaxJobsPerUserLimit",
    ]
    path = tmp_path / "site.sacct"
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return fb.read(path)


def test_reasons_are_read(w):
    assert w.jobs["recorded_reason"].to_list() == [
        "",
        "",
        "QOSMaxJobsPerUserLimit",
        "Priority",
        "QOSMaxJobsPerUserLimit",
    ]


def test_without_the_limit_nobody_has_its_reason(w):
    found = fb.fidelity(w, "flat:nodes=4", "fcfs-easy")
    assert found.reasons.rows() == [("None", 3, 3, 1.0, "None"), ("QOSMaxJobsPerUserLimit", 2, 0, 0.0, "None")]
    assert found.numbers["reason_agreement"] == 3 / 5
    assert "QOSMaxJobsPerUserLimit" in found.to_markdown(table="reasons")
    assert ("same reasons", "60.0 %") in fb._fidelity._paper.scores(found)
    assert found.document()["reasons"][1]["mostly"] == "None"


def test_with_the_limit_they_agree(w):
    found = fb.fidelity(w, "flat:nodes=4", "fcfs-easy+limits:user_jobs=2")
    assert found.reasons["recorded"].to_list() == ["None", "QOSMaxJobsPerUserLimit"]
    assert found.reasons["same"].to_list() == [3, 2]
    assert found.numbers["reason_agreement"] == 1


def test_no_policy_sees_them(w):
    class Peeks(fb.Policy):
        def decide(self, view, act):
            view.codes("recorded_reason")

    with pytest.raises(fb.ForebayError, match="a column 'recorded_reason', which the workload lacks"):
        fb.simulate(w, "flat:nodes=4", Peeks())


def test_a_trace_without_reasons_has_no_table(w):
    plain = fb.Workload("plain", w.jobs.drop("recorded_reason"), epoch=w.epoch, platform="flat:nodes=4")
    found = fb.fidelity(plain, policy="fcfs")
    assert found.reasons is None
    assert found.numbers["reason_agreement"] is None
    assert "reasons" not in found.document()


def test_the_last_reason_counts():
    """Of a wait that ended with others going first, what it had before that."""
    result = fb.simulate("table1", policy="fcfs-easy")
    recorded = pl.DataFrame({"id": range(1, 9), "recorded_reason": ["None"] * 2 + ["BurstBufferResources"] * 6})
    jobs = result.jobs.select(pl.col("job_id").cast(pl.Int64))
    rows = {row["recorded"]: row for row in _reasons.agreement(recorded, jobs, result).iter_rows(named=True)}
    why = fb.explain.reasons(result).filter(pl.col("slurm") == "BurstBufferResources")["job_id"].unique().to_list()
    assert 3 in why
    assert rows["BurstBufferResources"]["same"] == len({3, 4, 5, 6, 7, 8} & set(why))
