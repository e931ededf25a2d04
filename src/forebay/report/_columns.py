"""Columns of numbers as text that a browser unpacks by itself: typed arrays, compressed, in base64.

Times are whole seconds, each as the difference to the one before, and milliseconds: a third of what numbers of eight
bytes take. `assets/page.js` has the other half.
"""

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

_NEVER = 2**31 - 1
"""Seconds of a time that there is none of."""
_SMALLEST = ((2**8, "u1"), (2**16, "u2"), (2**32, "u4"))


def pack(columns: Mapping[str, np.ndarray]) -> str:
    """Columns by name. Whole numbers from 0 on and times keep their values, the latter to the millisecond."""
    header, parts, at = [], [], 0
    for name, values in columns.items():
        for kind, array in _parts(np.asarray(values)):
            data = array.tobytes()
            data += b"\0" * (-len(data) % 8)  # each begins where any kind of number may
            header.append({"name": name, "kind": kind, "type": array.dtype.str[1:], "at": at, "size": array.size})
            parts.append(data)
            at += len(data)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-(len(head) + 4) % 8)
    return base64.b64encode(zlib.compress(b"".join([len(head).to_bytes(4, "little"), head, *parts]), 6)).decode()


def _parts(values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    if values.dtype == np.float32:
        return [("plain", values.astype("<f4"))]
    if values.dtype.kind == "f":
        return _time(values)
    largest, least = int(values.max(initial=0)), int(values.min(initial=0))
    if least < 0:
        raise ValueError("whole numbers are packed from 0 on")
    kind = next((kind for size, kind in _SMALLEST if largest < size), None)
    return [("plain", values.astype(f"<{kind or 'f8'}"))]


def _time(values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    known = np.isfinite(values)
    rounded = np.round(np.where(known, values, 0.0), 3)
    whole = np.floor(rounded)
    if whole.size and max(-whole.min(), whole.max()) >= _NEVER:
        return [("plain", values.astype("<f8"))]  # more than 68 years
    seconds = np.where(known, whole, _NEVER).astype(np.int64)
    steps = np.diff(seconds, prepend=0).astype(np.uint64).astype(np.uint32)  # the browser adds in 32 bits too
    thousandths = np.round(1000 * (rounded - whole)).astype("<u2")
    return [("seconds", steps.astype("<u4")), ("thousandths", thousandths)]


def unpack(text: str) -> dict[str, np.ndarray]:
    """What was packed, as a browser has it."""
    data = zlib.decompress(base64.b64decode(text))
    size = int.from_bytes(data[:4], "little")
    header: list[dict[str, Any]] = json.loads(data[4 : 4 + size])
    found: dict[str, np.ndarray] = {}
    for one in header:
        values = np.frombuffer(data, f"<{one['type']}", one["size"], 4 + size + one["at"])
        if one["kind"] == "seconds":
            seconds = values.cumsum(dtype=np.uint32).astype(np.int32)
            found[one["name"]] = np.where(seconds == _NEVER, np.nan, seconds)
        elif one["kind"] == "thousandths":
            found[one["name"]] = found[one["name"]] + values / 1000
        else:
            found[one["name"]] = values
    return found
