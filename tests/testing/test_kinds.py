"""Random cases: alike by their seed, of every kind, and free of a kind without it."""

import numpy as np
import pytest

from forebay.testing import KINDS, random_case
from forebay.testing.shrink import shrink

pytestmark = pytest.mark.small


def case(number, kinds=KINDS):
    return random_case(np.random.default_rng([3, number]), kinds)


def has(kind, made):
    """A kind that cannot be lessened is not there."""
    return any(True for _ in kind.less(made))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_a_kind_is_in_some_cases_and_can_be_left_out(kind):
    others = [one for one in KINDS if one is not kind]
    assert 0 < sum(has(kind, case(number)) for number in range(40)) < 40
    assert not any(has(kind, case(number, others)) for number in range(40))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_a_kind_shrinks_away(kind):
    made = next(made for made in map(case, range(40)) if has(kind, made))
    small = shrink(made, lambda smaller: len(smaller.jobs) > 0)
    assert not any(has(one, small) for one in KINDS)
    assert small.text().count("submitted at") == 1


def test_a_kind_more_leaves_the_others_as_they_are():
    """Each draws from a stream of its own."""
    for number in range(20):
        plain, withdrawn = case(number, ()), case(number, KINDS[1:2])
        assert [job.legs for job in plain.jobs] == [job.legs for job in withdrawn.jobs]
        assert [job.cancel for job in withdrawn.jobs] == [job.cancel for job in case(number, KINDS[:2]).jobs]


def test_cases_can_be_built():
    for number in range(20):
        made = case(number)
        assert len(made.workload()) == len(made.jobs)
        assert made.platform().nodes == made.nodes
        assert made == case(number)
