"""Values as Slurm writes them: counts, megabytes, times, yes and no, generic resources."""

import math
import re
from decimal import Decimal

from forebay._support.input_limits import LONGEST, too_long
from forebay.core.hostlist import split_outside
from forebay.core.units import INT64_MAX
from forebay.errors import InputError, brief

UNLIMITED = frozenset({"unlimited", "infinite", "none", "partition_limit", "-1"})
"""Words for no bound, in lower case."""

_MEGABYTE = 2**20
_UNITS = {"": _MEGABYTE, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
_FACTORS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_TRUTH = {"yes": True, "true": True, "up": True, "1": True, "no": False, "false": False, "down": False, "0": False}
_TIME = re.compile(r"(?:([0-9]+)-)?([0-9]+)(?::([0-9]+))?(?::([0-9]+))?", re.ASCII)
_GPU = re.compile(r"gpu(?::([^:=()]+))?(?:[:=]([0-9]{1,9}[kKmMgG]?))?(?:\(.*\))?", re.ASCII)


def count(text: str, where: str, key: str) -> int:
    """A whole number; 4K is 4,096."""
    found = re.fullmatch(r"([0-9]{1,18})([kKmMgGtT]?)", text, re.ASCII)
    number = int(found[1]) * _FACTORS[found[2].lower()] if found else -1
    if not 0 <= number <= INT64_MAX:
        raise InputError(f"{where}: {key} is {brief(text)}; it must be a whole number such as 36")
    return number


def bounded(text: str, where: str, key: str) -> int | None:
    """A whole number, or None for no bound."""
    return None if not text or text.lower() in UNLIMITED else count(text, where, key)


def memory(text: str, where: str, key: str) -> int:
    """Bytes of a number of megabytes (of 1024 x 1024), or of an amount such as 256G."""
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{0,9})?)([kKmMgGtTpP]?)(?:i?[bB])?", text, re.ASCII)
    size = round(Decimal(found[1]) * _UNITS[found[2].lower()]) if found else -1
    if not 0 <= size <= INT64_MAX:
        raise InputError(f"{where}: {key} is {brief(text)}; write megabytes such as 257000")
    return size


def seconds(text: str, where: str, key: str) -> float:
    """Of `days-hours:minutes:seconds`, `hours:minutes:seconds`, `minutes:seconds` or minutes; infinite for no bound."""
    if text.lower() in UNLIMITED:
        return math.inf
    found = _TIME.fullmatch(text)
    if not found:
        raise InputError(f"{where}: {key} is {brief(text)}; write [days-]hours:minutes:seconds, or minutes")
    days, *clock = found.groups()
    first, second, third = (float(part or 0) for part in clock)  # of any number of digits
    minutes = days is None and clock[2] is None
    total = 60 * first + second if minutes else 86400 * float(days or 0) + 3600 * first + 60 * second + third
    if total > LONGEST:
        raise InputError(f"{where}: {key}: {too_long(text)}, or write UNLIMITED for no limit")
    return total


def flag(text: str, where: str, key: str) -> bool:
    """Yes or no, as slurm.conf and scontrol have them."""
    if text.lower() not in _TRUTH:
        raise InputError(f"{where}: {key} is {brief(text)}; it must be YES or NO")
    return _TRUTH[text.lower()]


def words(text: str) -> tuple[str, ...]:
    """Of a list with commas, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def gpus(text: str, where: str) -> tuple[dict[str, int], list[str]]:
    """GPUs by type ("" where it is not given), and the names of other generic resources.

    `gpu:v100:4(S:0-1)`, `gpu:4`, `gpu`: one where no number stands there.
    """
    found: dict[str, int] = {}
    others = []
    for item in split_outside(text):
        match = _GPU.fullmatch(item)
        if not match:
            if re.match(r"gpu\b", item):
                raise InputError(f"{where}: Gres has {brief(item)}; write gpu:TYPE:NUMBER, such as gpu:v100:4")
            others.append(re.split(r"[:=(]", item)[0])
            continue
        kind, number = match.groups()
        if kind is not None and number is None and re.fullmatch(r"[0-9]{1,9}[kKmMgG]?", kind, re.ASCII):
            kind, number = None, kind
        found[kind or ""] = found.get(kind or "", 0) + (1 if number is None else count(number, where, "Gres"))
    return {kind: number for kind, number in found.items() if number}, others
