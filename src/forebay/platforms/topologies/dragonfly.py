"""A Dragonfly (Kim et al. 2008) as Cray builds it: green links in a chassis, black in a group, blue between groups.

Slots are numbered group by group, chassis by chassis, router by router. The first `storage` slots of every chassis hold
storage servers, the others compute nodes; both are numbered from 0 in the order of their slots. A site is a router.
"""

import math
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationInfo, field_validator

from forebay._support import input_limits
from forebay._support.text import counted
from forebay.core.units import format_rate
from forebay.platforms._fields import Count, CountOrZero, Rate
from forebay.platforms.topologies._base import BaseTopology, Network

DESCRIPTION = "groups of chassis of routers, every link and port of one bandwidth each way"

MAX_ROUTERS = 2500
"""A route is kept for every pair of routers."""

MAX_LINKS = 1_000_000
"""Each has a name. The routers of a chassis are joined all to all, and so are the chassis of a group."""

MAX_SLOTS = 16_000_000
"""For nodes and servers."""

Few = Annotated[Count, Field(examples=[3])]


class Topology(BaseTopology):
    """Counts (chassis of a group, routers of a chassis, slots of a router) and the bandwidth of every link in bytes/s.

    Routes are minimal: to the router that holds the link to the target's group and over it; then to the router of the
    target's number (green), then to the target's chassis (black). Routing "simgrid" is that of SimGrid 3.32: after the
    green hop in the target's group it takes itself to be in chassis 0, so the black hop starts there, or is left out
    where the target is in chassis 0.

    A node looks for buffer space on the servers of its chassis, then of its group, then on the others; `far_order` is
    the order of those: by number, or by the name of their slot, as text. Batsim numbers hosts by name, so programs that
    search by its numbers try slot 18 before slot 9.
    """

    kind: Literal["dragonfly"] = "dragonfly"
    groups: Few
    chassis: Few
    routers: Few
    ports: Few
    storage: CountOrZero = 0
    bandwidth: Rate
    routing: Literal["minimal", "simgrid"] = "minimal"
    far_order: Literal["number", "name"] = "number"

    @field_validator("routers")
    @classmethod
    def _routers(cls, routers: int, info: ValidationInfo) -> int:
        groups, chassis = info.data.get("groups", 1), info.data.get("chassis", 1)
        if groups > routers:
            raise ValueError(
                f"{groups} groups need as many routers a chassis, one for the link to each other group, "
                f"but routers is {routers}; write routers = {groups} or fewer groups"
            )
        if groups * chassis * routers > MAX_ROUTERS:
            raise ValueError(
                f"{counted(groups, 'group')} x {chassis} chassis x {counted(routers, 'router')} are "
                f"{groups * chassis * routers:,} routers, "
                f"more than the {MAX_ROUTERS} whose routes fit in memory; write smaller counts"
            )
        links = groups * chassis * routers * (routers + chassis - 2) + groups * (groups - 1)
        if links > MAX_LINKS:
            raise ValueError(
                f"{counted(groups, 'group')} x {chassis} chassis x {counted(routers, 'router')} are joined by "
                f"{links:,} links, more than the {MAX_LINKS:,} that a run can hold; write smaller counts"
            )
        return routers

    @field_validator("ports")
    @classmethod
    def _ports(cls, ports: int, info: ValidationInfo) -> int:
        routers = math.prod(info.data.get(name, 1) for name in ("groups", "chassis", "routers"))
        most = input_limits.limit(input_limits.NODES, MAX_SLOTS)
        if routers * ports > most:
            raise ValueError(
                f"{counted(routers, 'router')} of {counted(ports, 'port')} have {routers * ports:,} slots, more than "
                f"the {most:,} of a machine; write fewer ports, or set the variable {input_limits.NODES} to as many"
            )
        return ports

    @field_validator("storage")
    @classmethod
    def _storage(cls, storage: int, info: ValidationInfo) -> int:
        slots = info.data.get("routers", math.inf) * info.data.get("ports", math.inf)
        if storage >= slots:
            raise ValueError(
                f"{storage} storage slots leave no slot for nodes in a chassis of {slots} slots (routers x ports); "
                f"write at most {slots - 1}"
            )
        return storage

    @property
    def text(self) -> str:
        """The network in a few words."""
        storage = f", {self.server_slots} slots for storage" if self.storage else ""
        routing = ", routes as SimGrid's" if self.routing == "simgrid" else ""
        return f"dragonfly of {self._sizes}{storage}, {format_rate(self.bandwidth)} a link{routing}"

    @property
    def _sizes(self) -> str:
        return f"{self.groups} x {self.chassis} x {self.routers} x {self.ports} slots"

    @property
    def port(self) -> float:
        """Bytes/s of a compute node's own port, each way."""
        return self.bandwidth

    @property
    def server_port(self) -> float:
        """Bytes/s of a storage server's own port, each way."""
        return self.bandwidth

    @property
    def sites(self) -> int:
        """Its routers."""
        return self.groups * self.chassis * self.routers

    @property
    def groups_of_sites(self) -> NDArray[np.int64]:
        """Routers are numbered group by group."""
        return np.arange(self.sites) // (self.chassis * self.routers)

    @property
    def server_slots(self) -> int:
        """How many storage servers it has places for."""
        return self.groups * self.chassis * self.storage

    def check(self, nodes: int) -> None:
        """Raise ValueError unless this network joins that many compute nodes."""
        slots = self.groups * self.chassis * self.routers * self.ports
        there = slots - self.server_slots
        if nodes != there:
            raise ValueError(
                f"groups x chassis x routers x ports = {self._sizes.removesuffix(' slots')} = {slots} slots, less "
                f"{self.server_slots} for storage, are {counted(there, 'node')}, but nodes is {nodes}; "
                f"write nodes = {there} or other counts"
            )

    def network(self, nodes: int, servers: int) -> Network:
        """Links and routes between all compute nodes and the first `servers` storage servers."""
        n_sites = self.groups * self.chassis * self.routers
        slots = np.arange(n_sites * self.ports)
        stores = slots % (self.routers * self.ports) < self.storage
        server_slots = slots[stores][:servers]
        server_site = server_slots // self.ports
        names, first, links = self._routes(n_sites)
        return Network(
            names=names,
            capacity=np.full(len(names), self.bandwidth),
            n_sites=n_sites,
            first=first,
            links=links,
            site=(slots[~stores] // self.ports).astype(np.int32),
            server_site=server_site.astype(np.int64),
            near=self._near(np.arange(n_sites), server_site, server_slots),
        )

    def _routes(self, n_sites: int) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]:
        """Names of links; of all pairs of routers, the links between them and where each pair's begin."""
        green = _number((self.groups, self.chassis), self.routers, 0)
        black = _number((self.groups, self.routers), self.chassis, green.max() + 1)
        blue = _number((), self.groups, max(green.max(), black.max()) + 1)
        names = [f"green g{g}c{c} r{a}>r{b}" for g, c, a, b in np.argwhere(green >= 0)]
        names += [f"black g{g}r{r} c{a}>c{b}" for g, r, a, b in np.argwhere(black >= 0)]
        names += [f"blue g{a}>g{b}" for a, b in np.argwhere(blue >= 0)]
        counts, links = [], []
        for site in range(n_sites):
            hops = self._hops(site, green, black, blue)
            counts.append((hops >= 0).sum(axis=1))
            links.append(hops[hops >= 0])
        first = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
        return tuple(names), first, np.concatenate(links)

    def _hops(
        self, site: int, green: NDArray[np.int64], black: NDArray[np.int64], blue: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Links from one router to every router, a row a target, five hops at most; -1 for each hop not taken."""
        shape = (self.groups, self.chassis, self.routers)
        g, c, r = (int(part) for part in np.unravel_index(site, shape))
        G, C, R = np.unravel_index(np.arange(math.prod(shape)), shape)
        away = g != G
        # The link to group G is at router G of chassis 0, and its far end at router g of chassis 0.
        to_router = np.where(away, green[g, c, r, G], -1)
        to_chassis = np.where(away, black[g, G, c, 0], -1)
        chassis, router = np.where(away, 0, c), np.where(away, g, r)
        inside = green[G, chassis, router, R]
        if self.routing == "simgrid":
            chassis = np.where(router != R, 0, chassis)
        return np.stack([to_router, to_chassis, blue[g, G], inside, black[G, R, chassis, C]], axis=1)

    def _near(
        self, sites: NDArray[np.int64], server_site: NDArray[np.int64], server_slots: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Servers of the site's own chassis, then of its group, both ascending; then all others, in `far_order`."""
        chassis, group = self.routers, self.routers * self.chassis
        same = sum((sites[:, None] // size == server_site // size).astype(np.int64) for size in (chassis, group))
        rank = np.arange(len(server_slots))
        if self.far_order == "name":
            rank[np.argsort(server_slots.astype(str), kind="stable")] = rank.copy()
        ranks = np.where(same > 0, np.arange(len(server_slots)), rank)
        return np.lexsort((ranks, -same), axis=1).astype(np.int64)


def _number(outer: tuple[int, ...], n: int, start: int) -> NDArray[np.int64]:
    """A link of its own for each ordered pair of n, once for each of `outer`; -1 from one to itself."""
    table = np.full((*outer, n, n), -1, np.int64)
    pairs = n * (n - 1)
    table[..., ~np.eye(n, dtype=bool)] = np.arange(start, start + math.prod(outer) * pairs).reshape(*outer, pairs)
    return table
