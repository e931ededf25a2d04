"""The machine of a live Slurm: what `scontrol show` prints, as text, which every release does alike."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forebay._live.commands import Slurm, SlurmError
from forebay._live.policy import nearest_policy
from forebay.core.hostlist import compress, expand
from forebay.slurm.description import described
from forebay.slurm.site import Site, assemble
from forebay.slurm.sources import scontrol
from forebay.slurm.sources.record import Kind, Source

_OUT = ("DOWN", "DRAIN", "FAIL", "NOT_RESPONDING", "POWERING_DOWN", "*")
_BUSY = ("ALLOC", "MIX", "COMP")


@dataclass(frozen=True)
class LiveSite:
    """A machine, its scheduler and what is closed of it."""

    machine: dict[str, Any]  # the tables of a platform file
    policy: str
    tiers: Mapping[str, str]  # licences and buffers by Slurm's names
    down: list[dict[str, Any]]
    reservations: list[dict[str, Any]]
    settings: Mapping[str, str]  # of slurm.conf, by the key in lower case
    notes: list[str]

    @property
    def sharing(self) -> bool:
        """Whether jobs share nodes."""
        return bool(self.machine.get("sharing"))

    @property
    def n_down(self) -> int:
        """How many nodes are down."""
        return sum(len(expand(one["nodes"], "nodes that are down")) for one in self.down)

    @property
    def inside(self) -> set[str]:
        """What of nodes is counted besides cores."""
        rows = self.machine.get("classes", {}).values()
        return {key for row in rows for key in ("memory", "gpus") if key in row}


def read_site(slurm: Slurm) -> LiveSite:
    """Ask Slurm for it, in four calls or five."""
    show = ("-o", "-a", "show")
    config = slurm.ask("scontrol", "-a", "show", "config")
    parts = [scontrol.read_config(config, Path("scontrol show config"))]
    for what in ("node", "partition", "reservation"):
        parts.append(_source(slurm.ask("scontrol", *show, what), f"scontrol show {what}"))
    if has_buffers(config):
        try:
            parts.append(_source(slurm.ask("scontrol", *show, "burstbuffer"), "scontrol show burstbuffer"))
        except SlurmError:
            parts[0].notes.append("scontrol show burstbuffer does not answer: burst buffers are not counted")
    return site_of(parts)


def has_buffers(config: str) -> bool:
    """Whether `scontrol show config` names a plug-in of burst buffers."""
    return re.search(r"^BurstBufferType\s*=\s*burst_buffer/(?!none)", config, re.MULTILINE) is not None


def _source(text: str, where: str) -> Source:
    return scontrol.read(text, Path(where))


def site_of(parts: list[Source]) -> LiveSite:
    """What was printed, in forebay's words."""
    site = assemble(parts, "scontrol show")
    before = [*site.buffers, *site.licences]
    reserved = [_reservation(one, site) for one in site.reservations]
    site.reservations = []
    about = described(site)
    policy, left = nearest_policy(about.parameters)
    machine = tomllib.loads(about.platform("", policy))
    tiers = dict(zip(before, [*site.buffers, *site.licences], strict=True))
    down, draining = _down(parts)
    notes = [note for note in (*about.notes, *left) if "counted all the same" not in note]
    if draining:
        notes.append(f"nodes that drain while jobs run on them count as up: {', '.join(draining[:5])}")
    return LiveSite(machine, policy, tiers, down, reserved, dict(site.settings), notes)


def _down(parts: list[Source]) -> tuple[list[dict[str, Any]], list[str]]:
    """Nodes that no job may start on, and those of which jobs have still to end."""
    gone: list[str] = []
    draining: list[str] = []
    for record in (record for part in parts for record in part.records if record.kind is Kind.NODE):
        state = record.get("State").upper()
        if any(word in state for word in _OUT) and "FUTURE" not in state:
            (draining if any(word in state for word in _BUSY) else gone).append(record.values["name"])
    return ([{"nodes": compress(gone, most=len(gone))}] if gone else []), draining


def _reservation(one: Any, site: Site) -> dict[str, Any]:
    start, end = (datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() for text in (one.start, one.end))
    made: dict[str, Any] = {"name": "".join(c if c.isalnum() or c in "_.-" else "_" for c in one.name)}
    made |= {"start": start, "end": end}
    if len(one.nodes) < len(site.nodes):
        made["nodes"] = compress(one.nodes, most=len(one.nodes))
    made |= {"users": list(one.users)} if one.users else {}
    made |= {"accounts": list(one.accounts)} if one.accounts else {}
    return made | ({"flags": ["maint"]} if one.maintenance else {})
