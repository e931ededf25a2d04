"""What every kind of tier has: a name, a kind, perhaps a finite size, what it is to jobs, and its wires."""

import math
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from forebay._support.input_limits import short_enough
from forebay.core.schemas import TAKEN
from forebay.platforms._fields import Model
from forebay.platforms.topologies._base import BaseTopology
from forebay.platforms.topologies.flat import Topology as Flat
from forebay.platforms.wires import Door, Surroundings, Wire

Asked = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Bytes that each job of a workload asks for, and on how many nodes."""


class BaseTier(Model):
    """A named store or pool beside the nodes; the kinds add what can be said of them.

    As it stands it is a pool: something is held, and nothing moves.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
    kind: str

    files: ClassVar[bool] = False
    """Whether it is a file system, which phases read from and write to, and which all else is staged from and to."""
    by_choice: ClassVar[bool] = False
    """Whether policies choose, job by job, if a job runs on it; else jobs use what they ask for."""
    in_bytes: ClassVar[bool] = True

    @field_validator("name")
    @classmethod
    def _free(cls, name: str) -> str:
        if name in TAKEN:
            raise ValueError(f"{name!r} is a column that job tables have already; give the tier another name")
        return short_enough(name)

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
    def most(self) -> int | None:
        """What the largest node has of it, where every node has its own."""
        return self.per_node

    def on(self, nodes: int) -> int | None:
        """How much of it a machine of so many nodes has; None where there is no limit. Not before it has a size."""
        return None if self.size is None else int(self.size)

    @property
    def text(self) -> str:
        """The tier in a few words."""
        return self.kind

    @property
    def buffers(self) -> int:
        """How well it serves as the buffer that jobs stage to; the first of a machine's best ones does. 0: it cannot.

        Such a tier says `with_nodes` and `with_files`.
        """
        return 0

    @property
    def chunked(self) -> bool:
        """Whether each node's share of a job's data lies whole on one server."""
        return False

    @property
    def several_streams(self) -> str | None:
        """Why a job's data cannot go to it in one stream, and what to write then; None if it can."""
        return None

    @property
    def two_kinds(self) -> bool:
        """Whether some nodes have more of it than others."""
        return False

    @property
    def may_run_on(self) -> bool:
        """Whether a job can run on it or do without, as the policy likes."""
        return self.buffers > 0 and not self.chunked and self.per_node is None

    @property
    def device(self) -> float:
        """Bytes/s that a node's own device gives reads and writes together; inf where they do not share it."""
        return math.inf

    def servers_on(self, topology: BaseTopology) -> int:
        """Its storage servers on a network."""
        return 0

    def links(self, topology: BaseTopology) -> dict[str, float]:
        """Name and bytes/s of each shared link that it brings."""
        return {}

    def door(self) -> Door:
        """Of a file system: what a byte crosses into it and out of it, whatever is at the other end."""
        raise NotImplementedError(self.kind)

    def with_nodes(self, around: Surroundings, inwards: bool, site: int, servers: list[int]) -> Wire:
        """What a byte crosses between a node at `site` and this tier, `inwards` to it; striped over these servers."""
        raise NotImplementedError(self.kind)

    def with_files(self, around: Surroundings, inwards: bool, servers: list[int]) -> Wire:
        """The same between the file system and this tier."""
        raise NotImplementedError(self.kind)

    def check_lanes(self, topology: BaseTopology) -> None:
        """Raise ValueError where nodes or servers have ports: what a node gets, a lane of the whole job cannot heed."""
        if topology != Flat():
            raise ValueError(
                f"{self.name} has per_job, which takes the place of ports and links; "
                "write a flat topology without bandwidth, or leave out per_job"
            )

    def check(self, nodes: int, topology: BaseTopology) -> None:
        """Raise ValueError if there can be no such tier on a machine of these nodes and this network."""

    def sized(self, nodes: int, topology: BaseTopology, mean: float, asked: Asked | None = None) -> "BaseTier":
        """This tier with a size instead of "auto", from the bytes that jobs ask for a node, on average, and each."""
        raise NotImplementedError(self.kind)
