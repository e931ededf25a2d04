"""Whether classes and partitions are those of one machine."""

from collections.abc import Sequence

from forebay.errors import brief, nearest
from forebay.platforms.atoms import atoms_of, members
from forebay.platforms.classes import NodeClass
from forebay.platforms.partitions import MAX_PARTITIONS, Partition


def refuse_twice(names: Sequence[str], word: str) -> None:
    """Raise ValueError if two have one name."""
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two {word} are called {name!r}; give one another name")


def check_classes(nodes: int, classes: Sequence[NodeClass]) -> None:
    """Raise ValueError unless the classes have all the nodes of the machine."""
    total = sum(one.nodes for one in classes)
    if classes and total != nodes:
        raise ValueError(f"{nodes:,} are not the {total:,} nodes of all classes; leave nodes out, or correct a class")


def check_partitions(partitions: Sequence[Partition], classes: Sequence[NodeClass], nodes: int) -> None:
    """Raise ValueError unless the partitions have nodes that there are, and at most one is the default."""
    if len(partitions) > MAX_PARTITIONS:
        raise ValueError(f"{len(partitions):,} are more than the {MAX_PARTITIONS} of a machine; write fewer")
    refuse_twice([one.name for one in partitions], "partitions")
    default = [one.name for one in partitions if one.default]
    if len(default) > 1:
        raise ValueError(f"{' and '.join(default)} are both the default; keep default = true in one")
    known = [one.name for one in classes]
    for one in partitions:
        for name in one.classes:
            if name not in known:
                hint = nearest(name, known) if known else 'the machine has no classes; write nodes = "0-99"'
                raise ValueError(f"{one.name} has the class {brief(name)}, which there is not; {hint}")
        for _, last in members(one, classes, nodes):
            if last >= nodes:
                raise ValueError(f"{one.name} has node {last}, and ids go from 0 to {nodes - 1}; correct its nodes")
    atoms_of(classes, partitions, nodes)
