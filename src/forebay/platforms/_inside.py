"""Whether classes and partitions are those of one machine."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

from forebay.errors import brief, nearest
from forebay.platforms.atoms import atoms_of, members
from forebay.platforms.classes import NodeClass
from forebay.platforms.names import are_ids, as_ids, ids_by_name
from forebay.platforms.partitions import ALL, MAX_PARTITIONS, Partition


class _Part(Protocol):
    """What has nodes: a partition, or a reservation."""

    @property
    def name(self) -> str: ...
    @property
    def nodes(self) -> str | int: ...
    def model_copy(self, *, update: Mapping[str, Any]) -> Self: ...


Part = TypeVar("Part", bound=_Part)


def by_ids(parts: tuple[Part, ...], classes: Sequence[NodeClass]) -> tuple[Part, ...]:
    """The same partitions or reservations, with ids where they named nodes; ValueError for a name that none has."""
    named = {one.name: one.nodes for one in parts if isinstance(one.nodes, str) and one.nodes != ALL}
    named = {whose: nodes for whose, nodes in named.items() if not are_ids(nodes)}
    if not named:
        return parts
    ids = ids_by_name((one.nodes, one.names) for one in classes)
    return tuple(
        one.model_copy(update={"nodes": as_ids(named[one.name], one.name, ids)}) if one.name in named else one
        for one in parts
    )


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
