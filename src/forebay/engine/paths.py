"""Which route each kind of phase takes on a machine, worked out before a run."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from forebay.engine.network import Loads, Network, make_network
from forebay.platforms.fabric import Fabric

STAGE_IN, STAGE_OUT, CHECKPOINT = range(3)
"""Rows of `Paths.routes`; from CHECKPOINT on one row a site, and behind them as many for fetching."""

PATHS = np.dtype(
    [
        ("read", "i8"),  # route from file system to compute nodes; -1 = none
        ("write", "i8"),
        ("port", "f8"),  # bandwidth of a node's own port
        ("staging_lane", "i1"),  # whether a job has a lane between file system and buffer
        ("files_lane", "i1"),  # between file system and nodes
        ("buffer_lane", "i1"),  # between buffer and nodes
    ],
    align=True,
)
"""What all sites have in common. A job with a lane is one stream, however many nodes it has."""


class Paths(NamedTuple):
    """Routes by phase, and links between sites."""

    state: np.ndarray  # PATHS, one row
    routes: np.ndarray  # int64[2 + 2 * site, server]: in from and out to files, in from each site, out to each
    first: np.ndarray  # int64: links from site a to b are links[first[a * n_sites + b]:first[a * n_sites + b + 1]]
    links: np.ndarray  # int64
    by_site: np.ndarray  # int64[2, site] scratch: a job's nodes
    by_server: np.ndarray  # int64[server] scratch: a job's streams
    by_link: np.ndarray  # float64[link] scratch: load
    touched: np.ndarray  # int64[link] scratch
    levels: np.ndarray  # int64[tier, 2]: routes between nodes and each tier of storage, between it and tier 0


def no_paths() -> Paths:
    """For runs in which nothing is moved."""
    state = np.zeros(1, PATHS)
    state["read"] = state["write"] = -1
    state["port"] = np.inf
    none = np.zeros(0, np.int64)
    by_site = np.zeros((2, 1), np.int64)
    return Paths(
        state,
        np.zeros((0, 0), np.int64),
        np.zeros(2, np.int64),
        none,
        by_site,
        none.copy(),
        np.zeros(0),
        none.copy(),
        np.zeros((0, 2), np.int64),
    )


class _Routes:
    """Routes known before the run; those over the same links under the same cap are one."""

    def __init__(self) -> None:
        self.made: dict[tuple[float, tuple[tuple[int, float], ...]], int] = {}

    def add(self, cap: float, loads: Loads) -> int:
        key = (cap, tuple(sorted((k, load) for k, load in loads.items() if k >= 0)))
        return self.made.setdefault(key, len(self.made))

    def list(self) -> list[tuple[float, Loads]]:
        return [(cap, dict(loads)) for cap, loads in self.made]


def make_paths(fabric: Fabric, n_transfers: int, communicate: bool) -> tuple[Paths, Network]:
    """The routes of a machine and its idle network. Nodes that `communicate` need routes made on the way, too."""
    state, routes, levels, made = _routes(fabric)
    n_links = len(fabric.capacity)
    spare_routes, spare_entries = _spare(fabric) if communicate else (0, 0)
    network = make_network(fabric.capacity.tolist(), made, n_transfers, spare_routes, spare_entries)
    paths = Paths(
        state=state,
        routes=routes,
        first=np.ascontiguousarray(fabric.first, np.int64),
        links=np.ascontiguousarray(fabric.links, np.int64),
        by_site=np.zeros((2, fabric.n_sites), np.int64),
        by_server=np.zeros(routes.shape[1], np.int64),
        by_link=np.zeros(n_links),
        touched=np.zeros(n_links, np.int64),
        levels=levels,
    )
    return paths, network


@lru_cache(maxsize=16)
def _routes(fabric: Fabric) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[tuple[float, Loads]]]:
    """PATHS, routes by phase and by tier of storage, and all that are known before a run. Kernels only read them."""
    made = _Routes()
    routes = _buffer_routes(fabric, made)
    state = np.zeros(1, PATHS)
    cap = min(fabric.pfs_lane, fabric.port if fabric.through_ports else np.inf)
    state["read"] = made.add(cap, {fabric.pfs_read: 1.0}) if fabric.files else -1
    state["write"] = made.add(cap, {fabric.pfs_write: 1.0}) if fabric.files else -1
    state["port"] = fabric.port
    state["files_lane"], state["buffer_lane"] = fabric.pfs_lane < np.inf, fabric.buffer_lane < np.inf
    state["staging_lane"] = state["files_lane"] | state["buffer_lane"]
    # Every tier has links of its own, and a job is one stream on each.
    levels = [[made.add(np.inf, {link: 1.0}) for link in links] for links in fabric.levels]
    return state, routes, np.array(levels, np.int64).reshape(-1, 2), made.list()


def _buffer_routes(fabric: Fabric, made: _Routes) -> np.ndarray:
    """Routes to and from the buffer's servers. A pool is one server that stripes over all."""
    if fabric.buffer is None:
        return np.zeros((2 + 2 * fabric.n_sites, 0), np.int64)
    stripes = [[s] for s in range(len(fabric.server_site))]
    if not fabric.chunked:
        stripes = [[s for (s,) in stripes]]  # of a node's own device: none
    # Between file system and servers only links limit; a node's own device lies behind its port.
    in_nodes = len(fabric.server_site) == 0
    cap = min(fabric.local, fabric.port if fabric.through_ports else np.inf) if in_nodes else np.inf
    cap = min(cap, fabric.pfs_lane, fabric.buffer_lane)
    own = min(fabric.local if in_nodes else fabric.port, fabric.buffer_lane)
    table = np.zeros((2 + 2 * fabric.n_sites, len(stripes)), np.int64)
    for column, servers in enumerate(stripes):
        share = 1.0 / max(len(servers), 1)
        ports = servers if fabric.through_ports else []
        table[STAGE_IN, column] = made.add(
            cap, {fabric.pfs_read: 1.0, **{int(fabric.server_in[s]): share for s in ports}}
        )
        table[STAGE_OUT, column] = made.add(
            cap, {fabric.pfs_write: 1.0, **{int(fabric.server_out[s]): share for s in ports}}
        )
        for site in range(fabric.n_sites):
            table[CHECKPOINT + site, column] = made.add(own, _striped(fabric, site, servers, inwards=True))
            fetch = CHECKPOINT + fabric.n_sites + site
            table[fetch, column] = made.add(own, _striped(fabric, site, servers, inwards=False))
    return table


