"""Use of the machine, on the run of conftest.py and on random ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay import metrics
from forebay.errors import InputError

pytestmark = pytest.mark.small


def test_makespan_and_throughput(run):
    assert metrics.makespan(run) == 150
    assert metrics.throughput(run) == pytest.approx(3 * 3600 / 150)


def test_a_rejected_job_does_not_stretch_the_makespan(make, job):
    early = job(1, (0, None, None), 9, 10, state="REJECTED")
    assert metrics.makespan(make(early, job(2, (50, 50, 60), 1, 10))) == 10


def test_counts(run):
    counts = metrics.n_jobs(run), metrics.n_started(run), metrics.n_killed(run), metrics.n_rejected(run)
    assert counts == (4, 3, 1, 1)


def test_usage_is_a_step_function(run):
    # Job 3 holds its node from 30 to 45 only. At 100 two nodes go back and four are taken: one step.
    assert metrics.usage(run, "nodes").rows() == [(0, 2), (30, 3), (45, 2), (100, 4), (150, 0)]
    assert metrics.usage(run, "bb").rows() == [(0, 4), (20, 10), (60, 4), (100, 0)]


def test_usage_leaves_out_instants_without_effect(make, job):
    relay = make(job(1, (0, 0, 10), 2, 10), job(2, (0, 10, 20), 2, 10))
    assert metrics.usage(relay, "nodes").rows() == [(0, 2), (20, 0)]


def test_utilisation(run):
    # Nodes: 2 x 30 + 3 x 15 + 2 x 55 + 4 x 50 = 415 of 4 x 150. Buffer: 4 x 100 + 6 x 40 = 640 of 10 x 150.
    assert metrics.utilisation(run) == pytest.approx(415 / 600)
    assert metrics.utilisation(run, "bb") == pytest.approx(640 / 1500)


def test_allocations_per_node(run):
    # Jobs take 2, 1 and 4 of 4 nodes.
    assert metrics.allocations_per_node(run) == 7 / 4
    assert "allocations_per_node" not in metrics.summary(run)  # no job can change its size


def test_an_unknown_resource_is_named(run):
    with pytest.raises(InputError, match="unknown resource 'node': did you mean 'nodes'"):
        metrics.usage(run, "node")


@pytest.mark.parametrize("which", ["rejected", "empty"])
def test_an_idle_machine(which, request):
    nothing = request.getfixturevalue(which)
    assert metrics.makespan(nothing) is None
    assert metrics.throughput(nothing) is None
    assert metrics.utilisation(nothing) is None
    assert metrics.usage(nothing, "nodes").rows() == []
    assert metrics.n_started(nothing) == 0


times = st.integers(0, 50)


@given(st.lists(st.tuples(times, times, st.integers(1, 50), st.integers(1, 9)), min_size=1, max_size=12))
def test_use_is_what_a_second_by_second_count_finds(make, job, shapes):
    rows = [
        job(i, (submit, submit + wait, submit + wait + length), nodes, 99)
        for i, (submit, wait, length, nodes) in enumerate(shapes)
    ]
    some = make(*rows, nodes=100)
    first, last = min(row["submission_time"] for row in rows), max(row["finish_time"] for row in rows)
    held = [
        sum(row["requested_number_of_resources"] for row in rows if row["starting_time"] <= second < row["finish_time"])
        for second in range(first, last)
    ]
    assert metrics.utilisation(some) == pytest.approx(sum(held) / (100 * (last - first)))
    assert metrics.usage(some, "nodes")["amount"].max() == max(held)
