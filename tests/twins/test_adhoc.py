"""Jobs with file systems of their own: their slow twin by hand, and the job model against it."""

import math
import random

import polars as pl
import pytest

import forebay as fb
from cases import transfers
from cases.chunks import chunks
from forebay.errors import InputError
from twins.adhoc import READS, WRITES, Job, Rules, Run, phases_of, shares

GB = 10**9
RATE = 1.0 * GB
POLICIES = ("fcfs", "filler", "fcfs-malleable")


def by_hand(machine, *jobs, policy="fcfs", **rules):
    """The finished run of (submit, nodes, phases), with jobs numbered from 1."""
    made = [Job(k, submit, n, phases) for k, (submit, n, phases) in enumerate(jobs, 1)]
    return Run(made, machine, RATE, policy, Rules(**rules)).run()


def ends(made):
    return [job.finish for job in made.jobs]


@pytest.mark.small
def test_no_servers():
    # Two nodes and one: 2/3 and 1/3 GB/s. Job 2 has read 2 GB at 6; job 1 has 4 GB left then, and reads them by 10.
    phases = [("read", 0.0, 8 * GB), ("compute", 5.0, 0), ("checkpoint", 0.0, 3 * GB)]
    made = by_hand(3, (0.0, 2, phases), (0.0, 1, [("fetch", 0.0, 2 * GB)]), servers="none")
    assert ends(made) == pytest.approx([18.0, 6.0])
    assert made.moved == pytest.approx({"read": 10 * GB, "write": 3 * GB})


@pytest.mark.small
def test_fixed_servers():
    # 2 borrowed servers for 4 nodes: 6 of 7 are held, so job 2 (1 node, 1 server) waits. 4 s in, 5 s, 2 s out, and
    # what the servers take for a read of 4 GB, a checkpoint of 6 GB and a write of 2 GB.
    phases = [("compute", 5.0, 0), ("read", 0.0, 4 * GB), ("checkpoint", 0.0, 6 * GB), ("write", 0.0, 2 * GB)]
    rules = Rules(start=0.5)
    inside = 4e9 / rules.speed(4, 2, True) + 8e9 / rules.speed(4, 2, False)
    made = by_hand(7, (0.0, 4, phases), (0.0, 1, [("write", 0.0, GB)]), start=0.5)
    assert ends(made) == pytest.approx([11.0 + inside, 12.0 + inside + 1e9 / rules.speed(1, 1, False)])
    assert made.moved == pytest.approx({"read": 4 * GB, "write": 3 * GB})
    assert [job.start for job in made.jobs] == [0.0, made.jobs[0].finish]


@pytest.mark.small
def test_how_many_servers():
    # 10 GB on servers that hold 3: four. A machine of 5 nodes leaves 2 to a job of 3, and none to one of 5.
    phases = [("read", 0.0, 4 * GB), ("checkpoint", 0.0, 5 * GB), ("write", 0.0, GB), ("fetch", 0.0, 90 * GB)]
    for machine, n, servers in ((20, 3, 4), (5, 3, 2), (5, 5, 0)):
        made = by_hand(machine, (0.0, n, phases), holds=3 * GB)
        assert made.jobs[0].at_first == servers
    assert made.moved == pytest.approx({"read": 94 * GB, "write": 6 * GB})  # by the file system itself


@pytest.mark.small
def test_servers_on_own_nodes():
    phases = [("compute", 10.0, 0), ("write", 0.0, 2 * GB)]
    made = by_hand(4, (0.0, 4, phases), nodes="own", slowdown=0.5)
    assert ends(made) == pytest.approx([15.0 + 2e9 / Rules().speed(4, 4, False) + 2.0])


@pytest.mark.small
@pytest.mark.parametrize(
    ("grant", "queued", "grows"), [("free", True, True), ("idle", True, False), ("idle", False, True)]
)
def test_servers_are_asked_for(grant, queued, grows):
    # 4 nodes that want 4 GB/s have a server of less than 1 GB/s: after two writes of five they ask for 4 servers, the
    # most. Job 2 leaves 3 of 20 nodes free; who waits for 4 nodes is in the way of "idle" only.
    rules = Rules(servers="malleable", most=1.0, recommended=1e9, window=2, operations=5, grant=grant)
    jobs = [(0.0, 4, [("write", 0.0, 10 * GB)]), (0.0, 12, [("compute", 1e4, 0)])]
    made = by_hand(20, *jobs, *([(1.0, 4, [("compute", 1.0, 0)])] if queued else []), **vars(rules))
    slow, fast = rules.speed(4, 1, False), rules.speed(4, 4, False)
    took = 4e9 / slow + 6e9 / fast if grows else 10e9 / slow
    assert made.jobs[0].finish == pytest.approx(took + 10.0)
    assert [(job, n) for _, job, n in made.resizes] == ([(1, 3)] if grows else [])
    assert made.jobs[0].redistributed == 0


