"""Table 1 of Kopański & Rządca (2021), section 3.1: the start of every job, in minutes, under each policy."""

import pytest

import forebay

pytestmark = pytest.mark.small

# The paper draws fcfs-easy (Fig. 1) and fcfs-bb (Fig. 2); the others follow from Algorithm 1 by hand.
FCFS = [0, 0, 10, 11, 14, 15, 15, 16]
EASY = [0, 0, 10, 11, 14, 3, 10, 15]
WITH_BUFFERS = [0, 0, 10, 2, 9, 5, 4, 6]
STARTS = {
    "fcfs": FCFS,
    "fcfs-easy": EASY,
    "sjf-easy": EASY,
    "filler": WITH_BUFFERS,
    "fcfs-bb": WITH_BUFFERS,
    "sjf-bb": WITH_BUFFERS,
    # At minute 3 job 5 too is given a reservation (three nodes, minutes 5 to 6), so 6, 7 and 8 must come after it.
    "conservative-bb": [0, 0, 10, 2, 5, 6, 6, 7],
}


@pytest.mark.parametrize("policy", STARTS)
def test_starts(policy):
    result = forebay.simulate(forebay.read("table1"), policy=policy)
    assert (result.jobs["starting_time"] / 60).to_list() == STARTS[policy]


def test_barrier():
    """Fig. 1: job 3 holds three of four nodes idle from minute 4, when job 2 ends, until job 1 returns its buffer."""
    log = forebay.simulate(forebay.read("table1"), policy="fcfs-easy").log
    starts = log.filter(log["kind"] == "start").select("time", "job").rows()
    assert [(time / 60, job) for time, job in starts if 4 <= time / 60 <= 10] == [(10, 3), (10, 7)]


def test_the_text_on_fig_2_fits_reservations_for_all():
    """ "At time 10, there are only left jobs 3 and 7": so under conservative-bb. By Algorithm 1 job 7 is over at 9."""
    left = {}
    for policy in ("fcfs-bb", "conservative-bb"):
        jobs = forebay.simulate("table1", policy=policy).jobs
        left[policy] = jobs.filter(jobs["finish_time"] > 10 * 60)["job_id"].to_list()
    assert left == {"fcfs-bb": [3], "conservative-bb": [3, 7]}
