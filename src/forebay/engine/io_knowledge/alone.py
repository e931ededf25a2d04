"""How long jobs take alone on the machine, and how long of that they read or write, from what they do."""

from collections.abc import Sequence

import numpy as np

from forebay.core.codes import PhaseKind
from forebay.core.running import KNOWN_IO
from forebay.engine.build.program import Program
from forebay.platforms.fabric import Fabric
from forebay.platforms.wires import Wire


def rate_alone(wires: Sequence[Wire], streams: np.ndarray, capacity: dict[str, float]) -> np.ndarray:
    """Bytes/s of transfers with so many streams, spread evenly over as many of the wires, alone on the machine."""
    used = np.clip(streams, 1, len(wires)).astype(np.int64)
    rates = np.empty(len(streams))
    for k in np.unique(used):
        load: dict[str, float] = {}
        for wire in wires[:k]:
            for name, share in wire.links.items():
                load[name] = load.get(name, 0.0) + share / k
        mine = used == k
        shared = min((capacity[name] / share for name, share in load.items()), default=np.inf)
        each = np.ones(mine.sum()) if wires[0].whole else streams[mine]
        rates[mine] = np.minimum(each * min(wire.cap for wire in wires[:k]), shared)
    return rates


def _wires(fabric: Fabric) -> dict[int, Sequence[Wire]]:
    """What the phases of each kind cross, one wire a server of chunks."""
    found: dict[int, Sequence[Wire]] = {}
    if fabric.read is not None and fabric.write is not None:
        found |= {PhaseKind.READ: (fabric.read,), PhaseKind.WRITE: (fabric.write,)}
    if fabric.stores:
        store = fabric.stores[0]
        found |= {
            PhaseKind.STAGE_IN: store.stage_in,
            PhaseKind.STAGE_OUT: store.stage_out,
            PhaseKind.DRAIN: store.stage_out,
            PhaseKind.CHECKPOINT: [sites[0] for sites in store.checkpoint],
            PhaseKind.FETCH: [sites[0] for sites in store.fetch],
        }
    return found


def alone(program: Program, fabric: Fabric) -> np.ndarray:
    """KNOWN_IO of every job, of its first way to run.

    Nodes of a chunked buffer are taken to find servers as the first site does. Drains run beside what follows: they
    count as I/O, but take no time of their own.
    """
    job = program.leg_job[program.phase_leg]
    counted = program.first_choice[program.phase_leg]
    streams = np.maximum(program.nodes, 1)[job].astype(float)
    capacity = dict(zip(fabric.names, fabric.capacity.tolist(), strict=True))
    moved = (program.bytes > 0) & (program.kind != PhaseKind.COMPUTE) & counted
    io = np.zeros(len(job))
    for kind, wires in _wires(fabric).items():
        mine = moved & (program.kind == kind)
        if mine.any():
            io[mine] = wires[0].delay + program.bytes[mine] / rate_alone(wires, streams[mine], capacity)
    talks = (program.communication > 0) & (streams > 1)
    sending = np.where(talks, fabric.latency + program.communication * (streams - 1) / fabric.port, 0.0)
    beside = program.kind == PhaseKind.DRAIN
    takes = np.where(moved, np.where(beside, 0.0, io), np.maximum(program.seconds, sending)) * counted
    n = len(program.first_leg) - 1
    found = np.zeros(n, KNOWN_IO)
    found["seconds"] = np.bincount(job, takes, n)
    found["io"] = np.minimum(np.bincount(job, io, n), found["seconds"])
    found["bytes"] = np.bincount(job, np.where(moved, program.bytes, 0.0), n)
    phases = np.bincount(job, moved & ~beside, n)
    found["period"] = np.where(phases > 0, found["seconds"] / np.maximum(phases, 1), np.inf)
    return found
