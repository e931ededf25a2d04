"""Classes of nodes and partitions: in Python, in files and on the command line, and what is refused."""

import pytest

from forebay.errors import InputError
from forebay.platforms import NodeClass, Partition, Platform, load
from forebay.platforms.atoms import MAX_ATOMS, Atom, nodes_of

pytestmark = pytest.mark.small

CPU = NodeClass(name="cpu", nodes=280, cores=36, memory="256 GB", features=("cascadelake",))
GPU = NodeClass(name="gpu", nodes=10, cores=40, memory="384 GB", gpus=4, gpu="v100")
SITE = """
sharing = true
placement = "lowest"
[classes.cpu]
nodes = 280
cores = 36
memory = "256 GB"
features = ["cascadelake"]
[classes.gpu]
nodes = 10
cores = 40
memory = "384 GB"
gpus = 4
gpu = "v100"
[partitions.standard]
classes = ["cpu"]
default = true
max_time = "4 d"
max_nodes = 70
max_jobs = 100
[partitions.mix]
nodes = "270-284,3"
priority_tier = 5
state = "drain"
"""


def complaint(make, *args, **kwargs):
    with pytest.raises(InputError) as caught:
        make(*args, **kwargs)
    return str(caught.value)


def test_a_file_says_what_python_says(file):
    site = load(file(SITE))
    assert site == Platform(
        name="site",
        classes=(CPU, GPU),
        sharing=True,
        placement="lowest",
        partitions=(
            Partition(name="standard", classes=("cpu",), default=True, max_time=4 * 86400, max_nodes=70, max_jobs=100),
            Partition(name="mix", nodes="270-284,3", priority_tier=5, state="drain"),
        ),
    )
    assert (site.nodes, site.units, site.gpu_types) == (290, 280 * 36 + 10 * 40, ("v100",))
    assert site.inside == ("cores", "gpus", "memory")
    assert nodes_of(site.partitions[1], site.classes, site.nodes) == 16
    assert str(site) == (
        "site (290 nodes of 1 Gflop/s; class cpu: 280 nodes of 36 cores, 256 GB, features cascadelake; class gpu: 10 "
        "nodes of 40 cores, 384 GB, 4 GPUs (v100); sharing: by cores, lowest; partition standard: cpu; at most 4 d, 70 "
        "nodes a job, 100 jobs at a time; default; partition mix: nodes 270-284,3; tier 5; drain)"
    )


def test_atoms_are_runs_of_nodes_that_are_alike(file):
    assert load(file(SITE)).atoms == (
        Atom(0, 3, 0, 0b01),
        Atom(3, 1, 0, 0b11),
        Atom(4, 266, 0, 0b01),
        Atom(270, 10, 0, 0b11),
        Atom(280, 5, 1, 0b10),
        Atom(285, 5, 1, 0b00),
    )
    assert Platform(name="plain", nodes=7).atoms == (Atom(0, 7, 0, 0),)
    whole = Partition(name="all", nodes="all")
    halves = Partition(name="halves", nodes="0-3,4-6")  # neighbours that need no division
    assert Platform(name="plain", nodes=7, partitions=(whole, halves)).atoms == (Atom(0, 7, 0, 0b11),)


def test_nodes_of_two_kinds_are_divided_too(file):
    text = 'nodes = 8\n[tiers.ssd]\nkind = "node_local"\ncapacity = "1 TB"\nlarge = "2 TB"\nlarge_nodes = 3\n'
    assert load(file(text)).atoms == (Atom(0, 5, 0, 0), Atom(5, 3, 0, 0))


def test_descriptions_hold_classes_only_where_there_are_any(file):
    told = load(file(SITE)).describe()
    assert [one["name"] for one in told["classes"]] == ["cpu", "gpu"]
    assert told["classes"][1]["text"] == "40 cores, 384 GB, 4 GPUs (v100)"
    assert (told["sharing"], told["placement"]) == (True, "lowest")
    assert told["partitions"][0]["max_time"] == 4 * 86400
    assert "max_time" not in told["partitions"][1]
    assert not {"classes", "partitions", "sharing", "placement"} & Platform(name="plain", nodes=1).describe().keys()


def test_flat_with_one_class():
    flat = load("flat:nodes=290,cores=36,memory=256GB,gpus=4,sharing=true")
    assert flat.classes == (NodeClass(name="node", nodes=290, cores=36, memory="256 GB", gpus=4),)
    assert flat.sharing
    assert flat.units == 290 * 36
    assert load("flat:nodes=3,gpus=2").classes == (NodeClass(name="node", nodes=3, gpus=2),)
    assert load("flat:nodes=3") == Platform(name="flat", nodes=3)


