"""The users whose jobs held what another lacked, by hand."""

import pytest

import forebay as fb
from cases.pooled import platform, workload
from cases.shared import jobs, machine
from forebay.explain import holders, reasons

pytestmark = pytest.mark.small

NAMES = {"user": {1: "ann", 2: "bob"}, "account": {1: "phys", 2: "chem"}}


def by_hand(*rows, names=NAMES):
    """4 nodes of 4 cores; jobs of (submit, walltime, cores, user, account)."""
    made = [dict(zip(("submit", "walltime", "cores", "user", "account"), row, strict=True)) for row in rows]
    for row in made:
        row["nodes"] = max(row["cores"] // 4, 1)
    return fb.simulate(jobs(*made, names=names), machine({"nodes": 4, "cores": 4}), "filler")


def test_users_and_accounts_by_what_they_held_meanwhile():
    """Job 4 wants 4 cores from 5 on, up to 10: ann's two jobs have 8, bob's one 8, of which 4 up to 10 alone."""
    rows = [(0, 20.0, 4, 1, 1), (0, 20.0, 4, 1, 2), (0, 10.0, 4, 2, 2), (0, 20.0, 4, 2, 2), (5, 5.0, 4, 2, 2)]
    result = by_hand(*((float(row[0]), *row[1:]) for row in rows))
    assert holders(result, 5).rows() == [
        ("cores", "bob", "chem", 2, 8.0, 0.5),
        ("cores", "ann", "chem", 1, 4.0, 0.25),
        ("cores", "ann", "phys", 1, 4.0, 0.25),
    ]
    assert holders(result, 1).is_empty()
    assert holders(result, 5, reasons(result)).equals(holders(result, 5))


def test_time_counts():
    """Job 3 waits for 10 of 30 s while ann has 16 cores, then for 20 s while bob has them."""
    result = by_hand((0.0, 10.0, 16, 1, 1), (0.0, 20.0, 16, 2, 2), (0.0, 5.0, 16, 1, 1))
    found = {row["user"]: row for row in holders(result, 3).rows(named=True)}
    assert found["bob"]["share"] == pytest.approx(2 / 3)
    assert found["ann"]["amount"] == pytest.approx(16 / 3)


def test_room_that_is_not_there():
    """Cores are scattered: the jobs on the nodes hold what is short."""
    result = by_hand(*((0.0, 10.0, 3, 1 + k % 2, 1) for k in range(4)), (0.0, 5.0, 2, 1, 1))
    found = holders(result, 5)
    assert set(found["missing"]) == {"nodes with 2 cores free"}
    assert found.select("user", "jobs", "share").rows() == [("ann", 2, 0.5), ("bob", 2, 0.5)]


def test_numbers_where_there_are_no_names_and_nobody_where_none_is_known():
    rows = [{"id": i, "submit": 0.0, "walltime": 10.0, "nodes": 2, "user": i % 2} for i in (1, 2, 3)]
    found = holders(fb.simulate(workload(rows), platform(4), "filler"), 3)
    assert found.select("missing", "user", "account", "jobs", "share").rows() == [
        ("nodes", "0", None, 1, 0.5),
        ("nodes", "1", None, 1, 0.5),
    ]
    nobody = [{**row, "user": -1} for row in rows]
    found = holders(fb.simulate(workload(nobody), platform(4), "filler"), 3)
    assert found.select("user", "jobs", "share").rows() == [(None, 2, 1.0)]


def test_nothing_is_short_of_who_is_behind_another():
    result = fb.simulate("table1", policy="fcfs-easy")
    assert holders(result, 3).select("missing", "user", "jobs").rows() == [("burst buffer", None, 3)]
    with pytest.raises(fb.ForebayError, match="job 99 is not in the run"):
        holders(result, 99)
