"""Slurm's two schedulers, by hand and against a slow twin."""

import random

import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.policies._families.slurm_scheduler import Sched
from forebay.workload.workload import job_table
from twins.slurm_pinned import PinnedSlurm
from twins.slurm_scheduler import Priorities, Slurm

pytestmark = pytest.mark.small

DEFAULTS = {
    "default_queue_depth": 100, "partition_job_depth": 0, "sched_interval": 60.0, "batch_sched_delay": 3.0,
    "bf_interval": 30.0, "bf_window": 1440.0, "bf_resolution": 60.0, "bf_window_linear": 0.0, "bf_max_job_test": 500,
    "bf_max_job_user": 0, "bf_max_job_part": 0, "bf_max_job_start": 0, "bf_min_age_reserve": 0.0, "bf_licenses": False,
}  # fmt: skip


def workload(*jobs):
    """Jobs as (submit, seconds, walltime, nodes, licences, user, queue), the last three of which may be left out."""
    names = ("submit", "run_time", "walltime", "nodes", "burst_buffer", "user", "queue")
    rows = [(*job, *(0, 0, 0)[len(job) - 4 :]) for job in jobs]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    times = {name: [float(value) for value in columns[name]] for name in names[:3]}
    return fb.Workload("by hand", job_table({"id": range(1, len(jobs) + 1)} | columns | times))


def starts(work, policy, nodes=4, licences=10):
    """Start times in the order of jobs."""
    jobs = fb.simulate(work, f"flat:nodes={nodes},burst_buffer={licences}B", policy).jobs.sort("job_id")
    return jobs["starting_time"].to_list()


def test_the_main_scheduler_runs_for_a_batch_of_events():
    # The first job starts as it comes, with the scheduler's first run at 0. The next run is at 3 at the earliest: job 2
    # waits for it, though nodes are idle, and backfilling has its next turn at 30. Job 3 comes at 10, long after.
    assert starts(workload((0, 100, 120, 1), (1, 100, 120, 1), (10, 5, 60, 1)), "slurm") == [0, 3, 10]


def test_who_passes_waits_for_the_backfill_cycle():
    # Job 1 has 3 of 4 nodes until 600 as it says. Job 2 needs 4 and blocks the partition. Job 3 fits beside job 1 and
    # ends before 600: only backfilling may start it, 30 s after its cycle at 0.
    work = workload((0, 500, 600, 3), (1, 50, 60, 4), (2, 50, 60, 1))
    assert starts(work, "slurm") == [0, 500, 30]
    assert starts(work, "slurm:bf_interval=5") == [0, 500, 5]


def test_reservations_begin_at_a_multiple_of_the_resolution():
    # Job 2 is expected at 100, which lies in the slot from 60 on. At 5 job 3 would end at 65, within that slot, and no
    # node is left beside job 2: with slots of 60 s it may not pass, with slots of 5 s it may.
    work = workload((0, 100, 100, 3), (1, 50, 60, 4), (1, 10, 60, 1))
    assert starts(work, "slurm:bf_interval=5,bf_resolution=60") == [0, 100, 150]
    assert starts(work, "slurm:bf_interval=5,bf_resolution=5") == [0, 100, 5]


def test_who_cannot_begin_within_the_window_holds_nothing():
    # Job 2 (4 nodes) is expected at 7200. With a window of an hour nothing is kept for it, and job 3 passes, though it
    # runs until 10005 and delays it.
    work = workload((0, 7200, 7200, 3), (1, 50, 60, 4), (1, 10000, 10000, 1))
    assert starts(work, "slurm:bf_interval=5") == [0, 7200, 7250]
    assert starts(work, "slurm:bf_interval=5,bf_window=60") == [0, 10005, 5]


def test_who_lacks_licences_blocks_nobody_and_without_bf_licenses_holds_none():
    # 10 licences. Job 1 has 6 until 100. Job 2 wants 8 and does not block job 3, which wants 4 and starts with the next
    # main run. Job 4 takes 6 at 100, when job 1 ends, and job 2 waits for it and for job 3.
    work = workload((0, 100, 120, 1, 6), (1, 50, 60, 1, 8), (1, 150, 180, 1, 4), (2, 500, 600, 1, 6))
    assert starts(work, "slurm:bf_interval=5") == [0, 600, 3, 100]
    # With bf_licenses job 2 blocks the others at 3, and holds 8 from 120 on, when job 1 says that it ends: job 3 would
    # have 4 of them still. Job 2 starts at 100 and ends at 150; then there are 10 for jobs 3 and 4.
    assert starts(work, "slurm:bf_interval=5,bf_licenses=true") == [0, 100, 150, 150]


