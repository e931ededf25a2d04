"""What to write for a what-if that won: lines of slurm.conf as a diff, or commands of sacctmgr and scontrol."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from forebay.errors import InputError
from forebay.platforms.rules import KEYS, limit_called

_SAFE = re.compile(r"[\w.,:=+/-]*", re.ASCII)
_OWN = ("reservations", "look_every", "test_time")
_OF_PARTITIONS = {
    **{"max_time": "MaxTime", "max_nodes": "MaxNodes", "priority_tier": "PriorityTier"},
    **{"state": "State", "default": "Default"},
}


class Lines(NamedTuple):
    """To do it and to undo it; `file` is slurm.conf where they are a diff, else they are commands."""

    file: str
    do: list[str]
    undo: list[str]


def lines_of(key: str, value: str, settings: Mapping[str, str], before: Sequence[str] = ()) -> Lines:
    """Of a what-if such as bf_window=2880 or limits.qos.normal.MaxJobsPerUser=4; InputError where Slurm has none."""
    for word in (key, value):
        if not _SAFE.fullmatch(word):
            raise InputError(f"{key}={value} has characters that no line of Slurm's takes: not written")
    kind, _, rest = key.partition(".")
    if kind == "weights":
        return _setting(f"PriorityWeight{rest}", value, settings)
    if kind == "limits":
        return _limit(rest, value, before)
    if kind == "partitions":
        return _partition(rest, value, before)
    if "." in key or key in _OWN or key.replace("_", "-") in ("nodes", "burst-buffer"):
        raise InputError(f"{key} is no setting of Slurm's: it is a machine, or how forebay plays it")
    return _setting(key, value, settings) if key.startswith("Priority") else _parameter(key, value, settings)


def _setting(key: str, value: str, settings: Mapping[str, str]) -> Lines:
    old = settings.get(key.lower(), "")
    before = [f"-{key}={old}"] if old and _SAFE.fullmatch(old) else []
    return _diff(before, f"+{key}={value}")


def _parameter(key: str, value: str, settings: Mapping[str, str]) -> Lines:
    """Within SchedulerParameters: options that are on or off stand there as words."""
    old = settings.get("schedulerparameters", "").strip()
    old = "" if old in ("(null)", "N/A") else old
    if not _SAFE.fullmatch(old):
        raise InputError("SchedulerParameters of this site cannot be read back: change them by hand")
    word = {"true": [key], "false": []}.get(value.lower(), [f"{key}={value}"])
    parts = [one for one in old.split(",") if one]
    places = [place for place, one in enumerate(parts) if one.partition("=")[0].lower() == key.lower()]
    first = places[0] if places else len(parts)
    kept = [one for place, one in enumerate(parts) if place not in places]
    new = ",".join([*kept[:first], *word, *kept[first:]])
    return _diff([f"-SchedulerParameters={old}"] if old else [], f"+SchedulerParameters={new}")


def _diff(before: list[str], after: str) -> Lines:
    head = ["--- slurm.conf", "+++ slurm.conf"]
    turned = [f"-{after[1:]}", *(f"+{one[1:]}" for one in before)]
    return Lines("slurm.conf", [*head, *before, after], [*head, *turned])


def _limit(rest: str, value: str, before: Sequence[str]) -> Lines:
    kind, _, named = rest.partition(".")
    name, _, given = named.rpartition(".")
    field = limit_called(given)
    if field is None or kind.lower() not in ("qos", "account", "user") or not re.fullmatch(r"[\w-]+", name, re.ASCII):
        raise InputError(f"limits.{rest} is kept elsewhere than in Slurm's accounts: change it by hand")
    word = KEYS[field]
    new = "-1" if value.lower() in ("none", "unlimited", "infinite", "-1") else value.replace("+", ",")
    old = before[0] if before and _SAFE.fullmatch(before[0]) else "-1"
    do, undo = (f"sacctmgr -i modify {kind.lower()} where name={name} set {word}={one}" for one in (new, old))
    return Lines("", [do], [undo])


def _partition(rest: str, value: str, before: Sequence[str]) -> Lines:
    name, _, given = rest.rpartition(".")
    word = _OF_PARTITIONS.get(given.lower())
    if word is None or not re.fullmatch(r"[\w-]+", name, re.ASCII):
        raise InputError(f"partitions.{rest} is no setting of a partition")
    new = "UNLIMITED" if value.lower() in ("none", "unlimited", "infinite") else value
    old = before[0] if before and _SAFE.fullmatch(before[0]) else "UNLIMITED"
    do, undo = (f"scontrol update PartitionName={name} {word}={one}" for one in (new, old))
    return Lines("", [do], [undo])
