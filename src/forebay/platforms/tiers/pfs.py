"""A parallel file system: room without limit behind one aggregate link, one each way, or a lane for each job."""

import math
from typing import ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from forebay.core.units import format_rate
from forebay.platforms._fields import Count, Latency, Rate, format_latency
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies._base import BaseTopology
from forebay.platforms.wires import Door, Surroundings, Wire, joined

DESCRIPTION = "a parallel file system: unlimited room, one aggregate bandwidth for both ways, or one each way"

_EITHER = "write either bandwidth, which reads and writes share, or both read and write"


class Tier(BaseTier):
    """Aggregate bandwidths in bytes/s: one that reads and writes share, or one for each.

    `per_job` is what one job's transfers get at most, however many nodes the job has. Without an aggregate bandwidth
    every job has that much to itself.

    `through_ports` says whether its traffic also crosses the port of the server or node at the other end. It never
    crosses the links between routers.

    `latency`, in seconds, is that of its link. It has `targets` servers, and every stream is as many equal parts: where
    the network bounds a stream, it bounds each part.
    """

    kind: Literal["pfs"] = "pfs"
    files: ClassVar[bool] = True
    bandwidth: Rate | None = None
    per_job: Rate | None = None
    read: Rate | None = Field(default=None, validate_default=True)
    write: Rate | None = Field(default=None, validate_default=True)
    through_ports: bool = True
    latency: Latency | None = None
    targets: Count | None = None

    told_if_set: ClassVar[tuple[str, ...]] = ("latency", "targets")

    @field_validator("read")
    @classmethod
    def _shared_or_apart(cls, read: float | None, info: ValidationInfo) -> float | None:
        if read is not None and info.data.get("bandwidth") is not None:
            raise ValueError(f"given beside bandwidth; {_EITHER}")
        return read

    @field_validator("write")
    @classmethod
    def _both(cls, write: float | None, info: ValidationInfo) -> float | None:
        if not {"bandwidth", "read", "per_job"} <= info.data.keys():
            return write  # one of them is wrong in itself, and has been reported
        bandwidth, read = info.data["bandwidth"], info.data["read"]
        if write is not None and bandwidth is not None:
            raise ValueError(f"given beside bandwidth; {_EITHER}")
        if write is not None and read is None:
            raise ValueError(f"given without read; {_EITHER}")
        if write is None and read is not None:
            raise ValueError('missing; write write = "5 GB/s" beside read, or bandwidth alone')
        if write is None and bandwidth is None and info.data["per_job"] is None:
            raise ValueError(f"no bandwidth at all; {_EITHER}, or per_job alone")
        return write

    @property
    def text(self) -> str:
        """The tier in a few words."""
        parts = ["parallel file system"]
        if self.bandwidth is not None:
            parts.append(f"{format_rate(self.bandwidth)} for reads and writes")
        parts += [f"{way} {format_rate(rate)}" for way, rate in (("read", self.read), ("write", self.write)) if rate]
        parts += [f"{format_rate(self.per_job)} a job"] if self.per_job else []
        parts += [f"{format_latency(self.latency)} away"] if self.latency else []
        parts += [f"{self.targets} targets"] if self.targets else []
        return ", ".join(parts if self.through_ports else [*parts, "past all ports"])

    def check(self, nodes: int, topology: BaseTopology) -> None:
        """Raise ValueError where a lane for each job meets ports."""
        if self.per_job is not None:
            self.check_lanes(topology)

    def links(self, topology: BaseTopology) -> dict[str, float]:
        """One for both ways, or one each way; none where every job has a bandwidth of its own."""
        if self.bandwidth is not None:
            return {self.name: self.bandwidth}
        return {f"{self.name} {way}": rate for way, rate in (("read", self.read), ("write", self.write)) if rate}

    def door(self) -> Door:
        """Its link for that direction, and what a job gets at most."""
        names = (self.name, self.name) if self.bandwidth is not None else (f"{self.name} write", f"{self.name} read")
        shared = self.bandwidth is not None or self.read is not None
        into, out = (
            Wire(
                {name: 1.0} if shared else {},
                math.inf if self.per_job is None else self.per_job,
                bool(self.per_job),
                self.latency or 0.0,
            )
            for name in names
        )
        return Door(into, out, self.through_ports, self.targets or 1)

    def with_nodes(self, around: Surroundings, inwards: bool, site: int, servers: list[int]) -> Wire:
        """Its link, wherever the node is, and the node's own."""
        link = self.door().into if inwards else self.door().out
        return around.bounded(joined(link, around.own_link), around.files.parts)