def test_limits_on_who_is_tested():
    # Jobs 3 and 4 could both pass job 2; both are user 7's and of queue 5. A cycle tests job 2 first.
    work = workload((0, 500, 600, 2), (1, 50, 60, 4, 0, 1, 1), (1, 50, 60, 1, 0, 7, 5), (1, 50, 60, 1, 0, 7, 5))
    assert starts(work, "slurm") == [0, 500, 30, 30]
    for option in ("bf_max_job_user=1", "bf_max_job_part=1", "bf_max_job_start=1", "bf_max_job_test=2"):
        assert starts(work, f"slurm:{option}") == [0, 500, 30, 60], option
    assert starts(work, "slurm:bf_max_job_test=1") == [0, 500, 550, 550]
    # A test takes 1.2 s: in the 2 s before the cycle yields it tests one job, with bf_continue 20
    # in 24 of 30 s: it sleeps for the others.
    assert starts(work, "slurm:test_time=1.2") == [0, 500, 550, 550]
    assert starts(work, "slurm:test_time=1.2,bf_continue=true") == [0, 500, 30, 30]


def test_time_for_which_a_cycle_sleeps_counts():
    # In 7 s it tests for 2 s, sleeps for 1 s, twice, and tests for the last: 5 jobs of 1 s. Without sleep it is 7.
    for sleep, tests in ((1e6, 5), (0.0, 7)):
        policy = fb.policies.load(f"slurm:bf_yield_sleep={sleep},test_time=1,bf_continue=true,bf_max_time=7")
        assert policy.params()[Sched.BF_MAX_TEST] == tests


def test_a_job_is_never_tried_by_itself_so_defer_changes_nothing():
    work = workload((0, 500, 600, 2), (1, 50, 600, 4), (2, 50, 60, 1), (4, 50, 60, 1))
    assert starts(work, "slurm:defer=true") == starts(work, "slurm")


def test_how_deep_the_main_scheduler_goes():
    # Four jobs come at once to an idle machine: with a depth of 2 the first two start, and backfilling the others.
    work = workload(*[(0, 50, 60, 1)] * 4)
    result = fb.simulate(work, "flat:nodes=4", "slurm:default_queue_depth=2")
    reasons = result.log.filter(pl.col("kind") == "start")["reason"].to_list()
    assert reasons == ["in_order"] * 2 + ["backfilled"] * 2


def test_a_look_at_all_jobs_in_vain_is_taken_again_when_something_has_changed():
    """The main scheduler looks at one job at events, and at all every minute; nothing is backfilled after the start.

    At 500 the nodes of job 4 are free, and the head of the line still waits for others: the look at 540 starts job 4.
    """
    parts = (fb.platforms.Partition(name="a", nodes="0-1"), fb.platforms.Partition(name="b", nodes="2-3"))
    divided = fb.Platform(name="divided", nodes=4, partitions=parts)
    jobs = [(0, 1000, 1000, 2, 0, 0, 0), (0, 500, 1000, 2, 0, 0, 1), (0, 10, 10, 2, 0, 0, 0), (0, 10, 10, 2, 0, 0, 1)]
    work = workload(*jobs)
    work = fb.Workload(work.name, work.jobs, names={"queue": {0: "a", 1: "b"}})
    found = fb.simulate(work, divided, "slurm:default_queue_depth=1,bf_interval=100000").jobs["starting_time"]
    assert found.to_list() == [0, 0, 1000, 540]


def test_a_job_without_nodes_blocks_its_partition_alone():
    # Two partitions of two nodes each. Job 1 has both of a's, and job 2 waits for them. Job 3 is behind it in line but
    # in b: the main scheduler starts it at 3. With one partition only backfilling could, at 30.
    table = workload((0, 500, 600, 2, 0, 0, 0), (1, 50, 600, 2, 0, 0, 0), (2, 50, 600, 2, 0, 0, 1)).jobs
    work = fb.Workload("by hand", table, names={"queue": {0: "a", 1: "b"}})
    parts = tuple({"name": name, "nodes": nodes} for name, nodes in (("a", "0-1"), ("b", "2-3")))
    machine = fb.platform("flat:nodes=4")
    divided = type(machine).model_validate(machine.model_dump() | {"partitions": parts})
    assert fb.simulate(work, divided, "slurm").jobs["starting_time"].to_list() == [0, 500, 3]


