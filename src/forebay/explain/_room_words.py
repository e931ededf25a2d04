"""Room that shared nodes lack, in words."""

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.core.units import format_bytes
from forebay.explain._inside import ALONE, PACKED, TOGETHER, Inside
from forebay.explain._replay import Scene

_DIMENSIONS = ("cores", "memory", "GPUs")


def parts_of(found: Scene, wait: np.ndarray) -> np.ndarray:
    """How many parts each wait is for; 0 where nodes are not shared."""
    return np.zeros(len(wait), np.int64) if found.inside is None else found.inside.parts[wait]


def each_text(inside: Inside, wait: int) -> str:
    """What each part of a wait takes of a node."""
    cores, memory, gpus = inside.each[wait].tolist()
    words = [counted(cores, "core")]
    words += [format_bytes(memory)] if memory else []
    words += [counted(gpus, "GPU")] if gpus else []
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else words[0]


def room_text(found: Scene, wait: int) -> str:
    """What a wait for room is for."""
    inside = found.inside
    assert inside is not None
    where = found.where.words[wait]
    if inside.placing[wait] == ALONE:
        return f"idle nodes{where}"
    each = each_text(inside, wait)
    if inside.placing[wait] == PACKED:
        return f"idle nodes{where} for tasks of {each}"
    if inside.placing[wait] == TOGETHER:
        return f"room for tasks of {each}" + (f" on nodes{where}" if where else "")
    return f"nodes{where} with {each} free" if not where else f"nodes{where} that have {each} free"


def scarce(found: Scene, wait: np.ndarray, dimension: np.ndarray) -> pl.Series:
    """Which of several things it is that nodes lack, where it is one alone; -1 is none."""
    inside = found.inside
    if inside is None:
        return pl.Series([""] * len(wait), dtype=pl.String)
    several = (inside.each[wait] > 0).sum(axis=1) > 1
    texts = [
        f" ({_DIMENSIONS[d]} {'is' if d == 1 else 'are'} short there)" if d >= 0 and some else ""
        for d, some in zip(dimension.tolist(), several.tolist(), strict=True)
    ]
    return pl.Series(texts, dtype=pl.String)


def last_of(found: Scene, pieces: np.ndarray) -> np.ndarray:
    """The instant at which the job in the way of each piece gives back what it has."""
    inside = found.inside
    if inside is None or not len(pieces):
        return np.zeros(0, np.int64)
    span = len(found.replay.times) + 1
    keys = inside.job * span + inside.first
    order = np.argsort(keys, kind="stable")
    # That job began before the piece or during it.
    at = np.searchsorted(found.replay.times, pieces["end"])
    place = np.searchsorted(keys[order], pieces["other"] * span + at, side="left") - 1
    last: np.ndarray = np.minimum(inside.last[order][np.maximum(place, 0)], len(found.replay.times))
    return last
