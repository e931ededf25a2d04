"""The Fabric: a machine's network and stores as the engine needs them, in arrays."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from forebay.platforms.tiers import fast, node_local, pfs, shared_bb, slow
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies._base import BaseTopology


@dataclass(frozen=True, eq=False)
class Fabric:
    """The network as the engine needs it: shared links, and which of them a transfer crosses."""

    names: tuple[str, ...]  # of every shared link: the network's first, then server ports, then those of the PFS
    capacity: NDArray[np.float64]  # [link] bytes/s
    port: float  # bytes/s of a compute node's own port, each way; inf where it never limits
    site: NDArray[np.int32]  # [node]
    n_sites: int
    first: NDArray[np.int64]  # [n_sites * n_sites + 1]: a to b crosses links[first[a * n_sites + b]:first[... + 1]]
    links: NDArray[np.int64]
    server_site: NDArray[np.int64]  # [server] of the buffer, pooled or chunked; empty if there is none
    server_capacity: NDArray[np.int64]  # [server] bytes
    server_in: NDArray[np.int64]  # [server] link of its port towards it, -1 where it never limits
    server_out: NDArray[np.int64]  # [server]
    near: NDArray[np.int64]  # [n_sites, server] servers in the order in which a site looks for room
    files: bool  # whether there is a PFS
    pfs_read: int  # link, -1 where none is shared; the same as pfs_write where one link serves both ways
    pfs_write: int
    pfs_lane: float  # bytes/s that a job gets of the PFS at most; inf where only links limit
    buffer_lane: float  # the same of the buffer
    through_ports: bool  # whether PFS traffic crosses the ports of servers and nodes too
    buffer: str | None  # name of the tier that staging uses; None if there is none
    chunked: bool  # whether that tier is chunked
    levels: tuple[tuple[int, int], ...]  # links of each tier of storage, slow first: to the nodes, to the slow one
    local: float  # bytes/s of a node's own device where the buffer is node_local; else inf


def buffer_of(tiers: Sequence[BaseTier]) -> shared_bb.Tier | node_local.Tier | None:
    """The tier that staging uses: the first shared burst buffer, else the first in the nodes."""
    shared = (tier for tier in tiers if isinstance(tier, shared_bb.Tier))
    local = (tier for tier in tiers if isinstance(tier, node_local.Tier))
    return next(shared, None) or next(local, None)


@lru_cache(maxsize=16)
def make(nodes: int, topology: BaseTopology, tiers: tuple[BaseTier, ...]) -> Fabric:
    """The fabric of a machine whose parts fit together and whose tiers have sizes."""
    buffer = buffer_of(tiers)
    shared = buffer if isinstance(buffer, shared_bb.Tier) else None
    device = buffer.bandwidth if isinstance(buffer, node_local.Tier) else None
    files = next((tier for tier in tiers if isinstance(tier, pfs.Tier)), None)
    servers = shared.servers_on(topology) if shared else 0
    network = topology.network(nodes, servers)
    ports = _server_ports(shared, servers, topology.server_port)
    aggregate = _pfs_links(files)
    levels = levels_of(tiers)
    of_levels = _level_links(levels)
    added = ports + aggregate + of_levels
    n_network, n_before_pfs = len(network.names), len(network.names) + len(ports)
    server_in = n_network + 2 * np.arange(servers) if ports else np.full(servers, -1)
    return Fabric(
        names=network.names + tuple(name for name, _ in added),
        capacity=np.concatenate([network.capacity, [rate for _, rate in added]]).astype(np.float64),
        port=topology.port,
        site=network.site,
        n_sites=network.n_sites,
        first=network.first,
        links=network.links,
        server_site=network.server_site,
        server_capacity=np.full(servers, int(shared.capacity) // servers if shared else 0, np.int64),
        server_in=server_in.astype(np.int64),
        server_out=(server_in + 1 if ports else server_in).astype(np.int64),
        near=network.near,
        files=files is not None or bool(levels),
        pfs_read=n_before_pfs if aggregate else -1,
        pfs_write=n_before_pfs + len(aggregate) - 1 if aggregate else -1,
        pfs_lane=math.inf if files is None or files.per_job is None else files.per_job,
        buffer_lane=math.inf if shared is None or shared.per_job is None else shared.per_job,
        through_ports=files.through_ports if files else True,
        buffer=buffer.name if buffer else None,
        chunked=shared is not None and shared.placement == "chunked",
        levels=_level_places(n_before_pfs + len(aggregate), len(levels)),
        local=math.inf if device is None else device,
    )


def levels_of(tiers: Sequence[BaseTier]) -> tuple[slow.Tier | fast.Tier, ...]:
    """The tiers of storage that jobs may choose between: the slow one, then the fast ones that have room."""
    first = [tier for tier in tiers if isinstance(tier, slow.Tier)]
    return (*first, *(tier for tier in tiers if isinstance(tier, fast.Tier) and tier.capacity > 0))


def _level_places(first: int, n: int) -> tuple[tuple[int, int], ...]:
    """Where the links of `n` tiers of storage stand; the slow one has no link to itself."""
    return tuple((first, -1) if k == 0 else (first + 2 * k - 1, first + 2 * k) for k in range(n))


def _level_links(levels: Sequence[slow.Tier | fast.Tier]) -> list[tuple[str, float]]:
    """Name and bytes/s of a link between each tier of storage and the nodes, and of one between fast and slow."""
    links: list[tuple[str, float]] = []
    for tier in levels:
        links.append((tier.name, tier.bandwidth))
        if isinstance(tier, fast.Tier):
            links.append((f"{tier.name} staging", tier.stage))
    return links


def _server_ports(tier: shared_bb.Tier | None, servers: int, port: float) -> list[tuple[str, float]]:
    """Name and bytes/s of a link into and one out of every server; none where they never limit."""
    if tier is None:
        return []
    rate = port if tier.bandwidth is None else min(port, tier.bandwidth / servers)
    return [] if rate == math.inf else [(f"server{k} {way}", rate) for k in range(servers) for way in ("in", "out")]


def _pfs_links(tier: pfs.Tier | None) -> list[tuple[str, float]]:
    """Name and bytes/s of the file system's one link, or of those for reads and for writes; none with lanes alone."""
    if tier is None:
        return []
    if tier.bandwidth is not None:
        return [(tier.name, tier.bandwidth)]
    return [(f"{tier.name} {way}", rate) for way, rate in (("read", tier.read), ("write", tier.write)) if rate]
