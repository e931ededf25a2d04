"""Nodes of classes and kinds, servers of a buffer in chunks, and tiers to choose from, in the tables of a run."""

from collections.abc import Sequence

import numpy as np

from forebay.core.tables import State
from forebay.engine.build.program import Program
from forebay.engine.truth import Truth
from forebay.platforms.fabric import Fabric, Way
from forebay.platforms.platform import Platform


def ways_of(fabric: Fabric, program: Program) -> Sequence[Way]:
    """The ways to run between which policies choose."""
    return fabric.ways if program.way is not None else ()


def sizes_of(fabric: Fabric, ways: Sequence[Way], n_atoms: int, n_chunks: int) -> dict[str, int]:
    """How large tables of State are."""
    servers = len(fabric.near[0]) if fabric.chunked else 0
    return {"servers": servers, "chunks": n_chunks, "atoms": n_atoms, "tiers": len(ways)}


def picks_of(state: State, platform: Platform, fabric: Fabric, by_rule: bool) -> int:
    """How many picks the engine makes for a start at most."""
    return len(state.picks) if fabric.chunked or platform.sharing or by_rule else 0


def fill_servers(state: State, platform: Platform, fabric: Fabric) -> None:
    """A buffer in chunks, empty."""
    if not fabric.chunked:
        return
    state.machine["chunked"] = platform.resources.index(fabric.buffer)
    state.servers.near[:], state.servers.room[:] = fabric.near, fabric.server_capacity
    state.servers.chunks["next"] = np.arange(1, len(state.servers.chunks) + 1)


def fill_kinds(state: State, platform: Platform) -> None:
    """Two kinds of nodes, by their storage."""
    if platform.kinds is None or platform.divided or platform.sharing:
        return
    machine = state.machine[0]
    machine["large"], machine["local"] = len(platform.resources) - 1, platform.resources.index(platform.kinds.name)
    machine["small_device"], machine["large_device"] = platform.kinds.capacity, platform.kinds.most


def fill_classes(state: State, platform: Platform) -> None:
    """The weights of classes."""
    if platform.classes and len(state.nodes.weights) > 0:
        state.nodes.weights[:] = [platform.classes[atom.cls].weight for atom in platform.atoms]


def fill_tiers(state: State, platform: Platform, ways: Sequence[Way]) -> None:
    """What each tier is."""
    for row, way in zip(state.tiers.rates, ways, strict=True):
        row["rate"], row["stage_rate"] = way.rate, way.stage_rate
        row["resource"] = platform.resources.index(way.name) if way.name in platform.resources else -1


def fill_ways(truth: Truth, program: Program, begins: np.ndarray) -> None:
    """The way of each leg, and where the next way of its job begins."""
    if program.way is not None:
        truth.legs["way"] = program.way
        follows = np.flatnonzero(np.diff(program.leg_job[begins]) == 0)  # another way of the same job
        truth.legs["other"][begins[follows]] = begins[follows + 1]
    if program.stated is not None:
        truth.stated[:] = program.stated


def seats_of(site: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Nodes in stretches that look for room alike, within one word of 32 bits: the word, their bits in it, a site."""
    node, alike = np.arange(len(site)), np.unique(near, axis=0, return_inverse=True)[1].ravel()[site]
    begins = np.flatnonzero((node % 32 == 0) | (np.diff(alike, prepend=-1) != 0))
    length = np.diff(begins, append=len(site))
    bits = ((np.int64(1) << length) - 1) << begins % 32
    return np.column_stack([begins // 32, bits, site[begins]]).astype(np.int64)
