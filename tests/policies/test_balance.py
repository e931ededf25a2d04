"""balance: by hand, and against fcfs-bb where balance counts for nothing."""

import pytest

import forebay
from cases import pooled
from forebay.errors import InputError
from forebay.policies import load

pytestmark = pytest.mark.small


def test_by_hand():
    """10 nodes, 10 of buffer; all jobs are there at 0 and take 10 s. In brackets the shares with each on top.

    A 4 nodes (.4, 0), B 2 and 8 (.2, .8), C 4 and 4 (.4, .4), D 4. C has no gap and starts; then A and D leave .4 each,
    B .6: A starts. B then leaves .2 and D .8: B is the head, which has room at 10; D does not fit either.
    In order of arrival A, B and D start, and C waits.
    """
    asks = {1: (4, 0), 2: (2, 8), 3: (4, 4), 4: (4, 0)}
    jobs = [{"id": j, "submit": 0.0, "walltime": 10.0, "nodes": n, "burst_buffer": b} for j, (n, b) in asks.items()]
    made, machine = pooled.workload(jobs), pooled.platform(10, 10)
    assert forebay.simulate(made, machine, "balance:alpha=1").jobs["starting_time"].to_list() == [0, 10, 0, 10]
    assert forebay.simulate(made, machine, "fcfs-bb").jobs["starting_time"].to_list() == [0, 0, 10, 0]


@pytest.mark.parametrize("seed", range(6))
def test_without_balance_it_is_easy_backfilling(seed):
    case = pooled.make(seed, legs=seed % 2 == 0)
    plain, other = (forebay.simulate(*case, policy) for policy in ("fcfs-bb", "balance:alpha=0"))
    assert other.jobs.equals(plain.jobs)


@pytest.mark.parametrize("spec", ["balance:alpha=1.1", "balance:order=walltime", "balance:descending=true"])
def test_what_makes_no_sense_is_refused(spec):
    with pytest.raises(InputError, match="alpha"):
        load(spec)
