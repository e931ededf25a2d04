"""A Platform: the machine as schedulers count it (nodes first, then every tier that can run full) and its fabric."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationInfo, field_validator

from forebay.core.kinds import LARGE, WASTE
from forebay.core.units import format_flops
from forebay.errors import InputError
from forebay.platforms._fields import AUTO, Count, Flops, Model
from forebay.platforms.fabric import Fabric, buffer_of, levels_of
from forebay.platforms.fabric import make as make_fabric
from forebay.platforms.tiers import fast, node_local, pfs, shared_bb, slow
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies._base import BaseTopology
from forebay.platforms.topologies.flat import Topology as Flat

MAX_NODES = 100_000_000
"""Ten times the cores of the largest machines; tables of so many rows take some gigabytes."""


class Platform(Model):
    """A machine. Speed is a node's, in flop/s; tiers keep the order in which they were declared."""

    name: str
    nodes: Count
    speed: Flops = 1e9
    topology: BaseTopology = Field(default_factory=Flat)
    tiers: tuple[BaseTier, ...] = ()

    @field_validator("nodes")
    @classmethod
    def _can_be_held(cls, nodes: int) -> int:
        if nodes > MAX_NODES:
            raise ValueError(f"{nodes:,} nodes are more than the {MAX_NODES:,} that a run can hold; write fewer")
        return nodes

    @field_validator("topology")
    @classmethod
    def _joins_all(cls, topology: BaseTopology, info: ValidationInfo) -> BaseTopology:
        if "nodes" in info.data:
            topology.check(info.data["nodes"])
        return topology

    @field_validator("tiers")
    @classmethod
    def _fit(cls, tiers: tuple[BaseTier, ...], info: ValidationInfo) -> tuple[BaseTier, ...]:
        names = [tier.name for tier in tiers]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two tiers are called {name!r}; give one another name")
        _one_chunked(tiers)
        _whole_lanes(tiers)
        _slow_and_fast(tiers)
        _one_of_two_kinds(tiers)
        if {"nodes", "topology"} <= info.data.keys():
            for tier in tiers:
                tier.check(info.data["nodes"], info.data["topology"])
        return tiers

    @property
    def finite(self) -> Mapping[str, int]:
        """Name and capacity of all that can run full: nodes, then tiers in order, then nodes of the larger kind."""
        sizes = {"nodes": self.nodes}
        for tier in self.tiers:
            if tier.size == AUTO:
                raise InputError(
                    f"platform {self.name}: {tier.name} has the capacity auto, which only a workload decides; "
                    f"simulate one on it, or write a size such as {tier.name}=10TB"
                )
            if tier.size is not None:
                sizes[tier.name] = tier.size
            elif isinstance(tier, node_local.Tier):
                sizes[tier.name] = tier.on(self.nodes)
        if self.kinds is not None:
            sizes[self.kinds.name + LARGE] = self.kinds.large_nodes or 0
        return sizes

    @property
    def kinds(self) -> node_local.Tier | None:
        """The tier of which nodes have two sizes; None where all nodes are alike."""
        return next((tier for tier in self.tiers if isinstance(tier, node_local.Tier) and tier.large is not None), None)

    @property
    def per_node(self) -> Mapping[str, int]:
        """Name and capacity a node of the tiers of which every node has its own."""
        return {tier.name: tier.per_node for tier in self.tiers if tier.per_node is not None}

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of what a job can ask for."""
        limited = (tier for tier in self.tiers if tier.size is not None or tier.per_node is not None)
        return ("nodes", *(tier.name for tier in limited))

    @property
    def resources(self) -> tuple[str, ...]:
        """Names of what schedulers count: what is asked for, and what follows from it; positions in demand vectors."""
        return self.asked if self.kinds is None else (*self.asked, self.kinds.name + LARGE)

    @property
    def capacities(self) -> tuple[int, ...]:
        """How much there is of each of `resources`."""
        return tuple(self.finite.values())

    @property
    def levels(self) -> tuple[slow.Tier | fast.Tier, ...]:
        """Tiers of storage that jobs may choose between: the slow one, then fast ones; none on other machines."""
        return levels_of(self.tiers)

    def fabric(self) -> Fabric:
        """Links, routes and servers in arrays, as the engine needs them."""
        _ = self.finite  # complains of sizes that are not known yet
        return make_fabric(self.nodes, self.topology, self.tiers)

    def sized_for(self, means: Mapping[str, float]) -> "Platform":
        """The machine with numbers for its auto capacities.

        `means` has by tier what the workload's jobs ask of it for each of their nodes, the mean over jobs.
        """
        if all(tier.size != AUTO for tier in self.tiers):
            return self
        tiers = [
            tier.sized(self.nodes, self.topology, means.get(tier.name, 0.0)) if tier.size == AUTO else tier
            for tier in self.tiers
        ]
        return self.model_copy(update={"tiers": tuple(tiers)})

    def describe(self) -> dict[str, Any]:
        """The machine as JSON can hold it: exact values, each part with a `text` to read."""
        return {
            "name": self.name,
            "nodes": self.nodes,
            "speed": self.speed,
            "topology": {**self.topology.model_dump(), "text": self.topology.text},
            "tiers": [{**tier.model_dump(), "text": tier.text} for tier in self.tiers],
            "text": str(self),
        }

    def __str__(self) -> str:
        parts = [f"{self.nodes} {'node' if self.nodes == 1 else 'nodes'} of {format_flops(self.speed)}"]
        parts += [] if self.topology == Flat() else [self.topology.text]
        parts += [f"{tier.name}: {tier.text}" for tier in self.tiers]
        return f"{self.name} ({'; '.join(parts)})"


def _one_chunked(tiers: tuple[BaseTier, ...]) -> None:
    """Only one tier can be chunked, the one that staging uses: chunks are placed together with nodes."""
    shared = [tier for tier in tiers if isinstance(tier, shared_bb.Tier)]
    chunked = [tier.name for tier in shared if tier.placement == "chunked"]
    if len(chunked) > 1:
        raise ValueError(f"{' and '.join(chunked)} are chunked, but only one tier may be; make the others pooled")
    if chunked and shared[0].name != chunked[0]:
        raise ValueError(
            f"{chunked[0]} is chunked, but staging uses the first burst buffer, {shared[0].name}; "
            f"write {chunked[0]} before it, or make it pooled"
        )


def _slow_and_fast(tiers: tuple[BaseTier, ...]) -> None:
    """Fast tiers need the one slow tier, and these kinds stand for all storage that there is."""
    slows = [tier.name for tier in tiers if isinstance(tier, slow.Tier)]
    fasts = [tier.name for tier in tiers if isinstance(tier, fast.Tier)]
    if len(slows) > 1:
        raise ValueError(f"{' and '.join(slows)} are both slow tiers; keep one, and make others fast")
    if fasts and not slows:
        raise ValueError(f"{fasts[0]} is a fast tier, but there is no slow one to stage from; add a tier of kind slow")
    others = [tier for tier in tiers if isinstance(tier, pfs.Tier | shared_bb.Tier | node_local.Tier)]
    if slows and others:
        raise ValueError(
            f"{slows[0]} is a slow tier and {others[0].name} of kind {others[0].kind}; "
            "describe storage either as slow and fast tiers, or as a file system and burst buffers"
        )


def _one_of_two_kinds(tiers: tuple[BaseTier, ...]) -> None:
    """Only one tier can make nodes of two kinds; what is counted and weighed of them has names that none may take."""
    names = [tier.name for tier in tiers]
    for name in names:
        for word in (LARGE, WASTE):
            if name + word in names:
                raise ValueError(
                    f"{name + word} means something of {name} where nodes are of two kinds; give it another name"
                )
    two = [tier.name for tier in tiers if isinstance(tier, node_local.Tier) and tier.large is not None]
    if len(two) > 1:
        raise ValueError(f"{' and '.join(two)} have two sizes, but only one tier may; leave out large in the others")
    chunked = [tier.name for tier in tiers if isinstance(tier, shared_bb.Tier) and tier.placement == "chunked"]
    if two and chunked:
        raise ValueError(
            f"{two[0]} has two sizes, but {chunked[0]} is chunked, and chunks go by nodes that are all alike; "
            f"make {chunked[0]} pooled, or leave out large in {two[0]}"
        )


def _whole_lanes(tiers: tuple[BaseTier, ...]) -> None:
    """A job's lane to the file system needs a buffer that takes its data in one stream."""
    files = next((tier for tier in tiers if isinstance(tier, pfs.Tier)), None)
    buffer = buffer_of(tiers)
    if files is None or files.per_job is None or buffer is None:
        return
    if isinstance(buffer, shared_bb.Tier):
        if buffer.placement == "chunked":
            raise ValueError(
                f"{files.name} has per_job, but {buffer.name} is chunked, and chunks are streams of their own; "
                f"make {buffer.name} pooled, or leave out per_job"
            )
    elif buffer.bandwidth is not None:
        raise ValueError(
            f"{files.name} has per_job, but {buffer.name} has a bandwidth in every node; leave out one of them"
        )
