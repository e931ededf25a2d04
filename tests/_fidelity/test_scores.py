"""Scores of a replay, worked out by hand."""

import numpy as np
import polars as pl
import pytest

from forebay._fidelity import _scores
from forebay._fidelity._use import Use, at, most_between

pytestmark = pytest.mark.small


def table(recorded, simulated, submit=None, **more):
    submit = submit or [0.0] * len(recorded)
    columns = {"job_id": range(1, len(recorded) + 1), "submit": submit, "recorded_wait": recorded}
    columns |= {"simulated_wait": simulated, "nodes": [1] * len(recorded), "run_time": [3600.0] * len(recorded)}
    frame = pl.DataFrame(columns | more)
    return frame.with_columns(
        recorded_start=pl.col("submit") + pl.col("recorded_wait"),
        simulated_start=pl.col("submit") + pl.col("simulated_wait"),
    )


def test_errors_and_distances():
    # Errors are +100, 0, -200 and +1,000 s; sorted waits are 0, 100, 200, 300 and 0, 100, 200, 1,200.
    found = _scores.numbers(table([0.0, 100.0, 300.0, 200.0], [100.0, 100.0, 100.0, 1200.0]))
    assert (found["recorded_mean_wait"], found["simulated_mean_wait"]) == (150, 375)
    assert found["mean_error"] == 225
    assert found["median_error"] == 50
    assert found["mean_absolute_error"] == 325
    assert found["share_within_10min"] == 0.75
    assert found["ratio_of_means"] == 2.5
    # Moved: 0 to 100, 200 to 100 and 300 to 1,200, over four jobs.
    assert found["wasserstein"] == pytest.approx((100 + 0 + 100 + 900) / 4)
    # At most 100 s wait 3 of 4 where 2 of 4 did; at 0 none where 1 of 4 did; at 300 s 3 of 4 where all did.
    assert found["kolmogorov_smirnov"] == pytest.approx(0.25)


def test_ranks():
    assert _scores.rank_correlation(np.array([1.0, 2, 3]), np.array([10.0, 20, 900])) == pytest.approx(1)
    assert _scores.rank_correlation(np.array([1.0, 2, 3]), np.array([9.0, 5, 1])) == pytest.approx(-1)
    assert _scores.rank_correlation(np.array([1.0, 2, 3]), np.zeros(3)) is None


def test_order_counts_only_jobs_that_competed():
    # All four arrive at 0 and start in the order 1, 2, 3, 4; simulated, 2 goes before 1, and 3 and 4 at once.
    same = table([10.0, 20.0, 30.0, 40.0], [20.0, 10.0, 30.0, 30.0])
    assert _scores.order_agreement(same) == pytest.approx((4 + 0.5) / 6)
    # Each arrives when the one before has started: no two ever competed.
    apart = table([5.0, 5.0, 5.0], [0.0, 90.0, 0.0], submit=[0.0, 10.0, 20.0])
    assert _scores.order_agreement(apart) is None


def test_order_agrees_with_itself():
    rng = np.random.default_rng(3)
    wait = rng.exponential(1000, 500)
    submit = np.sort(rng.uniform(0, 5000, 500)).tolist()
    assert _scores.order_agreement(table(wait.tolist(), wait.tolist(), submit)) == 1
    assert 0.3 < _scores.order_agreement(table(wait.tolist(), rng.permutation(wait).tolist(), submit)) < 0.7


def test_groups_by_name_and_size():
    jobs = table(
        [0.0, 60.0, 120.0], [60.0, 60.0, 0.0], nodes=[1, 3, 16], user=[7, 7, -1], user_name=["ann", "ann", None]
    )
    by_user = _scores.by_column(jobs, "user")
    assert by_user.select("name", "jobs", "node_hours", "mean_error").rows() == [
        ("unknown", 1, 16, -120),
        ("ann", 2, 4, 30),
    ]
    assert _scores.by_size(jobs, 16).select("name", "jobs").rows() == [("1", 1), ("2-4", 1), ("9-16", 1)]
    assert _scores.by_column(jobs, "account") is None


def test_use_over_time():
    # Recorded: 2 from 0 to 10, then 4 up to 20. Simulated: 4 from 5 to 15.
    recorded = np.array([0.0, 10.0, 20.0]), np.array([2.0, 4.0, 0.0])
    simulated = np.array([5.0, 15.0]), np.array([4.0, 0.0])
    use = Use(recorded, simulated, 4, "nodes", (0.0, 20.0))
    assert use.numbers() == {
        "recorded_use": pytest.approx(60 / 80),
        "simulated_use": pytest.approx(40 / 80),
        "recorded_peak": 4,
        "use_difference": pytest.approx((5 * 2 + 5 * 2 + 5 * 0 + 5 * 4) / 80),
    }
    assert at(recorded, np.array([-1.0, 0.0, 9.0, 10.0, 99.0])).tolist() == [0, 2, 2, 4, 0]


def test_the_most_in_use_agrees_with_looking_at_every_step():
    rng = np.random.default_rng(1)
    times = np.sort(rng.uniform(0, 100, 60))
    values = rng.integers(0, 50, 60).astype(float)
    begin = rng.uniform(-10, 110, 200)
    end = begin + rng.uniform(0.01, 50, 200)
    wanted = []
    for first, last in zip(begin, end, strict=True):
        inside = values[(times > first) & (times < last)]
        wanted.append(max([at((times, values), np.array([first]))[0], *inside]))
    assert most_between((times, values), begin, end).tolist() == wanted
