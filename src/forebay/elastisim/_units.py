"""Quantities as SimGrid writes them: "100Gf", "100Gbps" (bits), "48GBps" (bytes), "50us"; or bare, in base units."""

import re

from forebay.errors import InputError, brief

_NUMBER = r"\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,2})?|\.[0-9]+(?:[eE][+-]?[0-9]{1,2})?)\s*"
_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_PREFIXES = "|".join(filter(None, (_DECIMAL | _BINARY)))
_SPELT = {"kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P", "exa": "E"}
_SECONDS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}
_PARTS = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12}  # dividing rounds once, where multiplying rounds twice


def speed(text: str) -> float:
    """Flop/s of "100Gf"."""
    found = re.fullmatch(rf"{_NUMBER}(?:({_PREFIXES})?f|({'|'.join(_SPELT)})?flops)?", text)
    if not found:
        raise _odd(text, "a speed", "100Gf")
    prefix = found[2] or _SPELT.get(found[3] or "", "")
    return float(found[1]) * (_DECIMAL | _BINARY)[prefix]


def bandwidth(text: str) -> float:
    """Bytes/s of "100Gbps" (bits) or "48GBps" (bytes)."""
    found = re.fullmatch(rf"{_NUMBER}(?:({_PREFIXES})?(b|B)ps)?", text)
    if not found:
        raise _odd(text, "a bandwidth", "100Gbps (bits) or 48GBps (bytes)")
    return float(found[1]) * (_DECIMAL | _BINARY)[found[2] or ""] / (8 if found[3] == "b" else 1)


def seconds(text: str) -> float:
    """Seconds of "50us"."""
    found = re.fullmatch(rf"{_NUMBER}({'|'.join(_SECONDS)})?", text)
    if not found:
        raise _odd(text, "a time", "50us")
    unit = found[2] or "s"
    return float(found[1]) / _PARTS[unit] if unit in _PARTS else float(found[1]) * _SECONDS[unit]


def _odd(text: str, what: str, example: str) -> InputError:
    return InputError(f"{brief(text)} is not {what}; write one such as {example}")
