"""Jobs by tier of storage, and how much each link carried, by hand."""

import pytest

import forebay as fb
from cases.tiered_by_hand import job, run, steps
from forebay.metrics import summary

pytestmark = pytest.mark.small


def test_jobs_and_links_by_hand():
    # Job 1 on fast storage until 16 (8 B staged at 2 B/s, read at 4 B/s), job 2 on slow until 18 (8 B at 1 B/s).
    jobs = [job(1, 18, fast=10), job(2, 18, fast=10)]
    numbers = summary(run(jobs, steps(1, read=8, compute=10) + steps(2, read=8, compute=10)))
    assert (numbers["n_on_slow"], numbers["n_on_fast"]) == (1, 1)
    assert numbers["link_use_slow"] == pytest.approx(8 / 18)
    assert numbers["link_use_fast"] == pytest.approx(8 / (4 * 18))
    assert numbers["link_use_fast_staging"] == pytest.approx(8 / (2 * 18))
    assert numbers["utilisation_fast"] == pytest.approx(10 * 16 / (10 * 18))


def test_not_there_where_nothing_is_to_choose():
    numbers = summary(fb.simulate(fb.read("table1"), policy="fcfs-bb"))
    assert not [name for name in numbers if name.startswith(("n_on_", "link_use_"))]
