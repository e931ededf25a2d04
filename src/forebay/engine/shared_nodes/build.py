"""Jobs on nodes that are shared: the parts that each leg is, and what these ask of nodes, in arrays."""

from dataclasses import replace

import numpy as np

from forebay.algorithms.nodes.shared_nodes import BLOCK, n_rows
from forebay.core.codes import PhaseKind
from forebay.core.inside import ASK, CORES, LOCAL, PLACEMENTS
from forebay.core.tables import State
from forebay.engine.build.eligibility import eligible
from forebay.engine.build.program import Program
from forebay.engine.shared_nodes.requests import Asked, asked, column, within_atoms
from forebay.engine.truth import Truth
from forebay.errors import InputError
from forebay.platforms.platform import Platform
from forebay.platforms.sharing import gpus_of
from forebay.workload.workload import Workload


def node_tables(platform: Platform) -> tuple[np.ndarray, np.ndarray]:
    """What a node of each atom has, and which resource counts it (-1: none does); int64[atom, dimension]."""
    resource = platform.resources.index
    local = -1 if platform.local is None else resource(platform.local.name)
    classes = [platform.classes[atom.cls] for atom in platform.atoms]
    counts = [
        [0, -1 if one.memory is None else resource("memory"), resource(gpus_of(one)) if one.gpus else -1, local]
        for one in classes
    ]
    return within_atoms(platform), np.array(counts, np.int64)


def fill_nodes(state: State, platform: Platform) -> None:
    """All that is known of what is in nodes, idle."""
    if not platform.sharing:
        return
    inside, machine = state.inside, state.machine[0]
    full, counts = node_tables(platform)
    atom = np.repeat(np.arange(len(platform.atoms)), [atom.count for atom in platform.atoms])
    inside.full[:] = inside.room[: platform.nodes] = full[atom]
    for block in range(len(inside.room) - platform.nodes):
        nodes = full[atom[block * BLOCK : (block + 1) * BLOCK]]
        inside.room[platform.nodes + block] = nodes.max(axis=0)
    inside.counted[:] = counts[atom]
    inside.first[1:] = np.cumsum(full[atom, CORES])
    inside.atoms[:] = [atom.first for atom in platform.atoms] + [platform.nodes]
    machine["placement"] = PLACEMENTS.index(platform.placement)
    machine["first_inside"] = platform.first_inside


