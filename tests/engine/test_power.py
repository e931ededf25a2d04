"""What nodes draw: energy solved by hand, caps that any policy keeps, and nodes that are switched off."""

import math

import pytest

import forebay
from cases.pooled import workload
from forebay.errors import InputError
from forebay.metrics import energy, power, summary
from forebay.platforms import NodeClass, Platform
from forebay.platforms.tiers import pool
from forebay.workload import job_table
from forebay.workload.workload import Workload

pytestmark = pytest.mark.small


def machine(nodes=4, tiers=(), **more):
    return Platform(name="m", nodes=nodes, tiers=tiers, power={"idle": 100, "busy": 300, **more})


def job(number, submit, length, nodes, **more):
    return {"id": number, "submit": float(submit), "walltime": float(length), "nodes": nodes, **more}


def joules(result):
    return dict(result.jobs.select("job_id", "consumed_energy").rows())


def test_idle_and_busy_nodes_by_hand():
    """4 nodes of 100 W idle, 300 W busy. Job 1 has 4 nodes from 10 to 310, job 2 has 2 from 310 to 910.

    Jobs: 4 x 300 x 300 = 360 kJ and 2 x 300 x 600 = 360 kJ. Idle: 2 nodes x 100 W x 600 s = 120 kJ. From 10 to 910.
    """
    result = forebay.simulate(workload([job(1, 10, 300, 4), job(2, 60, 600, 2)]), machine(), "fcfs")
    assert joules(result) == {1: 360e3, 2: 360e3}
    assert energy(result) == 840e3
    assert power(result).rows() == [(10.0, 1200.0), (310.0, 800.0), (910.0, 400.0)]
    numbers = summary(result)
    assert (numbers["energy"], numbers["max_power"]) == (840e3, 1200.0)
    assert numbers["mean_power"] == pytest.approx(840e3 / 900)


def test_classes_and_jobs_that_say_what_they_draw_by_hand():
    """2 small nodes as the machine says (100 W, 300 W), then 2 large ones of 200 W and 1 kW.

    Job 1 has nodes 0 to 2 for 10 s: 2 x 300 + 1,000 = 1,600 W. Job 2 says that it draws 50 W a node and has node 3 for
    20 s from 0. Idle: node 0 to 2 from 10 to 20 (400 W); nothing before.
    """
    classes = (NodeClass(name="small", nodes=2), NodeClass(name="large", nodes=2, idle="200 W", busy="1 kW"))
    platform = Platform(name="m", classes=classes, power={"idle": "100 W", "busy": "300 W"})
    jobs = {"id": [1, 2], "submit": [0, 0], "walltime": [10, 20], "run_time": [10, 20], "nodes": [3, 1]}
    plain = forebay.simulate(Workload("w", job_table(jobs)), platform, "fcfs")
    assert joules(plain) == {1: 16e3, 2: 20e3}
    assert power(plain).rows() == [(0.0, 2600.0), (10.0, 1400.0), (20.0, 600.0)]
    table = job_table({**jobs, "power": [300.5, 50.0]}, own=["power"])
    result = forebay.simulate(Workload("w", table), platform, "fcfs")
    assert joules(result) == {1: 3 * 300.5 * 10, 2: 1000.0}
    assert energy(result) == 9015.0 + 1000.0 + 4000.0


def test_whole_watts_of_jobs_are_no_demand():
    jobs = {"id": [1], "submit": [0], "walltime": [10], "run_time": [10], "nodes": [2], "power": [250]}
    result = forebay.simulate(Workload("w", job_table(jobs)), machine(), "fcfs")
    assert joules(result) == {1: 5000.0}
    assert result.facts["notes"] == []


def test_legs_and_nodes_given_back_early_count_as_they_are_held():
    """Job 1 stages 10 s without nodes, then has 3 nodes for 20 s, of which 1 goes back after 5 s."""
    legs = [
        {"job": 1, "leg": 0, "walltime": 10.0, "nodes": 0, "carry": ""},
        {"job": 1, "leg": 1, "walltime": 20.0, "nodes": 3, "carry": ""},
    ]
    phases = [
        {"job": 1, "leg": 0, "seconds": 10.0},
        {"job": 1, "leg": 1, "seconds": 5.0, "release": "nodes=1"},
        {"job": 1, "leg": 1, "seconds": 15.0},
    ]
    result = forebay.simulate(workload([job(1, 0, 30, 3)], legs, phases), machine(), "fcfs")
    assert joules(result) == {1: 300.0 * (3 * 5 + 2 * 15)}
    assert energy(result) == 30 * 400.0 + 200.0 * (3 * 5 + 2 * 15)


def test_a_window_integrates_over_its_own_time():
    jobs = workload([job(1, 0, 300, 4), job(2, 60, 600, 2)])
    result = forebay.simulate(jobs, machine(), "fcfs")
    assert energy(forebay.metrics.window(result, 0, 350)) == 300 * 1200.0 + 50 * 800.0
    result = forebay.simulate(Workload("w", jobs.jobs.with_columns(power=200.5)), machine(), "fcfs")
    assert energy(result) is not None
    assert energy(forebay.metrics.window(result, 0, 50)) is None  # which jobs draw what is known of those in it alone


