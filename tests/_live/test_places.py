"""Values in an order, beside what trying all subsets finds."""

import random
from itertools import combinations, pairwise

import pytest

from forebay._live.agent.orders import TOP, changes
from forebay._live.agent.places import Band, new_values, tail
from forebay._live.jobs import LiveJob

pytestmark = pytest.mark.small


def _fewest(values, band):
    """How many have to be new, by trying every set that might stay."""
    known = [place for place, value in enumerate(values) if value is not None]
    for size in range(len(known), -1, -1):
        for kept in combinations(known, size):
            at = [(-1, band.top + band.apart), *((k, values[k]) for k in kept), (len(values), band.floor)]
            if all(a[1] - b[1] >= band.apart * (b[0] - a[0]) for a, b in pairwise(at)):
                return len(values) - size
    return len(values)


@pytest.mark.parametrize("apart", [1, 3])
def test_no_fewer_would_do(apart):
    rng = random.Random(apart)
    for _ in range(400):
        n = rng.randint(0, 7)
        band = Band(0, apart * (n + rng.randint(0, 4)), apart)
        values = [rng.choice((None, rng.randint(-2, band.top + 2))) for _ in range(n)]
        order = rng.sample(range(20), n)
        current = {job: value for job, value in zip(order, values, strict=True) if value is not None}
        found = new_values(order, current, band)
        assert len(found) == _fewest(values, band), (values, band)
        after = [found.get(job, current.get(job)) for job in order]
        assert all(a - b >= apart for a, b in pairwise([band.top + apart, *after, band.floor])), (values, band, after)


def test_what_stands_right_at_the_end_needs_nothing():
    own = {1: 9, 2: 8, 3: 7, 4: 6}
    assert tail([1, 2, 3, 4], own, {}) == 0  # all do
    assert tail([2, 1, 3, 4], own, {}) == 1
    assert tail([4, 3, 2, 1], own, {}) == 3
    assert tail([2, 3, 1, 4], own, {4: 10}) == 4  # a value of an earlier plan is in the way
    assert tail([], own, {}) == 0


def test_a_thousand_jobs_cost_few_calls():
    """A plan of 1,000 at first; then one starts, one comes, and two change places."""
    jobs = {k: LiveJob(k, "PENDING", priority=4_294_901_759 - k) for k in range(1000)}
    order = random.Random(1).sample(range(1000), 1000)
    first = changes(order, jobs, "priority", {})
    assert 990 < len(first) <= 1000
    ours = {one.job: one.after for one in first}
    for job, value in ours.items():
        jobs[job] = LiveJob(job, "PENDING", priority=value)
    jobs[1000] = LiveJob(1000, "PENDING", priority=4_294_900_000)
    order = [*order[1:400], 1000, order[401], order[400], *order[402:]]
    second = changes(order, jobs, "priority", ours)
    assert len(second) == 2
    after = {k: job.priority for k, job in jobs.items()} | {one.job: one.after for one in second}
    assert [after[k] for k in order] == sorted((after[k] for k in order), reverse=True)
    assert max(after.values()) <= TOP
