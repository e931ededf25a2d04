"""How long phases take at least: alone on the machine, with every link to themselves."""

import math
from collections.abc import Sequence

import numpy as np

from forebay.core.codes import PhaseKind
from forebay.engine.build.program import Program
from forebay.platforms.fabric import Fabric
from forebay.platforms.wires import Wire

_SAFE = 1 - 1e-9  # rates come out of sums of floats: a bound stays below them


def phase_seconds(program: Program, fabric: Fabric) -> np.ndarray:
    """Seconds that each phase keeps its leg busy at least.

    Drains run beside the phases that follow, so they may take none. Others can always take longer than this: links are
    shared, and nodes that talk to one another wait.
    """
    streams = np.maximum(program.nodes, 1)[program.leg_job[program.phase_leg]]
    seconds = program.seconds.astype(float, copy=True)
    moves = program.bytes > 0
    for kind in np.unique(program.kind[moves]):
        mine = moves & (program.kind == kind)
        link, stream, whole = _fastest(_wires(PhaseKind(int(kind)), fabric), fabric)
        rate = np.minimum(link, stream * np.where(whole, 1, streams[mine]))
        seconds[mine] = program.bytes[mine] / rate * _SAFE
    seconds[program.kind == PhaseKind.DRAIN] = 0.0
    return seconds


def _wires(kind: PhaseKind, fabric: Fabric) -> Sequence[Wire]:
    """All that the bytes of a phase may cross, on any store and any server of it."""
    if kind is PhaseKind.READ:
        return [] if fabric.read is None else [fabric.read]
    if kind is PhaseKind.WRITE:
        return [] if fabric.write is None else [fabric.write]
    found: list[Wire] = []
    for store in fabric.stores:
        if kind is PhaseKind.STAGE_IN:
            found += store.stage_in
        elif kind is PhaseKind.STAGE_OUT:
            found += store.stage_out
        elif kind in (PhaseKind.CHECKPOINT, PhaseKind.FETCH):
            found += [wire for place in getattr(store, kind.name.lower()) for wire in place]
    return found


def _fastest(wires: Sequence[Wire], fabric: Fabric) -> tuple[float, float, bool]:
    """Bytes/s over the links that all of these cross, bytes/s that a stream has at most, and if a job is one stream."""
    if not wires:
        return math.inf, math.inf, False
    capacity = dict(zip(fabric.names, fabric.capacity.tolist(), strict=True))
    common = set.intersection(*(set(wire.links) for wire in wires))
    links = [capacity[name] / min(wire.links[name] for wire in wires) for name in common]
    return min(links, default=math.inf), max(wire.cap for wire in wires), all(wire.whole for wire in wires)
