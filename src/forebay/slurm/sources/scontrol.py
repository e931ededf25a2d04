"""What `scontrol show node`, `partition`, `reservation`, `burstbuffer`, `config` print, a line a thing (-o) or more."""

import re
from pathlib import Path

from forebay.slurm.sources.record import Kind, Source

_KEY = re.compile(r"(?:(?<=\s)|^)([A-Za-z][\w/:\[\]]*)=", re.ASCII)
_BEGINS = {
    "NodeName": Kind.NODE,
    "PartitionName": Kind.PARTITION,
    "ReservationName": Kind.RESERVATION,
    "Name": Kind.BUFFER,
}
_RENAMED = {"CPUTot": "CPUs", "AvailableFeatures": "Features"}
_APART = frozenset({"corespeccount", "cpuspeclist"})
_SETTING = re.compile(r"([A-Za-z]\w*)\s*= ?(.*)", re.ASCII)

CONFIG = "Configuration data as of"
_SHOWN = re.compile(r"^(?:NodeName|PartitionName|ReservationName|Name)=.*", re.MULTILINE)
_ONLY_SHOWN = re.compile(r"\b(?:CPUTot|CPUAlloc|TotalNodes|TotalCPUs|TotalSpace|UsedSpace|ReservationName)=")
"""Keys that Slurm prints and slurm.conf has not."""


def is_config(text: str) -> bool:
    """Whether it is `scontrol show config`."""
    return text.lstrip().startswith(CONFIG)


def is_shown(text: str) -> bool:
    """Whether it is `scontrol show` of nodes, partitions, reservations or burst buffers."""
    return bool(_SHOWN.search(text) and _ONLY_SHOWN.search(text))


def read_config(text: str, path: Path) -> Source:
    """Settings of the whole cluster, up to the first line that is none: sections on plug-ins follow."""
    source = Source()
    for number, line in enumerate(text.split("\n"), 1):
        found = _SETTING.fullmatch(line.strip())
        if found:
            source.add(Kind.SETTING, {found[1]: found[2]}, f"{path}:{number}")
        elif line.strip() and source.records:
            break
    return source


def read(text: str, path: Path) -> Source:
    """Nodes, partitions, reservations and burst buffers."""
    source = Source()
    kind: Kind | None = None
    values: dict[str, str] = {}
    begin = 0
    for number, line in enumerate(text.split("\n"), 1):
        pairs = _pairs(line)
        first, name = pairs[0] if pairs else ("", "")
        found = None if line[:1].isspace() else _BEGINS.get(first)
        if kind is Kind.BUFFER and first.startswith("AltPoolName"):
            found = kind
        if found is not None:
            _close(source, kind, values, f"{path}:{begin}")
            kind, values, begin = found, {"name": name}, number
        values |= {_RENAMED.get(key, key).lower(): value for key, value in pairs if key != "Name"}
    _close(source, kind, values, f"{path}:{begin}")
    return source


def _pairs(line: str) -> list[tuple[str, str]]:
    """Keys and values of a line. Values may have blanks (`OS=Linux 6.1 #1 SMP`): they go to the next key."""
    found = list(_KEY.finditer(line))
    ends = [*(key.start() for key in found[1:]), len(line)]
    return [(key[1], line[key.end() : end].strip()) for key, end in zip(found, ends, strict=False)]


def _close(source: Source, kind: Kind | None, values: dict[str, str], where: str) -> None:
    if kind is None or not values.get("name"):
        return
    left = values.get("cpuefctv", "")
    if kind is Kind.NODE and left.isdecimal():
        # Some may be set apart: these are left, whatever sockets and cores they are on.
        values = {key: value for key, value in values.items() if key not in _APART}
        if left != values.get("cpus"):
            values |= {"cpus": left, "sockets": left, "corespersocket": "1", "threadspercore": "1"}
    source.add(kind, values, where)
