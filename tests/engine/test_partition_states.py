"""Partitions that are down, drained or inactive, for good or for a time, solved by hand; and what is said of it."""

import dataclasses
import random

import pytest

import forebay
from forebay.explain import reasons
from forebay.platforms import NodeClass, Partition, Platform
from forebay.workload import dependency_table, job_table

POLICIES = ("fcfs", "fcfs-easy", "conservative", "filler", "plan-best", "slurm-bb")


def machine(*partitions, **more):
    return Platform(name="site", nodes=8, partitions=partitions, **more)


def workload(*rows, **more):
    """Jobs of (submit, walltime, nodes, partitions), with numbers from 1 up."""
    names = list(dict.fromkeys(row[3] for row in rows))
    submit, walltime, nodes, queue = zip(*rows, strict=True)
    jobs = job_table(
        {
            "id": range(1, len(rows) + 1), "submit": submit, "walltime": walltime, "run_time": walltime,
            "nodes": nodes, "queue": [names.index(name) for name in queue], **more,
        }
    )  # fmt: skip
    return forebay.Workload("made", jobs, names={"queue": dict(enumerate(names))})


def starts(result):
    return dict(result.jobs.select("job_id", "starting_time").rows())


STATES = ("up", "up", "down", "drain", "inactive")
A = {"name": "a", "nodes": "0-3"}
B = {"name": "b", "nodes": "2-7"}


@pytest.mark.small
@pytest.mark.parametrize("policy", POLICIES)
def test_jobs_of_a_partition_that_is_down_wait_to_the_end(policy):
    """Job 1 of a never starts; 2, which may use b too, starts there, on nodes of b alone; 3 follows at once."""
    site = machine(Partition(**A, state="down"), Partition(**B))
    result = forebay.simulate(workload((0, 10, 2, "a"), (1, 10, 4, "a,b"), (2, 20, 2, "b")), site, policy)
    assert starts(result) == {1: None, 2: 1.0, 3: 2.0}
    assert result.jobs["final_state"].to_list()[0] == "REJECTED"
    assert dict(result.jobs.select("job_id", "allocated_resources").rows())[2] == "2-5"
    assert [note for note in result.facts["notes"] if "never started" in note] == [
        "1 job never started: partition a is down"
    ]
    why = reasons(result).filter(job_id=1).rows(named=True)
    assert [(row["start"], row["end"], row["reason"], row["slurm"]) for row in why] == [
        (0.0, 22.0, "partition", "PartitionDown")
    ]
    assert why[0]["detail"] == "partition a is down"


@pytest.mark.small
@pytest.mark.parametrize("state", ["drain", "inactive"])
def test_who_comes_to_a_partition_that_takes_nobody_is_rejected(state):
    site = machine(Partition(**A, state=state), Partition(**B))
    result = forebay.simulate(workload((0, 10, 2, "a"), (1, 10, 2, "a,b")), site, "fcfs")
    assert starts(result) == {1: None, 2: 1.0}
    word = "drained" if state == "drain" else state
    assert f"job 1 is rejected: it asks for partition a, which is {word}" in result.facts["notes"]
    assert result.log.filter(kind="reject")["reason"].to_list() == ["partition"]
    assert reasons(result).filter(job_id=1).is_empty()


@pytest.mark.small
@pytest.mark.parametrize("policy", POLICIES)
def test_a_partition_comes_up_at_a_time(policy):
    """a is down up to 50. 1 waits for that; 2 of both runs on b from 1 on, and 3 (6 nodes of both) takes 2-7 at 11."""
    site = machine(Partition(**A, state="down", changes=[{"at": 50.0, "state": "up"}]), Partition(**B))
    jobs = workload((0, 10, 2, "a"), (1, 10, 4, "a,b"), (2, 20, 6, "a,b"))
    result = forebay.simulate(jobs, site, policy)
    assert starts(result) == {1: 50.0, 2: 1.0, 3: 11.0}
    assert not any("never" in note for note in result.facts["notes"])
    assert reasons(result).filter(job_id=1)["seconds"].sum() == 50.0


@pytest.mark.small
@pytest.mark.parametrize("policy", POLICIES)
def test_drained_first_and_down_later(policy):
    """a (4 nodes) is drained from 5 on: 5, which comes at 6, is rejected; 2, which waits, starts at 10. From 15 on it
    is inactive: 3 never starts, nor does 4, which needs seven nodes of both and has six of b."""
    changes = [{"at": 5.0, "state": "drain"}, {"at": 15.0, "state": "inactive"}]
    site = machine(Partition(**A, changes=changes), Partition(**B))
    result = forebay.simulate(
        workload((0, 10, 4, "a"), (1, 10, 4, "a"), (2, 10, 4, "a"), (3, 10, 7, "a,b"), (6, 1, 1, "a")), site, policy
    )
    assert starts(result) == {1: 0.0, 2: 10.0, 3: None, 4: None, 5: None}
    assert any(note == "2 jobs never started: partition a is inactive" for note in result.facts["notes"])
    why = {row["job_id"]: row for row in reasons(result).rows(named=True)}  # the last of each
    assert (why[3]["slurm"], why[3]["start"]) == ("PartitionInactive", 15.0)


@pytest.mark.small
def test_who_waits_for_a_job_that_never_started():
    """4 runs up to 10; then 1 is given up, so 2 may start, after any end of it, and 3, after a good one, never."""
    site = machine(Partition(**A, state="down"), Partition(**B))
    made = workload((0, 10, 2, "a"), (0, 10, 2, "b"), (0, 10, 2, "b"), (0, 10, 2, "b"))
    kinds = {"job": [2, 3], "parent": [1, 1], "kind": ["afterany", "afterok"], "delay": [0.0, 0.0], "any": [False] * 2}
    result = forebay.simulate(dataclasses.replace(made, dependencies=dependency_table(kinds)), site, "fcfs-easy")
    assert starts(result) == {1: None, 2: 10.0, 3: None, 4: 0.0}
    assert result.log.filter(kind="reject").select("job", "reason").rows() == [(1, "partition"), (3, "dependency")]


