"""Where jobs may run: by partition, feature and demand, and why some may run nowhere."""

import math

import numpy as np
import pytest

import forebay as fb
from forebay.engine.build.defaults import settle
from forebay.engine.build.eligibility import eligible, partitions_of
from forebay.engine.shared_nodes.requests import ANY, NONE_SUCH, asked
from forebay.errors import InputError
from forebay.platforms import NodeClass, Partition, Platform

GB = 10**9
CPU = NodeClass(name="cpu", nodes=6, cores=4, memory=32 * GB, features=("avx",))
FAT = NodeClass(name="fat", nodes=2, cores=4, memory=256 * GB, features=("avx", "himem"))
GPU = NodeClass(name="gpu", nodes=2, cores=8, memory=64 * GB, gpus=4, gpu="v100")


def machine(*partitions, classes=(CPU, FAT, GPU), **more):
    return Platform(name="site", classes=classes, partitions=partitions, **more)


STANDARD = Partition(name="standard", classes=("cpu", "fat"), default=True, max_time="1 h", max_nodes=5)
BIG = Partition(name="big", nodes="4-7")
GPUS = Partition(name="gpu", classes=("gpu",))
SITE = machine(STANDARD, BIG, GPUS)
"""Nodes 0-3 in standard (atom 0), 4-5 in both (1), the fat 6-7 in both (2), 8-9 in gpu (3)."""


def workload(names=None, **columns):
    n = len(next(iter(columns.values())))
    every = {"id": range(1, n + 1), "submit": [0] * n, "walltime": [600] * n, "run_time": [300] * n, "nodes": [1] * n}
    return fb.Workload("w", fb.workload.job_table(every | columns), names=names or {})


def bits(places):
    return [format(one, "04b") for one in places.allowed.tolist()]


def test_atoms_are_divided_by_classes_and_partitions():
    assert [(a.first, a.count, a.cls, a.partitions) for a in SITE.atoms] == [
        (0, 4, 0, 0b001),
        (4, 2, 0, 0b011),
        (6, 2, 1, 0b011),
        (8, 2, 2, 0b100),
    ]


def test_a_partition_by_name_by_default_and_several():
    names = {"queue": {1: "standard", 2: "big", 3: "gpu", 4: "big,gpu"}}
    places = eligible(workload(names, queue=[1, 2, 3, 4, -1]), SITE)
    assert bits(places) == ["0111", "0110", "1000", "1110", "0111"]
    assert not places.rejected.any()
    assert places.notes == []


def test_an_unknown_partition_is_refused_by_name_with_the_nearest():
    with pytest.raises(
        InputError, match=r"w: job 2 is in partition 'standart', which site has not; did you mean 'stan"
    ):
        eligible(workload({"queue": {1: "big", 2: "standart"}}, queue=[1, 2]), SITE)


def test_queues_without_names_go_to_the_default_partition():
    places = eligible(workload(queue=[7, 8]), SITE)
    assert bits(places) == ["0111", "0111"]
    assert places.notes == ["2 jobs are in queues that have no names: all go to the default partition, standard"]


@pytest.mark.parametrize(("queue", "what"), [(-1, "names no partition"), (7, "is in queue 7, which is no partition")])
def test_without_a_default_a_job_must_name_its_partition(queue, what):
    with pytest.raises(InputError, match=f"job 1 {what}, and site has no default one; write default = true in one of"):
        eligible(workload(queue=[queue]), machine(BIG, GPUS))


def test_a_partition_may_be_called_by_a_number():
    places = eligible(workload(queue=[7]), machine(Partition(name="7", classes=("gpu",))))
    assert bits(places) == ["0100"]  # cpu and fat are in no partition
    assert partitions_of(workload(queue=[7]), machine(Partition(name="7", classes=("gpu",))))[0].tolist() == [1]


def test_features_are_those_of_classes_and_their_names():
    names = {"features": {1: "avx", 2: "avx&himem", 3: "gpu"}}
    places = eligible(workload(names, features=[1, 2, 3, -1]), machine())
    assert [format(one, "03b") for one in places.allowed.tolist()] == ["011", "010", "100", "111"]


def test_what_a_node_must_have_inside():
    """Totals are shared evenly by the nodes of a job."""
    places = eligible(workload(nodes=[1, 2, 2], cores=[5, 8, 0], memory=[0, 128 * GB, 0], gpus=[0, 0, 7]), machine())
    assert [format(one, "03b") for one in places.allowed.tolist()] == ["100", "110", "100"]


