"""What every topology has: a kind, a line for people, and the network it makes of nodes and servers."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forebay.core.views.topology import Topology
from forebay.platforms._fields import Model


@dataclass(frozen=True, eq=False)
class Network:
    """Shared links and routes. Nodes and servers hang on *sites*; routes go from site to site."""

    names: tuple[str, ...]  # of every link that transfers may share, one way each
    capacity: NDArray[np.float64]  # [link] bytes/s
    n_sites: int
    first: NDArray[np.int64]  # [n_sites * n_sites + 1]: a to b crosses links[first[a * n_sites + b]:first[... + 1]]
    links: NDArray[np.int64]
    site: NDArray[np.int32]  # [node]
    server_site: NDArray[np.int64]  # [server]
    near: NDArray[np.int64]  # [n_sites, server] servers in the order in which a site looks for room


class BaseTopology(Model):
    """How nodes and servers are joined; the kinds add their sizes and bandwidths.

    As it stands it is a crossbar that never limits: a kind overrides what it has to say about.
    """

    kind: str

    @property
    def text(self) -> str:
        """The network in a few words."""
        return self.kind

    @property
    def port(self) -> float:
        """Bytes/s of a compute node's own port, each way; inf where it never limits."""
        return math.inf

    @property
    def server_port(self) -> float:
        """Bytes/s of a storage server's own port, each way; inf where it never limits."""
        return math.inf

    @property
    def hop(self) -> float:
        """Seconds that a compute node's own link delays what crosses it."""
        return 0.0

    def bound(self, latency: float) -> float:
        """Bytes/s that one stream gets at most over a route of that latency; inf where it never limits."""
        return math.inf

    @property
    def server_slots(self) -> int | None:
        """How many storage servers it has places for; None for as many as one likes."""
        return None

    @property
    def sites(self) -> int:
        """Where nodes and servers hang: routers, or the one crossbar."""
        return 1

    @property
    def groups_of_sites(self) -> NDArray[np.int64]:
        """The group of each site; there is one where a kind has none."""
        return np.zeros(self.sites, np.int64)

    def seen(self, nodes: int) -> Topology | None:
        """What policies see of it; None where all nodes hang on one site."""
        if self.sites == 1:
            return None
        network = self.network(nodes, 0)
        hops = np.diff(network.first).reshape(network.n_sites, network.n_sites)
        return Topology(network.site.copy(), self.groups_of_sites[network.site], hops)

    def check(self, nodes: int) -> None:
        """Raise ValueError unless this network joins that many compute nodes."""

    def network(self, nodes: int, servers: int) -> Network:
        """Links and routes between that many compute nodes and the first `servers` storage servers."""
        return Network(
            names=(),
            capacity=np.empty(0),
            n_sites=1,
            first=np.zeros(2, np.int64),
            links=np.empty(0, np.int64),
            site=np.zeros(nodes, np.int32),
            server_site=np.zeros(servers, np.int64),
            near=np.arange(servers, dtype=np.int64)[None, :],
        )
