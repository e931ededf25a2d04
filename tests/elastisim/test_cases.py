"""Projects that ElastiSim has run: their rows, and that these take as long as it says where nobody else is about."""

import csv
import json
import math
import shutil

import pytest

from forebay.elastisim import project

pytestmark = pytest.mark.small

INF = math.inf
MICRO = [
    *("adaptive", "disk", "evolve", "expand", "latency", "messages", "order", "patterns", "read_write", "reconfigure"),
    *("reserve", "share", "shrink", "striped", "ties", "unequal", "walltime", "walltime_tie"),
]


@pytest.fixture
def case(cases):
    return lambda name: project.read(cases / name / "configuration.json")


def recorded(cases, name):
    """By job: how long it ran, and whether it changed its size or was killed."""
    with open(cases / name / "exact.csv", newline="") as file:
        return {
            int(row["job"]): (float(row["end"]) - float(row["start"]), row["resizes"] == "0", row["state"])
            for row in csv.DictReader(file)
        }


def alone(made, job):
    """Seconds that a job takes at its preferred size without company."""
    applications, fabric = made.workload.applications, made.machine.platform.fabric()
    (nodes,) = made.workload.jobs.filter(id=job)["nodes"]
    rounds = dict(applications.loops.filter(job=job).select("loop", "rounds").rows())
    rows = applications.tasks.filter(job=job, stage="run").join(
        applications.amounts.filter(job=job, nodes=nodes), on=["job", "task"]
    )
    return math.fsum(rounds[row["loop"]] * seconds(made, fabric, row, nodes) for row in rows.iter_rows(named=True))


def seconds(made, fabric, row, nodes):
    if row["kind"] == "compute":
        work = row["seconds"] + row["flop"] / made.machine.platform.speed
        crossing = row["communication"] * (nodes - 1) / fabric.port
        delay = fabric.latency if crossing else 0.0
        return delay + max(work, crossing) if row["coupled"] else max(work, delay + crossing)
    if row["bytes"] == 0:
        return 0.0
    store = fabric.stores[0] if fabric.stores else None
    wire = {
        "read": fabric.read,
        "write": fabric.write,
        "fetch": store and store.fetch[0][0],
        "checkpoint": store and store.checkpoint[0][0],
    }[row["kind"]]
    links = dict(zip(fabric.names, fabric.capacity, strict=True))
    at_once = row["streams"] if row["kind"] in ("read", "write") else min(row["streams"], nodes)  # on devices: stripes
    rate = min([wire.cap, *(links[name] / at_once for name in wire.links)])
    messages = row["communication"] * (nodes - 1) / fabric.port
    return max(wire.delay + row["bytes"] / at_once / rate, fabric.latency + messages if messages else 0.0)


@pytest.mark.parametrize("name", MICRO)
def test_every_case_is_read(case, cases, name):
    made = case(f"micro/{name}")
    listed = json.loads((cases / "micro" / name / "jobs.json").read_text())["jobs"]
    assert len(made.workload) == len(listed) == len(made.workload.applications.jobs)
    assert made.machine.platform.nodes == 16
    assert made.workload.notes in (
        (),
        ("jobs are numbered in the order of their submission, which is not that of the file",),
    )


@pytest.mark.parametrize(
    ("name", "jobs"),
    [
        ("micro/latency", [0, 1, 2, 3]),
        ("micro/messages", range(9)),
        ("micro/patterns", [3, 4, 5, 6, 7]),
        ("micro/read_write", [0, 1]),
        ("micro/order", range(4)),
        ("micro/disk", [0]),
        ("micro/expand", [0]),
        ("micro/evolve", [1]),
        ("micro/shrink", [1, 2]),
        ("micro/reconfigure", [1]),
        ("micro/reserve", [0, 2]),
        ("micro/striped", range(4)),
        ("micro/ties", [0, 1, 4, 5, 6]),
        ("micro/walltime", [0, 3]),
        ("micro/walltime_tie", [1]),
    ],
)
def test_rows_take_the_time_that_elastisim_says(case, cases, name, jobs):
    made, told = case(name), recorded(cases, name)
    for job in jobs:
        run, one_size, state = told[job]
        assert (one_size, state) == (True, "completed")
        assert alone(made, job) == pytest.approx(run, abs=1e-9)


