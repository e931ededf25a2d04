"""Reservations as `scontrol show reservation` prints them: when, of which nodes, and whose jobs may use them."""

from dataclasses import dataclass
from datetime import datetime

from forebay.errors import InputError, brief, listed
from forebay.slurm.sources import values
from forebay.slurm.sources.record import Record

_REPEATED = ("DAILY", "HOURLY", "WEEKDAY", "WEEKEND", "WEEKLY")
_RESTRICTING = ("Groups", "Features", "Licenses", "BurstBuffer")


@dataclass(frozen=True)
class Reservation:
    """Nodes that are reserved for some, or for maintenance, from a start to an end."""

    name: str
    start: str  # ISO 8601
    end: str
    nodes: tuple[str, ...]
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    maintenance: bool = False


def reservation_of(record: Record, nodes: tuple[str, ...], cores: int) -> tuple[Reservation | None, list[str]]:
    """The reservation of a record, None if it has no nodes, and what is to note of it.

    `cores` are those of all its nodes.
    """
    name, where = record.values["name"], record.where
    if not nodes:
        return None, [f"reservation {brief(name)} has no nodes: left out"]
    flags = values.words(record.get("Flags").upper())
    maintenance, notes = "MAINT" in flags, []
    who = {key: values.words(record.get(key)) for key in ("Users", "Accounts")}
    if maintenance:
        who = dict.fromkeys(who, ())
    left = [f"{key}={record.get(key)}" for key in _RESTRICTING if record.get(key)]
    left += [f"{key}={word}" for key, some in who.items() for word in some if word.startswith("-")]
    if left:
        notes.append(f"reservation {brief(name)}: not heeded: {listed(left)}")
    often = [flag for flag in flags if flag in _REPEATED]
    if often:
        notes.append(f"reservation {brief(name)} repeats ({listed(often)}): counted once")
    given = record.get("CoreCnt")
    if given and values.count(given, where, "CoreCnt") < cores:
        notes.append(f"reservation {brief(name)} is of {given} of {cores:,} cores: its nodes are reserved whole")
    start, end = (_moment(record, key) for key in ("StartTime", "EndTime"))
    users, accounts = (tuple(word for word in some if not word.startswith("-")) for some in who.values())
    return Reservation(name, start, end, nodes, users, accounts, maintenance), notes


def _moment(record: Record, key: str) -> str:
    text = record.get(key)
    try:
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        raise InputError(
            f"{record.where}: {key} is {brief(text)}; it must be a date such as 2025-03-01T08:00:00 "
            "(SLURM_TIME_FORMAT=standard scontrol show reservation)"
        ) from None