def test_without_power_nothing_is_known():
    result = forebay.simulate("table1")
    assert joules(result) == dict.fromkeys(range(1, 9), -1.0)
    assert energy(result) is None
    assert power(result).is_empty()
    assert not {"energy", "mean_power", "max_power"} & summary(result).keys()


def test_energy_changes_no_log():
    jobs = workload([job(1, 10, 300, 4), job(2, 60, 600, 2)])
    without = forebay.simulate(jobs, Platform(name="m", nodes=4), "fcfs-easy")
    assert forebay.simulate(jobs, machine(), "fcfs-easy").facts["log_sha256"] == without.facts["log_sha256"]


def test_results_are_saved_with_it(tmp_path):
    result = forebay.simulate(workload([job(1, 10, 300, 4), job(2, 60, 600, 2)]), machine(), "fcfs")
    result.save(tmp_path / "run")
    assert energy(forebay.load(tmp_path / "run")) == 840e3


NODES = 'nodes = 4\n[power]\nidle = "100 W"\nbusy = "300 W"\n'
CLASSES = "[classes.a]\nnodes = 4\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('nodes = 4\n[power]\nidle = "-1 W"\nbusy = "300 W"', "idle: -1.0 W is below 0"),
        ('nodes = 4\n[power]\nidle = 100\nbusy = "300 W"', "idle: '100' has no unit"),
        ('nodes = 4\n[power]\nidle = "nan W"\nbusy = "300 W"', "idle: 'nan W' is not a number with a unit"),
        ('nodes = 4\n[power]\nidle = "100 J"\nbusy = "300 W"', "'J' is not a unit of power"),
        ('nodes = 4\n[power]\nidle = "100 mW"\nbusy = "300 W"', "'mW' is not a unit of power"),
        ('nodes = 4\n[power]\nidle = "9e99 W"\nbusy = "300 W"', "no power that a machine can draw"),
        ('nodes = 4\n[power]\nidle = "100 W"', 'busy: missing; write busy = "300 W"'),
        ('nodes = 4\n[power]\nidel = "100 W"\nidle = "1 W"\nbusy = "2 W"', "idel: unknown key; did you mean 'idle'?"),
        ('nodes = 4\n[power]\nidle = "100 W"\nbusy = "50 W"', "write more for busy"),
        ('nodes = 4\npower = "40 kW"', "power: must be a table: write [power]"),
        (NODES + 'cap = "399 W"', "cap: 399 W is less than the 400 W that the machine draws idle"),
        (NODES + "shutdown = true", "shutdown: must be a table"),
        (NODES + 'shutdown = {after = "10 min", off_watts = "5 W"}', 'boot: missing; write boot = "2 min"'),
        (NODES + 'shutdown = {after = "0 s", boot = "1 s", off_watts = "5 W"}', "after: zero time is refused"),
        (NODES + 'shutdown = {after = "1 s", boot = "1 s", off_watts = "101 W"}', "write less for off_watts"),
        (NODES + 'shutdown = {after = "1 s", boots = "1 s"}', "boots: unknown key; did you mean 'boot'?"),
        (CLASSES + 'idle = "3 W"', "class a says what its nodes draw; write [power]"),
        (CLASSES + 'idle = "3 W"\n[power]\nidle = "1 W"\nbusy = "2 W"', "class a: a busy node would draw 2 W"),
        (CLASSES + 'idle = "3 J"\n[power]\nidle = "1 W"\nbusy = "2 W"', "classes.a.idle: '3 J'"),
        ('sharing = true\n[classes.a]\nnodes = 2\n[power]\nidle = "1 W"\nbusy = "2 W"', "leave sharing out, or power"),
    ],
)
def test_what_a_platform_cannot_say(tmp_path, text, said):
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(InputError) as found:
        forebay.platform(path)
    assert said in str(found.value)
    assert "\n" not in str(found.value)


def test_a_tier_and_a_column_of_one_name_are_refused():
    tiers = (pool.Tier(name="power", capacity=9),)
    jobs = {"id": [1], "submit": [0], "walltime": [9], "run_time": [9], "nodes": [1], "power": [3]}
    both = machine(tiers=tiers)
    with pytest.raises(InputError, match="a tier is called power, as the column in which jobs say what they draw"):
        forebay.simulate(Workload("w", job_table(jobs)), both, "fcfs")
    one = Platform(name="m", nodes=4, tiers=tiers)
    assert forebay.simulate(Workload("w", job_table(jobs)), one, "fcfs").jobs["power"].to_list() == [3]


@pytest.mark.parametrize(
    ("watts", "said"),
    [
        ([-1.0, 2.5], "job 1 draws -1 W a node"),
        ([1.5, math.nan], "job 2 draws nan W a node"),
        ([1.5, math.inf], "job 2 draws inf W a node"),
        (["much", "more"], "the column power is 'much' in the first row"),
    ],
)
def test_what_a_job_cannot_draw(watts, said):
    jobs = {"id": [1, 2], "submit": [0, 0], "walltime": [9, 9], "run_time": [9, 9], "nodes": [1, 1], "power": watts}
    with pytest.raises(InputError, match=said):
        forebay.simulate(Workload("w", job_table(jobs, own=["power"])), machine(), "fcfs")
