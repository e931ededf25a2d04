"""Walltimes: round, modal, never too short."""

import numpy as np
import pytest

from forebay.errors import InputError
from forebay.workload import models
from forebay.workload.models import tsafrir05
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small

RNG = np.random.default_rng


def jobs(run):
    n = len(run)
    columns = {"id": np.arange(n), "submit": np.arange(n), "walltime": run, "run_time": run, "nodes": [1] * n}
    return Workload("x", job_table(columns), provenance=("made for a test",))


def test_walltimes_suffice_and_are_few():
    w = models.attach(models.generate("lublin99:jobs=20000", 1), ["tsafrir05"], 1)
    walltime, run = w.jobs["walltime"].to_numpy(), w.jobs["run_time"].to_numpy()
    assert (walltime >= run).all()
    counts = np.sort(np.unique(walltime, return_counts=True)[1])[::-1]
    assert counts[:21].sum() / len(w) == pytest.approx(0.9, abs=0.02)
    assert (walltime == walltime.max()).mean() == pytest.approx(0.15, abs=0.02)
    assert (walltime % 300 == 0).all()


def test_shares_are_met_where_every_value_suffices():
    n = 40_000
    walltime = tsafrir05.attach(jobs([10.0] * n), RNG(2), maximum=86400.0, at_maximum=0.3, popular=1.0).jobs["walltime"]
    assert (walltime == 86400).mean() == pytest.approx(0.3, abs=4 * (0.21 / n) ** 0.5)
    assert set(walltime) == {86400.0, *(60.0 * m for m in tsafrir05.MINUTES if m < 1440)}
    hour, two = (walltime == 3600).mean(), (walltime == 7200).mean()
    assert hour / two == pytest.approx(2, abs=0.15)


def test_where_few_values_suffice_users_ask_for_the_maximum():
    walltime = tsafrir05.attach(jobs([50_000.0] * 1000), RNG(3), maximum=60_000.0).jobs["walltime"]
    assert (walltime >= 50_000).all()
    assert (walltime == 60_000).mean() > 0.8


def test_a_tiny_maximum_is_all_there_is():
    assert set(tsafrir05.attach(jobs([1.0] * 50), RNG(4), maximum=100.0).jobs["walltime"]) == {100.0}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"maximum": 99.0}, "maximum is 99; give at least the longest run time, 100 s"),
        ({"at_maximum": 1.5}, "at_maximum is 1.5"),
        ({"at_maximum": 0.5, "popular": 0.4}, "at_maximum is 0.5; give at most popular"),
    ],
)
def test_bad_parameters_are_named(given, says):
    with pytest.raises(InputError, match=says):
        tsafrir05.attach(jobs([100.0]), RNG(0), **given)
