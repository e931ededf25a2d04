"""From nodes by name to classes and ids: every partition keeps just its nodes, and the file reads back as the site."""

import random

import pytest

from forebay import platforms
from forebay.errors import InputError
from forebay.platforms.atoms import members
from forebay.platforms.names import ranges
from forebay.slurm.toml import exact_bytes, exact_seconds


def load(made, tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(made.platform("a head\nof two lines"))
    return platforms.load(path)


HEAD = "SelectType=select/cons_tres SelectTypeParameters=CR_Core_Memory\n"


def test_an_operator_s_machine(told, tmp_path):
    made = told(
        f"ClusterName=brook\n{HEAD}NodeName=DEFAULT Sockets=2 CoresPerSocket=18 RealMemory=257000\n"
        "NodeName=cpu[000-279] Feature=cascadelake\n"
        "NodeName=gpu[1-10] CoresPerSocket=20 RealMemory=384000 Gres=gpu:v100:4 Weight=10\n"
        "PartitionName=DEFAULT MaxTime=4-0\nPartitionName=standard Nodes=cpu[000-279] Default=YES MaxNodes=70\n"
        "PartitionName=gpu Nodes=gpu[1-10] PriorityTier=2\nPartitionName=short Nodes=cpu[270-279],gpu1 MaxTime=20\n"
    )
    machine = load(made, tmp_path)
    assert machine.name == "brook"
    assert machine.sharing
    assert machine.placement == "best-fit"
    assert [str(one) for one in machine.classes] == [
        "cpu: 280 nodes of 36 cores, 269.5 GB, features cascadelake",
        "gpu: 10 nodes of 40 cores, 375 GiB, 4 GPUs (v100)",
    ]
    assert machine.classes[0].memory == 257000 * 2**20
    assert [str(one) for one in machine.partitions] == [
        "standard: cpu; at most 4 d, 70 nodes a job; default",
        "gpu: gpu; at most 4 d; tier 2",
        "short: nodes 270-280; at most 20 min",
    ]
    assert made.notes == ()


def random_conf(rng):
    """A site of several kinds of nodes and of partitions that overlap, as slurm.conf and in plain Python."""
    nodes, lines = {}, [HEAD]
    for kind in range(rng.randint(1, 5)):
        size, weight = rng.randint(1, 6), rng.choice([1, 1, 3])
        lines.append(
            f"NodeName=k{kind}n[1-{size}] CPUs={rng.choice([4, 8])} RealMemory={rng.choice([1000, 2000])} "
            f"Weight={weight}"
        )
        nodes |= {f"k{kind}n{number}": weight for number in range(1, size + 1)}
    partitions = {}
    for place in range(rng.randint(0, 3)):
        own = rng.sample(list(nodes), rng.randint(1, len(nodes)))
        partitions[f"p{place}"] = own
        lines.append(f"PartitionName=p{place} Nodes={','.join(own)}")
    return "\n".join(lines), nodes, partitions


def test_every_partition_has_just_its_nodes_on_random_sites(told, tmp_path):
    rng = random.Random(7)
    for _ in range(100):
        text, nodes, partitions = random_conf(rng)
        made = told(text)
        names = [name for one in made.machine.classes for name in one.names]
        assert sorted(names) == sorted(nodes)
        weights = [nodes[name] for name in names]
        assert weights == sorted(weights)
        machine = load(made, tmp_path)
        assert machine.nodes == len(nodes)
        found = {
            one.name: sorted(
                names[place]
                for first, last in members(one, machine.classes, machine.nodes)
                for place in range(first, last + 1)
            )
            for one in machine.partitions
        }
        assert found == {name: sorted(own) for name, own in partitions.items()}


def test_the_last_default_counts_and_a_partition_without_nodes_is_left_out(told):
    made = told(
        "NodeName=n[1-2]\nPartitionName=a Nodes=n1 Default=YES\nPartitionName=b Nodes=n2 Default=YES\nPartitionName=c\n"
    )
    assert [(one.name, one.default) for one, *_ in made.machine.partitions] == [("a", False), ("b", True)]
    assert "partition 'c' has no nodes: left out" in made.notes


def test_sets_of_nodes_and_planned_nodes(told):
    made = told(
        "NodeName=n[1-4] Feature=big\nNodeName=m[1-2]\nNodeName=new[1-9] State=FUTURE\nNodeSet=large Feature=big\n"
        "NodeSet=some Nodes=m1\nPartitionName=a Nodes=large\nPartitionName=b Nodes=some,n4,new[1-2]\n"
    )
    assert {one.name: one.nodes for one, *_ in made.machine.partitions} == {
        "a": ("n1", "n2", "n3", "n4"),
        "b": ("m1", "n4"),
    }
    assert "9 nodes of State=FUTURE: left out" in made.notes


def test_names_of_classes_tell_apart(told):
    made = told(
        "NodeName=n[1-2] CPUs=4\nNodeName=n[3-4] CPUs=8\nNodeName=n5 CPUs=8 Gres=gpu:a100:1\n"
        "NodeName=n6 CPUs=8 Feature=x\n"
    )
    assert [one.name for one in made.machine.classes] == ["n", "n-8", "n-a100", "n-2"]


def test_names_that_a_file_cannot_have_are_changed_and_told(told, tmp_path):
    made = told("NodeName=n[1-2] Feature=a:b\nPartitionName=day@home Nodes=ALL\n")
    assert "2 names changed for platform files: day@home to day_home, a:b to a_b" in made.notes
    assert load(made, tmp_path).partitions[0].name == "day_home"


def test_two_partitions_that_a_file_could_not_tell_apart_are_refused(told):
    with pytest.raises(InputError, match="'a@b' and 'a_b' would both be called a_b"):
        told("NodeName=n\nPartitionName=a@b Nodes=n\nPartitionName=a_b Nodes=n\n")


def test_too_many_kinds_of_nodes_are_told_apart_by_less(told, tmp_path):
    made = told(HEAD + "\n".join(f"NodeName=n{k} CPUs=4 RealMemory={1000 + k} Weight={k + 1}" for k in range(100)))
    (cls,) = load(made, tmp_path).classes
    assert (cls.nodes, cls.memory) == (100, 1000 * 2**20)
    assert any("not by their memory" in note for note in made.notes)


def test_more_sets_than_can_be_told_apart_are_refused(told):
    nodes = "\n".join(f"NodeName=n{k} CPUs={k + 1}" for k in range(63))
    with pytest.raises(InputError, match="nodes fall into 63 sets"):
        told(nodes)
    with pytest.raises(InputError, match="63 partitions are more than the 62"):
        told("NodeName=n\n" + "\n".join(f"PartitionName=p{k} Nodes=n" for k in range(63)))


def test_an_undeclared_node_is_named_with_its_line(told):
    with pytest.raises(InputError, match=r"slurm\.conf:2: node 'nn3' is not declared; did you mean 'n3'"):
        told("NodeName=n[1-3]\nPartitionName=a Nodes=n1,nn3\n")


def test_ranges_and_exact_amounts():
    assert ranges([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8"
    assert exact_bytes(257000 * 2**20) == "257000 MiB"
    assert exact_bytes(2**40) == "1 TiB"
    assert exact_bytes(1001) == "1001 B"
    assert exact_seconds(216005) == "2 d 12 h 5 s"


@pytest.mark.parametrize(
    "where", ["ClusterName={0}", "PartitionName={0} Nodes=ALL", "Licenses={0}:5", "NodeName=x Feature={0}"]
)
def test_names_that_platform_files_cannot_have(told, where):
    line = where.format("x" * 300)
    with pytest.raises(InputError, match="is a name of 300 characters; 255 are the most; shorten it there"):
        told(f"SelectType=select/linear\nNodeName=n[1-4]\n{line}\n").platform("")
