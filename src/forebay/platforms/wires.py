"""Wires: what a byte crosses between nodes, a store and the file system. Each tier says it of itself."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from forebay.platforms.topologies._base import BaseTopology, Network


class Wire(NamedTuple):
    """Shared links by name, each with the share of a byte that crosses it; and what else limits a stream."""

    links: Mapping[str, float]
    cap: float = math.inf  # bytes/s that one stream gets at most
    whole: bool = False  # whether a job is one stream, however many nodes it has
    delay: float = 0.0  # seconds before a stream's first byte, in which it uses no link


def joined(*wires: Wire) -> Wire:
    """One after the other: all links, the lowest cap, the sum of delays, and one stream a job if any asks for that."""
    links: dict[str, float] = {}
    for wire in wires:
        for name, load in wire.links.items():
            links[name] = links.get(name, 0.0) + load
    delay = sum(wire.delay for wire in wires)
    return Wire(links, min(wire.cap for wire in wires), any(wire.whole for wire in wires), delay)


class Door(NamedTuple):
    """The file system's end of a wire; on a machine without one, nothing limits there."""

    into: Wire = Wire({})
    out: Wire = Wire({})
    through_ports: bool = True  # whether its traffic crosses the port of the node or server at the other end too
    parts: int = 1  # equal ones that a stream is split into, each bound by itself


class Surroundings(NamedTuple):
    """What a tier needs to know of the machine to say its wires."""

    topology: BaseTopology
    network: Network
    files: Door

    @property
    def port(self) -> float:
        """Bytes/s of a node's own port as far as the file system's traffic crosses it."""
        return self.topology.port if self.files.through_ports else math.inf

    @property
    def own_link(self) -> Wire:
        """A node's own link as far as the file system's traffic crosses it."""
        return Wire({}, self.port, delay=self.topology.hop if self.files.through_ports else 0.0)

    def bounded(self, wire: Wire, parts: int) -> Wire:
        """The wire with the network's bound on each of the parts of a stream."""
        return wire._replace(cap=min(wire.cap, parts * self.topology.bound(wire.delay)))

    def between(self, site: int, server: int, inwards: bool) -> Sequence[str]:
        """Links of the network from a site to a storage server (`inwards`), or back."""
        network, there = self.network, int(self.network.server_site[server])
        pair = site * network.n_sites + there if inwards else there * network.n_sites + site
        return [network.names[k] for k in network.links[network.first[pair] : network.first[pair + 1]]]