@pytest.mark.small
def test_servers_are_given_up():
    # As above, with 2 servers at first: after one of two writes of 5 GB they become 4. Two reads of 0.5 GB come next.
    # Before the first the window has the last write, before the second a read at 6.8 GB/s, 1.7 from each server. That
    # is 2.8 GB/s more than wanted, so that one goes, once its quarter of 10 GB has moved.
    rules = Rules(servers="malleable", start=0.5, recommended=1e9, window=1, operations=2, redistribute="consistent")
    made = by_hand(8, (0.0, 4, [("checkpoint", 0.0, 10 * GB), ("fetch", 0.0, GB)]), **vars(rules))
    wrote = 5e9 / rules.speed(4, 2, False)
    grown = wrote + 5e9 / 4 / rules.arrives()
    reads = grown + 5e9 / rules.speed(4, 4, False)
    asked = reads + 0.5e9 / rules.speed(4, 4, True)
    moved = asked + 10e9 / 4 / rules.arrives()
    assert [(job, n) for _, job, n in made.resizes] == [(1, 2), (1, -1)]
    assert [time for time, *_ in made.resizes] == pytest.approx([wrote, moved])
    assert ends(made) == pytest.approx([moved + 0.5e9 / rules.speed(4, 3, True)])
    assert made.jobs[0].redistributed == pytest.approx(2.5e9 + 2.5e9)
    assert made.jobs[0].serving == pytest.approx(2 * wrote + 4 * (moved - wrote) + 3 * (made.now - moved))


@pytest.mark.small
def test_shares():
    # From 4 to 6: of 12 blocks 8 move by remainder, where each of 4 servers sends 2 of its 3. If hashes are consistent
    # 4 move, 2 to each new server. Back to 4 it is the same the other way round.
    assert shares("modulo", 4, 6) == pytest.approx((2 / 3, 1 / 6))
    assert shares("consistent", 4, 6) == pytest.approx((1 / 3, 1 / 6))
    assert shares("partial", 6, 4) == pytest.approx((1 / 3, 1 / 6))
    assert shares("total", 6, 4) == pytest.approx((2 / 3, 1 / 6))


# Against the job model


def random_rules(rng, servers=None):
    """Any of the model's parameters."""
    servers = servers or rng.choice(("none", "fixed", "malleable", "malleable", "malleable", "malleable"))
    nodes = rng.choice(("borrowed", "borrowed", "borrowed", "own")) if servers != "malleable" else "borrowed"
    rules = {
        "servers": servers,
        "block": rng.choice((2**18, 2**20, 10**6)),
        "write": rng.choice((0.3, 1.0, 2.5)) * GB,
        "read": rng.choice((0.5, 3.0, 50.0)) * GB,
        "kill": rng.random() < 0.25,
    }
    if servers != "none":
        rules |= {"nodes": nodes}
    if nodes == "own" and servers != "none":
        rules |= {"slowdown": rng.choice((0.0, 0.125))}
    elif servers != "none":
        rules |= {"start": rng.choice((0.25, 0.5, 1.0))}
        rules |= {"holds": rng.choice((5, 20)) * GB} if rng.random() < 0.3 else {}
    if servers == "malleable":
        rules |= {
            "most": rng.choice((1.0, 1.5, 3.0)),
            "recommended": rng.choice((0.1, 0.25, 0.4, 0.8)) * GB,
            "tolerance": rng.choice((0.0, 0.1, 0.3)),
            "window": rng.randint(1, 6),
            "operations": rng.randint(1, 12),
            "grant": rng.choice(("free", "idle")),
            "redistribute": rng.choice(("partial", "total", "modulo", "consistent")),
        }
    return rules


def random_phases(rng, whole):
    """(kind, seconds, bytes); whole numbers make events meet."""
    found = []
    for _ in range(rng.randint(1, 7)):
        kind = rng.choice(("compute", *READS, *WRITES))
        if kind == "compute":
            found.append((kind, float(rng.randint(0, 9)) if whole else rng.uniform(0.1, 30.0), 0))
        else:
            found.append((kind, 0.0, rng.randint(1, 6) * GB if whole else rng.randint(1, 9 * GB)))
    return found


