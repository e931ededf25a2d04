"""A site as its records describe it: nodes by name, partitions, settings; the rules by which Slurm reads them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from forebay._support.text import counted
from forebay.core.hostlist import expand, split_outside
from forebay.errors import InputError, brief, listed, nearest
from forebay.slurm.node import Node, make_node
from forebay.slurm.reservations import Reservation, reservation_of
from forebay.slurm.sources import values
from forebay.slurm.sources.record import Kind, Record, Source

STATES = {"up": "up", "down": "down", "drain": "drain", "inactive": "inactive"}
_ABSENT = frozenset({"future"})
_OUT = ("down", "drain", "fail", "maint", "error")
_ACCESS = ("AllowAccounts", "AllowGroups", "AllowQos", "DenyAccounts", "DenyQos", "MinNodes", "MaxCPUsPerNode")


@dataclass(frozen=True)
class Partition:
    """A named set of nodes, and what it allows."""

    name: str
    nodes: tuple[str, ...]
    default: bool = False
    max_time: float = math.inf
    max_nodes: int | None = None
    priority_tier: int = 1
    priority_job_factor: int = 1
    state: str = "up"
    exclusive: bool = False  # whether jobs have their nodes to themselves
    least_loaded: bool = False
    qos: str = ""  # whose limits hold for all of its jobs
    preempt_mode: str = ""  # what becomes of its jobs that others displace; empty = as of the cluster
    grace_time: str = ""  # s that they still have


@dataclass
class Site:
    """A cluster in Slurm's words."""

    name: str = ""
    files: str = ""  # that tell of it, for messages
    settings: dict[str, str] = field(default_factory=dict)  # by the key in lower case
    places: dict[str, str] = field(default_factory=dict)  # where each was set, for messages
    nodes: dict[str, Node] = field(default_factory=dict)  # in the order declared
    partitions: dict[str, Partition] = field(default_factory=dict)
    licences: dict[str, int] = field(default_factory=dict)
    buffers: dict[str, int] = field(default_factory=dict)  # bytes
    reservations: list[Reservation] = field(default_factory=list)
    limits: list[Record] = field(default_factory=list)  # rows of sacctmgr: QOS, then associations
    notes: list[str] = field(default_factory=list)

    def setting(self, key: str) -> str:
        """The value of a key of slurm.conf; empty where it is not set."""
        return self.settings.get(key.lower(), "")

    def place(self, key: str) -> str:
        """Where that was set."""
        return self.places.get(key.lower(), self.files)


def assemble(sources: Iterable[Source], where: str) -> Site:
    """One site of all that is said of it; what is said later counts. `where` names the files, for messages."""
    sources = list(sources)
    site = Site(files=where, notes=[note for source in sources for note in source.notes])
    records = [record for source in sources for record in source.records]
    of = {kind: [record for record in records if record.kind is kind] for kind in Kind}
    for record in of[Kind.SETTING]:
        settings = {key: record.get(key) for key in record.values if record.get(key)}
        site.settings |= settings
        site.places |= dict.fromkeys(settings, record.where)
    site.name = site.setting("ClusterName")
    lost = _add_nodes(of[Kind.NODE], site, where)
    sets = {record.values["name"]: record for record in of[Kind.NODESET]}
    for record in of[Kind.PARTITION] or _from_nodes(of[Kind.NODE], site):
        _add_partition(record, sets, lost, site)
    for record in of[Kind.RESERVATION]:
        _add_reservation(record, lost, site)
    _add_out(of[Kind.DOWN], site)
    _add_licences(site)
    for record in of[Kind.BUFFER]:
        _add_buffers(record, site)
    site.limits = [*of[Kind.QOS], *of[Kind.ASSOCIATION]]
    return site


def _add_nodes(records: list[Record], site: Site, where: str) -> set[str]:
    """All nodes; returns the names of those that are only planned."""
    planned: set[str] = set()
    others: list[str] = []
    out = 0
    for record in records:
        names = expand(record.values["name"], record.where)
        state = record.get("State").lower()
        if state.rstrip("*").split("+")[0] in _ABSENT:
            planned.update(names)
            continue
        node, more = make_node(record, site.setting("AllowSpecResourcesUsage").lower() in {"yes", "1", "true"})
        others += more
        out += len(names) if any(word in state for word in _OUT) else 0
        site.nodes.update(dict.fromkeys(names, node))
    if planned:
        site.notes.append(f"{counted(len(planned), 'node')} of State=FUTURE: left out")
    if out:
        site.notes.append(f"{counted(out, 'node is', 'nodes are')} down or drained: counted all the same")
    if others:
        site.notes.append(f"generic resources that are not counted: {listed(dict.fromkeys(others))}")
    if not site.nodes:
        raise InputError(
            f"{where}: no nodes there (NodeName=...); give slurm.conf with all that it includes, or also the output of "
            "scontrol show node"
        )
    return planned


