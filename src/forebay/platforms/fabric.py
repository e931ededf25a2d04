"""The Fabric: a machine's network and stores as the engine needs them, in arrays and wires."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forebay.platforms.storage import files_of, stores_of, ways_of
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies._base import BaseTopology
from forebay.platforms.wires import Door, Surroundings, Wire


class Store(NamedTuple):
    """The wires of a tier that data is staged to, each by place: a server of chunks, or the one place of a pool."""

    checkpoint: tuple[tuple[Wire, ...], ...]  # by place, then by the site of the node that writes
    fetch: tuple[tuple[Wire, ...], ...]
    stage_in: tuple[Wire, ...]
    stage_out: tuple[Wire, ...]


class Way(NamedTuple):
    """A tier that jobs can run on where the policy chooses."""

    name: str
    store: int  # its place among the stores; -1 is the file system
    rate: float  # bytes/s that a job alone on the machine has between its nodes and the tier; inf where nothing limits
    stage_rate: float  # the same between tier and file system; inf for the file system


@dataclass(frozen=True, eq=False)
class Fabric:
    """The network as the engine needs it: shared links, and which of them a transfer crosses."""

    names: tuple[str, ...]  # of every shared link: the network's first, then those of tiers in order
    capacity: NDArray[np.float64]  # [link] bytes/s
    port: float  # bytes/s of a compute node's own port, each way; inf where it never limits
    latency: float  # seconds between two compute nodes
    site: NDArray[np.int32]  # [node]
    n_sites: int
    first: NDArray[np.int64]  # [n_sites * n_sites + 1]: a to b crosses links[first[a * n_sites + b]:first[... + 1]]
    links: NDArray[np.int64]
    near: NDArray[np.int64]  # [n_sites, server] servers in the order in which a site looks for room
    server_capacity: NDArray[np.int64]  # [server] bytes of the buffer, pooled or chunked; empty if it has no servers
    buffer: str | None  # name of the tier that staging uses, the first of the stores; None if there is none
    chunked: bool  # whether that tier is chunked
    device: float  # bytes/s that reads and writes together get of a node's own device; inf where they do not share it
    read: Wire | None  # from the file system to nodes; None if there is none
    write: Wire | None
    stores: tuple[Store, ...]
    ways: tuple[Way, ...]


@lru_cache(maxsize=16)
def make(nodes: int, topology: BaseTopology, tiers: tuple[BaseTier, ...]) -> Fabric:
    """The fabric of a machine whose parts fit together and whose tiers have sizes."""
    files, stores = files_of(tiers), stores_of(tiers)
    servers = stores[0].servers_on(topology) if stores else 0
    network = topology.network(nodes, servers)
    around = Surroundings(topology, network, files.door() if files else Door())
    wired = [tier for tier in tiers if tier is files or tier in stores]
    added = {name: rate for tier in wired for name, rate in tier.links(topology).items()}
    read, write = (files.with_nodes(around, inwards, 0, []) if files else None for inwards in (False, True))
    wires = {tier.name: _store(tier, around, servers if tier is stores[0] else 0) for tier in stores}
    capacity = dict(zip(network.names, network.capacity.tolist(), strict=True)) | added
    return Fabric(
        names=tuple(capacity),
        capacity=np.array(list(capacity.values()), np.float64),
        port=topology.port,
        latency=2 * topology.hop,
        site=network.site,
        n_sites=network.n_sites,
        first=network.first,
        links=network.links,
        near=network.near,
        server_capacity=np.full(servers, int(stores[0].size or 0) // servers if servers else 0, np.int64),
        buffer=stores[0].name if stores else None,
        chunked=bool(stores) and stores[0].chunked,
        device=stores[0].device if stores else math.inf,
        read=read,
        write=write,
        stores=tuple(wires.values()),
        ways=_ways(tiers, [wire for wire in (read, write) if wire is not None], wires, capacity),
    )


def _store(tier: BaseTier, around: Surroundings, servers: int) -> Store:
    """All wires of a store. A pool has one place, striped over all of its servers."""
    places = [[server] for server in range(servers)] if tier.chunked else [list(range(servers))]
    sites = range(around.network.n_sites)
    return Store(
        checkpoint=tuple(tuple(tier.with_nodes(around, True, site, place) for site in sites) for place in places),
        fetch=tuple(tuple(tier.with_nodes(around, False, site, place) for site in sites) for place in places),
        stage_in=tuple(tier.with_files(around, True, place) for place in places),
        stage_out=tuple(tier.with_files(around, False, place) for place in places),
    )


def _ways(
    tiers: tuple[BaseTier, ...], to_files: list[Wire], wires: dict[str, Store], capacity: dict[str, float]
) -> tuple[Way, ...]:
    """The tiers that a job can run on, with the rates that policies reckon with."""
    ways = []
    for tier in ways_of(tiers):
        if tier.files:
            ways.append(Way(tier.name, -1, _slowest(to_files, capacity), math.inf))
        else:
            own = wires[tier.name]
            rate = _slowest([*own.checkpoint[0], *own.fetch[0]], capacity)
            staged = _slowest([own.stage_in[0], own.stage_out[0]], capacity)
            ways.append(Way(tier.name, list(wires).index(tier.name), rate, staged))
    return tuple(ways)


def _slowest(wires: list[Wire], capacity: dict[str, float]) -> float:
    """Bytes/s over the slowest of some wires for a job of many nodes and without company."""
    rates = [capacity[name] / load for wire in wires for name, load in wire.links.items()]
    return min([*rates, *(wire.cap for wire in wires if wire.whole)], default=math.inf)
