"""Slurm's ways to write a time, a duration, an amount of memory and a list of trackable resources (TRES)."""

import math
import re
from datetime import UTC, datetime

from forebay.errors import InputError, brief
from forebay.workload._rules import LONGEST

UNKNOWN = frozenset({"", "unknown", "none", "invalid", "n/a", "not_set"})
"""What stands for a value that is not there, in lower case."""

EPOCH, CALENDAR = "seconds since 1970", "a calendar date"

_SECONDS = re.compile(r"-?[0-9]+(\.[0-9]*)?")
_DURATION = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+(?:\.\d*)?))?", re.ASCII)
_AMOUNT = re.compile(r"(\d{1,20}(?:\.\d*)?)([KMGTPE]?)(?:i?B)?([nc]?)", re.IGNORECASE | re.ASCII)
_POWER: dict[str, int] = {letter: 1 << 10 * k for k, letter in enumerate(["", "K", "M", "G", "T", "P", "E"])}


def moment(text: str, where: str, column: str) -> tuple[float, str] | None:
    """Unix time, and which way it was written; None where not known. A date without a zone is taken as UTC."""
    if text.lower() in UNKNOWN:
        return None
    if _SECONDS.fullmatch(text):
        seconds, way = float(text), EPOCH
    else:
        try:
            date = datetime.fromisoformat(text)
        except ValueError:
            raise InputError(
                f"{where}: {column} is {brief(text)}; write a date such as 2024-01-31T23:59:00, or seconds since 1970"
            ) from None
        seconds, way = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp(), CALENDAR
    if seconds < 0:
        raise InputError(
            f"{where}: {column} is {brief(text)}, before 1970; no Slurm ran then: correct or remove the line"
        )
    return fitting(seconds, text, where, column), way


def fitting(seconds: float, text: str, where: str, column: str) -> float:
    """`seconds`, unless no machine will see their end; `text` is how they were written."""
    if seconds > LONGEST:
        raise InputError(f"{where}: {column} is {brief(text)}, over {LONGEST:g} s; is it in seconds?")
    return seconds


def duration(text: str, where: str, column: str) -> float:
    """Seconds of `1-02:03:04`, `02:03:04`, `1-02` (days-hours), `30:00` or `30` (minutes)."""
    found = _DURATION.fullmatch(text)
    if not found:
        raise InputError(f"{where}: {column} is {brief(text)}; write [days-]hours:minutes:seconds, or minutes")
    days, first, second, third = found.groups()
    if days is not None:
        parts = (float(days) * 24 + float(first), float(second or 0), float(third or 0))
    elif third is not None:
        parts = (float(first), float(second), float(third))
    else:
        parts = (0.0, float(first), float(second or 0))
    return fitting(parts[0] * 3600 + parts[1] * 60 + parts[2], text, where, column)


def time_limit(text: str, where: str, column: str) -> float:
    """Seconds a job may run; infinite where Slurm sets no limit (0 is none) or the file does not tell."""
    if text.lower() in UNKNOWN or text.lower() in {"unlimited", "partition_limit", "infinite"}:
        return math.inf
    return duration(text, where, column) or math.inf


def memory(text: str, nodes: int, cpus: int | None, where: str, column: str) -> int:
    """Bytes in all of `60G`, `4Gn` (a node) or `2000Mc` (a CPU); a bare number is in megabytes, as in Slurm."""
    if text.lower() in UNKNOWN:
        return 0
    found = _AMOUNT.fullmatch(text)
    if not found:
        raise InputError(f"{where}: {column} is {brief(text)}; write an amount such as 60G, 4Gn or 2000Mc")
    number, unit, each = found.groups()
    if each.lower() == "c" and cpus is None:
        raise InputError(
            f"{where}: {column} is {brief(text)}, for each CPU, and the number of CPUs is not known; add NCPUS"
        )
    times = {"": 1, "n": nodes, "c": cpus or 1}[each.lower()]
    return round(float(number) * _POWER[unit.upper() or "M"] * times)


def tres(text: str, where: str, column: str) -> dict[str, str]:
    """`cpu=36,mem=60G,node=1,license/foo=2` by name; amounts stay text."""
    found = {}
    for item in filter(None, text.split(",")):
        name, equals, amount = item.partition("=")
        if not equals or not name or not amount:
            raise InputError(f"{where}: {column} has {brief(item)}; write name=amount,name=amount")
        found[name.strip()] = amount.strip()
    return found


def count(text: str, where: str, column: str) -> int | None:
    """A whole number (`4K` is 4,096, as Slurm shortens them); None where not known."""
    if text.lower() in UNKNOWN:
        return None
    found = re.fullmatch(r"([0-9]{1,15})([KMG]?)", text)
    if not found:
        raise InputError(f"{where}: {column} is {brief(text)}; it must be a whole number of 15 digits at most")
    return int(found[1]) * _POWER[found[2]]