def test_types_of_gpus():
    names = {"gpu": {1: "v100", 2: "a100"}}
    w = workload(names, gpus=[1, 1, 1, 0], gpu=[1, 2, -1, 2])
    assert asked(w, machine()).gpu.tolist() == [0, NONE_SUCH, ANY, NONE_SUCH]
    places = eligible(w, machine())
    assert [format(one, "03b") for one in places.allowed.tolist()] == ["100", "000", "100", "111"]
    assert places.notes == [
        "job 2 is rejected: it asks for GPUs of type 'a100', and site has none; did you mean 'v100'?"
    ]


REJECTED = {
    "too long for its partition": (
        {"walltime": [3601, 3600]},
        "1 h, and partition standard allows 1 h",
    ),
    "too wide for its partition": ({"nodes": [6, 5]}, "6 nodes, and partition standard allows 5 nodes"),
    "wider than its partition": (
        {"nodes": [5, 4], "queue": [2, 2]},
        "5 nodes, and partition big has 4 for it",
    ),
    "memory": (
        {"memory": [300 * GB, 200 * GB]},
        "300 GB of memory a node, and partition standard has 256 GB in a node at most",
    ),
    "cores": (
        {"cores": [9, 8], "queue": [3, 3]},
        "9 cores a node, and partition gpu has 8 cores in a node at most",
    ),
    "GPUs where none are": (
        {"gpus": [1, 0]},
        "1 GPU a node, and partition standard has none in a node at most",
    ),
    "a feature nobody has": (
        {"features": [1, 2]},
        "the feature 'avx512', which no node of site has; did you mean 'avx'?",
    ),
    "features nobody has together": (
        {"features": [3, 2], "queue": [3, 1]},
        "the features 'himem' and 'gpu', which no node of partition gpu has together",
    ),
}


@pytest.mark.parametrize("case", REJECTED)
def test_who_may_run_nowhere_is_rejected_and_named(case):
    columns, why = REJECTED[case]
    names = {"queue": {1: "standard", 2: "big", 3: "gpu"}, "features": {1: "avx512", 2: "avx", 3: "himem&gpu"}}
    w = workload({name: known for name, known in names.items() if name in {"queue", *columns}}, **columns)
    places = eligible(w, SITE)
    assert places.rejected.tolist() == [True, False], places.notes
    assert places.notes == [f"job 1 is rejected: it asks for {why}"]
    assert places.allowed[1] != 0


@pytest.mark.parametrize(("state", "word"), [("inactive", "inactive"), ("drain", "drained")])
def test_a_partition_that_is_not_up_takes_nobody(state, word):
    site = machine(Partition(name="a", nodes="0-3", state=state, default=True), Partition(name="b", nodes="2-7"))
    places = eligible(workload({"queue": {1: "a", 2: "a,b"}}, queue=[1, 2, 1]), site)
    assert places.rejected.tolist() == [True, False, True]
    assert places.notes == [f"job 1 is rejected: it asks for partition a, which is {word} (2 such jobs)"]
    assert [k for k, atom in enumerate(site.atoms) if places.allowed[1] >> k & 1 and not atom.partitions & 2] == []


def test_a_job_in_two_partitions_is_taken_by_the_one_that_allows_it():
    places = eligible(workload({"queue": {1: "standard,big"}}, queue=[1], walltime=[7200]), SITE)
    assert bits(places) == ["0110"]
    assert places.notes == []


def test_a_plain_machine_lets_everybody_run_everywhere():
    places = eligible(workload(nodes=[500], cores=[10**6]), fb.platform("flat:nodes=2"))
    assert places.allowed.tolist() == [-1]
    assert not places.rejected.any()


