"""A site as a platform file, exact to the byte and the second."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from forebay._support.input_limits import short_enough
from forebay._support.text import counted
from forebay._support.text import plain as visible
from forebay.core.hostlist import compress
from forebay.errors import InputError
from forebay.slurm.machine import Machine, plain
from forebay.slurm.reservations import Reservation
from forebay.slurm.select import Selection
from forebay.slurm.site import Partition, Site

_DAY, _HOUR, _MINUTE = 86400, 3600, 60


def write(site: Site, machine: Machine, selection: Selection, head: str, policy: str) -> str:
    """The file, but for what it says of users; `head` is what a reader should know first."""
    lines = [
        *(f"# {visible(line)}".rstrip() for line in head.split("\n")),
        f"name = {_quoted(_name(visible(site.name)))}",
    ]
    lines += [f"policy = {_quoted(policy)}"] if policy else []
    if selection.sharing:
        lines += ["sharing = true", f"placement = {_quoted(selection.placement)}"]
    for one in machine.classes:
        node = one.node
        names = compress(one.names, most=len(one.names))
        lines += ["", f"[classes.{_key(one.name)}]", f"names = {_quoted(names)}", f"nodes = {len(one.names)}"]
        lines += [f"cores = {node.cores}"]
        lines += [f"memory = {_quoted(exact_bytes(node.memory))}"] if node.memory else []
        lines += [f"gpus = {node.gpus}"] if node.gpus else []
        lines += [f"gpu = {_quoted(_name(plain(node.gpu)))}"] if node.gpu else []
        lines += (
            [f"features = {_listed(dict.fromkeys(plain(word) for word in node.features))}"] if node.features else []
        )
        lines += [f"weight = {node.weight}"] if node.weight != 1 else []
    for partition, classes, ids in machine.partitions:
        lines += ["", f"[partitions.{_key(plain(partition.name))}]", *_partition(partition, classes, ids)]
    for reserved in site.reservations:
        lines += ["", "[[reservations]]", *_reservation(reserved, len(site.nodes))]
    for name, size in site.buffers.items():
        lines += ["", f"[tiers.{_key(name)}]", 'kind = "shared_bb"', f"capacity = {_quoted(exact_bytes(size))}"]
    for name, number in site.licences.items():
        lines += ["", f"[tiers.{_key(name)}]", 'kind = "pool"', f"capacity = {number}"]
    return "\n".join(lines) + "\n"


def tables(limits: Iterable[Mapping[str, Any]], accounts: Mapping[str, Mapping[str, Any]]) -> str:
    """The rest of the file: limits, and accounts with their shares."""
    lines: list[str] = []
    for limit in limits:
        lines += ["", "[[limits]]", *(f"{key} = {_value(value)}" for key, value in limit.items())]
    for name, account in accounts.items():
        lines += ["", f"[accounts.{_key(name)}]", *(f"{key} = {_value(value)}" for key, value in account.items())]
    return "".join(f"{line}\n" for line in lines)


def _partition(one: Partition, classes: tuple[str, ...], ids: str) -> list[str]:
    lines = [f"classes = {_listed(classes)}" if classes else f"nodes = {_quoted(ids)}"]
    lines += ["default = true"] if one.default else []
    lines += [f"max_time = {_quoted(exact_seconds(one.max_time))}"] if 0 < one.max_time < math.inf else []
    lines += [f"max_nodes = {one.max_nodes}"] if one.max_nodes else []
    lines += [f"priority_tier = {one.priority_tier}"] if one.priority_tier != 1 else []
    return lines + ([f"state = {_quoted(one.state)}"] if one.state != "up" else [])


def _reservation(one: Reservation, n_nodes: int) -> list[str]:
    lines = [f"name = {_quoted(_name(plain(one.name)))}", f"start = {_quoted(one.start)}", f"end = {_quoted(one.end)}"]
    if len(one.nodes) < n_nodes:
        lines.append(f"nodes = {_quoted(compress(one.nodes, most=len(one.nodes)))}")
    lines += [f"users = {_listed(one.users)}"] if one.users else []
    lines += [f"accounts = {_listed(one.accounts)}"] if one.accounts else []
    return lines + (['flags = ["maint"]'] if one.maintenance else [])


def exact_bytes(size: int) -> str:
    """A size that reads back to the byte: in the largest unit of 1024s that divides it."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size % (1 << power) == 0:
            return f"{size >> power} {unit}"
    return f"{size} B"


def exact_seconds(seconds: float) -> str:
    """A time that reads back to the second, such as "1 d 12 h"."""
    left, parts = round(seconds), []
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (1, "s")):
        number, left = divmod(left, size)
        parts += [f"{number} {unit}"] if number else []
    return " ".join(parts) or "0 s"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(one)}' for key, one in value.items())} }}"
    return _quoted(_name(value)) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    return json.dumps(text)


def _listed(words: Iterable[str]) -> str:
    return f"[{', '.join(_quoted(_name(word)) for word in words)}]"


def _name(text: str) -> str:
    """A name that platform files may have."""
    try:
        return short_enough(text)
    except ValueError as error:
        raise InputError(f"what describes the site: {error}; shorten it there") from None


def _key(name: str) -> str:
    return (
        _name(name)
        if name and all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in name)
        else _quoted(_name(name))
    )


def summary(site: Site, machine: Machine, selection: Selection) -> str:
    """The machine in a few words."""
    cores = sum(one.node.cores * len(one.names) for one in machine.classes)
    gpus = sum(one.node.gpus * len(one.names) for one in machine.classes)
    parts = [
        counted(len(site.nodes), "node"),
        counted(cores, "core"),
        *([counted(gpus, "GPU")] if gpus else []),
        counted(len(machine.classes), "class", "classes"),
        counted(len(machine.partitions), "partition"),
        f"nodes shared, {selection.placement}" if selection.sharing else "whole nodes",
    ]
    return ", ".join(parts)
