"""A shared burst buffer: fast storage on servers, striped over all of them or in one chunk for each node of a job."""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationInfo, field_validator

from forebay._support.text import counted
from forebay.core.units import INT64_MAX, format_bytes, format_rate
from forebay.errors import InputError
from forebay.platforms._fields import AUTO, Capacity, Count, Rate
from forebay.platforms.tiers._base import Asked, BaseTier
from forebay.platforms.topologies._base import BaseTopology
from forebay.platforms.wires import Surroundings, Wire, joined

DESCRIPTION = "a burst buffer that all nodes share, pooled (any free byte serves any job) or in chunks on its servers"

MAX_SERVERS = 10_000
"""Each has two links."""

MAX_ROUTES = 400_000
"""Between servers and routers; each takes a kilobyte."""

Placement = Literal["pooled", "chunked"]


class Tier(BaseTier):
    """Capacity in bytes and bandwidth in bytes/s each way, both over all servers.

    Pooled data is striped over all servers. Chunked, each node of a job has its share whole on one server.
    `per_job` is what one job's transfers get at most, however many nodes the job has.
    """

    kind: Literal["shared_bb"] = "shared_bb"
    capacity: Capacity
    placement: Placement = "pooled"
    servers: Count | None = None
    bandwidth: Rate | None = None
    per_job: Rate | None = None

    @field_validator("servers")
    @classmethod
    def _can_be_held(cls, servers: int | None) -> int | None:
        if servers is not None and servers > MAX_SERVERS:
            raise ValueError(f"{servers:,} servers are more than the {MAX_SERVERS:,} that a run can hold; write fewer")
        return servers

    @field_validator("per_job")
    @classmethod
    def _pooled(cls, per_job: float | None, info: ValidationInfo) -> float | None:
        if per_job is not None and info.data.get("placement") == "chunked":
            raise ValueError(
                "needs a pooled buffer: chunks are streams of their own; "
                'write placement = "pooled", or leave out per_job'
            )
        return per_job

    @property
    def size(self) -> int | Literal["auto"]:
        """The capacity."""
        return self.capacity

    @property
    def text(self) -> str:
        """The tier in a few words."""
        room = "auto-sized" if self.capacity == AUTO else f"{format_bytes(self.capacity)} of"
        chunks = " in chunks" if self.placement == "chunked" else ""
        servers = f" on {self.servers} server{'s' * (self.servers > 1)}" if self.servers else ""
        speed = f" at {format_rate(self.bandwidth)}" if self.bandwidth else ""
        lane = f", {format_rate(self.per_job)} a job" if self.per_job else ""
        return f"{room} shared burst buffer{chunks}{servers}{speed}{lane}"

    @property
    def buffers(self) -> int:
        """Better than anything."""
        return 3

    @property
    def chunked(self) -> bool:
        """As placed."""
        return self.placement == "chunked"

    @property
    def several_streams(self) -> str | None:
        """Each chunk is one."""
        return "is chunked, and chunks are streams of their own; make it pooled" if self.chunked else None

    def servers_on(self, topology: BaseTopology) -> int:
        """Its servers: all that the network has places for, unless it names a number."""
        return self.servers or topology.server_slots or 1

    def links(self, topology: BaseTopology) -> dict[str, float]:
        """One into and one out of every server; none where they never limit."""
        servers, rate = self.servers_on(topology), self._server_rate(topology)
        return {} if rate == math.inf else {_port(k, way): rate for k in range(servers) for way in (True, False)}

    def _server_rate(self, topology: BaseTopology) -> float:
        share = math.inf if self.bandwidth is None else self.bandwidth / self.servers_on(topology)
        return min(topology.server_port, share)

    def _lane(self) -> Wire:
        return Wire({}, math.inf if self.per_job is None else self.per_job, self.per_job is not None)

    def with_nodes(self, around: Surroundings, inwards: bool, site: int, servers: list[int]) -> Wire:
        """The network between node and servers, the servers' ports, and the node's own."""
        ports, loads = self._server_rate(around.topology) < math.inf, dict[str, float]()
        for server in servers:
            for name in [*around.between(site, server, inwards), *([_port(server, inwards)] if ports else [])]:
                loads[name] = loads.get(name, 0.0) + 1.0 / len(servers)
        # A pool's shares add up to 1 but for the last bits.
        crossed = {name: min(load, 1.0) for name, load in loads.items()}
        wire = joined(Wire(crossed, around.topology.port, delay=around.topology.hop), self._lane())
        return around.bounded(wire, len(servers))

    def with_files(self, around: Surroundings, inwards: bool, servers: list[int]) -> Wire:
        """The file system's links, and the servers' ports if its traffic crosses ports."""
        ports = around.files.through_ports and self._server_rate(around.topology) < math.inf
        crossed = {_port(server, inwards): 1.0 / len(servers) for server in servers} if ports else {}
        wire = joined(around.files.out if inwards else around.files.into, Wire(crossed), self._lane())
        return around.bounded(wire, around.files.parts)

    def check(self, nodes: int, topology: BaseTopology) -> None:
        """Raise ValueError where servers have no place or nothing to hold, or a lane for each job meets ports."""
        if self.per_job is not None:
            self.check_lanes(topology)
        servers, slots = self.servers_on(topology), topology.server_slots
        if slots is not None and servers > slots:
            cure = f"write servers = {slots} or fewer" if slots else "write storage = 1 below [topology]"
            raise ValueError(
                f"{self.name} has {servers} server{'s' * (servers > 1)}, "
                f"but the topology has {slots} storage slots; {cure}"
            )
        self._check_routes(servers, topology)
        if self.capacity != AUTO and self.capacity < servers:
            raise ValueError(
                f"{self.name} has {counted(self.capacity, 'byte')} for {servers:,} servers, less than a byte each; "
                "write a larger capacity or fewer servers"
            )

    def _check_routes(self, servers: int, topology: BaseTopology) -> None:
        if servers > MAX_SERVERS or servers * topology.sites > MAX_ROUTES:
            raise ValueError(
                f"{self.name} has {servers:,} servers, each with routes to {topology.sites:,} routers, more than the "
                f"{MAX_SERVERS:,} servers and {MAX_ROUTES:,} routes that a run can hold; write fewer servers"
            )

    def rooms(self, topology: BaseTopology, asked: Asked) -> NDArray[np.int64]:
        """The least capacity in which the request of each job has room. Chunked, its nodes spread over all servers."""
        requests, nodes = asked
        if not self.chunked:
            return requests
        servers, parts = self.servers_on(topology), np.maximum(nodes, 1)
        each, most = -(-requests // parts), -(-parts // servers)
        if (each.astype(np.float64) * most * servers).max(initial=0.0) >= INT64_MAX / 2:
            raise InputError(f"{self.name}: its capacity is auto, and jobs ask for more of it than can be counted; "
                             'write a size such as "10 TB"')  # fmt: skip
        whole: NDArray[np.int64] = each * most * servers
        return whole

    def sized(self, nodes: int, topology: BaseTopology, mean: float, asked: Asked | None = None) -> "Tier":
        """With room for what all nodes would hold if jobs of the average request a node filled the machine.

        And for each of the requests `asked`. In whole bytes, at least one a server; chunked, in equal whole bytes for
        all servers.
        """
        servers, wanted = self.servers_on(topology), nodes * mean
        if not 0 < wanted < INT64_MAX - servers:
            raise InputError(
                f"{self.name}: its capacity is auto, but the workload's jobs ask for {mean:g} bytes of it a node on "
                'average; write a size such as "10 TB"'
            )
        largest = 0 if asked is None else int(self.rooms(topology, asked).max(initial=0))
        capacity = max(math.ceil(wanted), servers, largest)
        if self.placement == "chunked":
            capacity = -(-capacity // servers) * servers
        return type(self).model_validate({**self.model_dump(), "capacity": capacity})


def _port(server: int, inwards: bool) -> str:
    return f"server{server} {'in' if inwards else 'out'}"