def test_masks_against_a_plain_reading_of_the_rules():
    """Every job by itself, node by node, from what classes and partitions say."""
    rng = np.random.default_rng(5)
    n = 400
    names = {"queue": {1: "standard", 2: "big", 3: "gpu", 4: "standard,gpu"}, "features": {1: "avx", 2: "himem"}}
    names["gpu"] = {1: "v100"}
    w = workload(
        names,
        nodes=rng.integers(1, 6, n),
        walltime=rng.choice([600, 3600, 3601, math.inf], n),
        queue=rng.choice([-1, 1, 2, 3, 4], n),
        features=rng.choice([-1, -1, 1, 2], n),
        cores=rng.integers(0, 15, n),
        memory=rng.integers(0, 90, n) * GB,
        gpus=rng.choice([0, 0, 0, 0, 1, 6], n),
        gpu=rng.choice([-1, 1], n),
    )
    places = eligible(w, SITE)
    edges = np.cumsum([0, *(one.nodes for one in SITE.classes)])
    spans = {"standard": range(8), "big": range(4, 8), "gpu": range(8, 10)}
    for row, job in enumerate(w.jobs.iter_rows(named=True)):
        nodes = set()
        for word in names["queue"].get(job["queue"], "standard").split(","):
            limited = word == "standard" and (
                (math.isfinite(job["walltime"]) and job["walltime"] > 3600) or job["nodes"] > 5
            )
            nodes |= set() if limited else set(spans[word])
        good = set()
        for node in nodes:
            one = SITE.classes[int(np.searchsorted(edges, node, side="right")) - 1]
            each = [-(-job[name] // job["nodes"]) for name in ("cores", "memory", "gpus")]
            enough = all(much <= has for much, has in zip(each, (one.cores, one.memory, one.gpus), strict=True))
            typed = job["gpu"] < 0 or not job["gpus"] or one.gpu == "v100"
            wanted = names["features"].get(job["features"])
            if enough and typed and (wanted is None or wanted in one.features):
                good.add(node)
        found = {
            node
            for k, atom in enumerate(SITE.atoms)
            if places.allowed[row] >> k & 1
            for node in range(atom.first, atom.first + atom.count)
        }
        assert found == good, job
        assert places.rejected[row] == (len(good) < job["nodes"]), job
    assert 0.1 < places.rejected.mean() < 0.9


def test_jobs_in_cores_get_as_few_whole_nodes_as_hold_them():
    """Of the first class that takes them: cpu with 4 cores and 32 GB, or gpu with 8 cores and 4 GPUs."""
    w = workload(
        nodes=[0, 0, 0, 0, 3], cores=[9, 1, 4, 0, 3], memory=[0, 70 * GB, 0, 0, 0], gpus=[0, 0, 6, 0, 0],
        tasks=[0, 0, 0, 9, 0],
    )  # fmt: skip
    done = settle(w, machine())
    assert done.jobs["nodes"].to_list() == [3, 3, 2, 3, 3]
    assert done.notes == ("4 jobs give cores or tasks and no nodes: as few as hold it",)
    assert settle(w, machine()) is done  # one program for many policies


def test_tasks_lie_together_as_far_as_memory_lets_them():
    w = workload(nodes=[0], tasks=[4], cores=[4], memory=[64 * GB])  # 2 of 16 GB in a node of 32
    assert settle(w, machine()).jobs["nodes"].to_list() == [2]


def test_on_a_machine_without_classes_a_node_is_a_core():
    done = settle(workload(nodes=[0], cores=[12]), fb.platform("flat:nodes=20"))
    assert done.jobs["nodes"].to_list() == [12]
    assert done.notes == (
        "1 job gives cores or tasks and no nodes: flat has no classes, so a node is taken as one core",
    )


def test_a_job_without_walltime_has_its_partitions():
    names = {"queue": {1: "standard", 2: "big"}}
    done = settle(workload(names, walltime=[math.inf, math.inf, 60], queue=[1, 2, 1]), SITE)
    assert done.jobs["walltime"].to_list() == [3600, math.inf, 60]
    assert done.notes == ("1 job has no walltime: the longest that the partition allows is taken",)


def test_nothing_open_is_nothing_changed():
    w = workload(nodes=[2])
    assert settle(w, SITE) is w
    storage = workload(nodes=[0, 1], burst_buffer=[5, 0])  # a job that holds no node has none to be given
    assert settle(storage, machine()) is storage
    assert not eligible(storage, machine()).rejected.any()


def test_on_shared_nodes_parts_stay_as_they_are_told():
    site = machine(sharing=True)
    w = workload(nodes=[2, 0, 1], tasks=[0, 6, 0], cores=[3, 6, 0], exclusive=[1, -1, -1])
    asks = asked(w, site)
    assert asks.parts.tolist() == [2, 6, 1]
    assert asks.spread.tolist() == [True, False, True]
    assert asks.exclusive.tolist() == [True, False, True]
    assert asks.each[:, 0].tolist() == [2, 1, 1]
    assert settle(w, site) is w
    few = eligible(workload(nodes=[0, 0], tasks=[48, 49], cores=[48, 49]), site)
    assert few.notes == ["job 2 is rejected: it asks for 49 tasks, and site has room for 48 parts like these"]
