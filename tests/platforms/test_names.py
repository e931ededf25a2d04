"""Names of nodes: partitions and reservations name them, and have ids once the platform is built."""

import random

import pytest

from forebay.errors import InputError
from forebay.platforms import NodeClass, Partition, Platform, Reservation, load
from forebay.platforms.names import as_ids, ids_by_name, ranges

SITE = """
[classes.cpu]
nodes = 4
names = "n[001-004]"
[classes.gpu]
nodes = 2
names = "gpu[1-2]"
[partitions.a]
nodes = "n[003-004],gpu1"
[partitions.all]
nodes = "all"
[[reservations]]
name = "service"
start = "1 d"
duration = "8 h"
nodes = "gpu2,n[001-002]"
"""


def test_who_names_nodes_has_ids(file):
    machine = load(file(SITE))
    assert machine.partitions[0].nodes == "2-4"
    assert machine.reservations[0].nodes == "0-1,5"
    by_ids = load(file(SITE.replace("n[003-004],gpu1", "2-4").replace("gpu2,n[001-002]", "0-1,5")))
    assert machine == by_ids
    assert str(machine.reservations[0]) == "service: 1 d to 1 d 8 h, nodes 0-1,5"


def test_descriptions_have_names_where_there_are_any(file):
    told = load(file(SITE)).describe()
    assert [one["names"] for one in told["classes"]] == ["n[001-004]", "gpu[1-2]"]
    assert "names" not in NodeClass(name="cpu", nodes=2).described()


def test_other_sizes_have_no_names(file):
    path = file('[classes.cpu]\nnodes = 4\nnames = "n[1-4]"\n')
    assert load(f"{path}:nodes=9").classes[0].names == ""


WRONG = {
    "too many": (
        ('"n[001-004]"', '"n[001-005]"'),
        "classes.cpu.names: 'n[001-005]' has 5 names, and the class 4 nodes",
    ),
    "too few": (('"gpu[1-2]"', '"gpu1"'), "classes.gpu.names: 'gpu1' has 1 name, and the class 2 nodes"),
    "twice": (('"n[001-004]"', '"n[001-003],n002"'), "classes.cpu.names: two nodes are called 'n002'"),
    "in two classes": (('"gpu[1-2]"', '"gpu1,n001"'), "classes: two nodes are called 'n001'; give one another name"),
    "no list": (
        ('"n[001-004]"', '"n[001-"'),
        "classes.cpu.names: 'n[001-' is not a list of nodes; write names such as",
    ),
    "nobody, of a partition": ((",gpu1", ",gpu7"), "partitions: a has node 'gpu7', which there is not; did you mean"),
    "nobody, reserved": (
        ('"gpu2,', '"gpx2,'),
        "reservations: service has node 'gpx2', which there is not; did you mean",
    ),
    "ids and names": (("gpu2,n[001-002]", "0-1,gpu2"), "reservations: service has node '0-1', which there is not"),
    "backwards": (
        ("n[001-002]", "n[002-001]"),
        "'n[002-001]' counts down from 2 to 1; write names such as node[1-4,7]",
    ),
    "a number": (('names = "gpu[1-2]"', "names = 2"), "classes.gpu.names"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_in_one_line(file, case):
    change, why = WRONG[case]
    path = file(SITE.replace(*change))
    with pytest.raises(InputError) as caught:
        load(path)
    said = str(caught.value)
    assert said.startswith(f"{path}: ")
    assert why in said
    assert "\n" not in said


def test_without_names_nobody_is_named():
    with pytest.raises(
        InputError, match="which there is not; no class tells the names of its nodes; write ids such as"
    ):
        Platform(name="m", nodes=4, partitions=(Partition(name="a", nodes="n[1-2]"),))
    with pytest.raises(InputError, match="r has node 'n1', which there is not"):
        Platform(name="m", nodes=4, reservations=(Reservation(name="r", start=1.0, duration=1.0, nodes="n1"),))


@pytest.mark.parametrize("seed", range(10))
def test_as_one_by_one(seed):
    """Names of several classes, and any of them in any order: their places in one long list."""
    rng = random.Random(seed)
    lists = [[f"{letter}{number}" for number in range(rng.randint(1, 12))] for letter in "abc"]
    every = [name for names in lists for name in names]
    ids = ids_by_name((len(names), ",".join(names)) for names in lists)
    assert ids == {name: every.index(name) for name in every}
    some = rng.sample(every, rng.randint(1, len(every)))
    assert as_ids(",".join(some), "x", ids) == ranges(sorted(map(every.index, some)))
