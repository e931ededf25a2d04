"""A Platform: the machine as schedulers count it (nodes first, then every tier that can run full) and its fabric."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticKnownError

from forebay._support import input_limits
from forebay._support.text import counted, html_table, plain
from forebay.core.failures import Failures
from forebay.core.kinds import LARGE
from forebay.core.units import format_flops
from forebay.errors import InputError, listed
from forebay.platforms._declared.power import Drawing
from forebay.platforms._fields import AUTO, Count, Failing, Flag, Flops, Model, PolicySpec
from forebay.platforms._inside import by_ids, check_classes, check_partitions, refuse_twice
from forebay.platforms._together import one_chunked, one_file_system, one_of_two_kinds, whole_lanes
from forebay.platforms.accounts import Accounts
from forebay.platforms.atoms import Atom, atoms_of, sizes_of
from forebay.platforms.classes import NodeClass
from forebay.platforms.fabric import Fabric
from forebay.platforms.fabric import make as make_fabric
from forebay.platforms.failures import check as check_failures
from forebay.platforms.names import ids_by_name
from forebay.platforms.partitions import Partition
from forebay.platforms.reservations import Reservations, announced, cuts_of
from forebay.platforms.rules import Rule
from forebay.platforms.sharing import CORES, check_tiers, check_topology, inside_of
from forebay.platforms.storage import files_of, ways_of
from forebay.platforms.tiers import node_local
from forebay.platforms.tiers._base import Asked, BaseTier
from forebay.platforms.topologies._base import BaseTopology
from forebay.platforms.topologies.flat import Topology as Flat

MAX_NODES = 16_000_000
"""More than the cores of the largest machines; tables of so many rows take half a gigabyte."""

MAX_TIERS = 100
"""Every job, and every step of a plan, has a number for each."""

Placement = Literal["best-fit", "lowest", "worst-fit"]


class Platform(Model):
    """A machine. Most are made by `forebay.platform`, from a preset or a TOML file.

    Parameters
    ----------
    name
        What results call it.
    classes
        Kinds of nodes, each a `forebay.platforms.NodeClass`, in the order of the nodes' ids. Without any, all nodes are
        alike and nothing inside them is counted.
    nodes
        How many there are; may be left out where classes tell.
    partitions
        Named sets of nodes that jobs are submitted to, each a `forebay.platforms.Partition`.
    sharing
        Whether jobs share nodes, by cores, memory and GPUs. False: a job has its nodes to itself.
    placement
        Which of the nodes with room a job gets where they are shared: "best-fit" (those with the fewest free cores),
        "lowest" (those with the lowest ids) or "worst-fit" (those with the most free cores).
    speed
        Of a node, in flop/s, or as text: "1 Gflop/s".
    topology
        How nodes and storage are joined; flat by default.
    tiers
        File system and burst buffers, in order.
    failures
        How its nodes fail, and what jobs do about it: what `forebay.simulate` takes as `failures`. None by default.
    limits
        What its site allows users, accounts, QOS and partitions: `forebay.platforms.Rule`, each.
    reservations
        Maintenance and advance reservations: `forebay.platforms.Reservation`, each.
    accounts
        Accounts of its site with their shares, for policies with fair share: `forebay.platforms.Account`, each.
    policy
        The spec of the policy of its site, such as "slurm:bf_interval=60": the default of runs, and the reference of
        comparisons.
    power
        What its nodes draw, and at most: a table of `idle`, `busy`, `cap` and `shutdown`. None: nothing is known of it.

    Examples
    --------
    >>> print(fb.Platform(name="mine", nodes=4))
    mine (4 nodes of 1 Gflop/s)
    """

    name: Annotated[str, Field(examples=["mine"])]
    classes: tuple[NodeClass, ...] = ()
    nodes: Count = Field(default=None, validate_default=True)  # without it: those of all classes
    partitions: tuple[Partition, ...] = ()
    sharing: Flag = False
    placement: Annotated[Placement, Field(examples=["best-fit"])] = "best-fit"
    speed: Flops = 1e9
    topology: BaseTopology = Field(default_factory=Flat)
    tiers: tuple[BaseTier, ...] = ()
    failures: Failing = None
    limits: tuple[Rule, ...] = ()
    reservations: Reservations = ()
    accounts: Accounts = ()
    policy: PolicySpec = None
    power: Drawing = None

    @field_validator("name")
    @classmethod
    def _can_be_shown(cls, name: str) -> str:
        return input_limits.short_enough(plain(name))

    @field_validator("classes")
    @classmethod
    def _apart(cls, classes: tuple[NodeClass, ...]) -> tuple[NodeClass, ...]:
        refuse_twice([one.name for one in classes], "classes")
        ids_by_name((one.nodes, one.names) for one in classes)  # complains of two with one name
        return classes

    @field_validator("nodes", mode="before")
    @classmethod
    def _of_all_classes(cls, nodes: Any, info: ValidationInfo) -> Any:
        if nodes is not None:
            return nodes
        if "classes" not in info.data:
            return 1  # they are wrong, and are reported
        if not info.data["classes"]:
            raise PydanticKnownError("missing")
        return sum(one.nodes for one in info.data["classes"])

    @field_validator("nodes")
    @classmethod
    def _can_be_held(cls, nodes: int, info: ValidationInfo) -> int:
        check_classes(nodes, info.data.get("classes", ()))
        most = input_limits.limit(input_limits.NODES, MAX_NODES)
        if nodes > most:
            raise ValueError(
                f"{nodes:,} nodes are more than the {most:,} that a machine may have; write fewer, or set the variable "
                f"{input_limits.NODES} to as many"
            )
        return nodes

    @field_validator("partitions")
    @classmethod
    def _of_its_nodes(cls, partitions: tuple[Partition, ...], info: ValidationInfo) -> tuple[Partition, ...]:
        if {"nodes", "classes"} <= info.data.keys():
            partitions = by_ids(partitions, info.data["classes"])
            check_partitions(partitions, info.data["classes"], info.data["nodes"])
        return partitions

    @field_validator("sharing")
    @classmethod
    def _knows_cores(cls, sharing: bool, info: ValidationInfo) -> bool:
        if sharing and info.data.get("classes") == ():
            raise ValueError("nodes are shared by their cores: say how many a class of nodes has, or write no sharing")
        return sharing

    @field_validator("topology")
    @classmethod
    def _joins_all(cls, topology: BaseTopology, info: ValidationInfo) -> BaseTopology:
        if "nodes" in info.data:
            topology.check(info.data["nodes"])
        if info.data.get("sharing"):
            check_topology(topology)
        return topology

    @field_validator("tiers")
    @classmethod
    def _fit(cls, tiers: tuple[BaseTier, ...], info: ValidationInfo) -> tuple[BaseTier, ...]:
        if len(tiers) > MAX_TIERS:
            raise ValueError(f"{len(tiers):,} tiers and pools are more than the {MAX_TIERS} of a machine; write fewer")
        refuse_twice([tier.name for tier in tiers], "tiers")
        one_chunked(tiers)
        one_file_system(tiers)
        whole_lanes(tiers)
        one_of_two_kinds(tiers)
        if {"nodes", "topology"} <= info.data.keys():
            for tier in tiers:
                tier.check(info.data["nodes"], info.data["topology"])
        if info.data.get("sharing"):
            check_tiers(info.data.get("classes", ()), tiers)
        return tiers

    @field_validator("failures")
    @classmethod
    def _strike_what_is_there(cls, failures: Failures | None, info: ValidationInfo) -> Failures | None:
        if failures is not None and "nodes" in info.data:
            try:
                check_failures(failures, info.data["nodes"])
            except InputError as error:
                raise ValueError(str(error)) from None
        return failures

    @property
    def finite(self) -> Mapping[str, int]:
        """Name and capacity of all that can run full: nodes, then tiers in order, then nodes that are set apart.

        Where nodes are shared: cores, then tiers, then what nodes have inside.
        """
        sizes = {CORES: self.units} if self.sharing else {"nodes": self.nodes}
        for tier in self._counted:
            if tier.size == AUTO:
                raise InputError(
                    f"platform {self.name}: {tier.name} has the capacity auto, which only a workload decides; "
                    f"simulate one on it, or write a size such as {tier.name}=10TB"
                )
            if (size := tier.on(self.nodes)) is not None:
                sizes[tier.name] = size
        return sizes | self._set_apart

    @property
    def kinds(self) -> node_local.Tier | None:
        """The tier of which nodes have two sizes; None where all nodes are alike."""
        # By its kind: the two sizes are shown of this one alone.
        return next((tier for tier in self.tiers if isinstance(tier, node_local.Tier) and tier.two_kinds), None)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """Ranges of nodes that no class, partition or reservation divides, in order; one where none does."""
        return atoms_of(self.classes, self.partitions, self.nodes, self._cuts(True))

    def _cuts(self, reserved: bool) -> tuple[int, ...]:
        """Where nodes are divided besides: by their device, and by what is reserved of them."""
        cuts = () if self.kinds is None else (self.first_large,)
        return cuts + (cuts_of(self.reservations, self.classes, self.nodes) if reserved else ())

    @property
    def first_large(self) -> int:
        """The first node of the larger kind, where nodes are of two: these have the highest ids; else their number."""
        return self.nodes - (self.kinds.large_nodes or 0 if self.kinds else 0)

    @property
    def inside(self) -> tuple[str, ...]:
        """Names of what a job may ask of the inside of nodes; none where nothing is known of it."""
        memory = any(one.memory is not None for one in self.classes)
        return ("cores", "gpus", *(["memory"] if memory else [])) if self.classes else ()

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """Types of the GPUs that nodes have, in order of classes; "" is that of GPUs without one."""
        return tuple(dict.fromkeys(one.gpu for one in self.classes if one.gpus))

    @property
    def units(self) -> int:
        """What jobs are given and the first resource counts: nodes, or all their cores where nodes are shared."""
        return sum(one.nodes * one.cores for one in self.classes) if self.sharing else self.nodes

    @property
    def local(self) -> BaseTier | None:
        """The storage of nodes of which jobs that share these have parts; None where they share none."""
        return next((tier for tier in self.tiers if tier.per_node is not None), None) if self.sharing else None

    def local_in(self, atom: Atom) -> int:
        """What a node of an atom has of it; 0 where there is none."""
        if self.local is None:
            return 0
        return (self.local.most if atom.first >= self.first_large else self.local.per_node) or 0

    @property
    def first_inside(self) -> int:
        """The first of `resources`, but for the first of all, that is in nodes which are shared."""
        return len(self.asked) - (self.local is not None)

    @property
    def per_node(self) -> Mapping[str, int]:
        """Name and capacity a node of the tiers of which every node has its own."""
        return {tier.name: tier.per_node for tier in self.tiers if tier.per_node is not None}

    @property
    def _counted(self) -> list[BaseTier]:
        """Tiers in the order of `resources`: what is in shared nodes comes last, beside what else is in them."""
        return sorted(self.tiers, key=lambda tier: tier is self.local)

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of what a job can ask for."""
        return ("nodes", *(tier.name for tier in self._counted if tier.size is not None or tier.per_node is not None))

    @property
    def resources(self) -> tuple[str, ...]:
        """Names of what schedulers count: what is asked for, and what follows from it; positions in demand vectors."""
        return (CORES if self.sharing else "nodes", *self.asked[1:], *self._set_apart)

    @property
    def divided(self) -> bool:
        """Whether classes, partitions or reservations divide the nodes, so that jobs may run on some of them only."""
        if self.reservations and set(self._cuts(True)) > set(self._cuts(False)):
            return True
        return bool(self.classes or self.partitions) and len(self.atoms) > 1

    @property
    def _set_apart(self) -> dict[str, int]:
        """Nodes that are counted beside all: those of each atom, or those of the larger of two kinds.

        Where they are shared, what is in them instead.
        """
        if self.sharing:
            return inside_of(self.classes)
        if self.divided:
            return sizes_of(self.atoms, self.classes)
        return {} if self.kinds is None else {self.kinds.name + LARGE: self.kinds.large_nodes or 0}

    @property
    def capacities(self) -> tuple[int, ...]:
        """How much there is of each of `resources`."""
        return tuple(self.finite.values())

    @property
    def ways(self) -> tuple[BaseTier, ...]:
        """Tiers that a job can run on where the policy chooses: the file system, then stores that hold a job's data."""
        return ways_of(self.tiers)

    @property
    def by_choice(self) -> bool:
        """Whether it was made for such a choice."""
        return any(tier.by_choice for tier in self.tiers)

    def fabric(self) -> Fabric:
        """Links, routes and servers in arrays, as the engine needs them."""
        _ = self.finite  # complains of sizes that are not known yet
        return make_fabric(self.nodes, self.topology, self.tiers)

    def sized_for(self, means: Mapping[str, float], asked: Mapping[str, Asked] | None = None) -> "Platform":
        """The machine with numbers for its auto capacities.

        `means` has by tier what the workload's jobs ask of it for each of their nodes, the mean over jobs; `asked` what
        each asks for and on how many nodes, so that the largest has room.
        """
        if all(tier.size != AUTO for tier in self.tiers):
            return self
        tiers = [
            tier.sized(self.nodes, self.topology, means.get(tier.name, 0.0), (asked or {}).get(tier.name))
            if tier.size == AUTO
            else tier
            for tier in self.tiers
        ]
        return self.model_copy(update={"tiers": tuple(tiers)})

    def describe(self) -> dict[str, Any]:
        """The machine as JSON can hold it: exact values, each part with a `text` to read."""
        files = files_of(self.tiers)
        return {
            "name": self.name,
            "nodes": self.nodes,
            **self._inside(),
            "speed": self.speed,
            "topology": {**self.topology.described(), "text": self.topology.text},
            "tiers": [{**tier.described(), "text": tier.text} for tier in self.tiers],
            "file_system": files.name if files else None,
            "ways": [tier.name for tier in self.ways],
            **({"failures": self.failures.describe()} if self.failures else {}),
            **({"limits": [rule.described() for rule in self.limits]} if self.limits else {}),
            **announced(self.reservations),
            **({"accounts": [one.described() for one in self.accounts]} if self.accounts else {}),
            **({"policy": self.policy} if self.policy else {}),
            **({"power": self.power.described()} if self.power else {}),
            "text": str(self),
        }

    def _inside(self) -> dict[str, Any]:
        """What is known of classes and partitions; nothing of a machine without them."""
        classes = [{**one.described(), "text": one.text} for one in self.classes]
        partitions = [{**one.described(), "text": one.text} for one in self.partitions]
        described: dict[str, Any] = {"classes": classes} if classes else {}
        described |= {"sharing": True, "placement": self.placement} if self.sharing else {}
        return described | ({"partitions": partitions} if partitions else {})

    def _lines(self) -> list[tuple[str, str]]:
        """The same to read: a name and what is to say of it."""
        lines = [(f"class {one.name}", f"{counted(one.nodes, 'node')} of {one.text}") for one in self.classes]
        lines += [("sharing", f"by cores, {self.placement}")] if self.sharing else []
        return lines + [(f"partition {one.name}", one.text) for one in self.partitions]

    def __repr__(self) -> str:
        tiers = f" with {listed(tier.name for tier in self.tiers)}" if self.tiers else ""
        return f"<Platform {listed([self.name])}: {counted(self.nodes, 'node')}{tiers}>"

    def _repr_html_(self) -> str:
        rows = [("nodes", f"{self.nodes:,} of {format_flops(self.speed)}"), ("topology", self.topology.text)]
        rows[1:1] = self._lines()
        rows += [(tier.name, tier.text) for tier in self.tiers]
        parts = {"failures": self.failures, "policy": self.policy, "power": self.power}
        rows += [(name, str(part)) for name, part in parts.items() if part]
        return html_table(f"Platform {self.name}", rows)

    @property
    def outside(self) -> str:
        """The machine in words, but for its classes and partitions."""
        return self._text([])

    def __str__(self) -> str:
        return self._text([f"{name}: {text}" for name, text in self._lines()])

    def _text(self, inside: list[str]) -> str:
        parts = [f"{counted(self.nodes, 'node')} of {format_flops(self.speed)}", *inside]
        parts += [] if self.topology == Flat() else [self.topology.text]
        parts += [f"{tier.name}: {tier.text}" for tier in self.tiers]
        own = {"failures": self.failures, "power": self.power}
        parts += [f"{name}: {part}" for name, part in own.items() if part]
        some = {"limit": self.limits, "reservation": self.reservations, "account": self.accounts}
        parts += [counted(len(many), word) for word, many in some.items() if many]
        return f"{self.name} ({'; '.join(parts)})"