def test_jobs_of_one_size_take_their_time_where_the_file_system_never_limits(case, cases):
    made, told = case("shrink-exact-9"), recorded(cases, "shrink-exact-9")
    kinds = made.workload.applications.jobs["type"].to_list()
    rigid = [job for job, kind in enumerate(kinds) if kind == "rigid"]
    assert len(rigid) > 50
    for job in rigid:
        assert alone(made, job) == pytest.approx(told[job][0], abs=1e-6)


def test_requests_of_the_evolving_cases(case):
    made = case("micro/evolve").workload.applications
    first = {(r, n): wants for _, _, r, n, wants in made.requests.filter(job=0).rows()}
    # num_nodes + 1.9 + phase_iteration / 10, cut, up to 9
    assert [first[1, 2], first[2, 4], first[3, 6], first[6, 8], first[6, 9]] == [4, 6, 8, 9, 9]
    second = made.requests.filter(job=2)
    assert set(second["loop"]) == {1}
    assert second.filter(nodes=3)["wants"].to_list() == [4, 5, 6]


def test_points_of_the_adaptive_case(case):
    made = case("micro/adaptive").workload.applications
    assert made.loops.filter(job=1).select("loop", "rounds", "point").rows() == [
        (0, 3, True),
        (1, 3, False),
        (2, 3, False),
    ]
    assert set(made.requests.filter(job=1)["loop"]) == {1}
    assert set(made.requests.filter(job=1)["wants"]) == {2}


def test_stages_of_the_reconfigured_case(case):
    made = case("micro/reconfigure").workload.applications
    at = {(task, nodes): seconds for _, task, nodes, seconds, *_ in made.amounts.filter(job=0).rows()}
    assert (at[0, 16], at[2, 4], at[2, 16], at[3, 12]) == (17.0, 10.0, 10.0, 12.0)
    assert made.tasks.filter(job=0)["stage"].to_list() == ["init", "run", "reconfiguration", "expansion"]


def test_buffers_and_asynchronous_writes(case):
    made = case("micro/disk").workload.applications
    assert made.loops["barrier"].to_list() == [True, False, True, True]
    assert made.tasks.filter(beside=True).select("job", "kind").rows() == [
        (1, "write"),
        (2, "write"),
        (3, "checkpoint"),
    ]


def test_walltimes_of_the_killed(case):
    assert case("micro/walltime").workload.jobs["walltime"].to_list() == [11, 9, 12, INF, 22]
    assert case("micro/ties").workload.jobs["walltime"].to_list() == [INF, INF, INF, 10, INF, INF, INF]


def test_the_contended_cases_are_read(case, cases):
    for name in ("malleable-shrink-9", "shrink-exact-9"):
        made = case(name)
        assert len(made.workload) == 200
        assert made.machine.names[:4] == ("n_0", "n_1", "n_10", "n_100")


def test_the_example_is_read(cases, tmp_path):
    """As in ElastiSim's example project, where paths are those of its root."""
    data = tmp_path / "data" / "input"
    data.mkdir(parents=True)
    for ours, theirs in (
        ("application_model.json", data),
        ("jobs.json", data),
        ("crossbar.xml", data),
        ("configuration.json", tmp_path),
    ):
        shutil.copyfile(cases / f"example_{ours}", theirs / ours)
    made = project.read(tmp_path / "configuration.json")
    counts = dict(made.workload.applications.jobs["type"].value_counts().rows())
    assert counts == {"rigid": 238, "moldable": 163, "malleable": 74, "evolving": 19, "adaptive": 6}
    assert made.machine.platform.nodes == 128
    assert made.workload.notes == ()
    assert made.configuration.io_information
    first = made.workload.applications
    assert first.tasks.filter(job=0).select("stage", "loop", "kind", "coupled").rows() == [
        ("init", -1, "read", False),
        ("init", -1, "compute", False),
        ("run", 0, "compute", True),
        ("run", 0, "write", False),
        ("reconfiguration", -1, "read", False),
        ("reconfiguration", -1, "compute", False),
    ]
