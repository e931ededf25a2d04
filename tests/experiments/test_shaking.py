"""Shaken copies of a trace: every job later, by the same for every policy; nothing else moves."""

import pytest

import forebay as fb
from forebay.experiments.comparison.shaking import MOST_LATER, shaken
from forebay.workload import job_table

pytestmark = pytest.mark.small


def trace():
    n = 50
    columns = {"id": range(n), "submit": [100.0 * k for k in range(n)], "walltime": [60.0] * n, "run_time": [50.0] * n}
    return fb.Workload("plain", job_table(columns | {"nodes": [1] * n, "cancel": [30.0 + k for k in range(n)]}))


def test_jobs_come_later_and_nothing_else_changes():
    plain, copy = trace().jobs.sort("id"), shaken(trace(), 3, 1).jobs.sort("id")
    later = (copy["submit"] - plain["submit"]).to_numpy()
    assert later.min() >= 0
    assert 50 < later.max() <= min(100.0, MOST_LATER)
    for name in ("walltime", "run_time", "nodes", "cancel"):  # a withdrawal counts from the submission
        assert copy[name].to_list() == plain[name].to_list()


def test_a_copy_has_a_number():
    assert shaken(trace(), 3, 1).jobs.equals(shaken(trace(), 3, 1).jobs)
    assert not shaken(trace(), 3, 1).jobs.equals(shaken(trace(), 3, 2).jobs)
    assert not shaken(trace(), 3, 1).jobs.equals(shaken(trace(), 4, 1).jobs)