def random_jobs(rng, machine, whole):
    """Rows of (id, submit, nodes, run time, walltime, buffer, phases); without phases, those of a request of buffer."""
    rows, submit = [], 0.0
    for k in range(1, rng.choice((1, 2, 4, 8, 12)) + 1):
        n = rng.randint(1, machine) if rng.random() < 0.2 else rng.randint(1, max(1, machine // 3))
        seconds, buffer, phases = rng.choice((10.0, 6000.0, 15000.0)), 0, random_phases(rng, whole)
        if k == 1:
            phases.append(("write", 0.0, GB))  # where nobody moves anything the model is refused
        elif rng.random() < 0.2:
            buffer, phases = rng.choice((0, 4 * GB, 2 * GB + 5)), []
        if whole and rows and rng.random() < 0.4:
            _, _, n, seconds, _, buffer, phases = rows[-1]  # two alike do all at once, and ask at once
        walltime = float(rng.randint(2, 60)) if rng.random() < 0.4 else 1e6
        rows.append((k, submit, n, seconds, walltime, buffer, phases))
        submit += float(rng.choice((0, 0, 0, 1, 4))) if whole else rng.expovariate(0.2)
    return rows


def draw(seed, whole):
    """Machine, parameters, policy and jobs."""
    rng = random.Random(f"adhoc {seed} {whole}")
    machine = rng.randint(3, 30)  # no fewer than `most` may be for a node
    policy = rng.choice(POLICIES)
    return machine, random_rules(rng), policy, random_jobs(rng, machine, whole)


def job_model(rules):
    """The parameters as one writes them."""
    units = {"recommended": "B/s", "write": "B/s", "read": "B/s", "block": "B", "holds": "B"}
    words = {True: "true", False: "false"}
    texts = [
        f"{name}={words.get(value, value) if name == 'kill' else value}"
        if name not in units
        else f"{name}={int(value)}{units[name]}"
        for name, value in rules.items()
    ]
    return "adhoc:" + ",".join(texts)


def workload_of(rows):
    jobs = [
        {"id": k, "submit": at, "nodes": n, "run_time": seconds, "walltime": walltime, "burst_buffer": buffer}
        for k, at, n, seconds, walltime, buffer, _ in rows
    ]
    phases = [
        {"job": k, "leg": 0, "kind": kind, "seconds": seconds, "bytes": float(amount)}
        for k, *_, own in rows
        for kind, seconds, amount in own
    ]
    return transfers.workload(jobs, (), phases)


def simulated(machine, rules, policy, rows):
    return fb.simulate(workload_of(rows), f"flat:nodes={machine},pfs=1GB/s", policy, job_model=job_model(rules))


def twin_of(machine, rules, policy, rows):
    jobs = [
        Job(k, at, n, phases or phases_of(seconds, buffer), walltime)
        for k, at, n, seconds, walltime, buffer, phases in rows
    ]
    return Run(jobs, machine, RATE, policy, Rules(**rules)).run()


def column(result, name, otherwise=None):
    """A column of the jobs, in their order; where the result has none, the same for all."""
    jobs = result.jobs.sort("job_id")
    return jobs[name].to_list() if name in jobs.columns else [otherwise] * len(jobs)


def resizes(result):
    """(time, job, nodes) of the log."""
    rows = result.log.filter(pl.col("reason") == "resized").select("time", "job", "kind", "amount").rows()
    return [(time, job, amount if kind == "acquire" else -amount) for time, job, kind, amount in rows]


def moved(result):
    """Bytes on the links of the file system; there are none where no job uses it."""
    return {"read": 0, "write": 0} | {name.removeprefix("pfs "): amount for name, _, amount in result.links.rows()}


def redistributed(result, jobs):
    """Bytes that each job moved between its servers."""
    ended = result.log.filter((pl.col("kind") == "end_phase") & (pl.col("reason") == "reconfigure"))
    return [ended.filter(pl.col("job") == job.id)["amount"].sum() for job in jobs]


def agree(machine, rules, policy, rows):
    """The job model does what the twin does; the twin."""
    twin = twin_of(machine, rules, policy, rows)
    if not all(job.fits for job in twin.jobs):
        with pytest.raises(InputError, match="raise holds"):
            simulated(machine, rules, policy, rows)
        return twin
    result = simulated(machine, rules, policy, rows)
    jobs = sorted(twin.jobs, key=lambda job: job.id)
    near = {"rel": 1e-9, "abs": 1e-7}
    assert column(result, "starting_time") == pytest.approx([job.start for job in jobs], **near)
    assert column(result, "finish_time") == pytest.approx([job.finish for job in jobs], **near)
    assert moved(result) == pytest.approx(twin.moved, rel=1e-9, abs=10)
    assert sorted(resizes(result)) == [pytest.approx(row, **near) for row in sorted(twin.resizes)]
    assert redistributed(result, jobs) == pytest.approx([job.redistributed for job in jobs], abs=len(twin.resizes))
    for mean, job in zip(column(result, "mean_servers", 0), jobs, strict=True):
        took = job.finish - job.start
        assert mean == (pytest.approx(job.serving / took, rel=1e-9) if took > 0 else None)
    return twin


SEEDS = chunks(10, 40)
MANY = [("write", 0.0, 4 * GB), ("checkpoint", 0.0, 6 * GB), ("fetch", 0.0, 8 * GB)]
NOTHING = [("read", 3.0, 0), *MANY, ("write", 0.0, 0)]  # some phases move nothing
FETCHES = [("fetch", 0.0, 8 * GB)] * 2  # of data that nobody wrote: there is nothing to redistribute
EAGER = {"servers": "malleable", "recommended": 0.8 * GB, "window": 1}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("machine", "nodes", "phases", "rules"),
    [
        (150, 100, MANY, {"start": 0.07}),
        (40, 4, MANY, {"start": 3.0}),
        (40, 4, MANY, {"nodes": "own", "holds": 2 * GB}),
        (40, 4, MANY, {"holds": 5 * GB}),
        (4, 4, MANY, {"holds": 5 * GB}),
        (4, 4, MANY, {"servers": "malleable"}),
        (1, 1, MANY, {}),
        (8, 4, NOTHING, EAGER | {"operations": 2}),
        (8, 4, NOTHING, {"nodes": "own", "slowdown": 0.5}),
        (8, 4, [("read", 0.0, 1)], EAGER),
        (30, 4, FETCHES, EAGER | {"most": 5.0, "operations": 3, "read": 1.0 * GB}),
        (30, 4, MANY, EAGER | {"start": 1.0, "recommended": 1.0}),
        (30, 4, MANY, EAGER | {"most": 5.0, "recommended": 1000.0 * GB}),
        (30, 4, MANY, EAGER | {"most": 5.0, "operations": 100}),
    ],
)
def test_at_the_edges(policy, machine, nodes, phases, rules):
    """Two jobs alike, and one that only computes."""
    rows = [(1, 0.0, nodes, 1.0, 1e6, 0, phases), (2, 0.0, nodes, 1.0, 1e6, 0, phases), (3, 0.5, 1, 1.0, 1e6, 0, [])]
    agree(machine, rules, policy, rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_jobs(seed):
    agree(*draw(seed, whole=False))


@pytest.mark.parametrize("seed", SEEDS)
def test_events_that_meet(seed):
    agree(*draw(seed, whole=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_as_servers_are_asked_for(seed):
    """In the very instant somebody comes, ends, or is killed."""
    rng = random.Random(f"as asked {seed}")
    asked = []
    while not asked:
        machine, rules, policy = rng.randint(8, 24), random_rules(rng, "malleable"), rng.choice(POLICIES)
        rules |= {"kill": True, "recommended": 0.8 * GB, "start": 0.25, "window": rng.randint(1, 3)}
        rows = random_jobs(rng, machine, whole=True)
        asked = twin_of(machine, rules, policy, rows).asked
    time, job = rng.choice(asked)
    how, nodes, last = rng.choice(("comes", "ends", "killed")), rng.randint(1, max(1, machine // 2)), len(rows) + 1
    if how == "comes":
        rows.append((last, time, nodes, 5.0, 1e6, 0, []))
    elif how == "ends":
        rows.append((last, 0.0, nodes, time, 1e6, 0, []))
    else:
        start = next(one.start for one in twin_of(machine, rules, policy, rows).jobs if one.id == job)
        rows = [(*row[:4], time - start, *row[5:]) if row[0] == job else row for row in rows]
    agree(machine, rules, policy, sorted(rows, key=lambda row: (row[1], row[0])))


@pytest.mark.parametrize("seed", chunks(5, 20))
def test_what_the_file_system_sees(seed):
    """With servers each job's input and output once; without, all that jobs move."""
    machine, rules, policy, rows = draw(seed, whole=False)
    rules = {name: value for name, value in rules.items() if name not in ("kill", "holds")}
    result = simulated(machine, rules, policy, rows)
    read = written = 0
    for _, _, n, seconds, _, buffer, phases in rows:
        served = rules["servers"] != "none" and (rules["nodes"] == "own" or n < machine)
        reads, writes = (("read",), ("write",)) if served else (READS, WRITES)
        for kind, _, amount in phases or phases_of(seconds, buffer):
            read += amount if kind in reads else 0
            written += amount if kind in writes else 0
    assert moved(result) == pytest.approx({"read": read, "write": written}, rel=1e-9, abs=10)
    assert math.isfinite(max(column(result, "finish_time")))
