"""The SimGrid platforms that ElastiSim runs on: a crossbar cluster, and file systems behind a link each way."""

import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from forebay._support import input_limits
from forebay._support.files import as_path
from forebay.elastisim import _units, _xml
from forebay.elastisim._xml import Element
from forebay.errors import InputError, brief, listed, nearest
from forebay.platforms import Platform
from forebay.platforms._declared.problems import Problems
from forebay.platforms.platform import MAX_NODES
from forebay.platforms.tiers import node_local, pfs
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies.flat import Topology
from forebay.workload import _source

WINDOW = 4194304
"""Bytes that a stream has under way at most: SimGrid's network/TCP-gamma."""

_GAMMA = "network/TCP-gamma"

# What each tag may have. Attributes in a set of values are refused with any other: they would change the network.
_ATTRIBUTES: dict[str, dict[str, set[str] | None]] = {
    "platform": {"version": None},
    "zone": {"id": None, "routing": {"Full"}},
    "host": {"id": None, "speed": None, "core": {"1"}},
    "cluster": {
        **dict.fromkeys(("id", "prefix", "suffix", "radical", "speed", "bw", "lat", "router_id")),
        **dict.fromkeys(("loopback_bw", "loopback_lat")),  # nodes send nothing to themselves
        "core": {"1"},
        "topology": {"FLAT"},
        "sharing_policy": {"SPLITDUPLEX"},
    },
    "prop": {"id": None, "value": None},
    "link": {"id": None, "bandwidth": None, "latency": None, "sharing_policy": {"SHARED"}},
    "zoneRoute": {"src": None, "dst": None, "gw_src": None, "gw_dst": None, "symmetrical": {"YES", "NO", "yes", "no"}},
    "link_ctn": {"id": None},
    "config": {"id": None},
}
_INSIDE = {
    "platform": ("config", "zone"),
    "zone": ("zone", "host", "cluster", "link", "zoneRoute", "prop"),
    "host": ("prop",),
    "cluster": ("prop",),
    "zoneRoute": ("link_ctn",),
    "config": ("prop",),
}
_PROPERTIES = {
    *("pfs_targets", "node_local_bb", "bb_read_bw", "bb_write_bw", "wide_striping", "flops_per_byte"),
    *("num_gpus", "flops_per_gpu", "gpu_to_gpu_bw", "batch_system", "pfs_host"),
}
_T = TypeVar("_T")


@dataclass(frozen=True)
class Gpus:
    """The GPUs of every node."""

    count: int
    speed: float  # flop/s of each
    bandwidth: float | None  # bytes/s between two of them; None where there is one


