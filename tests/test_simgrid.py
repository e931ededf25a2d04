"""SimGrid itself as the judge: how links are shared, which links a Dragonfly's routes take, whole runs.

SimGrid runs in a process of its own, by tests/simgrid_run.py; scenarios are described there.
"""

import json
import random
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import polars as pl
import pytest

import forebay
from cases import transfers
from engine.test_flows import run
from forebay.platforms import load
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import pfs, shared_bb
from forebay.platforms.topologies import dragonfly
from twins.backfill import PRESETS, simulate
from twins.compare import ids
from twins.network import Dragonfly, Network

PYTHON = "/usr/bin/python3"  # Debian's, which python3-simgrid installs its module for

pytestmark = pytest.mark.full

INF = float("inf")
GB = 10**9


@pytest.fixture(autouse=True, scope="module")
def simgrid():
    """Without SimGrid there is nothing to compare with."""
    try:
        subprocess.run([PYTHON, "-c", "import simgrid"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"{PYTHON} has no module simgrid; scripts/install-simgrid gets it on Debian")


def near(end):
    """SimGrid counts ends less than 1e-9 s apart as one (its surf/precision); beyond that only rounding differs."""
    return pytest.approx(end, rel=1e-12, abs=1e-9)


def play(**scenario):
    """What SimGrid makes of a scenario."""
    command = [PYTHON, str(Path(__file__).with_name("simgrid_run.py"))]
    done = subprocess.run(command, input=json.dumps(scenario), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def played(capacity, routes, events):
    """When each transfer ends, by SimGrid; arguments and answer as those of `run`. A weight is a number of flows."""
    jobs = {}
    for time, kind, name, *rest in events:
        if kind == "leave":
            jobs[name]["kill"] = time
            continue
        (cap, loads), weight, amount = routes[rest[0]], *rest[1:]
        assert amount % weight == 0, "a flow has whole bytes"
        stream = {"count": weight, "bytes": amount // weight, "links": [str(k) for k in loads]}
        stream["cap"] = None if cap == INF else cap
        jobs[name] = {"start": time, "phases": [{"streams": [stream]}]}
    answer = play(links={str(k): rate for k, rate in enumerate(capacity)}, jobs=list(jobs.values()))
    return {name: end for name, (end,), (left,) in zip(jobs, answer["ends"], answer["left"], strict=True) if left == 0}


def check_ends(capacity, routes, events):
    """Both agree on who ends, and when. Returns the ends."""
    ours, theirs = run(capacity, routes, events), played(capacity, routes, events)
    assert ours == {name: near(end) for name, end in theirs.items()}
    return ours


def test_one_alone_and_two_alike():
    # 10 GB at 5 GB/s; then twice as much
    one = (0.0, "join", 0, 0, 1, 10 * GB)
    assert check_ends([5e9], [(INF, {0: 1})], [one]) == {0: near(2.0)}
    two = (0.0, "join", 1, 0, 1, 10 * GB)
    assert check_ends([5e9], [(INF, {0: 1})], [one, two]) == {0: near(4.0), 1: near(4.0)}


@pytest.mark.parametrize("n", range(1, 11))
def test_one_link(n):
    rng = random.Random(n)
    starts = sorted(rng.uniform(0, 5) for _ in range(n))
    events = [(time, "join", i, 0, 1, rng.randint(1, 20 * GB)) for i, time in enumerate(starts)]
    check_ends([5e9], [(INF, {0: 1})], events)


def test_weights_of_one_and_three():
    # 4 and 12 flows, 10 and 12 GB: 1.25 and 3.75 GB/s; the second ends at 3.2 s, the first has 6 GB left: 4.4 s
    events = [(0.0, "join", 0, 0, 4, 10 * GB), (0.0, "join", 1, 0, 12, 12 * GB)]
    assert check_ends([5e9], [(INF, {0: 1})], events) == {0: near(4.4), 1: near(3.2)}


def test_parking_lot():
    # Links of 4 and 10 GB/s. The long flow (20 GB) and a short one (4 GB) have 2 GB/s each of the first, which leaves
    # 8 GB/s of the second for the other (40 GB). The short one ends at 2 s; then the long one has 16 GB left at 4 GB/s,
    # the other 24 GB at 6 GB/s: both 6 s.
    routes = [(INF, {0: 1, 1: 1}), (INF, {0: 1}), (INF, {1: 1})]
    events = [(0.0, "join", i, i, 1, size * GB) for i, size in enumerate((20, 4, 40))]
    assert check_ends([4e9, 10e9], routes, events) == {0: near(6.0), 1: near(2.0), 2: near(6.0)}


def random_system(rng):
    """Up to 4 links, 8 routes, some of them capped, and 20 flows, some of them broken off."""
    capacity = [rng.uniform(0.5, 8) * 1e9 for _ in range(rng.randint(1, 4))]
    links = range(len(capacity))
    routes = [
        (
            rng.choice((INF, INF, rng.uniform(0.05, 2) * 1e9)),
            dict.fromkeys(rng.sample(links, rng.randint(1, len(links))), 1),
        )
        for _ in range(rng.randint(1, 8))
    ]
    events = []
    for name in range(rng.randint(1, 20)):
        time, weight = rng.uniform(0, 20), rng.choice((1, 1, 2, 3, 4, 12))
        events.append(
            (time, "join", name, rng.randrange(len(routes)), weight, weight * rng.randint(1, 10 * GB // weight))
        )
        if rng.random() < 0.2:
            events.append((time + rng.uniform(0, 10), "leave", name))
    return capacity, routes, sorted(events)


@pytest.mark.parametrize("seed", range(30))
def test_random_systems(seed):
    check_ends(*random_system(random.Random(seed)))


CLUSTER = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="nodes" prefix="slot" suffix="" radical="0-{last}" speed="1Gf" bw="{bandwidth}Bps" lat="0s"
             topology="DRAGONFLY" topo_parameters="{groups},1;{chassis},1;{routers},1;{ports}"/>
    <zone id="files" routing="Full">
      <host id="file system" speed="1Gf"/>
      <host id="buffer" speed="1Gf"/>
      <link id="pfs" bandwidth="{pfs}Bps" latency="0s"/>
      <route src="file system" dst="buffer"><link_ctn id="pfs"/></route>
    </zone>
  </zone>
</platform>
"""


def write_cluster(folder, topology, files=5e9):
    """A Dragonfly of SimGrid's own, and beside it a link to the file system, which all that is staged crosses."""
    shape = {name: getattr(topology, name) for name in ("groups", "chassis", "routers", "ports")}
    last = topology.groups * topology.chassis * topology.routers * topology.ports - 1
    path = folder / "cluster.xml"
    path.write_text(CLUSTER.format(last=last, bandwidth=topology.bandwidth, pfs=files, **shape))
    return str(path)


def our_name(link, topology):
    """A link of SimGrid's Dragonfly in our words.

    Theirs end in a number and a direction. Ports have the numbers of their slots; the green links follow, chassis by
    chassis, and only their number tells their group.
    """
    colour, *words, number, way = link.split("_")
    counts = [int(word) for word in words if word.isdigit()]
    if colour == "local":
        return f"port {number} {way}"
    if colour == "green":
        chassis, a, b = counts
        slots = topology.groups * topology.chassis * topology.routers * topology.ports
        place = (int(number) - slots) // (topology.routers * (topology.routers - 1) // 2)
        assert place % topology.chassis == chassis
        name, letter = f"green g{place // topology.chassis}c{chassis}", "r"
    elif colour == "black":
        group, a, b, router = counts
        name, letter = f"black g{group}r{router}", "c"
    else:
        a, b, *_ = counts
        name, letter = "blue", "g"
    a, b = (a, b) if way == "UP" else (b, a)
    return f"{name} {letter}{a}>{letter}{b}"


@pytest.mark.parametrize("shape", [(3, 4, 3, 3), (2, 3, 4, 2)])
def test_routes(shape, tmp_path):
    """Between all slots, link by link."""
    sizes = dict(zip(("groups", "chassis", "routers", "ports"), shape, strict=True))
    topology = dragonfly.Topology(**sizes, bandwidth=1.25e9, routing="simgrid")
    slots = range(shape[0] * shape[1] * shape[2] * shape[3])
    network = topology.network(len(slots), 0)
    routes = play(platform=write_cluster(tmp_path, topology), routes=[f"slot{slot}" for slot in slots])["routes"]
    assert len(routes) == len(slots) * (len(slots) - 1)
    for start, end, links in routes:
        a, b = int(start.removeprefix("slot")), int(end.removeprefix("slot"))
        pair = network.site[a] * network.n_sites + network.site[b]
        between = [network.names[k] for k in network.links[network.first[pair] : network.first[pair + 1]]]
        assert [f"port {a} UP", *between, f"port {b} DOWN"] == [our_name(link, topology) for link in links], (a, b)


KINDS = ("stage_in", "compute", "checkpoint", "drain", "compute", "write", "checkpoint", "drain", "read", "stage_out")


def jobs_of(rows):
    """A workload of (submit, nodes, bytes of buffer a node, walltime, [(kind, seconds or share of the buffer)])."""
    jobs, phases = [], []
    for number, (submit, nodes, each, walltime, steps) in enumerate(rows, 1):
        size = nodes * each
        jobs.append({"id": number, "submit": submit, "nodes": nodes, "burst_buffer": size, "walltime": walltime})
        for kind, value in steps:
            values = {"seconds": value} if kind == "compute" else {"bytes": size * value}
            phases.append({"job": number, "leg": 0, "kind": kind, **values})
    return transfers.workload(jobs, phases=phases)


def random_jobs(rng):
    """Jobs that come while others stage, and phases of seconds: everything meets. Every flow has whole bytes."""
    rows = []
    for _ in range(rng.randint(6, 12)):
        steps = [(kind, rng.uniform(1, 20) if kind == "compute" else 0.5) for kind in KINDS]
        steps = [(kind, 1.0) if kind.startswith("stage") else (kind, value) for kind, value in steps]
        walltime = rng.choice((10_000.0, 10_000.0, rng.uniform(5, 100)))
        rows.append((rng.uniform(0, 30), rng.randint(1, 24), 2 * rng.randint(GB // 10, 6 * GB), walltime, steps))
    return jobs_of(rows)


def scenario_of(workload, result, servers, streams_of):
    """Jobs that begin where and when they did in a run. Each phase knows its kind and the bytes that it moves."""
    jobs = []
    for row in result.jobs.sort("job_id").to_dicts():
        start, job = row["starting_time"], row["job_id"]
        nodes, phases = sorted(ids(row["allocated_resources"])), []
        for phase in workload.phases.filter(pl.col("job") == job).to_dicts():
            kind, streams = phase["kind"], []
            if kind != "compute":
                streams = streams_of(kind, phase["bytes"], nodes, servers[job, 0])
            if kind == "drain":  # the log has a row for each server, where servers differ in what is crossed
                phases += [{"kind": kind, "streams": [stream], "beside": True} for stream in streams]
            else:
                phases.append({"kind": kind, "seconds": phase["seconds"], "streams": streams})
        jobs.append({"id": job, "start": start, "kill": start + row["requested_time"], "phases": phases})
    return jobs


def check_run(workload, machine, streams_of, **network):
    """A whole run: SimGrid has the same starts and places; there every phase must end when it does here.

    `streams_of` gives the streams of a phase from its kind, its bytes and its job's nodes and their servers. Returns
    {(job id, kind, "time" or "bytes"): of each phase}.
    """
    result = forebay.simulate(workload, machine, "fcfs", job_model="io-aware")
    jobs = scenario_of(workload, result, simulate(workload, machine, PRESETS["fcfs"], "io-aware").chunks, streams_of)
    answer, ours, theirs = play(jobs=jobs, **network), defaultdict(list), defaultdict(list)
    for job, ends, left in zip(jobs, answer["ends"], answer["left"], strict=True):
        for phase, end, rest in zip(job["phases"], ends, left, strict=True):
            if end is not None:
                moved = sum(stream["bytes"] * stream["count"] for stream in phase["streams"]) - rest
                theirs[job["id"], phase["kind"], "time"].append(end)
                theirs[job["id"], phase["kind"], "bytes"].append(moved)
    for time, job, kind, amount in result.log.filter(kind="end_phase").select("time", "job", "reason", "amount").rows():
        ours[job, kind, "time"].append(time)
        ours[job, kind, "bytes"].append(amount)
    # the log has whole bytes; those of a phase that is broken off are uncertain by 1e-9 s at 5 GB/s
    close = {"time": near, "bytes": lambda moved: pytest.approx(moved, abs=6)}
    expected = {key: [close[key[2]](value) for value in sorted(values)] for key, values in theirs.items()}
    assert {key: sorted(values) for key, values in ours.items()} == expected
    return ours


def check_on_cluster(workload, tmp_path):
    """A run on the published machine: checkpoints go between slots of SimGrid's own Dragonfly, by its own routes."""
    machine = load("dragonfly-96")
    stores = Dragonfly(machine.topology).server_slots
    slots = [slot for slot in range(108) if slot not in stores]

    def streams_of(kind, size, nodes, servers):
        each = int(size) // len(nodes)
        if kind != "checkpoint":
            return [{"hosts": ["file system", "buffer"], "count": len(nodes), "bytes": each}]
        pairs = [[f"slot{slots[node]}", f"slot{stores[server]}"] for node, server in zip(nodes, servers, strict=True)]
        return [{"hosts": pair, "count": 1, "bytes": each} for pair in pairs]

    return check_run(workload, machine, streams_of, platform=write_cluster(tmp_path, machine.topology))


def test_stage_ins_at_once(tmp_path):
    # 4, 12 and 8 nodes read 2, 1 and 3 GB each over 5 GB/s: 24 flows of 5/24 GB/s. The 12 end at 24/5 = 4.8 s; the
    # others then have 5/12 GB/s: 4 of them 1 GB more, 4.8 + 2.4 = 7.2 s; the last 8 then 1 GB at 5/8: 7.2 + 1.6 = 8.8 s
    rows = [(0.0, nodes, each * GB, 1e4, [("stage_in", 1.0)]) for nodes, each in ((4, 2), (12, 1), (8, 3))]
    ends = check_on_cluster(jobs_of(rows), tmp_path)
    assert [ends[job, "stage_in", "time"] for job in (1, 2, 3)] == [[near(7.2)], [near(4.8)], [near(8.8)]]


def test_checkpoints_through_one_port(tmp_path):
    # Nodes 0 to 7 share a chassis, so 3 + 5 flows of 1 GB enter one server at 1.25 GB/s: 8 / 1.25 = 6.4 s
    rows = [(0.0, nodes, GB, 1e4, [("checkpoint", 1.0)]) for nodes in (3, 5)]
    ends = check_on_cluster(jobs_of(rows), tmp_path)
    assert [ends[job, "checkpoint", "time"] for job in (1, 2)] == [[near(6.4)], [near(6.4)]]


@pytest.mark.parametrize("seed", range(10))
def test_runs_on_a_cluster(seed, tmp_path):
    ends = check_on_cluster(random_jobs(random.Random(seed)), tmp_path)
    assert len(ends) > 20


@pytest.mark.parametrize(
    ("nodes", "seconds"), [(2, 60.0), (5, 0.5), (8, 1.0), (9, 1.0), (20, 5.0), (40, 9.0), (96, 9.0)]
)
def test_all_to_all(nodes, seconds, tmp_path):
    """A job alone, whose nodes send 0.3 GB to each other as they compute: a parallel task of SimGrid's.

    Only alone: where tasks meet on a link, SimGrid gives each the same share of it. Ours get the same rate on the link
    that each loads most, and elsewhere less. At 20 nodes minimal routes would take 5.76 s instead of 12.24.
    """
    machine, each = load("dragonfly-96"), 3 * GB // 10
    job = {"id": 1, "submit": 0.0, "nodes": nodes, "run_time": seconds, "walltime": 1e4, "communication": float(each)}
    ours = forebay.simulate(transfers.workload([job | {"burst_buffer": 0}]), machine, "fcfs").jobs["finish_time"][0]
    stores = Dragonfly(machine.topology).server_slots
    hosts = [f"slot{slot}" for slot in range(108) if slot not in stores][:nodes]
    task = {"hosts": hosts, "flop": seconds * machine.speed, "bytes": each}
    scenario = {"platform": write_cluster(tmp_path, machine.topology), "config": {"host/model": "ptask_L07"}}
    theirs = play(**scenario, jobs=[{"start": 0.0, "phases": [{"task": task}]}])["ends"][0][0]
    assert ours == near(theirs)


def small_machine():
    """Minimal routes, a file system of two lanes, whose traffic crosses the servers' ports."""
    sizes = {"groups": 2, "chassis": 3, "routers": 4, "ports": 2, "storage": 1}
    buffer = shared_bb.Tier(name="burst_buffer", capacity=6 * 96 * GB, placement="chunked", bandwidth=6 * 0.9e9)
    tiers = (buffer, pfs.Tier(name="pfs", read=4e9, write=3e9))
    return Platform(name="small", nodes=42, topology=dragonfly.Topology(**sizes, bandwidth=1.1e9), tiers=tiers)


@pytest.mark.parametrize("machine", [load("dragonfly-96-nic"), small_machine()], ids=lambda machine: machine.name)
@pytest.mark.parametrize("seed", range(100, 105))
def test_runs_through_ports(seed, machine):
    """Link by link: file system, ports of servers, and the caps of nodes' own ports."""
    network, links = Network(machine), {}

    def streams_of(kind, size, nodes, servers):
        counts = Counter(
            (each, cap, tuple(crossed))
            for each, cap, crossed in network.streams(kind, size, nodes, len(nodes), servers)
        )
        links.update({str(link): network.of(link) for _, _, crossed in counts for link in crossed})
        return [
            {"bytes": int(each), "cap": None if cap == INF else cap, "links": list(map(str, crossed)), "count": count}
            for (each, cap, crossed), count in counts.items()
        ]

    ends = check_run(random_jobs(random.Random(seed)), machine, streams_of, links=links)
    assert len(ends) > 20
