"""Maintenance and advance reservations, solved by hand, and against a slow twin on random workloads."""

import math

import pytest

import forebay
from cases import pooled, site
from cases.chunks import chunks, uncompiled
from cases.pooled import platform, workload
from forebay.explain import reasons
from forebay.figures import gantt
from forebay.metrics import reservations
from forebay.platforms import Reservation
from forebay.policies._families.backfill import Backfill
from forebay.policies._orders import ALL
from twins.backfill import PRESETS, simulate
from twins.compare import compare

CHUNKS, CHUNK = 20, 10
EASY = ("fcfs-easy", "fcfs-bb", "conservative", "conservative-bb", "plan-best")


def job(number, submit, walltime, nodes, **more):
    return {"id": number, "submit": float(submit), "walltime": float(walltime), "nodes": nodes, "user": 1, **more}


def run(jobs, n_nodes, *reservations, policy="fcfs", machine=None):
    machine = machine or platform(n_nodes)
    return forebay.simulate(workload(jobs), machine.model_copy(update={"reservations": tuple(reservations)}), policy)


def starts(result):
    return dict(result.jobs.select("job_id", "starting_time").rows())


SERVICE = Reservation(name="service", start=100.0, duration=50.0, flags=("maint",))


@pytest.mark.small
@pytest.mark.parametrize("policy", [*EASY[:4], "filler", "slurm-bb"])
def test_backfilling_fills_a_window_exactly_up_to_its_start(policy):
    """4 nodes, maintenance from 100 to 150. 1 (2 nodes) runs to 60. 2 (4 nodes, 50 s) could begin at 60 and would not
    end by 100: it begins at 150. 3 (2 nodes, 100 s) ends as the maintenance begins, and starts at 0; 4 (2 nodes, 40 s)
    follows job 1 from 60 to 100. 5 (1 node, 41 s) would run one second into it, and follows 2."""
    jobs = [job(1, 0, 60, 2), job(2, 0, 50, 4), job(3, 0, 100, 2), job(4, 0, 40, 2), job(5, 60, 41, 1)]
    result = run(jobs, 4, SERVICE, policy=policy)
    found = starts(result)
    assert (found[1], found[3], found[4]) == (0.0, 0.0, 60.0)
    assert sorted((found[2], found[5])) == ([150.0, 191.0] if found[5] == 150.0 else [150.0, 200.0])
    why = [row for row in reasons(result).rows(named=True) if row["job_id"] == 5]
    assert (why[0]["reason"], why[0]["slurm"], why[0]["end"]) == ("reservation", "ReqNodeNotAvail", 150.0)


@pytest.mark.small
def test_a_promise_knows_of_the_maintenance():
    """4 nodes. 1 (3 nodes) runs to 60. 2 (4 nodes, 50 s) fits before 100 only if it begins by 50, so its turn is 150,
    and 3 (1 node, 90 s), which would have delayed a start at 60, starts at once."""
    jobs = [job(1, 0, 60, 3), job(2, 0, 50, 4), job(3, 1, 90, 1)]
    assert starts(run(jobs, 4, SERVICE, policy="fcfs-easy")) == {1: 0.0, 2: 150.0, 3: 1.0}
    assert starts(run(jobs, 4, policy="fcfs-easy")) == {1: 0.0, 2: 60.0, 3: 110.0}


@pytest.mark.small
@pytest.mark.parametrize("policy", [*EASY, "fcfs"])
def test_a_job_without_walltime_waits_until_all_is_over(policy):
    jobs = [job(1, 0, math.inf, 1, run_time=5.0), job(2, 0, 100, 4), job(3, 160, math.inf, 1, run_time=5.0)]
    result = run(jobs, 4, SERVICE, policy=policy)
    assert starts(result) == {1: 150.0, 2: 0.0, 3: 160.0}


@pytest.mark.small
@pytest.mark.parametrize("policy", [*EASY, "fcfs", "filler"])
def test_a_reservation_for_one_user(policy):
    """All nodes are user 2's from 100 to 150. Its job 2 would run into that, and waits for 100; 3 of user 1 for 150."""
    course = Reservation(name="course", start=100.0, end=150.0, users=("2",))
    jobs = [job(1, 0, 100, 4), job(2, 10, 30, 4) | {"user": 2}, job(3, 10, 30, 4)]
    assert starts(run(jobs, 4, course, policy=policy)) == {1: 0.0, 2: 100.0, 3: 150.0}


@pytest.mark.small
def test_who_runs_on_against_its_walltime_is_left_alone():
    """Jobs are not killed at their walltimes: 1 runs into the maintenance, and 2 begins when that is over."""
    jobs = [job(1, 0, 50, 4, run_time=120.0), job(2, 0, 10, 4)]
    machine = platform(4).model_copy(update={"reservations": (SERVICE,)})
    result = forebay.simulate(workload(jobs), machine, "fcfs-easy", job_model="alloc-only:kill=false")
    assert starts(result) == {1: 0.0, 2: 150.0}


@pytest.mark.small
def test_what_is_reserved_is_told_and_left_out_of_the_open_use():
    """4 nodes for 160 s, of which 50 are reserved: jobs hold 4 x 100 before and 4 x 10 behind, all that was open."""
    result = run([job(1, 0, 100, 4), job(2, 0, 10, 4)], 4, SERVICE)
    assert result.facts["reserved"] == [{"name": "service", "start": 100.0, "end": 150.0, "nodes": [[0, 3]]}]
    assert reservations(result).rows() == [("service", 0, 3, 100.0, 150.0)]
    numbers = forebay.summary(result)
    assert numbers["utilisation_nodes"] == pytest.approx(110 / 160)
    assert (numbers["reserved_share"], numbers["open_utilisation"]) == pytest.approx((50 / 160, 1.0))
    assert "reserved_share" not in forebay.summary(run([job(1, 0, 100, 4)], 4))


