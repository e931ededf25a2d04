"""A parallel file system: room without limit behind one aggregate link, or one each way."""

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from forebay.core.units import format_rate
from forebay.platforms._fields import Rate
from forebay.platforms.tiers._base import BaseTier

DESCRIPTION = "a parallel file system: unlimited room, one aggregate bandwidth for both ways, or one each way"

_EITHER = "write either bandwidth, which reads and writes share, or both read and write"


class Tier(BaseTier):
    """Aggregate bandwidths in bytes/s: one that reads and writes share, or one for each.

    `through_ports` says whether its traffic also crosses the port of the server or node at the other end. It never
    crosses the links between routers.
    """

    kind: Literal["pfs"] = "pfs"
    bandwidth: Rate | None = None
    read: Rate | None = Field(default=None, validate_default=True)
    write: Rate | None = Field(default=None, validate_default=True)
    through_ports: bool = True

    @field_validator("read")
    @classmethod
    def _shared_or_apart(cls, read: float | None, info: ValidationInfo) -> float | None:
        if read is not None and info.data.get("bandwidth") is not None:
            raise ValueError(f"given beside bandwidth; {_EITHER}")
        return read

    @field_validator("write")
    @classmethod
    def _both(cls, write: float | None, info: ValidationInfo) -> float | None:
        if not {"bandwidth", "read"} <= info.data.keys():
            return write  # one of them is wrong in itself, and has been told
        bandwidth, read = info.data["bandwidth"], info.data["read"]
        if write is not None and bandwidth is not None:
            raise ValueError(f"given beside bandwidth; {_EITHER}")
        if write is not None and read is None:
            raise ValueError(f"given without read; {_EITHER}")
        if write is None and read is not None:
            raise ValueError('missing; write write = "5 GB/s" beside read, or bandwidth alone')
        if write is None and bandwidth is None:
            raise ValueError(f"no bandwidth at all; {_EITHER}")
        return write

    @property
    def text(self) -> str:
        """The tier in a few words."""
        ports = "" if self.through_ports else ", past all ports"
        if self.bandwidth is not None:
            return f"parallel file system, {format_rate(self.bandwidth)} for reads and writes{ports}"
        assert self.read is not None
        assert self.write is not None
        return f"parallel file system, read {format_rate(self.read)}, write {format_rate(self.write)}{ports}"
