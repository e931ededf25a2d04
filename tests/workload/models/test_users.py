"""Users by Zipf's law: their shares, their groups, and jobs that are the same with them as without."""

import numpy as np
import pytest
from polars.testing import assert_frame_equal

from forebay.errors import InputError
from forebay.workload import models
from forebay.workload.models import users

pytestmark = pytest.mark.small


def test_shares_by_hand():
    # 1 + 1/2 + 1/3 + 1/4 = 25/12
    assert users.shares(4, 1.0) == pytest.approx([12 / 25, 6 / 25, 4 / 25, 3 / 25])
    assert users.shares(3, 0.0) == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("zipf", [0.0, 0.8, 1.2])
def test_each_has_its_share_of_the_jobs(zipf):
    w = models.generate(f"lublin99:users=20,zipf={zipf:g}", 1, jobs=20_000)
    counts = np.bincount(w.jobs["user"].to_numpy(), minlength=21)
    assert counts[0] == 0
    expected = 20_000 * users.shares(20, zipf)
    # chi-square with 19 degrees of freedom: above 43.8 in one of a thousand samples
    assert ((counts[1:] - expected) ** 2 / expected).sum() < 43.8


def test_users_join_groups_in_turn():
    jobs = models.generate("feitelson96:users=7,groups=3", 2, jobs=500).jobs
    assert (jobs["group"] == 1 + (jobs["user"] - 1) % 3).all()
    assert jobs["group"].unique().sort().to_list() == [1, 2, 3]


def test_the_jobs_are_the_same_as_without_users():
    plain, whose = models.generate("lublin99", 3, jobs=200), models.generate("lublin99:users=9", 3, jobs=200)
    assert_frame_equal(plain.jobs.drop("user", "group"), whose.jobs.drop("user", "group"), check_exact=True)
    assert plain.jobs["user"].unique().to_list() == [-1]
    alone = models.attach(plain, ["users:users=9"], 3)
    assert_frame_equal(alone.jobs, whose.jobs, check_exact=True)
    assert "9 users in 1 group by Zipf's law (exponent 1)" in whose.provenance[-1]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("lublin99:zipf=1.2", "zipf is for jobs with users; say how many, such as users=50"),
        ("lublin99:users=3,groups=4", "groups is 4; give at most users, which is 3"),
        ("lublin99:users=-1", "users is -1; give a number from 1 up"),
        ("lublin99:users=3,zipf=-1", "zipf is -1; give a number from 0 up"),
        ("lublin99:user=3", "did you mean 'users'"),
    ],
)
def test_what_makes_no_sense_is_refused(spec, message):
    with pytest.raises(InputError, match=message):
        models.generate(spec, 1, jobs=10)


def test_users_that_are_known_stay():
    whose = models.generate("lublin99:users=9", 3, jobs=20)
    with pytest.raises(InputError, match="20 jobs have a user already"):
        models.attach(whose, ["users"], 1)
