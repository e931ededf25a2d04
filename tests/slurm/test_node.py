"""What a node has: CPUs as slurmctld counts them, memory, GPUs, features."""

import pytest

from forebay.errors import InputError
from forebay.slurm.node import make_node
from forebay.slurm.sources.record import Kind, Record
from forebay.slurm.sources.values import gpus, memory, seconds

MIB = 2**20


def node(usable=False, **values):
    record = Record(Kind.NODE, {key.lower(): str(value) for key, value in values.items()}, "here")
    return make_node(record, usable)[0]


@pytest.mark.parametrize(
    ("values", "cores", "threads"),
    [
        ({}, 1, 1),
        ({"CPUs": 36}, 36, 1),
        ({"Procs": 8}, 8, 1),
        ({"Sockets": 2, "CoresPerSocket": 18}, 36, 1),
        ({"Sockets": 2, "CoresPerSocket": 18, "ThreadsPerCore": 2}, 72, 2),
        # CPUs may be cores though there are threads: a core is given out whole.
        ({"CPUs": 36, "Sockets": 2, "CoresPerSocket": 18, "ThreadsPerCore": 2}, 36, 1),
        ({"CPUs": 16, "CoresPerSocket": 4, "ThreadsPerCore": 2}, 16, 2),
        ({"Boards": 2, "SocketsPerBoard": 2, "CoresPerSocket": 3}, 12, 1),
        # As slurmctld does where CPUs match nothing: all threads.
        ({"CPUs": 13, "Sockets": 2, "CoresPerSocket": 8}, 16, 1),
    ],
)
def test_cpus_follow_from_sockets_cores_and_threads(values, cores, threads):
    made = node(**values)
    assert (made.cores, made.threads) == (cores, threads)


def test_what_is_set_apart_is_not_given_out():
    values = {"Sockets": 2, "CoresPerSocket": 4, "ThreadsPerCore": 2, "RealMemory": 1000}
    assert node(**values, CoreSpecCount=1).cores == 14
    assert node(**values, CpuSpecList="0-1,8").cores == 13
    assert node(**values, MemSpecLimit=100).memory == 900 * MIB
    assert node(**values, CoreSpecCount=1, MemSpecLimit=100, usable=True) == node(**values)


def test_memory_is_in_megabytes_and_unknown_without_a_number():
    assert node(RealMemory=257000).memory == 257000 * MIB
    assert node().memory is None
    assert memory("62.50G", "", "") == 64000 * MIB
    assert memory("5800GiB", "", "") == 5800 * 2**30


@pytest.mark.parametrize(
    ("text", "found", "others"),
    [
        ("gpu:v100:4", {"v100": 4}, []),
        ("gpu:4", {"": 4}, []),
        ("gpu", {"": 1}, []),
        ("gpu:v100:4(S:0-1)", {"v100": 4}, []),
        ("gpu:a100:2,gpu:v100:1", {"a100": 2, "v100": 1}, []),
        ("gpu:a100", {"a100": 1}, []),
        ("gpu:1g.10gb:7", {"1g.10gb": 7}, []),
        ("bandwidth:lustre:no_consume:4G,gpu:2", {"": 2}, ["bandwidth"]),
        ("gpu:0", {}, []),
        ("", {}, []),
    ],
)
def test_gpus_by_type(text, found, others):
    assert gpus(text, "here") == (found, others)


def test_features_are_a_set():
    assert node(Feature="b,a,b").features == node(Features="a,b").features == ("a", "b")


@pytest.mark.parametrize(
    "values",
    [
        {"CPUs": "many"},
        {"CPUs": "-4"},
        {"CoresPerSocket": 0},
        {"Sockets": 10**6, "CoresPerSocket": 10**6},
        {"RealMemory": "lots"},
        {"Gres": "gpu:a:b:c"},
        {"Weight": "x"},
    ],
)
def test_what_no_node_has_is_refused_with_its_place(values):
    with pytest.raises(InputError, match=r"^here: "):
        node(**values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30", 1800),
        ("30:15", 1815),
        ("2:30:00", 9000),
        ("1-0", 86400),
        ("1-12:30", 131400),
        ("2-12:00:05", 216005),
        ("INFINITE", float("inf")),
        ("UNLIMITED", float("inf")),
    ],
)
def test_times_are_read_as_slurm_writes_them(text, expected):
    assert seconds(text, "", "") == expected