def settled(workload: Workload, platform: Platform, program: Program) -> Asked:
    """What jobs ask for as parts, also of those that give neither nodes nor tasks: as few nodes as can hold it all."""
    request, best = asked(workload, platform), within_atoms(platform).max(axis=0)
    if platform.local is not None:  # the most that any leg asks for
        own = program.demand[:, platform.first_inside]
        request.total[:, LOCAL] = np.maximum.reduceat(own, program.first_leg[:-1])
    fewest = np.max(-(-request.total // np.maximum(best, 1)), axis=1)
    parts = np.where(request.parts > 0, request.parts, fewest)
    each = -(-request.total // np.maximum(parts, 1)[:, None])
    # Who has nodes alone and says no cores has all of them, whatever their class: one part a node.
    spread = request.spread | (request.exclusive & (request.total[:, CORES] == 0))
    each[:, CORES] = np.maximum(each[:, CORES], 1)
    return replace(request, parts=parts, each=each, spread=spread)


def share(workload: Workload, platform: Platform, program: Program) -> Program:
    """The program with what its legs ask of shared nodes, and the least of each resource that this takes."""
    _refuse(workload, platform, program)
    request = settled(workload, platform, program)
    places = eligible(workload, platform, request)
    asks = np.zeros(len(workload), ASK)
    asks["parts"], asks["spread"], asks["exclusive"] = request.parts, request.spread, request.exclusive
    asks["cores"], asks["memory"], asks["gpus"], asks["local"] = request.each.T
    asks["allowed"] = places.allowed
    asks = asks[program.leg_job]
    if platform.local is not None:
        asks["local"] = -(-program.demand[:, platform.first_inside] // np.maximum(asks["parts"], 1))
    several = np.diff(program.first_leg)[program.leg_job] > 1
    computes = np.zeros(len(asks), bool)
    computes[program.phase_leg[program.kind == PhaseKind.COMPUTE]] = True
    in_nodes = column(workload, "nodes")[program.leg_job] > 0
    without = several & np.where(in_nodes, program.demand[:, 0] == 0, ~computes)
    asks["parts"] = np.where(without, 0, asks["parts"])
    _refuse_apart(workload, platform, program, asks)
    demand = program.demand.copy()
    demand[:, 0], demand[:, platform.first_inside :] = 0, 0
    for r, least in _least(platform, asks).items():
        demand[:, r] = least
    return replace(program, demand=demand, asks=asks, places=places)


def _least(platform: Platform, asks: np.ndarray) -> dict[int, np.ndarray]:
    """The least of each resource that a leg takes inside nodes, whichever of those allowed it gets."""
    full, counts = node_tables(platform)
    found: dict[int, np.ndarray] = {}
    each = (asks["cores"], asks["memory"], asks["gpus"], asks["local"])
    alone = (asks["exclusive"] != 0) & (asks["spread"] != 0)  # then whole nodes count, one a part
    resources = {(int(r), d) for row in counts for d, r in enumerate(row) if r >= 0}
    for r, d in sorted(resources):
        least = np.full(len(asks), np.iinfo(np.int64).max)
        for a in range(len(platform.atoms)):
            here = np.where(alone, full[a, d], each[d]) if counts[a, d] == r else np.zeros_like(each[d])
            least = np.where((asks["allowed"] >> a) & 1 == 1, np.minimum(least, here), least)
        nowhere = each[d] if r == 0 else 0  # such a job is rejected, and asks for its cores all the same
        found[r] = np.where(asks["allowed"] == 0, nowhere, least) * asks["parts"]
    return found


def _refuse(workload: Workload, platform: Platform, program: Program) -> None:
    """Refuse what jobs cannot do on nodes that they share."""
    if program.rounds is not None:
        raise InputError(
            f"{workload.name}: jobs have applications, and {platform.name} shares nodes, on which sizes are fixed; "
            "write sharing = false, or run with --job-model alloc-only"
        )
    within = {"nodes": 0} | ({} if platform.local is None else {platform.local.name: platform.first_inside})
    for name, r in within.items():
        given = np.bincount(program.phase_leg[program.release == r], minlength=len(program.walltime)) > 0
        for bad, what in ((program.carry[:, r], f"carries {name} from leg to leg"), (given, f"gives {name} back")):
            if bad.any():
                job = workload.jobs["id"][int(program.leg_job[np.argmax(bad)])]
                raise InputError(
                    f"{workload.name}: job {job} {what}, and {platform.name} shares nodes, which a leg has with all "
                    "that is in them from its start to its end; let each leg ask for its own, or write sharing = false"
                )


def _refuse_apart(workload: Workload, platform: Platform, program: Program, asks: np.ndarray) -> None:
    """Refuse legs that would have storage of nodes, and no nodes."""
    bad = (asks["parts"] == 0) & (asks["local"] > 0)
    if platform.local is not None and bad.any():
        job = workload.jobs["id"][int(program.leg_job[np.argmax(bad)])]
        raise InputError(
            f"{workload.name}: job {job} asks for {platform.local.name} in a leg without nodes, and it is in the nodes "
            f"of {platform.name}, which jobs share; let the leg ask for nodes too, or write sharing = false"
        )


def sizes_of(platform: Platform) -> dict[str, int]:
    """How large tables of State are."""
    n = platform.nodes if platform.sharing else 0
    return {"shared": n, "room": n_rows(n) if n else 0, "shared_atoms": len(platform.atoms)}


def fill_asks(truth: Truth, program: Program) -> None:
    """What each leg asks of nodes."""
    if program.asks is not None:
        truth.asks[:] = program.asks
