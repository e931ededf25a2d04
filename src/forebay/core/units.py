"""Quantities as people write them: text with a unit to bytes, bytes/s, flop/s or seconds, and back again."""

import math
import re
from decimal import Decimal

from forebay._support.input_limits import LONGEST, too_long
from forebay.errors import InputError, brief

INT64_MAX = 2**63 - 1

_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_LARGEST = list(_DECIMAL)[-1]
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_PREFIX = {prefix.lower(): size for prefix, size in (_DECIMAL | _BINARY).items()}
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
_ENOUGH = {"min": 60, "h": 24, "d": math.inf}  # how many of it make the next larger unit

# Two digits of exponent at most: int(Decimal("1e999999999")) would not come back.
_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2}(?!\d))?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*(\D*?)\s*", re.ASCII)
_SIZE_UNIT = re.compile(r"([kmgtp]i?)?b|([kmgtp]i?)", re.IGNORECASE)
_RATE_UNIT = re.compile(r"(?:([kmgtp]i?)?B|([kmgtp])?bit)/s", re.IGNORECASE)
_FLOP_UNIT = re.compile(r"([kmgtp])?flop(?:s|/s)", re.IGNORECASE)
_DURATION = re.compile(rf"(?:\s*{_NUMBER}\s*[a-z]+)+\s*", re.ASCII)
_DURATION_PART = re.compile(rf"({_NUMBER})\s*([a-z]+)", re.ASCII)

_A_SIZE = 'write a size such as "10 TB", "4.5 GB" or "512 MiB"'
_A_RATE = 'write a rate such as "5 GB/s" or "10 Gbit/s"'
_A_SPEED = 'write a speed such as "1 Gflop/s"'
_A_TIME = 'write a time such as "10 min", "1 h 30 min", "2 d" or 600 (seconds)'


def _split(text: str, example: str) -> tuple[Decimal, str]:
    match = _QUANTITY.fullmatch(text)
    if not match:
        raise InputError(f"{brief(text)} is not a number with a unit; {example}")
    number, unit = match.groups()
    if not unit:
        raise InputError(f"{brief(text)} has no unit; {example}")
    return Decimal(number), unit


def _finite(value: float, text: str, example: str) -> float:
    if not math.isfinite(value):
        raise InputError(f"{brief(text)} is too large; {example}")
    return value


def parse_bytes(text: str) -> int:
    """Whole bytes of "10 TB": B, kB to PB count in thousands, KiB to PiB in 1024s; "10T" is 10 TB and "10Ti" 10 TiB.

    Case matters only where it would mislead: "gb" is taken, "Gb" reads as gigabits and is refused.
    """
    number, unit = _split(text, _A_SIZE)
    match = _SIZE_UNIT.fullmatch(unit)
    if match and unit.endswith("b") and unit != unit.lower():
        raise InputError(f"{brief(text)}: {brief(unit)} reads as bits; {_A_SIZE}")
    if not match:
        raise InputError(f"{brief(text)}: {brief(unit)} is not a unit of size; {_A_SIZE}")
    size = number * _PREFIX[(match[1] or match[2] or "").lower()]
    if size > INT64_MAX:
        raise InputError(f"{brief(text)} is more than the 9.2 million TB that can be counted; {_A_SIZE}")
    whole = round(size)
    if abs(size - whole) > Decimal("1e-6"):
        raise InputError(f'{brief(text)} is not a whole number of bytes; write "{whole} B"')
    return whole


def parse_rate(text: str) -> float:
    """Bytes per second of "5 GB/s" or "10 Gbit/s"; the "b" alone is refused, because it is read both ways."""
    number, unit = _split(text, _A_RATE)
    unit = re.sub(r"\s*/\s*", "/", unit)
    match = _RATE_UNIT.fullmatch(unit)
    if unit.endswith("b/s") or unit.lower().endswith("bps"):
        raise InputError(f"{brief(text)}: {brief(unit)} may mean bits or bytes; {_A_RATE}")
    if not match:
        raise InputError(f"{brief(text)}: {brief(unit)} is not a unit of bandwidth; {_A_RATE}")
    scale = _PREFIX[(match[1] or match[2] or "").lower()]
    bits = unit.lower().endswith("bit/s")
    return _finite(float(number * scale / (8 if bits else 1)), text, _A_RATE)