@pytest.mark.small
def test_the_schedule_shows_what_is_reserved(tmp_path):
    result = run([job(1, 0, 100, 4), job(2, 0, 10, 4)], 4, SERVICE)
    gantt.draw({"fcfs": result}, tmp_path / "gantt.svg")
    rows = (tmp_path / "gantt-reserved.csv").read_text().splitlines()
    assert rows[1] == "service,0,3,100.000000,150.000000"
    assert "reserved" in (tmp_path / "gantt.svg").read_text()


@pytest.mark.small
def test_dates_need_a_workload_with_dates():
    dated = Reservation(name="service", start="2025-03-01T00:10", duration="1 h")
    jobs = workload([job(1, 0, 700, 1), job(2, 0, 600, 1)]).jobs
    machine = platform(4).model_copy(update={"reservations": (dated,)})
    epoch = 1740787200.0  # 2025-03-01 00:00 UTC
    result = forebay.simulate(forebay.Workload("dated", jobs, epoch=epoch), machine, "fcfs")
    assert starts(result) == {1: 4200.0, 2: 0.0}
    with pytest.raises(forebay.ForebayError, match=r"reservation service: .* has no dates"):
        forebay.simulate(forebay.Workload("bare", jobs), machine, "fcfs")


@pytest.mark.small
@pytest.mark.parametrize("policy", [*EASY, "fcfs", "filler"])
def test_some_nodes_alone(policy):
    """4 nodes, of which 2 and 3 have the larger device and are reserved from 100 to 150. 1 (2 nodes, 200 s) starts on
    0 and 1; 2 (2 nodes, 100 s) on the others, until these are reserved; 3 (2 nodes, 200 s) waits for 150."""
    from forebay.platforms import Platform
    from forebay.platforms.tiers import node_local

    device = node_local.Tier(name="ssd", capacity=1, large=2, large_nodes=2)
    machine = Platform(name="two", nodes=4, tiers=(device,))
    jobs = [job(1, 0, 200, 2, ssd=0), job(2, 0, 100, 2, ssd=0), job(3, 0, 200, 2, ssd=0), job(4, 120, 30, 1, ssd=0)]
    part = Reservation(name="part", start=100.0, duration=50.0, nodes="2-3")
    result = run(jobs, 4, part, policy=policy, machine=machine)
    found = starts(result)
    assert (found[1], found[2], found[3]) == (0.0, 0.0, 150.0)
    places = dict(result.jobs.select("job_id", "allocated_resources").rows())
    assert (places[1], places[2]) == ("0-1", "2-3")
    for row in result.jobs.rows(named=True):
        if set(row["allocated_resources"]) & {"2", "3"}:
            assert row["finish_time"] <= 100.0 or row["starting_time"] >= 150.0


@pytest.mark.small
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"start": 5.0}, "needs an end or a duration"),
        ({"start": 5.0, "end": 6.0, "duration": 1.0}, "and not both"),
        ({"start": 5.0, "end": 5.0}, "ends before it begins"),
        ({"start": "soon", "duration": 5.0}, "is no moment"),
        ({"start": math.inf, "duration": 5.0}, "is no moment"),
        ({"start": 5.0, "duration": 5.0, "flags": ("maint",), "users": ("2",)}, "is maintenance and has users"),
        ({"start": 5.0, "duration": 5.0, "flags": ("mait",)}, "mait"),
    ],
)
def test_reservations_that_make_no_sense_are_refused(given, words):
    with pytest.raises(forebay.ForebayError, match=words):
        Reservation(name="r", **given)


@pytest.mark.small
def test_nodes_that_are_not_there():
    with pytest.raises(forebay.ForebayError, match="is of node 4, and nodes are numbered from 0 to 3"):
        forebay.Platform(name="m", nodes=4, reservations=(Reservation(name="r", start=1.0, duration=1.0, nodes="2-4"),))


def check_seed(seed):
    """One workload with reservations of all nodes, under a preset and two random policies; with rules as well."""
    made, machine = pooled.make(seed)
    made = site.with_accounts(made, seed)
    planned = site.reservations(seed)
    names = sorted(PRESETS)
    policies = [(names[seed % len(names)], PRESETS[names[seed % len(names)]])]
    for draw in range(2):
        policies.append((Backfill(**pooled.policy(10 * seed + draw, ALL)), pooled.policy(10 * seed + draw, math.inf)))
    for policy, params in policies:
        given = tuple(Reservation(name=f"r{k}", **one) for k, one in enumerate(planned))
        slow = simulate(made, machine, params, f"alloc-only:kill={str(seed % 2 > 0).lower()}", planned=planned)
        compare(slow, made, machine.model_copy(update={"reservations": given}), policy)


@pytest.mark.parametrize("chunk", chunks(1, CHUNKS))
def test_reservations_equal_naive(chunk):
    for seed in range(50_000 + chunk * CHUNK, 50_000 + (chunk + 1) * CHUNK):
        check_seed(seed)


@uncompiled
@pytest.mark.parametrize("seed", range(1400, 1406))
def test_reservations_equal_naive_small(seed):
    check_seed(seed)
