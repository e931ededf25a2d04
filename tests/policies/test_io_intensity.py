"""I/O-intensity-aware scheduling, by hand and by brute force."""

import pytest

import forebay as fb
from cases.flexible import Jobs, compute, loop, move
from forebay.errors import InputError
from policies.test_malleable_twins import workload
from twins.intensity import Naive

pytestmark = pytest.mark.small

GB = 10**9
MACHINE = "flat:nodes={},pfs=1GB/s"


def times(jobs, policy, nodes):
    """(start, end) of each job."""
    result = fb.simulate(jobs.workload(), MACHINE.format(nodes), policy)
    return result.jobs.select("starting_time", "finish_time").rows()


def pairs():
    """Two jobs that write half of the time, then two that only compute; each has one node for 20 s when alone."""
    jobs = Jobs()
    for tasks in [(compute(10), move("write", 10 * GB))] * 2 + [(compute(20),)] * 2:
        jobs.add("rigid", 0, [1], loop(1, *tasks))
    return jobs


def test_order_of_arrival_makes_writers_contend():
    # Both write from 10 on, at half the rate.
    assert times(pairs(), "io-intensity:alpha=0", 2) == [(0, 30), (0, 30), (30, 50), (30, 50)]


@pytest.mark.parametrize("policy", ["io-intensity:alpha=1", "io-intensity:alpha=0.8", "io-bb:alpha=0.8"])
def test_a_writer_runs_beside_one_that_computes(policy):
    # The workload's intensity is 1/4. After the first job, the third brings the system there; the second away from it.
    assert times(pairs(), policy, 2) == [(0, 20), (20, 40), (0, 20), (20, 40)]


def test_alpha_says_how_far_ahead_a_job_may_be_taken():
    # Of the three that wait behind the first, the second in line would bring the system to its target: it is taken if
    # 1/2 (1 - alpha) is below alpha, so from 1/3 on.
    assert times(pairs(), "io-intensity:alpha=0.33", 2)[1][0] == 0
    assert times(pairs(), "io-intensity:alpha=0.34", 2)[2][0] == 0


def test_growth_towards_the_workload():
    # On 1 node a round takes 8 + 2 s, on 2 nodes 4 + 2: intensities 1/5 and 1/3. Who waits for 3 nodes has 1/2, so the
    # workload has (1/5 + 3/2) / 4 = 0.425. On 2 nodes the system is nearer: from its point at 10 on.
    jobs = Jobs()
    write = move("write", 2 * GB)
    jobs.add("malleable", 0, [1, 2], loop(4, compute(lambda n: 8 / n), write), nodes=1)
    jobs.add("rigid", 1, [3], loop(1, compute(2), write))
    assert times(jobs, "io-intensity", 3) == [(0, 10 + 3 * 6), (28, 32)]


def shrinking():
    """One of 4 nodes that computes; one of 1 or 2 that writes for 2 s after 2 / n s; then one of 1, and one of 6."""
    jobs = Jobs()
    jobs.add("rigid", 0, [4], loop(1, compute(1000)))
    jobs.add("malleable", 0, [1, 2], loop(10, compute(lambda n: 2 / n), move("write", 2 * GB)))
    jobs.add("rigid", 1, [1], loop(1, compute(5)))
    jobs.add("rigid", 1, [6], loop(1, compute(5)))
    return jobs


def test_a_job_shrinks_for_one_that_waits():
    # Intensities on 1 and 2 nodes: 1/2 and 2/3. At 3 s the system has 2 x 2/3 / 6 = 0.222, the workload 0.103. On one
    # node the system has 0.1, and beside the third job 0.083: nearer than now.
    assert times(shrinking(), "io-intensity:alpha=0", 6)[2] == (3, 8)


def test_a_job_does_not_shrink_for_nobody():
    # Only the job of 6 nodes waits, which one node more does not help. Rounds go on to take 3 s.
    jobs = shrinking()
    jobs.rows[2]["submit"] = 2000.0
    assert times(jobs, "io-intensity:alpha=0", 6)[1] == (0, 30)


@pytest.mark.parametrize("seed", range(12))
def test_alpha_0_keeps_the_order_of_arrival(seed):
    made = workload(seed)
    starts = fb.simulate(
        made, "flat:nodes=16,pfs=10GB/s", "io-intensity:alpha=0", job_model="application:kill=false"
    ).jobs
    assert starts["starting_time"].is_sorted()


@pytest.mark.parametrize("kind", ["mean", "cluster"])
def test_alpha_1_takes_what_brings_the_system_nearest(kind):
    """Of all candidates at all sizes, as tried one by one: its naive twin decides as the kernel does."""
    chosen = []
    for seed in range(12):
        naive = Naive(1.0, kind)
        fb.simulate(workload(seed), "flat:nodes=16,pfs=10GB/s", naive, job_model="application:kill=false")
        chosen += naive.chosen
    assert len(chosen) > 50
    assert all(delta == least for delta, least, *_ in chosen)


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.45])
def test_how_far_a_job_may_be_passed(alpha):
    """By jobs no more than alpha / (1 - alpha) of the line behind it; by none where few wait."""
    for seed in range(30):
        naive = Naive(alpha)
        fb.simulate(workload(seed), "flat:nodes=16,pfs=10GB/s", naive, job_model="application:kill=false")
        for _, _, place, waiting in naive.chosen:
            assert place <= alpha / (1 - alpha) * (waiting - 1) + 1e-9


def test_a_job_may_starve_while_more_comes_than_can_be_done():
    """One that only writes waits until nearly all others have begun; where alpha is small, until its turn comes."""
    jobs = Jobs()
    for k in range(40):
        jobs.add("rigid", 5 * k, [1], loop(1, compute(20), move("write", 0.1 * GB)))
        if k == 4:
            jobs.add("rigid", 5 * k, [1], loop(1, move("write", 20 * GB)))
    starts = {alpha: [start for start, _ in times(jobs, f"io-intensity:alpha={alpha}", 2)] for alpha in (0, 0.1, 0.4)}
    assert starts[0.1][5] == starts[0][5] < 50
    assert starts[0.4][5] > 300
    assert sum(start > starts[0.4][5] for start in starts[0.4]) == 2


@pytest.mark.parametrize("policy", ["io-intensity", "io-intensity-adaptive", "io-bb"])
@pytest.mark.parametrize("alpha", ["-0.1", "1.5"])
def test_bad_alpha(policy, alpha):
    with pytest.raises(InputError, match=f"alpha is {alpha}; give a number from 0"):
        fb.policies.load(f"{policy}:alpha={alpha}")


def test_it_must_have_a_file_system_to_weigh():
    """A policy object is named by its preset: its parameters in full are longer than the message."""
    for policy in ("io-bb", fb.policies.load("io-bb"), fb.policies.load("io-bb+limits:user_jobs=4")):
        with pytest.raises(InputError, match=r"^policy 'io-bb.{,20}' weighs what jobs read and write, and flat has no"):
            fb.simulate("table1", "flat:nodes=4,burst_buffer=10TB", policy)


def test_jobs_without_applications_need_io_of_some_kind():
    with pytest.raises(InputError, match=r"^policy 'io-intensity' weighs what jobs read and write, and no job"):
        fb.simulate("table1", "flat:nodes=4,burst_buffer=10TB,pfs=1GB/s", "io-intensity", job_model="alloc-only")
    ran = fb.simulate("table1", "flat:nodes=4,burst_buffer=10TB,pfs=1GB/s", "io-intensity")
    assert ran.jobs["finish_time"].min() > 0