def test_young_jobs_hold_no_reservation():
    # Job 3 would end behind job 2's expected start at 600. Job 2 holds nothing until it has waited for 100 s.
    work = workload((0, 600, 600, 3), (1, 50, 60, 4), (2, 900, 900, 1))
    assert starts(work, "slurm:bf_interval=5")[2] > 600
    assert starts(work, "slurm:bf_interval=5,bf_min_age_reserve=100")[2] == 5


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("slurm:bf_interval=0", "bf_interval is 0; give a number above 0"),
        ("slurm:bf_resolution=inf", "bf_resolution is inf; give a number above 0"),
        ("slurm:default_queue_depth=0", "default_queue_depth is 0; give a count from 1 up"),
        ("slurm:bf_max_job_user=-1", "bf_max_job_user is -1; give a number from 0 up"),
        ("slurm:PriorityType=fifo", "PriorityType is 'fifo'"),
        ("slurm:PriorityWeightAge=-5", "PriorityWeightAge is -5; give a whole number from 0"),
        ("slurm:reservations=some", "reservations is 'some'"),
        ("slurm:bf_intervall=5", "no parameter 'bf_intervall'"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(InputError, match=message):
        fb.policies.load(spec)


def draw(rng, n_jobs):
    """A random workload of whole seconds, users and queues."""
    submit, jobs = 0, []
    for _ in range(n_jobs):
        submit += rng.choice((0, 1, 3, 10, 30, 100))
        walltime = 60 * rng.randint(1, 15)
        run = rng.choice((walltime, rng.randint(1, walltime)))
        licences = rng.choice((0, 0, 1, 3, 5, 8, 10))
        jobs.append(
            (submit, run, walltime, rng.choice((1, 1, 2, 3, 4, 6, 8)), licences, rng.randint(0, 3), rng.randint(0, 2))
        )
    return workload(*jobs)


def options(rng):
    """Random parameters."""
    return {
        "default_queue_depth": rng.choice((1, 3, 100)), "partition_job_depth": rng.choice((0, 0, 2)),
        "sched_interval": rng.choice((20.0, 60.0)), "batch_sched_delay": rng.choice((0.0, 3.0, 11.0)),
        "bf_interval": rng.choice((5.0, 12.0, 30.0)), "bf_window": rng.choice((2.0, 15.0, 1440.0)),
        "bf_resolution": rng.choice((1.0, 5.0, 60.0)), "bf_window_linear": rng.choice((0.0, 10.0)),
        "bf_max_job_test": rng.choice((2, 6, 500)), "bf_max_job_user": rng.choice((0, 0, 2)),
        "bf_max_job_part": rng.choice((0, 0, 3)), "bf_max_job_start": rng.choice((0, 0, 1)),
        "bf_min_age_reserve": rng.choice((0.0, 0.0, 60.0)), "bf_licenses": rng.random() < 0.5,
    }  # fmt: skip


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 200), marks=pytest.mark.full)])
def test_against_a_slow_twin(seeds):
    for seed in seeds:
        rng = random.Random(seed)
        work, chosen = draw(rng, 24), options(rng)
        spec = "slurm:reservations=counted," + ",".join(f"{key}={value}" for key, value in chosen.items())
        machine = "flat:nodes=8,burst_buffer=10B"
        fast, slow = fb.simulate(work, machine, spec), fb.simulate(work, machine, Slurm(**chosen))
        assert fast.jobs["starting_time"].to_list() == slow.jobs["starting_time"].to_list(), (seed, spec)
        assert fast.facts["log_sha256"] == slow.facts["log_sha256"], (seed, spec)


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 200), marks=pytest.mark.full)])
def test_pinned_against_a_slow_twin(seeds):
    for seed in seeds:
        rng = random.Random(1000 + seed)
        work, chosen = draw(rng, 24), options(rng)
        spec = "slurm:reservations=pinned," + ",".join(f"{key}={value}" for key, value in chosen.items())
        machine = "flat:nodes=8,burst_buffer=10B"
        fast, slow = fb.simulate(work, machine, spec), fb.simulate(work, machine, PinnedSlurm(**chosen))
        assert fast.jobs["starting_time"].to_list() == slow.jobs["starting_time"].to_list(), (seed, spec)
        assert fast.jobs["allocated_resources"].to_list() == slow.jobs["allocated_resources"].to_list(), (seed, spec)


@pytest.mark.parametrize("seed", range(3))
def test_by_priority_against_a_slow_twin(seed):
    rng = random.Random(100 + seed)
    work, tree = draw(rng, 24), rng.random() < 0.5
    weights = {"age": 1000, "share": 700, "size": rng.choice((0, 500))}
    spec = "slurm:reservations=counted,PriorityType=multifactor,PriorityWeightAge=1000,PriorityWeightFairshare=700"
    spec += ",PriorityMaxAge=2000"
    spec += f",PriorityWeightJobSize={weights['size']},NO_FAIR_TREE={not tree}"
    spec += ",PriorityDecayHalfLife=3000,PriorityCalcPeriod=100"
    twin = Slurm(Priorities(weights, 100.0, 3000.0, 2000.0, tree), **DEFAULTS)
    machine = "flat:nodes=8,burst_buffer=10B"
    fast, slow = fb.simulate(work, machine, spec), fb.simulate(work, machine, twin)
    assert fast.jobs["starting_time"].to_list() == slow.jobs["starting_time"].to_list()
