"""A Platform: the machine as schedulers count it, which is nodes first, then every tier that can run full."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from forebay.core.units import format_flops
from forebay.platforms._fields import Count, Flops, Model
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies._base import BaseTopology
from forebay.platforms.topologies.flat import Topology as Flat


class Platform(Model):
    """A machine. Speed is a node's, in flop/s; tiers keep the order in which they were declared."""

    name: str
    nodes: Count
    speed: Flops = 1e9
    topology: BaseTopology = Field(default_factory=Flat)
    tiers: tuple[BaseTier, ...] = ()

    @field_validator("tiers")
    @classmethod
    def _distinct(cls, tiers: tuple[BaseTier, ...]) -> tuple[BaseTier, ...]:
        names = [tier.name for tier in tiers]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two tiers are called {name!r}; give one another name")
        return tiers

    @property
    def finite(self) -> Mapping[str, int]:
        """Name and capacity of all that can run full: nodes, then tiers in order."""
        return {"nodes": self.nodes} | {tier.name: tier.size for tier in self.tiers if tier.size is not None}

    @property
    def resources(self) -> tuple[str, ...]:
        """Names of what a job can ask for; their positions are the R of demand vectors."""
        return tuple(self.finite)

    @property
    def capacities(self) -> tuple[int, ...]:
        """How much there is of each of `resources`."""
        return tuple(self.finite.values())

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
        parts += [f"{tier.name}: {tier.text}" for tier in self.tiers]
        return f"{self.name} ({'; '.join(parts)})"