def test_the_nodes_of_the_only_class_can_be_set(file):
    path = file('[classes.cpu]\nnodes = 5\ncores = 4\n[partitions.all]\nnodes = "all"\n')
    assert load(f"{path}:nodes=9").classes[0].nodes == load(f"{path}:nodes=9").nodes == 9
    assert "nodes: follow from the classes (cpu, gpu); edit the file instead" in complaint(
        load, f"{file(SITE)}:nodes=9"
    )


WRONG = {
    "cores": ("[classes.cpu]\nnodes = 5\ncores = 0\n", "classes.cpu.cores: 0 is not above 0"),
    "nodes": ("[classes.cpu]\ncores = 2\n", "classes.cpu.nodes: missing; write nodes = 100"),
    "too many cores": ("[classes.cpu]\nnodes = 5\ncores = 2000000\n", "more than the 1,000,000 that a node may have"),
    "memory": ("[classes.cpu]\nnodes = 5\nmemory = 64\n", "classes.cpu.memory: '64' has no unit"),
    "a type of no GPU": ('[classes.cpu]\nnodes = 5\ngpu = "v100"\n', "'v100' is the type of no GPU"),
    "a word": ('[classes.cpu]\nnodes = 5\nfeatures = ["a&b"]\n', "'a&b' cannot be a name"),
    "a key": ("[classes.cpu]\nnodes = 5\ncore = 2\n", "classes.cpu.core: unknown key; did you mean 'cores'?"),
    "no table": ("nodes = 5\nclasses = 3\n", "classes: must be tables: write [classes.cpu] and below it nodes = 100"),
    "no table inside": ("nodes = 5\n[classes]\ncpu = 3\n", "classes.cpu: must be a table: write [classes.cpu]"),
    "nodes that differ": ("nodes = 7\n[classes.cpu]\nnodes = 5\n", "nodes: 7 are not the 5 nodes of all classes"),
    "no nodes": ("nodes = 5\n[partitions.a]\n", "partitions.a.nodes: the partition has no nodes; write classes"),
    "an unknown class": (
        '[classes.cpu]\nnodes = 5\n[partitions.a]\nclasses = ["cpus"]\n',
        "partitions: a has the class 'cpus', which there is not; did you mean 'cpu'?",
    ),
    "a class of none": ('nodes = 5\n[partitions.a]\nclasses = ["cpu"]\n', "the machine has no classes; write nodes ="),
    "a node beyond": ('nodes = 5\n[partitions.a]\nnodes = "3-5"\n', "a has node 5, and ids go from 0 to 4"),
    "no range": ('nodes = 5\n[partitions.a]\nnodes = "3,-5"\n', "'3,-5' does not name nodes; write ids such as"),
    "backwards": ('nodes = 9\n[partitions.a]\nnodes = "5-3"\n', "the range 5-3 of nodes ends before it begins"),
    "two defaults": (
        'nodes = 5\n[partitions.a]\nnodes = "0"\ndefault = true\n[partitions.b]\nnodes = "all"\ndefault = true\n',
        "partitions: a and b are both the default; keep default = true in one",
    ),
    "a state": (
        'nodes = 5\n[partitions.a]\nnodes = "0"\nstate = "off"\n',
        "state: 'off' is not known; write 'up'",
    ),
    "a time": (
        'nodes = 5\n[partitions.a]\nnodes = "0"\nmax_time = "4 x"\n',
        "max_time: '4 x': 'x' is not a unit",
    ),
    "sharing what": ("nodes = 5\nsharing = true\n", "sharing: nodes are shared by their cores: say how many"),
    "a placement": (
        'nodes = 5\nplacement = "first"\n',
        "placement: 'first' is not known; write 'best-fit'",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_refused_in_one_message(file, case):
    text, why = WRONG[case]
    path = file(text)
    said = complaint(load, path)
    assert said.startswith(f"{path}: ")
    assert why in said
    assert "\n" not in said


def test_names_are_not_given_twice():
    assert "two classes are called 'cpu'" in complaint(Platform, name="x", classes=(CPU, CPU))
    twice = (Partition(name="a", nodes="0"), Partition(name="a", nodes="1"))
    assert "two partitions are called 'a'" in complaint(Platform, name="x", nodes=2, partitions=twice)


def test_more_sets_than_can_be_told_apart_are_refused():
    ranges = ",".join(str(2 * k) for k in range(MAX_ATOMS))
    partitions = (Partition(name="comb", nodes=ranges),)
    assert "divide the nodes into 124 sets, more than the 62" in complaint(
        Platform, name="x", nodes=2 * MAX_ATOMS, partitions=partitions
    )
    many = tuple(Partition(name=f"p{k}", nodes="all") for k in range(63))
    assert "63 are more than the 62 of a machine" in complaint(Platform, name="x", nodes=2, partitions=many)


def test_a_machine_without_nodes_says_so():
    assert complaint(Platform, name="x") == "Platform: nodes: missing; write nodes=100"
