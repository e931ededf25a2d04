"""Slurm's ways to write a time, a duration, an amount of memory and a list of trackable resources (TRES)."""

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from forebay._support.input_limits import LONGEST
from forebay.core.units import INT64_MAX
from forebay.errors import InputError, brief

_T = TypeVar("_T")

UNKNOWN = frozenset({"", "unknown", "none", "invalid", "n/a", "not_set", "(null)"})
"""What stands for a value that is not there, in lower case."""

TOO_MANY = "more than can be counted in 64 bits; correct it"

EPOCH, CALENDAR, ZONED = "seconds since 1970", "a calendar date", "a date with its time zone"

_SECONDS = re.compile(r"-?[0-9]+(\.[0-9]*)?")
_DURATION = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+(?:\.\d*)?))?", re.ASCII)
_AMOUNT = re.compile(r"(\d{1,20}(?:\.\d*)?)([KMGTPE]?)(?:i?B)?([nc]?)", re.IGNORECASE | re.ASCII)
_COUNT = re.compile(r"([0-9]{1,15})([KMG]?)")
_TASKS = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([1-9][0-9]{0,8}))?)?")
_POWER: dict[str, int] = {letter: 1 << 10 * k for k, letter in enumerate(["", "K", "M", "G", "T", "P", "E"])}


class UnreadableError(InputError):
    """What is wrong with a value, to stand behind the name of its column; the caller knows where it is."""


def moment(text: str) -> tuple[float, str] | None:
    """Unix time, and which way it was written; None where not known. A date without a zone is taken as UTC."""
    if text.lower() in UNKNOWN:
        return None
    if _SECONDS.fullmatch(text):
        seconds, way = float(text), EPOCH
    else:
        try:
            date = datetime.fromisoformat(text)
        except ValueError:
            raise UnreadableError(
                f"is {brief(text)}; write a date such as 2024-01-31T23:59:00, or seconds since 1970: list again with "
                "SLURM_TIME_FORMAT=standard, or =%s"
            ) from None
        seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
        way = ZONED if date.tzinfo else CALENDAR
    if seconds < 0:
        raise UnreadableError(f"is {brief(text)}, before 1970; no Slurm ran then: correct or remove the line")
    return _fitting(seconds, text), way


def _fitting(seconds: float, text: str) -> float:
    """`seconds`, unless no machine will see their end; `text` is how they were written."""
    if seconds > LONGEST:
        raise UnreadableError(f"is {brief(text)}, over {LONGEST:g} s; is it in seconds?")
    return seconds