@pytest.mark.small
@pytest.mark.parametrize("policy", ["fcfs", "fcfs-easy", "conservative", "filler"])
def test_on_shared_nodes(policy):
    """Two nodes of 4 cores, a partition each. n0's comes up at 30; 2 may use both, and takes n1's."""
    site = Platform(
        name="site",
        classes=(NodeClass(name="cpu", nodes=2, cores=4),),
        partitions=(
            Partition(name="a", nodes="0", state="down", changes=[{"at": 30.0, "state": "up"}]),
            Partition(name="b", nodes="1"),
        ),
        sharing=True,
    )
    made = workload((0, 10, 1, "a"), (1, 10, 1, "a,b"), (2, 10, 1, "a,b"), cores=[3, 3, 3])
    result = forebay.simulate(made, site, policy)
    assert starts(result) == {1: 30.0, 2: 1.0, 3: 11.0}


@pytest.mark.small
def test_changes_are_read_and_told(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(
        'nodes = 4\n[partitions.a]\nnodes = "all"\nstate = "down"\n'
        'changes = [{ at = "7 d", state = "up" }, { at = "2025-03-01T08:00", state = "drain" }]\n'
    )
    partition = forebay.platform(path).partitions[0]
    assert str(partition) == "a: all nodes; down; up from 7 d; drain from 2025-03-01T08:00:00"
    path.write_text('nodes = 4\n[partitions.a]\nnodes = "all"\nchanges = [{ at = "7 d", state = "upp" }]\n')
    with pytest.raises(forebay.ForebayError, match=r"partitions.a.changes: state: 'upp' is not known; write 'up'"):
        forebay.platform(path)
    path.write_text('nodes = 4\n[partitions.a]\nnodes = "all"\nchanges = "up"\n')
    with pytest.raises(forebay.ForebayError, match=r"'up' is not a list of changes"):
        forebay.platform(path)


def state_at(partition, time):
    """Its state: that of the last change up to then."""
    past = [change.state for change in partition.changes if change.at <= time]
    return past[-1] if past else partition.state


@pytest.mark.small
@pytest.mark.parametrize("seed", range(12))
def test_nobody_starts_by_a_partition_that_is_shut(seed):
    """Random states and changes: who starts has nodes of its partitions that are up then, who comes to none that takes
    it is rejected at once, and who never starts waits for one that is shut at the end."""
    rng = random.Random(f"states {seed}")

    def changes():
        times = sorted(rng.sample(range(1, 120), rng.randint(0, 3)))
        return [{"at": float(time), "state": rng.choice(STATES)} for time in times]

    spans = {"a": (0, 3), "b": (2, 7), "c": (5, 7)}
    site = machine(
        *(
            Partition(name=name, nodes=f"{low}-{high}", state=rng.choice(STATES), changes=changes())
            for name, (low, high) in spans.items()
        )
    )
    places = ("a", "b", "c", "a,b", "a,c", "b,c")
    rows = [(rng.randint(0, 100), rng.randint(1, 25), rng.randint(1, 4), rng.choice(places)) for _ in range(40)]
    rows = sorted((row for row in rows if row[2] <= 3 or row[3] != "c"), key=lambda row: row[0])
    policy = POLICIES[seed % len(POLICIES)]
    result = forebay.simulate(workload(*rows), site, policy)
    by_name = {one.name: one for one in site.partitions}
    for row, job in zip(rows, result.jobs.rows(named=True), strict=True):
        mine = [by_name[name] for name in row[3].split(",")]
        takes = [one for one in mine if state_at(one, row[0]) in ("up", "down")]
        if job["starting_time"] is None:
            assert not takes or all(state_at(one, 1e9) in ("down", "inactive") for one in takes) or row[2] > 3
            continue
        held = {node for part in job["allocated_resources"].split(" ") for node in ids(part)}
        open_ = [one for one in takes if state_at(one, job["starting_time"]) in ("up", "drain")]
        assert held <= {node for one in open_ for node in range(spans[one.name][0], spans[one.name][1] + 1)}


def ids(part):
    low, _, high = part.partition("-")
    return range(int(low), int(high or low) + 1)


class Watching(forebay.Policy):
    """Starts what fits, and notes which jobs it sees end, in what state."""

    def __init__(self):
        self.ended = []

    def decide(self, view, act):
        self.ended += [(view.now, view.jobs["id"][j], view.jobs["state"][j]) for j in view.ended]
        for job in view.queue:
            if act.fits(job):
                act.start(job)


@pytest.mark.small
def test_policies_see_that_jobs_of_a_partition_that_stays_down_have_ended():
    """Job 3 waits for job 2, which never starts. When job 1 is over nothing else comes, and job 2 is rejected."""
    site, policy = machine(Partition(**A, state="down"), Partition(**B)), Watching()
    jobs = workload((0, 10, 2, "b"), (1, 10, 2, "a"), (2, 10, 2, "b"))
    waits = dependency_table({"job": [3], "parent": [2], "kind": ["afterany"], "delay": [0.0], "any": [False]})
    result = forebay.simulate(dataclasses.replace(jobs, dependencies=waits), site, policy)
    assert starts(result) == {1: 0.0, 2: None, 3: 10.0}
    assert policy.ended[:2] == [(10.0, 1, forebay.JobState.COMPLETED), (10.0, 2, forebay.JobState.REJECTED)]
