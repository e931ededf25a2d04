"""What every kind of tier has: a name, a kind, perhaps a finite size, and a line for people."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from forebay.core.schemas import TAKEN
from forebay.platforms._fields import Model
from forebay.platforms.topologies._base import BaseTopology
from forebay.platforms.topologies.flat import Topology as Flat


class BaseTier(Model):
    """A named store or pool beside the nodes; the kinds add what can be said of them."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
    kind: str

    @field_validator("name")
    @classmethod
    def _free(cls, name: str) -> str:
        if name in TAKEN:
            raise ValueError(f"{name!r} is a column that job tables have already; give the tier another name")
        return name

    @property
    def size(self) -> int | Literal["auto"] | None:
        """How much jobs may hold of it together, in bytes or units; None where there is no limit.

        "auto" until a workload gives the size.
        """
        return None

    @property
    def per_node(self) -> int | None:
        """How much of it a node has, where every node has its own; `size` is then None, for it depends on the nodes."""
        return None

    @property
    def text(self) -> str:
        """The tier in a few words."""
        return self.kind

    def check_lanes(self, topology: BaseTopology) -> None:
        """Raise ValueError where nodes or servers have ports: what a node gets, a lane of the whole job cannot heed."""
        if topology != Flat():
            raise ValueError(
                f"{self.name} has per_job, which takes the place of ports and links; "
                "write a flat topology without bandwidth, or leave out per_job"
            )

    def check(self, nodes: int, topology: BaseTopology) -> None:
        """Raise ValueError if there can be no such tier on a machine of these nodes and this network."""

    def sized(self, nodes: int, topology: BaseTopology, mean: float) -> "BaseTier":
        """This tier with a size instead of "auto", from the bytes that jobs ask for a node, on average."""
        raise NotImplementedError(self.kind)
