"""The longest reasons of each job are those that all its pieces give, put together by their words."""

import polars as pl
import pytest

import forebay as fb
from forebay.explain import reasons
from forebay.explain._reasons import longest


@pytest.mark.parametrize("policy", ["fcfs", "fcfs-easy", "plan-best"])
@pytest.mark.parametrize("workload", ["table1", "default"])
def test_the_longest_are_those_of_all_pieces(workload, policy):
    result = fb.simulate(workload, policy=policy)
    found, expected = {}, {}
    for job, reason, detail, seconds in longest(result, 3).rows():
        found.setdefault(job, []).append((reason, detail, pytest.approx(seconds)))
    together = reasons(result).group_by("job_id", "reason", "detail").agg(pl.sum("seconds"))
    ordered = together.sort("job_id", "seconds", "reason", "detail", descending=[False, True, False, False])
    for job, reason, detail, seconds in ordered.select("job_id", "reason", "detail", "seconds").rows():
        expected.setdefault(job, []).append((reason, detail, seconds))
    assert found
    assert {job: rows[:3] for job, rows in expected.items()} == found


def test_a_part_of_a_run_tells_of_its_own_jobs():
    whole = fb.simulate("table1", policy="fcfs-easy")
    part = fb.metrics.window(whole, 100, 1000)
    assert set(longest(part, 1)["job_id"]) <= set(part.jobs["job_id"]) < set(whole.jobs["job_id"])