def _add_partition(record: Record, sets: dict[str, Record], planned: set[str], site: Site) -> None:
    name = record.values["name"]
    given = record.get("Nodes")
    members = [one for one in _members(given, sets, planned, site, record.where) if one not in planned]
    if not members:
        site.notes.append(f"partition {brief(name)} has no nodes: left out")
        return
    state = record.get("State").lower() or "up"
    if state not in STATES:
        raise InputError(f"{record.where}: State is {brief(state)}; {nearest(state, STATES)}")
    shared = (record.get("OverSubscribe", "Shared") or "no").lower()
    tier = record.get("PriorityTier", "Priority")
    factor = record.get("PriorityJobFactor", "Priority")
    grace = record.get("GraceTime")
    if shared.startswith("force") and not shared.startswith("force:1"):
        site.notes.append(
            f"partition {brief(name)}: OverSubscribe={shared.upper()} puts several jobs on a core: one here"
        )
    site.partitions[name] = Partition(
        name,
        tuple(dict.fromkeys(members)),
        default=_yes(record, "Default"),
        max_time=_limit(record, "MaxTime"),
        max_nodes=values.bounded(record.get("MaxNodes"), record.where, "MaxNodes"),
        priority_tier=values.count(tier, record.where, "PriorityTier") if tier else 1,
        priority_job_factor=values.count(factor, record.where, "PriorityJobFactor") if factor else 1,
        state=STATES[state],
        exclusive=shared == "exclusive",
        least_loaded=_yes(record, "LLN"),
        qos=record.get("QOS"),
        preempt_mode=record.get("PreemptMode"),
        grace_time=str(values.count(grace, record.where, "GraceTime")) if grace else "",
    )
    barred = [
        f"{key}={record.get(key)}"
        for key in _ACCESS
        if record.get(key).lower() not in {"", "all", "0", *values.UNLIMITED}
    ]
    if barred:
        site.notes.append(f"partition {brief(name)}: not heeded: {listed(barred)}")


def _from_nodes(records: list[Record], site: Site) -> list[Record]:
    """Partitions as nodes name those that they are in, where nothing else tells of partitions."""
    members: dict[str, list[str]] = {}
    for record in records:
        for name in values.words(record.get("Partitions")):
            members.setdefault(name, []).append(record.values["name"])
    if members:
        site.notes.append("limits of partitions are not known: add the output of scontrol show partition")
    where = records[0].where if records else ""
    return [Record(Kind.PARTITION, {"name": name, "nodes": ",".join(nodes)}, where) for name, nodes in members.items()]


def _yes(record: Record, key: str) -> bool:
    text = record.get(key)
    return bool(text) and values.flag(text, record.where, key)


def _limit(record: Record, key: str) -> float:
    text = record.get(key)
    return values.seconds(text, record.where, key) if text else math.inf


def _members(given: str, sets: dict[str, Record], planned: set[str], site: Site, where: str) -> list[str]:
    """The nodes of a partition: names, sets of nodes by name, or ALL."""
    found: list[str] = []
    for item in split_outside(given):
        if item.upper() == "ALL":
            found += site.nodes
        elif item in sets:
            inner = sets[item]
            found += _named(inner.get("Nodes"), planned, site, inner.where)
            feature = inner.get("Feature")
            found += [name for name, node in site.nodes.items() if feature and feature in node.features]
        else:
            found += _named(item, planned, site, where)
    return found


def _named(text: str, planned: set[str], site: Site, where: str) -> list[str]:
    names = list(site.nodes) if text.upper() == "ALL" else expand(text, where)
    missing = [name for name in names if name not in site.nodes and name not in planned]
    if missing:
        known = nearest(missing[0], site.nodes) if len(site.nodes) < 10_000 else "check its name"
        raise InputError(f"{where}: node {brief(missing[0])} is not declared; {known}")
    return names


def _add_reservation(record: Record, planned: set[str], site: Site) -> None:
    named = _named(record.get("Nodes"), planned, site, record.where) if record.get("Nodes") else []
    nodes = tuple(name for name in named if name not in planned)
    found, notes = reservation_of(record, nodes, sum(site.nodes[name].cores for name in nodes))
    site.notes += notes
    if found is not None:
        site.reservations = [one for one in site.reservations if one.name != found.name] + [found]


def _add_out(records: list[Record], site: Site) -> None:
    names = [name for record in records for name in expand(record.values["name"], record.where)]
    if names:
        site.notes.append(f"DownNodes: {counted(len(names), 'node')}: counted all the same")


def _add_licences(site: Site) -> None:
    """`Licenses=bb:10,matlab`: one where no number stands there."""
    where = site.place("Licenses")
    for item in values.words(site.setting("Licenses")):
        name, _, number = item.replace("*", ":").partition(":")
        if not name or (number and not number.isdecimal()):
            raise InputError(f"{where}: Licenses has {brief(item)}; write name:number")
        amount = values.count(number or "1", where, "Licenses")
        if amount:
            site.licences[name.partition("@")[0]] = amount


def _add_buffers(record: Record, site: Site) -> None:
    """What `scontrol show burstbuffer` tells of a pool."""
    if record.get("TotalSpace"):
        size = values.memory(record.get("TotalSpace"), record.where, "TotalSpace")
        if size:
            site.buffers[record.values["name"]] = size