def _striped(fabric: Fabric, site: int, servers: list[int], inwards: bool) -> Loads:
    """What a byte crosses between the nodes of a site and data that is striped over servers, in or out."""
    loads: dict[int, float] = {}
    for s in servers:
        there = int(fabric.server_site[s])
        pair = site * fabric.n_sites + there if inwards else there * fabric.n_sites + site
        port = fabric.server_in[s] if inwards else fabric.server_out[s]
        for k in [*fabric.links[fabric.first[pair] : fabric.first[pair + 1]], port]:
            loads[int(k)] = loads.get(int(k), 0.0) + 1.0 / len(servers)
    # a pool's shares add up to 1 but for the last bits
    return {k: min(load, 1.0) for k, load in loads.items()}


def _spare(fabric: Fabric) -> tuple[int, int]:
    """Room for the routes of compute phases: most routes at a time, most links of all of them together.

    A job of m nodes crosses at most all links between sites, and at most those of its m (m - 1) pairs.
    """
    longest = int(np.diff(fabric.first).max(initial=0))
    n_links = len(np.unique(fabric.links))
    n_nodes = len(fabric.site)
    if longest == 0:
        return 0, 0
    m = np.arange(2, n_nodes + 1)
    per_node = np.minimum(n_links, longest * m * (m - 1.0)) / m
    return n_nodes // 2, int(np.ceil(per_node.max(initial=0) * n_nodes)) + 1
