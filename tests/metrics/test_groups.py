"""Groups of jobs, on the run of conftest.py."""

import pytest

from forebay import Workload, metrics, simulate, workload
from forebay.errors import InputError
from forebay.experiments.verdicts import judge
from forebay.metrics.groups import size_classes
from forebay.workload import models

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("nodes", "labels"),
    [
        (1, ["1"]),
        (2, ["1", "2"]),
        (3, ["1", "2-3"]),
        (4, ["1", "2-4"]),
        (9, ["1", "2-4", "5-8", "9"]),
        (100, ["1", "2-4", "5-8", "9-16", "17-32", "33-64", "65-100"]),
    ],
)
def test_size_classes_end_with_the_machine(nodes, labels):
    assert size_classes(nodes)[1] == labels


def test_by_size_class(run):
    found = metrics.by_size_class(run)
    assert found["size_class"].to_list() == ["1", "2-4"]
    assert found["n"].to_list() == [1, 2]
    assert found["mean_waiting_time"].to_list() == [10, 50]
    assert found["p95_waiting_time"].to_list() == pytest.approx([10, 95])
    assert found["mean_bounded_slowdown_10min"].to_list() == [1, 1]
    assert found["node_hours"].to_list() == pytest.approx([15 / 3600, 400 / 3600])


def test_boundaries_and_empty_classes(make, job):
    sizes = [1, 2, 4, 5, 8, 16, 17, 20]
    found = metrics.by_size_class(make(*(job(i, (0, 0, 9), size, 9) for i, size in enumerate(sizes)), nodes=40))
    assert dict(found.select("size_class", "n").rows()) == {
        "1": 1,
        "2-4": 2,
        "5-8": 2,
        "9-16": 1,
        "17-32": 2,
        "33-40": 0,
    }
    assert found["mean_waiting_time"][-1] is None
    assert found["node_hours"][-1] == 0


def test_by_user_puts_the_heaviest_first(run):
    found = metrics.by_user(run)
    assert found["user"].to_list() == [1, 2]
    assert found["n"].to_list() == [2, 1]  # the rejected job of user 2 is not among them
    assert found["mean_waiting_time"].to_list() == [5, 100]
    assert found["node_hours"].to_list() == pytest.approx([215 / 3600, 200 / 3600])


def test_by_any_column(run):
    assert metrics.by_column(run, "queue")["n"].to_list() == [3]
    with pytest.raises(InputError, match="no column 'usr': did you mean 'user'"):
        metrics.by_column(run, "usr")


@pytest.mark.parametrize("which", ["rejected", "empty"])
def test_no_jobs(which, request):
    nothing = request.getfixturevalue(which)
    assert metrics.by_size_class(nothing)["n"].to_list() == [0, 0]
    assert metrics.by_user(nothing).rows() == []


def test_sums_are_the_same_every_time():
    """To the last bit: rows that came in another order each time changed the last digit of means."""
    jobs = models.generate("lublin99:jobs=2000,nodes=64", 1).jobs
    shared = Workload("shared", jobs.with_columns(user=jobs["id"] % 7))
    result = simulate(shared, "flat:nodes=64", "filler")
    assert len({metrics.by_user(result).write_csv() for _ in range(20)}) == 1


# One node, in order of arrival:
#
#     job  user  submit  run time  ends  turnaround  bounded slowdown (10 min)
#     1       1       0       600   600         600  1
#     2       2       0       600  1200        1200  2
#     3       1       0      1200  2400        2400  2
#     4       3     600       600  3000        2400  4
#     5      -1     600       600  3600        3000  5, of an unknown user
#
# Users' means are 1.5, 2 and 4; their 10th and 90th percentiles 1.6 and 3.6.
USERS = {
    "id": [1, 2, 3, 4, 5],
    "submit": [0, 0, 0, 600, 600],
    "run_time": [600, 600, 1200, 600, 600],
    "walltime": [600, 600, 1200, 600, 600],
    "nodes": [1] * 5,
}


def of_users(users):
    jobs = workload.job_table(USERS | {"user": users})
    found = metrics.summary(simulate(Workload("users", jobs), "flat:nodes=1", "fcfs"))
    return {name: found[name] for name in ("jain_slowdown", "user_slowdown_spread") if name in found}


def test_fairness_solved_by_hand():
    jain = (1.5 + 2 + 4) ** 2 / (3 * (1.5**2 + 2**2 + 4**2))
    assert of_users([1, 2, 1, 3, -1]) == pytest.approx({"jain_slowdown": jain, "user_slowdown_spread": 3.6 / 1.6})


@pytest.mark.parametrize("users", [[7] * 5, [-1] * 5, [7, -1, 7, -1, 7]])
def test_fairness_takes_two_users(users):
    assert of_users(users) == {}


def test_fairness_where_but_one_user_ran(make, job):
    rejected = job(2, (0, None, None), 9, 60, state="REJECTED", user=2)
    found = metrics.summary(make(job(1, (0, 0, 60), 1, 60, user=1), rejected))
    assert found["jain_slowdown"] is found["user_slowdown_spread"] is None


def test_more_of_one_is_fairer_and_of_the_other_is_not():
    less, more = [0.5, 0.52, 0.49], [0.9, 0.91, 0.88]
    assert judge(more, less, "jain_slowdown").word == "better"
    assert judge(more, less, "user_slowdown_spread").word == "worse"
