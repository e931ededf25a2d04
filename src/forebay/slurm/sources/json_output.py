"""What `sinfo --json` and `scontrol show node|partition|reservation --json` print, of older and newer releases.

Numbers are plain, or {"set": true, "infinite": false, "number": 5}; names of keys moved between releases.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forebay.errors import InputError, brief
from forebay.slurm.sources.record import Kind, Source
from forebay.workload.formats._json_values import parse

_NODE = {
    "CPUs": ("effective_cpus", "cpus"),
    "RealMemory": ("real_memory",),
    "Weight": ("weight",),
    "Gres": ("gres",),
}
_SHAPE = {"Sockets": "sockets", "CoresPerSocket": "cores", "ThreadsPerCore": "threads"}


_RESERVATION = {
    "StartTime": "start_time",
    "EndTime": "end_time",
    "Nodes": "node_list",
    "CoreCnt": "core_count",
    "Flags": "flags",
    "Users": "users",
    "Accounts": "accounts",
    "Groups": "groups",
    "Features": "features",
    "Licenses": "licenses",
    "BurstBuffer": "burst_buffer",
}


def read(text: str, path: Path) -> Source:
    """Nodes, partitions and reservations of a document."""
    document = parse(text.encode("utf-8", "replace"), str(path))
    if not isinstance(document, dict) or not {"nodes", "partitions", "reservations", "sinfo"} & document.keys():
        raise InputError(
            f"{path}: JSON without nodes, partitions, reservations or sinfo; give what sinfo --json or scontrol show "
            "node --json say"
        )
    source = Source()
    for place, one in enumerate(_rows(document, "nodes", path)):
        _node(one, f"{path}: nodes[{place}]", source)
    for place, one in enumerate(_rows(document, "partitions", path)):
        _partition(one, f"{path}: partitions[{place}]", source)
    for place, one in enumerate(_rows(document, "reservations", path)):
        _reservation(one, f"{path}: reservations[{place}]", source)
    _grouped(_rows(document, "sinfo", path), path, source)
    return source


def _rows(document: Mapping[str, Any], key: str, path: Path) -> list[Mapping[str, Any]]:
    found = document.get(key, [])
    if isinstance(found, dict):  # {"nodes": {"nodes": [...]}}
        found = found.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise InputError(f"{path}: {key!r} is {brief(found)}; it must be a list of objects")
    return found


def _node(one: Mapping[str, Any], where: str, source: Source) -> None:
    values = {key: text for key, names in _NODE.items() if (text := _first(one, names))}
    shape = {key: text for key, name in _SHAPE.items() if (text := _text(one.get(name)))}
    whole = _text(one.get("cpus"))
    values |= shape if values.get("CPUs") == whole else {}
    values |= {"name": _name(one, where), "State": _text(one.get("state")).replace(",", "+")}
    values |= {"Features": _text(one.get("features")), "Partitions": _text(one.get("partitions"))}
    source.add(Kind.NODE, values, where)


def _partition(one: Mapping[str, Any], where: str, source: Source, nodes: str = "") -> None:
    most, priority, state = (_inner(one, key) for key in ("maximums", "priority", "partition"))
    flags = _text(one.get("flags") or _inner(one, "defaults").get("flags")).lower()
    values = {
        "name": _name(one, where),
        "Nodes": nodes or _text(_inner(one, "nodes").get("configured")) or _text(one.get("nodes")),
        "MaxTime": _text(most.get("time", one.get("max_time"))),
        "MaxNodes": _text(most.get("nodes", one.get("max_nodes"))),
        "PriorityTier": _text(priority.get("tier", one.get("priority_tier"))),
        "PriorityJobFactor": _text(priority.get("job_factor", one.get("priority_job_factor"))),
        "State": _text(state.get("state", one.get("state"))).partition(",")[0],
        "OverSubscribe": _shared(_inner(most, "oversubscribe")),
        "Default": "YES" if "default" in flags.split(",") else "NO",
    }
    source.add(Kind.PARTITION, {key: value for key, value in values.items() if value}, where)


def _reservation(one: Mapping[str, Any], where: str, source: Source) -> None:
    values = {key: text for key, name in _RESERVATION.items() if (text := _text(one.get(name)))}
    values |= {key: _date(values[key], where) for key in ("StartTime", "EndTime") if key in values}
    source.add(Kind.RESERVATION, {"name": _name(one, where)} | values, where)


def _date(text: str, where: str) -> str:
    """Seconds since 1970 as a date."""
    try:
        return datetime.fromtimestamp(int(text), UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        raise InputError(f"{where}: {brief(text)} is no time; it must be seconds since 1970") from None


def _shared(given: Mapping[str, Any]) -> str:
    return "EXCLUSIVE" if _text(given.get("jobs")) == "0" else ""


def _grouped(rows: list[Mapping[str, Any]], path: Path, source: Source) -> None:
    """Newer sinfo: a row for each group of nodes alike, with the partition that it was found in."""
    partitions: dict[str, tuple[Mapping[str, Any], list[str]]] = {}
    seen: set[str] = set()
    for place, row in enumerate(rows):
        where = f"{path}: sinfo[{place}]"
        names = _text(_inner(row, "nodes").get("nodes")) or _text(_inner(row, "nodes").get("hostnames"))
        if not names:
            raise InputError(f"{where}: names no nodes; print with sinfo -N --json")
        if names not in seen:
            seen.add(names)
            source.add(Kind.NODE, {"name": names} | _group(row), where)
        partition = _inner(row, "partition")
        if partition.get("name"):
            partitions.setdefault(_name(partition, where), (partition, []))[1].append(names)
    for partition, nodes in partitions.values():
        _partition(partition, f"{path}: partition {brief(partition.get('name'))}", source, ",".join(nodes))


def _group(row: Mapping[str, Any]) -> dict[str, str]:
    least = {"CPUs": "cpus", "RealMemory": "memory", "Weight": "weight", **_SHAPE}
    values = {key: _text(_inner(row, name).get("minimum")) for key, name in least.items()}
    values["Features"] = _text(_inner(row, "features").get("total"))
    values["Gres"] = _text(_inner(row, "gres").get("total"))
    values["State"] = _text(_inner(row, "node").get("state")).replace(",", "+")
    return {key: value for key, value in values.items() if value}


def _inner(one: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = one.get(key)
    return found if isinstance(found, dict) else {}


def _name(one: Mapping[str, Any], where: str) -> str:
    name = _text(one.get("name"))
    if not name:
        raise InputError(f"{where}: has no name; is the output whole?")
    return name


def _first(one: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((text for name in names if (text := _text(one.get(name)))), "")


def _text(value: Any) -> str:
    """A value as slurm.conf would have it: lists with commas, nothing where it is not set."""
    if isinstance(value, dict):
        if value.get("infinite"):
            return "UNLIMITED"
        return _text(value.get("number")) if value.get("set", True) else ""
    if isinstance(value, list):
        return ",".join(filter(None, map(_text, value)))
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, float) and abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return str(value) if isinstance(value, str | float) or abs(value) < 10**18 else "9" * 19
