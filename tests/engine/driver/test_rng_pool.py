"""Generators that compiled code was handed are used again: Numba never lets one go."""

import gc

import numpy as np
import pytest

import forebay as fb
from forebay.engine.driver.rng_pool import lend, take_back

pytestmark = pytest.mark.small


def test_one_that_is_lent_draws_the_same():
    for seed in range(3):
        like = np.random.default_rng(seed)
        like.integers(10, dtype=np.int32)  # leaves half of a draw behind
        lent = lend(like)
        assert lent is not like
        drawn = [(rng.integers(10, dtype=np.int32), rng.random(), rng.standard_normal()) for rng in (lent, like)]
        assert drawn[0] == drawn[1]
        take_back(lent)
        assert lend(like) is lent


@pytest.mark.parametrize(
    "run",
    [
        lambda seed: fb.simulate("table1", policy="plan-1", seed=seed),
        lambda seed: fb.simulate("table1", policy=InOrder(), seed=seed),
        lambda seed: fb.open("table1", policy="fcfs-bb", seed=seed).fork().run().now,
    ],
    ids=["compiled", "plain", "open"],
)
def test_runs_leave_no_generators(run):
    run(0)
    before = generators()
    for seed in range(5):
        run(seed)
    assert generators() == before


class InOrder(fb.Policy):
    def decide(self, view, act):
        view.rng.random()
        act.backfill()


def generators():
    gc.collect()
    # By their own type: asking what a weak proxy of something gone is an instance of raises.
    return sum(type(one) is np.random.Generator for one in gc.get_objects())
