"""Months of a site, joined: what each user and queue had is the sum of what they had in the months."""

import polars as pl
import pytest

import forebay as fb
from forebay.workload.operations import join

pytestmark = pytest.mark.small

HEAD = "JobID|User|Account|Partition|Submit|Start|ElapsedRaw|Timelimit|NNodes\n"
JANUARY = (
    "1|ann|phys|cpu|2025-01-10T08:00:00|2025-01-10T08:01:00|3600|02:00:00|2\n"
    "2|bob|chem|gpu|2025-01-10T08:00:00|2025-01-10T08:11:00|1800|02:00:00|3\n"
    "3|bob|chem|cpu|2025-01-10T08:10:00|2025-01-10T08:30:00|1800|02:00:00|4\n"
)
FEBRUARY = (
    "4|bob|chem|gpu|2025-02-10T08:00:00|2025-02-10T08:30:00|7200|03:00:00|3\n"
    "5|cem|chem|gpu|2025-02-10T08:00:00|2025-02-10T08:03:00|600|00:30:00|2\n"
    "6|ann|phys|gpu|2025-02-10T08:20:00|2025-02-10T08:23:00|600|00:30:00|1\n"
)


@pytest.fixture
def months(tmp_path):
    """In January ann is the first user, in February bob: their numbers differ, their names do not."""
    found = []
    for name, rows in (("january", JANUARY), ("february", FEBRUARY)):
        (tmp_path / f"{name}.sacct").write_text(HEAD + rows)
        found.append(fb.read(tmp_path / f"{name}.sacct"))
    assert found[0].names["user"] != found[1].names["user"]
    return found


@pytest.mark.parametrize("column", ["user", "queue", "account"])
@pytest.mark.parametrize("policy", ["fcfs", "filler"])
def test_sums_of_the_parts(months, column, policy):
    def table(w):
        rows = fb.metrics.groups.by_column(fb.simulate(w, "flat:nodes=4", policy), column)
        total = rows["mean_waiting_time"] * rows["n"]
        return rows.select(pl.col(f"{column}_name").alias("name"), "n", "node_hours", waited=total)

    parts = pl.concat([table(w) for w in months]).group_by("name").sum().sort("name")
    whole = table(join(months)).sort("name")
    assert whole["name"].to_list() == parts["name"].to_list()
    assert whole["n"].to_list() == parts["n"].to_list()
    for number in ("node_hours", "waited"):
        assert whole[number].to_list() == pytest.approx(parts[number].to_list())
    assert parts["waited"].sum() > 0


def test_recorded_waits_by_queue_too(months):
    from forebay.workload import recorded

    parts = {}
    for w in months:
        for row in recorded.by_queue(w):
            jobs, waited = parts.get(row["name"], (0, 0.0))
            parts[row["name"]] = jobs + row["jobs"], waited + row["mean_waiting_time"] * row["recorded_jobs"]
    whole = {
        row["name"]: (row["jobs"], row["mean_waiting_time"] * row["recorded_jobs"])
        for row in recorded.by_queue(join(months))
    }
    assert whole.keys() == parts.keys()
    for queue, numbers in whole.items():
        assert numbers == pytest.approx(parts[queue])