def parse_flops(text: str) -> float:
    """Floating-point operations per second of "1 Gflop/s" (also "Gflops")."""
    number, unit = _split(text, _A_SPEED)
    match = _FLOP_UNIT.fullmatch(re.sub(r"\s*/\s*", "/", unit))
    if not match:
        raise InputError(f"{brief(text)}: {brief(unit)} is not a unit of speed; {_A_SPEED}")
    return _finite(float(number * _PREFIX[(match[1] or "").lower()]), text, _A_SPEED)


def parse_seconds(text: str) -> float:
    """Seconds of "10 min", "1 h 30 min" or plain "600", LONGEST at most."""
    if re.fullmatch(rf"\s*{_NUMBER}\s*", text, re.ASCII):
        return _lasting(float(text), text)
    if not _DURATION.fullmatch(text):
        raise InputError(f"{brief(text)} is not a time; {_A_TIME}")
    total = Decimal(0)
    last = math.inf
    for number, unit in _DURATION_PART.findall(text):
        if unit not in _SECONDS:
            raise InputError(f"{brief(text)}: {brief(unit)} is not a unit of time (s, min, h or d); {_A_TIME}")
        if _SECONDS[unit] >= last:
            raise InputError(f"{brief(text)}: units must go from large to small; {_A_TIME}")
        last = _SECONDS[unit]
        total += Decimal(number) * _SECONDS[unit]
    return _lasting(float(total), text)


parse_seconds.most = LONGEST  # type: ignore[attr-defined]  # for readers of bare numbers, which need no unit


def _lasting(seconds: float, text: str) -> float:
    if seconds > LONGEST:
        raise too_long(text)
    return seconds


def parse_period(text: str | None, option: str) -> tuple[float, float] | None:
    """Seconds of START:END; a side left out is 0, or infinity."""
    if text is None:
        return None
    start, colon, end = text.partition(":")
    if not colon or ":" in end:
        raise InputError(f"{option} {brief(text)} is not START:END; write times such as 1d:8d, 3600:7200 or 12h:")
    try:
        period = parse_seconds(start) if start.strip() else 0.0, parse_seconds(end) if end.strip() else math.inf
    except InputError as error:
        raise InputError(f"{option} {brief(text)}: {error}") from None
    if not period[0] < period[1]:
        raise InputError(f"{option} {brief(text)} is empty; its start must come before its end")
    return period


def _short(value: float) -> tuple[str, str]:
    """Four significant digits at most, and the largest prefix that leaves at least 1 before it."""
    for prefix, size in _DECIMAL.items():
        scaled = value / size
        if abs(scaled) >= 9999.5 and prefix != _LARGEST:
            continue  # too large for this prefix, before any digits are written
        digits = f"{scaled:.4g}" if abs(scaled) < 9999.5 else f"{scaled:.0f}"
        short = digits, prefix
        if abs(float(digits)) < 1000:
            break
    return short


def format_bytes(n: int) -> str:
    """A size to read: "480 GB"; "64 GiB" where only that is exact; else four significant digits ("3.142 TB")."""
    digits, prefix = _short(n)
    if Decimal(digits) * _DECIMAL[prefix] != n:
        for binary, size in reversed(_BINARY.items()):
            if n % size == 0 and 0 < n // size < 1024:
                return f"{n // size} {binary}B"
    return f"{digits} {prefix}B"


def format_rate(rate: float) -> str:
    """A bandwidth in bytes per second to read: "5 GB/s"."""
    return "{} {}B/s".format(*_short(rate))


def format_flops(speed: float) -> str:
    """A speed in flop/s to read: "1 Gflop/s"."""
    return "{} {}flop/s".format(*_short(speed))


def format_seconds(t: float) -> str:
    """A duration to read, in its two largest units: "3 h 52 min", "1 d 4 h", "12.5 s"."""
    if t < 0:
        return f"-{format_seconds(-t)}"
    if not math.isfinite(t):
        return str(t)
    if t < 59.95:
        return f"{t:.3g} s"
    for large, small in (("min", "s"), ("h", "min"), ("d", "h")):
        # Rounded to the smaller unit first: 3599.7 s is 1 h, not 60 min.
        many, few = divmod(round(t / _SECONDS[small]), _SECONDS[large] // _SECONDS[small])
        if many < _ENOUGH[large]:
            break
    return f"{many} {large}" + (f" {few} {small}" if few else "")