@dataclass(frozen=True)
class Machine:
    """A platform of ours, and what ElastiSim's platforms have beyond."""

    platform: Platform
    names: tuple[str, ...]  # of nodes, by their numbers: ElastiSim numbers them in the order of their names as text
    gpus: Gpus | None = None
    striped: bool = False  # whether what a node writes to burst buffers goes to those of all nodes of its job
    flop_per_byte: float = 0.0  # that nodes work for what is striped
    notes: tuple[str, ...] = ()

    @property
    def doors(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shared links, by their numbers, on which one reads from the file system and writes to it."""
        fabric = self.platform.fabric()
        read, write = (
            tuple(fabric.names.index(name) for name in (wire.links if wire else ()))
            for wire in (fabric.read, fabric.write)
        )
        return read, write

    @property
    def file_system(self) -> tuple[float, float]:
        """Bytes/s that can be read from the file system and written to it; 0 where there is none."""
        capacity = self.platform.fabric().capacity
        read, write = (float(capacity[list(links)].sum()) for links in self.doors)
        return read, write

    @property
    def pair_load(self) -> float:
        """How much a byte between two nodes keeps a port busy, at least: more than 1 where the window limits it."""
        topology = self.platform.topology
        bound = topology.bound(2 * topology.hop)
        return max(1.0, topology.port / bound) if topology.port < float("inf") else 1.0


def read(path: str | os.PathLike[str]) -> Machine:
    """The machine in a SimGrid platform file, of the kinds that ElastiSim's manual shows."""
    path = as_path(path, "the platform to read")
    source = _source.load(path)
    root = _xml.parse(source.data, str(path))
    if root.tag != "platform":
        raise InputError(f"{path}:{root.line}: <{root.tag}> instead of <platform>; name a SimGrid platform")
    return _Reader(path, root).machine()


@dataclass
class _Reader:
    path: Path
    root: Element
    links: dict[str, Element] = field(default_factory=dict)
    clusters: list[Element] = field(default_factory=list)
    hosts: dict[str, tuple[Element, str]] = field(default_factory=dict)  # with the zone that each is in
    routes: list[Element] = field(default_factory=list)
    window: int = WINDOW

    def machine(self) -> Machine:
        self._walk(self.root, "")
        if not self.clusters:
            raise InputError(f"{self.path}: has no <cluster>, and so no nodes; add one")
        self._check_hosts()
        first = self.clusters[0]
        for other in self.clusters[1:]:
            self._check_alike(first, other)
        properties = _properties(first)
        names = sorted(name for cluster in self.clusters for name in self._names(cluster))
        for name, after in itertools.pairwise(names):
            if name == after:
                raise InputError(f"{self.path}: two nodes are called {brief(name)}; correct radical or prefix")
        platform = self._platform(first, len(names), properties)
        striped = properties.get("node_local_bb") == "true" and properties.get("wide_striping") == "true"
        unknown = sorted(properties.keys() - _PROPERTIES)
        notes = [f"{self.path.name}: the properties {listed(unknown)} mean nothing here"] if unknown else []
        return Machine(
            platform=platform,
            names=tuple(names),
            gpus=self._gpus(first, properties),
            striped=striped,
            flop_per_byte=self._told(first, properties, "flops_per_byte", _units.speed)
            if "flops_per_byte" in properties
            else 0.0,
            notes=tuple(notes),
        )

    def _refuse(self, element: Element, what: str) -> InputError:
        return InputError(f"{self.path}:{element.line}: {what}")

    def _walk(self, element: Element, zone: str) -> None:
        """Check what is known of each tag, and put them in their places."""
        self._check_attributes(element)
        for child in element.children:
            if child.tag not in _INSIDE.get(element.tag, ()):
                known = listed(_INSIDE.get(element.tag, ())) or "nothing"
                raise self._refuse(child, f"<{child.tag}> in <{element.tag}> is outside what is read ({known})")
        if element.tag == "link":
            self._once(self.links, element, element)
        elif element.tag == "cluster":
            self.clusters.append(element)
        elif element.tag == "host":
            self._once(self.hosts, element, (element, zone))
        elif element.tag == "zoneRoute":
            self.routes.append(element)
        elif element.tag == "config":
            self._configure(element)
        for child in element.children:
            self._walk(child, self._attribute(element, "id") if element.tag == "zone" else zone)

    def _check_attributes(self, element: Element) -> None:
        known = _ATTRIBUTES[element.tag]
        for name, value in element.attributes.items():
            if name not in known:
                raise self._refuse(element, f"{name!r} of <{element.tag}> is outside what is read; leave it out")
            wanted = known[name]
            if wanted is not None and value not in wanted:
                only = " or ".join(sorted(wanted))
                raise self._refuse(element, f"{name} of <{element.tag}> is {brief(value)}; only {only} can be read")

    def _once(self, table: dict[str, _T], element: Element, value: _T) -> None:
        name = self._attribute(element, "id")
        if name in table:
            raise self._refuse(element, f"two of <{element.tag}> are called {brief(name)}; rename one")
        table[name] = value

    def _attribute(self, element: Element, name: str) -> str:
        if name not in element.attributes:
            raise self._refuse(element, f"<{element.tag}> lacks {name!r}; add it")
        return element.attributes[name]

    def _quantity(self, element: Element, name: str, parse: Callable[[str], float]) -> float:
        try:
            return parse(self._attribute(element, name))
        except InputError as error:
            where = f"{self.path}:{element.line}"
            raise InputError(str(error) if str(error).startswith(where) else f"{where}: {name}: {error}") from None

    def _told(self, element: Element, properties: dict[str, str], name: str, parse: Callable[[str], float]) -> float:
        if name not in properties:
            raise self._refuse(element, f"the property {name!r} is missing; add it")
        try:
            return parse(properties[name])
        except InputError as error:
            raise self._refuse(element, f"the property {name!r}: {error}") from None

    def _configure(self, element: Element) -> None:
        for name, value in _properties(element).items():
            if name != _GAMMA:
                raise self._refuse(element, f"sets {brief(name)}; only {_GAMMA} can be set")
            if not re.fullmatch(r"[1-9][0-9]{0,15}(\.0*)?", value):
                raise self._refuse(element, f"{_GAMMA} is {brief(value)}; it must be a number of bytes")
            self.window = int(float(value))

    def _check_hosts(self) -> None:
        for name, (host, _) in self.hosts.items():
            properties = _properties(host)
            if "true" not in (properties.get("batch_system"), properties.get("pfs_host")):
                raise self._refuse(
                    host,
                    f"the host {brief(name)} is a compute node outside of a <cluster>, which is not read; put it "
                    "into a cluster, or give it the property batch_system or pfs_host",
                )

    def _check_alike(self, first: Element, other: Element) -> None:
        """Nodes of several clusters are nodes of one machine if nothing tells them apart."""
        one, two = (self._attribute(cluster, "id") for cluster in (first, other))
        for name in ("speed", "bw", "lat"):
            if first.attributes.get(name) != other.attributes.get(name):
                raise self._refuse(other, f"the clusters {brief(one)} and {brief(two)} differ in {name}; one is read")
        if _properties(first) != _properties(other):
            raise self._refuse(other, f"the clusters {brief(one)} and {brief(two)} differ in their properties")

    def _names(self, cluster: Element) -> Iterator[str]:
        prefix, suffix = (cluster.attributes.get(name, "") for name in ("prefix", "suffix"))
        for low, high in self._ranges(cluster):
            yield from (f"{prefix}{number}{suffix}" for number in range(low, high + 1))

    def _ranges(self, cluster: Element) -> list[tuple[int, int]]:
        """Of "0-15,20": (0, 15) and (20, 20)."""
        radical, ranges, nodes = self._attribute(cluster, "radical"), [], 0
        most = input_limits.limit(input_limits.NODES, MAX_NODES)
        for part in radical.split(","):
            found = re.fullmatch(r"\s*([0-9]{1,12})(?:-([0-9]{1,12}))?\s*", part)
            low, high = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
            if low > high:
                raise self._refuse(cluster, f"radical is {brief(radical)}; write ranges such as 0-15,20")
            ranges.append((low, high))
            nodes += high - low + 1
            if nodes > most:
                raise self._refuse(
                    cluster,
                    f"radical is {brief(radical)}, more than the {most:,} nodes that a machine may have; write "
                    f"fewer, or set the variable {input_limits.NODES} to as many",
                )
        return ranges

    def _platform(self, cluster: Element, nodes: int, properties: dict[str, str]) -> Platform:
        """Ours: checked as any other."""
        problems = Problems(f"{self.path}:{cluster.line}")
        values: dict[str, Any] = {
            "name": self.path.stem,
            "nodes": nodes,
            "speed": self._quantity(cluster, "speed", _units.speed),
        }
        try:
            values["topology"] = Topology(
                bandwidth=self._quantity(cluster, "bw", _units.bandwidth),
                latency=self._quantity(cluster, "lat", _units.seconds),
                window=self.window,
            )
            values["tiers"] = tuple(self._tiers(cluster, properties))
            return Platform(**values)
        except ValidationError as error:
            problems.take(error, Platform)
        problems.stop()
        raise AssertionError("a complaint has been made")

    def _tiers(self, cluster: Element, properties: dict[str, str]) -> Iterator[BaseTier]:
        if properties.get("node_local_bb") == "true":
            yield node_local.Tier(
                name="burst_buffer",
                read=self._told(cluster, properties, "bb_read_bw", _units.bandwidth),
                write=self._told(cluster, properties, "bb_write_bw", _units.bandwidth),
            )
        targets = self._targets(cluster, properties)
        if not targets:
            return
        # A stream is as many equal parts as there are targets, which advance together: the slowest link decides.
        read, write = ([self._route(target, cluster, inwards) for target in targets] for inwards in (False, True))
        for other in self.clusters[1:]:
            if [self._route(target, other, inwards) for inwards in (False, True) for target in targets] != read + write:
                raise self._refuse(
                    other, "its routes to the file system are not those of the first cluster; one is read"
                )
        latencies = {latency for _, latency, _ in (*read, *write)}
        if len(latencies) > 1:
            raise self._refuse(cluster, "its routes to the file system differ in latency; only equal ones can be read")
        links = [{name for _, _, name in routes} for routes in (read, write)]
        rates = [min(rate for rate, _, _ in routes) for routes in (read, write)]
        n_links = [len(names) for names in links]
        if any(1 < n < len(targets) for n in n_links):
            raise self._refuse(cluster, "some of its targets share a link, others do not: that cannot be read")
        more: dict[str, Any] = {"latency": latencies.pop(), "targets": len(targets) if len(targets) > 1 else None}
        if links[0] & links[1]:
            if links[0] != links[1]:
                raise self._refuse(cluster, "some links carry reads and writes, others do not: that cannot be read")
            yield pfs.Tier(name="pfs", bandwidth=rates[0] * n_links[0], **more)
        else:
            yield pfs.Tier(name="pfs", read=rates[0] * n_links[0], write=rates[1] * n_links[1], **more)

    def _targets(self, cluster: Element, properties: dict[str, str]) -> list[str]:
        """The file system's hosts that nodes read from and write to."""
        files = [name for name, (host, _) in self.hosts.items() if _properties(host).get("pfs_host") == "true"]
        if "pfs_targets" not in properties:
            return files
        targets = properties["pfs_targets"].split(",")
        for target in targets:
            if target not in files:
                cure = "separate them by commas" if ";" in target else nearest(target, files)
                raise self._refuse(cluster, f"pfs_targets names {brief(target)}, which is no PFS host; {cure}")
        return targets

    def _route(self, target: str, cluster: Element, inwards: bool) -> tuple[float, float, str]:
        """Bytes/s, latency and name of the link between a cluster and a host of the file system."""
        zone, nodes = self.hosts[target][1], self._attribute(cluster, "id")
        wanted = (nodes, zone) if inwards else (zone, nodes)
        for route in self.routes:
            ends = self._attribute(route, "src"), self._attribute(route, "dst")
            both_ways = route.attributes.get("symmetrical", "YES").upper() == "YES"
            if ends == wanted or (both_ways and ends[::-1] == wanted):
                return self._link(route)
        raise InputError(f"{self.path}: has no <zoneRoute> from {wanted[0]} to {wanted[1]}; add one")

    def _link(self, route: Element) -> tuple[float, float, str]:
        names = [self._attribute(child, "id") for child in route.children]
        if len(names) != 1:
            raise self._refuse(route, f"has {len(names)} links; a route of one link can be read")
        if names[0] not in self.links:
            raise self._refuse(route, f"names the link {brief(names[0])}; {nearest(names[0], self.links)}")
        link = self.links[names[0]]
        latency = self._quantity(link, "latency", _units.seconds) if "latency" in link.attributes else 0.0
        return self._quantity(link, "bandwidth", _units.bandwidth), latency, names[0]

    def _gpus(self, cluster: Element, properties: dict[str, str]) -> Gpus | None:
        if "num_gpus" not in properties:
            return None
        if not re.fullmatch(r"[0-9]{1,4}", properties["num_gpus"]):
            raise self._refuse(cluster, f"num_gpus is {brief(properties['num_gpus'])}; it must be a whole number")
        count = int(properties["num_gpus"])
        if count == 0:
            return None
        speed = self._told(cluster, properties, "flops_per_gpu", _units.speed)
        between = self._told(cluster, properties, "gpu_to_gpu_bw", _units.bandwidth) if count > 1 else None
        if speed <= 0 or between == 0:
            raise self._refuse(cluster, "flops_per_gpu and gpu_to_gpu_bw must be above 0")
        return Gpus(count, speed, between)


def _properties(element: Element) -> dict[str, str]:
    props: Sequence[Element] = [child for child in element.children if child.tag == "prop"]
    return {child.attributes.get("id", ""): child.attributes.get("value", "") for child in props}
