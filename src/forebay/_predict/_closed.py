"""Nodes on which jobs may not start at a moment, or not all of them: those that are down, and those reserved."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from forebay.core.failures import Failures, Outages
from forebay.errors import InputError
from forebay.platforms.names import as_ids, ids_by_name
from forebay.platforms.partitions import ranges_of
from forebay.platforms.platform import Platform
from forebay.platforms.reservations import Reservation

LATER = 30 * 86400.0
"""Until when a node is down without a known end: beyond all that is played."""


@dataclass(frozen=True)
class Out:
    """Nodes that are down, by their ids, from a time to another."""

    nodes: str
    since: float
    until: float = math.inf


@dataclass(frozen=True)
class Closed:
    """What a snapshot says of them, in the seconds of its world."""

    down: tuple[Out, ...] = ()
    reservations: tuple[Reservation, ...] = ()

    def machine(self, platform: Platform, time: float, first: float) -> Platform:
        """The machine at a moment, from which seconds are counted; jobs run since `first` at the earliest.

        Nodes that go down later are not known of yet. Jobs that run already find those down that are: they never sit
        on these.
        """
        changes: dict[str, Any] = {}
        reserved = [_moved(one, time) for one in (*platform.reservations, *self.reservations)]
        if any(one is None or one not in platform.reservations for one in reserved):
            changes["reservations"] = tuple(one for one in reserved if one is not None)
        rows = [
            (node, (one.until if math.isfinite(one.until) else time + LATER) - time)
            for one in self.down
            if one.since <= time < one.until
            for low, high in ranges_of(one.nodes)
            for node in range(low, high + 1)
        ]
        if rows:
            node, up = (np.array(column) for column in zip(*rows, strict=True))
            down = np.full(len(rows), first - time - 1.0)
            outages = Outages("nodes down", "", node.astype(np.int64), down, up.astype(np.float64))
            changes["failures"] = Failures(outages=outages)
        if not changes:
            return platform
        return Platform(**{name: getattr(platform, name) for name in Platform.model_fields} | changes)


def _moved(one: Reservation, time: float) -> Reservation | None:
    """A reservation with seconds from a moment on, None if it is over. One with dates stays: they are what they are."""
    if not isinstance(one.start, float) or isinstance(one.end, str):
        return one
    end = (one.start + (one.duration or 0.0) if one.end is None else one.end) - time
    if end <= 0:
        return None
    return one if time == 0 else one.model_copy(update={"start": one.start - time, "end": end, "duration": None})


def closed_of(
    down: Sequence[Mapping[str, Any]], reserved: Sequence[Mapping[str, Any]], on: Platform, where: str
) -> Closed:
    """What a snapshot says, on this machine."""
    found, names = [], ids_by_name((one.nodes, one.names) for one in on.classes) if down else {}
    for place, one in enumerate(down):
        try:
            ids = as_ids(str(one["nodes"]), "down", names)
            last = max(high for _, high in ranges_of(ids))
            if last >= on.nodes:
                raise ValueError(f"node {last} is down, and nodes are numbered from 0 to {on.nodes - 1}")
        except ValueError as error:
            raise InputError(f"{where}: down.{place}: {error}") from None
        found.append(Out(ids, float(one["since"]), math.inf if one.get("until") is None else float(one["until"])))
    made = []
    for place, one in enumerate(reserved):
        try:
            made.append(Reservation(**one))
        except (InputError, TypeError) as error:
            raise InputError(f"{where}: reservations.{place}: {error}") from None
    closed = Closed(tuple(found), tuple(made))
    try:
        closed.machine(on, 0.0, 0.0)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return closed


def document(closed: Closed) -> dict[str, Any]:
    """The same for a snapshot."""
    down = [
        {"nodes": one.nodes, "since": one.since} | ({"until": one.until} if math.isfinite(one.until) else {})
        for one in closed.down
    ]
    reserved = [
        {key: value for key, value in one.described().items() if value or key == "start"} for one in closed.reservations
    ]
    return {**({"down": down} if down else {}), **({"reservations": reserved} if reserved else {})}