def number(text: str) -> float:
    """A finite number."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise UnreadableError(f"is {brief(text)}; it must be a number")
    return found


def priority(text: str) -> float:
    """A number; 0 where it is not known."""
    return 0.0 if text.lower() in UNKNOWN else number(text)


def elapsed(text: str) -> float | None:
    """Seconds written as a number, as in ElapsedRaw; None where there are none."""
    return _fitting(number(text), text) if text else None


def duration(text: str) -> float:
    """Seconds of `1-02:03:04`, `02:03:04`, `1-02` (days-hours), `30:00` or `30` (minutes)."""
    found = _DURATION.fullmatch(text)
    if not found:
        raise UnreadableError(f"is {brief(text)}; write [days-]hours:minutes:seconds, or minutes")
    days, first, second, third = found.groups()
    if days is not None:
        parts = (float(days) * 24 + float(first), float(second or 0), float(third or 0))
    elif third is not None:
        parts = (float(first), float(second), float(third))
    else:
        parts = (0.0, float(first), float(second or 0))
    return _fitting(parts[0] * 3600 + parts[1] * 60 + parts[2], text)


def length(text: str) -> float | None:
    """Seconds of a duration, as in Elapsed; None where there is none."""
    return duration(text) if text else None


def time_limit(text: str) -> float:
    """Seconds a job may run; infinite where Slurm sets no limit (0 is none) or the file does not tell."""
    if text.lower() in UNKNOWN or text.lower() in {"unlimited", "partition_limit", "infinite"}:
        return math.inf
    return duration(text) or math.inf


def state(text: str) -> str:
    """The first word of `CANCELLED by 1000` or `OUT_OF_ME+`."""
    return (text.split() or [""])[0].rstrip("+").upper()


def tasks(text: str) -> list[range]:
    """Of an array, the tasks in `5-9,12,20-30:2%5`; none where the list is cut short (`5-9,...`), or is none."""
    found, last = [], -1
    for part in text.partition("%")[0].split(","):
        one = _TASKS.fullmatch(part)
        if not one or int(one[1]) <= last:
            return []
        found.append(range(int(one[1]), int(one[2] or one[1]) + 1, int(one[3] or 1)))
        last = found[-1].stop - 1
    return found if all(found) else []


def memory(text: str) -> tuple[float, str]:
    """Bytes of `60G`, `4Gn` or `2000Mc`, and for what: in all (""), a node (n), a CPU (c).

    A bare number is in megabytes, as in Slurm.
    """
    if text.lower() in UNKNOWN:
        return 0.0, ""
    found = _AMOUNT.fullmatch(text)
    if not found:
        raise UnreadableError(f"is {brief(text)}; write an amount such as 60G, 4Gn or 2000Mc")
    amount, unit, each = found.groups()
    return float(amount) * _POWER[unit.upper() or "M"], each.lower()


def count(text: str) -> int | None:
    """A whole number (`4K` is 4,096, as Slurm shortens them); None where not known."""
    if text.lower() in UNKNOWN:
        return None
    found = _COUNT.fullmatch(text)
    if not found:
        raise UnreadableError(f"is {brief(text)}; it must be a whole number of 15 digits at most")
    return int(found[1]) * _POWER[found[2]]


@dataclass
class Tres:
    """What a list of trackable resources says of a job."""

    nodes: int | None = None
    cpus: int | None = None
    memory: tuple[float, str] | None = None  # as `memory` has it
    gpus: int = 0
    gpu: str = ""  # their type, where all are of one
    mixed: bool = False  # GPUs of several types
    amounts: Counter[str] = field(default_factory=Counter)  # a job's totals by the name of their resource


def tres(requested: str, given: str) -> Tres:
    """What was requested, and over that what was given: `cpu=36,mem=60G,node=1,license/foo=2,gres/gpu:a100=2`."""
    need: dict[str, str] = {}
    for column, text in (("ReqTRES", requested), ("AllocTRES", given)):
        need |= _items(text, column)
    nodes, cpus = (_of("TRES", count, need.pop(name, "")) for name in ("node", "cpu"))
    found = Tres(nodes, cpus, _of("mem", memory, need.pop("mem")) if "mem" in need else None)
    pieces: dict[str, dict[str, int]] = {}  # resource -> type ("" for all of them) -> how many
    for name, amount in need.items():
        kind, _, which = name.partition("/")
        if kind == "bb" or name == "gres/gpumem":  # the latter an amount, though its kind is otherwise counted
            size, each = _of(name, memory, amount)
            if each:
                raise UnreadableError(f"{name} is {brief(amount)}; write a job's total, such as 60G")
            found.amounts["burst_buffer" if kind == "bb" else "gres_gpumem"] += round(size)
        elif kind == "license":
            found.amounts[_identifier(f"license_{which}")] += _of(name, count, amount) or 0
        elif kind == "gres":
            base, _, model = which.partition(":")
            pieces.setdefault(base, {})[model] = _of(name, count, amount) or 0
    for base, models in pieces.items():
        every = models.pop("", None)  # gres/gpu:a100 is part of gres/gpu, where that is given
        total = sum(models.values()) if every is None else every
        if base == "gpu":
            some = [model for model, many in models.items() if many]
            found.gpus, found.mixed = total, len(some) > 1
            found.gpu = some[0] if len(some) == 1 and models[some[0]] == total else ""
        else:
            found.amounts[_identifier(f"gres_{base}")] += total
    large = [name for name, amount in [*found.amounts.items(), ("gpus", found.gpus)] if amount > INT64_MAX]
    if large:
        raise UnreadableError(f"{large[0]} is {TOO_MANY}")
    return found


def _items(text: str, column: str) -> dict[str, str]:
    found = {}
    for item in filter(None, text.split(",")):
        name, equals, amount = item.partition("=")
        if not equals or not name or not amount:
            raise UnreadableError(f"{column} has {brief(item)}; write name=amount,name=amount")
        found[name.strip()] = amount.strip()
    return found


def _of(name: str, read: Callable[[str], _T], text: str) -> _T:
    """A value inside a list: its own name goes before what is wrong with it."""
    try:
        return read(text)
    except UnreadableError as error:
        raise UnreadableError(f"{name} {error}") from None


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)
