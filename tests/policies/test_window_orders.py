"""Windows in order of priority: against the slow twin, against backfilling in that order, and a site's weights."""

import pytest

import forebay as fb
from cases import pooled
from cases.chunks import chunks, compiles
from forebay import policies
from forebay.errors import InputError
from forebay.platforms.platform import Platform
from twins.slurm_scheduler import Priorities
from twins.window import Ranked

WEIGHTS = "PriorityWeightAge=1000,PriorityWeightFairshare=2000,PriorityWeightJobSize=500"
TIMES = "PriorityCalcPeriod=7,PriorityDecayHalfLife=200,PriorityMaxAge=60"
SPECS = (
    "bbsched-exact:window=4,bound=3",
    "bbsched-exact:window=5,bound=2,backfill=conservative,rule=coded",
    "window-weighted:window=5,bound=4,backfill=none",
    "window-packing:window=5,bound=2",
    "bbsched-exact:window=5,bound=2,rule=nodes+2*burst_buffer",
)


def same(seed, spec):
    workload, machine = pooled.make(seed, legs=False)
    if "burst_buffer" not in machine.resources:
        spec = spec.replace("+2*burst_buffer", "")
    ours = policies.load(f"{spec},order=multifactor,{WEIGHTS},{TIMES}")
    plain = policies.load(spec)
    priorities = Priorities({"age": 1000, "share": 2000, "size": 500}, 7.0, 200.0, 60.0)
    slow = Ranked(workload, machine, plain, plain._weights_on(machine.resources), priorities).finished()
    if slow.queue:
        with pytest.raises(fb.errors.StalledError):
            fb.simulate(workload, machine, ours, job_model="alloc-only")
        return
    fast = fb.simulate(workload, machine, ours, job_model="alloc-only")
    starts = fast.jobs.select("job_id", "starting_time").rows()
    assert dict(starts) | {job: pytest.approx(time, abs=1e-6) for time, job, _, _ in slow.starts} == dict(starts)


@compiles
@pytest.mark.parametrize("spec", SPECS)
def test_like_the_slow_twin(spec):
    for seed in range(400, 401):
        same(seed, spec)


@pytest.mark.full
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("chunk", chunks(1, 6))
def test_like_the_slow_twin_many_times(spec, chunk):
    for seed in range(410 + 5 * chunk, 415 + 5 * chunk):
        same(seed, spec)


@compiles
@pytest.mark.parametrize("order", ["fairshare", "multifactor"])
def test_without_a_bound_the_naive_method_backfills_in_that_order(order):
    for seed in range(500, 503):
        workload, machine = pooled.make(seed, legs=False)
        ours = fb.simulate(workload, machine, f"window-naive:bound=1000000,order={order}", job_model="alloc-only")
        theirs = fb.simulate(workload, machine, f"fcfs-bb:order={order}", job_model="alloc-only")
        assert ours.jobs["starting_time"].to_list() == theirs.jobs["starting_time"].to_list()


def users_in_turn():
    """Ann has used the machine when Bob comes; both then ask for all of it, Ann first."""
    rows = [(1, 0.0, 700.0, 1), (2, 1.0, 50.0, 1), (3, 2.0, 50.0, 2)]
    return pooled.workload(
        [{"id": i, "submit": t, "walltime": run, "nodes": 4, "user": user} for i, t, run, user in rows]
    )


@compiles
def test_who_used_little_goes_first():
    starts = {
        spec: fb.simulate(users_in_turn(), "flat:nodes=4", spec).jobs.sort("job_id")["starting_time"].to_list()
        for spec in ("bbsched-exact", "bbsched-exact:order=fairshare", "bbsched-exact:order=fairshare,rule=nodes")
    }
    assert list(starts.values()) == [[0, 700, 750], [0, 750, 700], [0, 750, 700]]


def site(policy):
    return Platform(name="here", nodes=4, policy=policy)


@compiles
def test_the_order_of_slurm_has_the_sites_weights():
    made = fb.simulate(
        users_in_turn(),
        site("slurm:PriorityType=multifactor,PriorityWeightFairshare=1000+limits:user_jobs=9"),
        "bbsched-exact:order=slurm",
    )
    assert made.jobs.sort("job_id")["starting_time"].to_list() == [0, 750, 700]
    aged = site("slurm:PriorityType=multifactor,PriorityWeightAge=1000000")
    made = fb.simulate(users_in_turn(), aged, "bbsched-exact:order=slurm")
    assert made.jobs.sort("job_id")["starting_time"].to_list() == [0, 700, 750]


@compiles
@pytest.mark.parametrize(
    ("policy", "spec", "said"),
    [
        (None, "bbsched:order=slurm", "order=slurm: here brings no weights, as its file has no policy"),
        ("fcfs-bb", "bbsched:order=slurm", "order=slurm: here brings no weights, as its file has no policy"),
        ("slurm", "bbsched:order=slurm", "PriorityType=basic"),
        ("multifactor", "bbsched:order=slurm,PriorityWeightAge=3", "leave PriorityWeightAge out"),
        ("multifactor", "bbsched:order=multifactor,PriorityWeightAge=-3", "PriorityWeightAge is -3"),
        ("multifactor", "bbsched:PriorityWeightAge=3", "no parameter 'PriorityWeightAge'"),
    ],
)
def test_orders_without_weights_are_refused(policy, spec, said):
    with pytest.raises(InputError) as error:
        fb.simulate(users_in_turn(), site(policy), spec)
    assert said in str(error.value)


@compiles
def test_it_says_where_it_gave_up():
    result = fb.simulate(users_in_turn(), "flat:nodes=4", "bbsched-exact:order=fairshare,limit=0")
    assert any("left to the genetic solver" in note for note in result.facts["notes"])
